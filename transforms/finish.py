"""``finish_reason``: tests become questions to the Response (MR311).

The value's new representation is the Response itself, so ``reason = resp.choices[0].finish_reason`` is
``reason = resp`` and ``reason == "length"`` asks it. Where the string itself is wanted, it is spelled out
wherever it is read; that is unsafe where a function is forced, as the old word was ``stop`` then (MR302).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Bound, Class, Const, External, Function, Kind, Shape, Site, Typed, Value
from ..know.modules import Module, walk
from .context import Context
from .finish_wanted import wanted_by
from .finish_words import is_told_once, is_word, spell
from .folding import is_lost
from .listing import indent_within
from .maybe_none import is_not_given
from .none_kept import is_kept_by_object, unpacks_into_names
from .only_kind import only_kind
from .reading import read_of, replace_read, same, truth_tested
from .snippets import expr, in_lines, terms_in_lines

_WIDTH = 100  # of a line with a test in it that is written here
_CALLS = 'any(item.type == "function_call" for item in r.output)'
_INCOMPLETE = "r.incomplete_details is not None and r.incomplete_details.reason == "
# Old value -> (test on the Response, the same where the request passes no tools).
TESTS: dict[str, tuple[str, str]] = {
    "length": (f'{_INCOMPLETE}"max_output_tokens"', f'{_INCOMPLETE}"max_output_tokens"'),
    "content_filter": (f'{_INCOMPLETE}"content_filter"', f'{_INCOMPLETE}"content_filter"'),
    "tool_calls": (f'r.status == "completed" and {_CALLS}', "False"),
    "function_call": (f'r.status == "completed" and {_CALLS}', "False"),
    "stop": (f'r.status == "completed" and not {_CALLS}', 'r.status == "completed"'),
}


def plan(context: Context) -> None:
    """Rewrite reads and tests of finish reasons, one way per site."""
    nodes = [
        (node, module, [shape for shape in shapes if shape.kind is Kind.FINISH])
        for node, module, shapes in context.shaped
        if isinstance(node, cst.BaseExpression) and any(shape.kind is Kind.FINISH for shape in shapes)
    ]
    texts = {
        shape.site for node, module, shapes in nodes for shape in shapes if _is_text(context, node, module)
    }
    asked: set[cst.CSTNode] = set()  # tests of what is read there: nobody else gets it
    for receiver, module, shapes in context.shaped:
        _read(context, receiver, module, shapes, texts, asked)
    for node, module, shapes in nodes:
        sites = {shape.site for shape in shapes}
        if node in asked or not sites & texts:
            _test(context, node, module, sites)


def _read(
    context: Context,
    node: cst.CSTNode,
    module: Module,
    shapes: list[Shape],
    texts: set[Site],
    asked: set[cst.CSTNode],
) -> None:
    if not isinstance(node, cst.BaseExpression) or not any(shape.kind is Kind.CHOICE for shape in shapes):
        return
    reading = read_of(context, node, module)
    if reading is None or reading.name != "finish_reason":
        return
    if only_kind(context, node, module, shapes) is None:
        return
    sites = {shape.site for shape in shapes}
    word = is_word(context, reading.whole, module)
    kept = bool(sites & texts)
    if (
        kept
        and not word
        and is_test(context, reading.whole, module)
        and not _is_mixed(context, reading.whole)
    ):
        asked.add(reading.whole)
        kept = False
    if not kept and not word:
        context.edit(reading.whole, module, sites, replace_read(same), "MR311")
    elif not is_simple_response(reading.base):
        detail = f"give `{context.source(node, module)}` a name first"
        context.manual(reading.whole, module, sites, "MR302", detail)
    else:
        _spell(context, reading.whole, module, sites)


def _spell(context: Context, node: cst.BaseExpression, module: Module, sites: set[Site]) -> None:
    """Write the old string where it is read, in several lines or in a line above where that reads better."""
    if any(context.request(site).passes_tools for site in sites) and is_forced(context, sites):
        context.unsafe(node, module, sites, "MR302", _FORCED)
    if is_word(context, node, module) or is_told_once(context, node, module):
        spell(context, node, module, sites, spelled_out(context, sites))
        return
    text = replace_read(spelled_out(context, sites))
    alone = _is_alone(node, module)
    context.edit(node, module, sites, _laid_out(text, module) if alone else text, "MR311")


_FORCED = "with a forced function the old answer said `stop`"


def _is_text(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether the value at ``node`` has to be a string wherever it came from."""
    if is_word(context, node, module):
        return isinstance(node, cst.Name)  # a read is spelled out where it is
    if _is_mixed(context, node) or is_kept_by_object(context, node, module):
        return True
    if _is_element(node, module) or _is_entry(node, module):
        return True
    return not is_test(context, node, module) and not is_carrier(context, node, module)


def _is_mixed(context: Context, node: cst.BaseExpression) -> bool:
    """Whether ``node`` also holds something else; the default of a ``getattr`` never shows."""
    default = isinstance(node, cst.Call)
    return is_not_given(context, node) or any(
        isinstance(value, Typed)
        or (isinstance(value, Const) and not (default and value.value is None))
        or (isinstance(value, Shape) and value.kind in _OTHERS)
        for value in context.project.values(node)
    )


# Parts of an answer that are no objects, and so go through the same hands as the reason does.
_OTHERS = frozenset({Kind.CONTENT, Kind.LEAF, Kind.REFUSAL, Kind.ROLE})


def _is_entry(node: cst.CSTNode, module: Module) -> bool:
    """``result["finish"] = reason``: who reads the dict may want any of its entries."""
    match module.parents.get(node):
        case cst.Assign(targets=targets):
            return any(isinstance(target.target, cst.Subscript) for target in targets)
        case cst.AnnAssign(target=target):
            return isinstance(target, cst.Subscript)
        case _:
            return False


def _is_element(node: cst.CSTNode, module: Module) -> bool:
    """Whether the value is part of a tuple or list that is not just unpacked into names: it can be shown."""
    element = module.parents.get(node)
    display = module.parents.get(element) if isinstance(element, cst.Element) else None
    assign = module.parents.get(display) if display is not None else None
    return display is not None and not (isinstance(assign, cst.Assign) and unpacks_into_names(assign))


def is_simple_response(node: cst.BaseExpression) -> bool:
    """Whether the receiver, once ``.choices[0].message`` is gone, is a name that can be repeated."""
    while True:
        match node:
            case cst.Attribute(value=value) | cst.Subscript(value=value):
                node = value
            case cst.Call(func=cst.Name(value="getattr"), args=[cst.Arg(value=value), *_]):
                node = value
            case _:
                return isinstance(node, cst.Name)


def spelled_out(context: Context, sites: set[Site]) -> Callable[[cst.BaseExpression], cst.BaseExpression]:
    """The old string, computed from the Response."""
    length = f'"length" if {_INCOMPLETE}"max_output_tokens"'
    filtered = f'"content_filter" if {_INCOMPLETE}"content_filter"'
    if any(context.request(site).passes_tools for site in sites):
        calls = f'"{called(context, sites)}" if {_CALLS}'
        text = f'({length} else {filtered} else {calls} else "stop")'
    else:
        text = f'({length} else {filtered} else "stop")'
    return lambda base: expr(text, r=base)


def called(context: Context, sites: Iterable[Site]) -> str:
    """What the old API said when a function was to be called."""
    requests = [context.request(site) for site in sites]
    old = any(request.passes("functions") for request in requests)
    return (
        "function_call" if old and not any(request.passes("tools") for request in requests) else "tool_calls"
    )


def _is_alone(node: cst.CSTNode, module: Module) -> bool:
    """Whether a text in place of ``node`` can have lines of its own: it is the whole of something."""
    if isinstance(module.parents.get(node), (cst.Assign, cst.Return, cst.DictElement)):
        return True
    return isinstance(module.parents.get(node), (cst.Arg, cst.Element)) and not any(
        isinstance(outer, (cst.FormattedString, cst.Lambda)) for outer in module.ancestors(node)
    )


def _laid_out(apply: Apply, module: Module) -> Apply:
    """The text one case a line, as it is too long for one."""

    def in_cases(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        made = apply(original, updated)
        assert isinstance(made, cst.IfExp)
        return in_lines(made, module.tree.default_indent, indent_within(original, module))

    return in_cases


def is_carrier(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether the value only passes through: a name, an assignment, an argument of a project function."""
    parent = module.parents.get(node)
    match parent:
        case cst.Assign() | cst.AnnAssign() | cst.NamedExpr() | cst.AssignTarget() | cst.Expr():
            return True
        case cst.Element():
            return True
        case cst.Return():
            return not any(
                escape.node is node
                for shape in _shapes(context, node)
                for escape in context.escapes.of(shape)
            )
        case cst.Arg():
            call = module.parents.get(parent)
            callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
            followed = all(isinstance(callee, (Function, Bound, Class)) for callee in callees)
            return (
                bool(callees)
                and followed
                and not any(_is_gathered(callee, parent, call) for callee in callees)
            )
        case cst.Attribute() | cst.Subscript():
            return False
        case _:
            return False


def _is_gathered(callee: Value, arg: cst.Arg, call: cst.CSTNode | None) -> bool:
    """Whether ``*args`` or ``**labels`` of a function takes the argument, with others that are none."""
    function = callee.function if isinstance(callee, Bound) else callee
    if not isinstance(function, Function) or not isinstance(call, cst.Call):
        return False
    params = function.node.params
    own = [param.name.value for param in (*params.posonly_params, *params.params)]
    if arg.keyword is not None:
        named = {*own, *(param.name.value for param in params.kwonly_params)}
        return params.star_kwarg is not None and arg.keyword.value not in named
    place = call.args.index(arg) + isinstance(callee, Bound)
    return isinstance(params.star_arg, cst.Param) and place >= len(own)


def _shapes(context: Context, node: cst.CSTNode) -> list[Shape]:
    return [shape for shape in context.project.shapes(node) if shape.kind in (Kind.FINISH, Kind.CHUNK_FINISH)]


def is_test(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    parent = module.parents.get(node)
    if isinstance(parent, cst.Match):
        return is_simple_response(node)
    return (
        isinstance(parent, cst.Comparison) and wanted_by(context, parent, node) is not None
    ) or truth_tested(module, node)


def test_of(reasons: list[str], positive: bool, tools: bool) -> str:
    """The test on ``r``, as text."""
    texts = list(
        dict.fromkeys(TESTS[reason][0 if tools else 1] if reason in TESTS else "False" for reason in reasons)
    )
    if len(texts) > 1:
        texts = [text for text in texts if text != "False"]
    joined = (
        texts[0]
        if len(texts) == 1
        else " or ".join(f"({text})" if " and " in text else text for text in texts)
    )
    if positive:
        return joined
    if len(texts) == 1 and all(term in _OPPOSITES for term in joined.split(" and ")):
        return " or ".join(_OPPOSITES[term] for term in joined.split(" and "))
    return f"not ({joined})"


_OPPOSITES = {
    "True": "False",
    "False": "True",
    "r.incomplete_details is not None": "r.incomplete_details is None",
    **{
        f'r.{field} == "{value}"': f'r.{field} != "{value}"'
        for field, value in (
            ("status", "completed"),
            ("incomplete_details.reason", "max_output_tokens"),
            ("incomplete_details.reason", "content_filter"),
        )
    },
    _CALLS: f"not {_CALLS}",
    f"not {_CALLS}": _CALLS,
}


def _test(context: Context, node: cst.BaseExpression, module: Module, sites: set[Site]) -> None:
    parent = module.parents.get(node)
    if truth_tested(module, node):
        if any(isinstance(inner, cst.NamedExpr) for inner in walk(node)):
            return  # what it is now is true as well, and has the name
        if is_lost(context, node, module, sites, "MR311"):
            return
        context.edit(node, module, sites, lambda o, u: cst.Name("True"), "MR311")
        return
    if isinstance(parent, cst.Match):
        whole = spelled_out(context, sites)
        context.edit(node, module, sites, lambda o, u: whole(u), "MR311")  # type: ignore[arg-type]
        return
    if not isinstance(parent, cst.Comparison):
        return
    wanted = wanted_by(context, parent, node)
    if wanted is None:
        return
    reasons, positive = wanted
    tools = any(context.request(site).passes_tools for site in sites)
    if (
        tools
        and any(reason in ("tool_calls", "function_call", "stop") for reason in reasons)
        and is_forced(context, sites)
    ):
        context.unsafe(parent, module, sites, "MR302", _FORCED)
    text = test_of(reasons, positive, tools)
    named = any(isinstance(inner, cst.NamedExpr) for inner in walk(node))
    if named and text in ("True", "False"):
        if reasons != ["None"]:  # it is not None now either
            detail = f"`{context.source(parent, module)}` gives a name to what is not read any more"
            context.manual(parent, module, sites, "MR302", detail)
        return
    if " and " in text and not is_simple_response(node):
        context.manual(parent, module, sites, "MR302", f"give `{context.source(node, module)}` a name first")
        return

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Comparison)
        result = expr(text, r=updated.left)
        outer = module.parents.get(parent)
        if isinstance(outer, (cst.If, cst.While)) and not updated.lpar:
            depth = sum(isinstance(outer, cst.IndentedBlock) for outer in module.ancestors(parent))
            indent = module.tree.default_indent
            return terms_in_lines(result, indent, _WIDTH - depth * len(indent) - len("while :"))
        joined = isinstance(
            outer, (cst.BooleanOperation, cst.UnaryOperation, cst.Comparison, cst.BinaryOperation)
        )
        if updated.lpar or (joined and isinstance(result, cst.BooleanOperation)):
            result = result.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return result

    context.edit(parent, module, sites, apply, "MR311")


def is_forced(context: Context, sites: set[Site]) -> bool:
    """Whether a call forces one named function."""
    for site in sites:
        for value in context.request(site).values("tool_choice", "function_call"):
            if not isinstance(value, (Const, External)):
                return True
    return False

"""Reading the answer: each old part has one new representation (MR301 to MR313).

The response, its choice and its message are all the Response now, so ``resp.choices[0].message`` is
``resp``; ``TEMPLATES`` says what each field of them becomes. A use that no rule here (or in
:mod:`.finish`, :mod:`.tool_calls`, :mod:`.stream`) understands holds the flow back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from ..decide.receivers import DOUBLES
from ..know.kinds import (
    DUMPS,
    JSON_DUMPS,
    SHAPES,
    STREAM_KINDS,
    STRUCTURAL,
    Const,
    DictValue,
    External,
    Kind,
    SeqValue,
    Shape,
    Site,
    Value,
)
from ..know.modules import Module
from .context import WRITES, Context, constants
from .folding import settle
from .snippets import attribute, expr

Template = Callable[[cst.BaseExpression], cst.BaseExpression]

# Kinds whose reads other rules rewrite.
_ELSEWHERE = frozenset(
    {
        Kind.FINISH,
        Kind.TOOL_CALLS,
        Kind.TOOL_CALL,
        Kind.FUNCTION,
        Kind.FUNCTION_CALL,
        Kind.CUSTOM,
    }
) | STREAM_KINDS
# Reading these was refused where they were read.
_REFUSED = frozenset({Kind.OTHER, Kind.LOGPROBS})
# Parts of the answer that are the Response itself now.
RESPONSE = frozenset({Kind.COMPLETION, Kind.CHOICE, Kind.MESSAGE})


@dataclass(frozen=True, repr=False)
class Read:
    """``whole`` reads the part ``name`` of ``base``: as an attribute, a key, ``.get`` or ``getattr``."""

    name: str
    base: cst.BaseExpression
    whole: cst.BaseExpression
    module: Module


def same(base: cst.BaseExpression) -> cst.BaseExpression:
    """The part is the Response itself."""
    return base


def named(name: str) -> Template:
    """The part is another attribute."""
    return lambda base: attribute(base, name)


def fixed(text: str) -> Template:
    """The part is always the same."""
    return lambda base: expr(text)


# (kind, field) -> how to write it on the new representation of the kind.
TEMPLATES: dict[tuple[Kind, str], tuple[str, Template]] = {
    (Kind.COMPLETION, "id"): ("MR301", named("id")),
    (Kind.COMPLETION, "model"): ("MR301", named("model")),
    (Kind.COMPLETION, "service_tier"): ("MR301", named("service_tier")),
    (Kind.COMPLETION, "_request_id"): ("MR301", named("_request_id")),
    (Kind.COMPLETION, "usage"): ("MR303", named("usage")),
    (Kind.COMPLETION, "created"): ("MR301", lambda base: expr("int(r)", r=attribute(base, "created_at"))),
    (Kind.CHOICE, "message"): ("MR301", same),
    (Kind.CHOICE, "index"): ("MR312", fixed("0")),
    (Kind.MESSAGE, "content"): ("MR301", named("output_text")),
    (Kind.MESSAGE, "role"): ("MR301", fixed('"assistant"')),
    (Kind.USAGE, "prompt_tokens"): ("MR303", named("input_tokens")),
    (Kind.USAGE, "completion_tokens"): ("MR303", named("output_tokens")),
    (Kind.USAGE, "total_tokens"): ("MR303", named("total_tokens")),
    (Kind.USAGE, "prompt_tokens_details"): ("MR303", named("input_tokens_details")),
    (Kind.USAGE, "completion_tokens_details"): ("MR303", named("output_tokens_details")),
    (Kind.PROMPT_DETAILS, "cached_tokens"): ("MR303", named("cached_tokens")),
    (Kind.COMPLETION_DETAILS, "reasoning_tokens"): ("MR303", named("reasoning_tokens")),
}

# Fields of the old types that have nothing to go to (trap E8, E11).
_OLD_FIELDS = frozenset(
    """system_fingerprint object audio annotations logprobs audio_tokens accepted_prediction_tokens
    rejected_prediction_tokens model_extra choices prompt_filter_results content_filter_results""".split()
)


def plan(context: Context) -> None:
    """Look at every expression that can be a part of an answer."""
    stored = _stored_names(context)
    for node, module, shapes in context.shaped:
        kinds = {shape.kind for shape in shapes}
        if kinds <= STREAM_KINDS | _REFUSED or not isinstance(node, cst.BaseExpression):
            continue
        reading = read_of(context, node, module)
        if reading is not None:
            _read(context, reading, shapes, stored)
        elif kinds & STRUCTURAL - _ELSEWHERE:
            _use(context, node, module, shapes)
        if isinstance(node, cst.Call) and any(shape.form == "dict" for shape in shapes):
            _loads(context, node, module, shapes)
    for site in context.sites:
        _escapes(context, site)


def read_of(context: Context, node: cst.BaseExpression, module: Module) -> Read | None:
    """How the parent of ``node`` takes a part of it, if it does."""
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(value=value, attr=attr) if value is node:
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and call.func is parent:
                if attr.value == "get":
                    key = constants(context.project.vars.get(call.args[0].value)) if call.args else None
                    if key and len(key) == 1 and isinstance(key[0], str):
                        return Read(key[0], node, call, module)
                    return None
                if attr.value in DUMPS | JSON_DUMPS:
                    return None
            return Read(attr.value, node, parent, module)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if value is node:
            key = constants(context.project.vars.get(index))
            if key and len(key) == 1 and isinstance(key[0], str):
                return Read(key[0], node, parent, module)
            return None
        case cst.Arg():
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and _builtin(context, call) == "getattr" and call.args[0] is parent:
                key = constants(context.project.vars.get(call.args[1].value)) if len(call.args) > 1 else None
                if key and len(key) == 1 and isinstance(key[0], str):
                    return Read(key[0], node, call, module)
            return None
        case _:
            return None


def _builtin(context: Context, call: cst.Call) -> str:
    for value in context.project.values(call.func):
        if isinstance(value, External) and value.path.startswith("builtins."):
            return value.path[9:]
    return ""


def base_of(updated: cst.CSTNode) -> cst.BaseExpression:
    """The receiver inside an updated read."""
    match updated:
        case cst.Attribute(value=value) | cst.Subscript(value=value):
            return value
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="get"))):
            return value
        case cst.Call(args=[first, *_]):
            return first.value
        case _:
            assert isinstance(updated, cst.BaseExpression)
            return updated


def replace_read(template: Template) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An edit of a read: the template applied to its receiver, parentheses kept."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        base = base_of(updated)
        result = template(base)
        outer = getattr(updated, "lpar", ())
        if outer and not result.lpar:
            assert isinstance(updated, cst.BaseExpression)
            result = result.with_changes(lpar=updated.lpar, rpar=updated.rpar)
        if isinstance(updated, cst.Attribute) and isinstance(result, cst.Attribute) and result.value is base:
            result = result.with_changes(dot=_dot(original))
        return result

    return apply


def _dot(node: cst.CSTNode) -> cst.Dot:
    """The dot of a read, or the first dot on a line of its own among those that fall away before it."""
    assert isinstance(node, cst.Attribute)
    dot, current = node.dot, node.value
    while isinstance(current, (cst.Attribute, cst.Subscript)):
        if isinstance(current, cst.Attribute):
            if current.attr.value not in ("choices", "message"):
                break
            if isinstance(current.dot.whitespace_before, cst.ParenthesizedWhitespace):
                dot = current.dot
        current = current.value
    return dot


def only_kind(context: Context, node: cst.CSTNode, module: Module, shapes: list[Shape]) -> Kind | None:
    """The one kind a receiver has; holds the flow back if it can be anything else."""
    from .doubles import is_tested
    from .read_history import hold_read, is_history_read

    sites = {shape.site for shape in shapes}
    kinds = {shape.kind for shape in shapes}
    text = context.source(node, module)
    if is_history_read(context, node):
        hold_read(context, node, module, sites)
        return None
    if len({kind for kind in kinds}) > 1:
        streamed = Kind.STREAM in kinds and Kind.COMPLETION in kinds
        code = "MR403" if streamed else "MR306"
        context.manual(node, module, sites, code, f"`{text}` is {' or '.join(sorted(kind.value for kind in kinds))}")
        return None
    doubled = all(is_tested(context, site) for site in sites)
    others = [value for value in context.project.values(node) if not _harmless(value, doubled)]
    if others:
        context.manual(node, module, sites, "MR306", f"`{text}` also comes from elsewhere")
        return None
    return kinds.pop()


def _harmless(value: Value, doubled: bool = False) -> bool:
    """Whether a value beside an answer is its absence: None, or the empty default of a ``.get``.

    Where the call is ``doubled`` by tests, what they make answers of is no other kind either.
    """
    match value:
        case Shape():
            return True
        case Const():
            return value.value in (None, "", False)
        case External(path=path):
            return doubled and path.startswith(DOUBLES)  # the rule for tests sees to it
        case DictValue():
            return not value.others and not value.merged and not any(
                place.how in WRITES for places in value.places.values() for place in places
            )
        case SeqValue():
            return not value.derived and all(map(_harmless, value.element.values))
        case _:
            return False


def _stored_names(context: Context) -> set[str]:
    """The attributes that the project sets on parts of an answer."""
    return {
        parent.attr.value
        for node, module, _ in context.shaped
        if isinstance(parent := module.parents.get(node), cst.Attribute) and _is_stored_to(module, parent)
    }


def _read(context: Context, read: Read, shapes: list[Shape], stored: set[str]) -> None:
    node, module = read.base, read.module
    sites = {shape.site for shape in shapes}
    structural = [shape for shape in shapes if shape.kind in STRUCTURAL and shape.kind not in _ELSEWHERE]
    if not structural:
        return
    if _is_stored_to(module, read.whole):
        context.manual(read.whole, module, sites, "MR307", f"`{context.source(read.whole, module)}` is assigned")
        return
    kind = only_kind(context, node, module, shapes)
    if kind is None:
        return
    if shapes[0].form == "object" and not isinstance(read.whole, cst.Attribute) and not _is_getattr(read.whole):
        text = context.source(read.whole, module)
        context.manual(read.whole, module, sites, "MR308", f"`{text}`: the answer is not a dict")
        return
    if kind is Kind.COMPLETION and read.name == "choices":
        choices(context, read, sites)
        return
    part = SHAPES.get((kind, read.name))
    if part in _ELSEWHERE or part in (Kind.REFUSAL, Kind.PARSED):
        return
    template = TEMPLATES.get((kind, read.name))
    if template is None:
        _refuse(context, read, sites, part, stored)
        return
    code, build = template
    if kind is Kind.MESSAGE and read.name == "content":
        from .text import content_template

        build = content_template(context, read, sites)
    context.edit(read.whole, module, sites, replace_read(build), code)


def _is_stored_to(module: Module, node: cst.CSTNode) -> bool:
    parent = module.parents.get(node)
    return isinstance(parent, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)) and getattr(parent, "target", None) is node


def _is_getattr(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name)


def _refuse(context: Context, read: Read, sites: set[Site], part: Kind | None, stored: set[str]) -> None:
    """A field that has nothing to go to, or that never was one."""
    text = context.source(read.whole, read.module)
    parent = read.module.parents.get(read.whole)
    if isinstance(parent, cst.Call) and parent.func is read.whole:
        code, why = "MR309", "is a method of the old answer"
    elif part is Kind.LOGPROBS:
        code, why = "MR115", "is read another way: `output[].content[].logprobs`"
    elif part is not None or read.name in _OLD_FIELDS:
        code, why = "MR304", "has no Responses equivalent"
    elif read.name in stored:
        code, why = "MR307", "is set by this code on the old answer"
    else:
        code, why = "MR308", "is not a field of the old answer either"
    context.manual(read.whole, read.module, sites, code, f"`{text}` {why}")


# -- choices -----------------------------------------------------------------------------


def choices(context: Context, read: Read, sites: set[Site]) -> None:
    """``resp.choices`` wherever it stands (MR312)."""
    module, whole = read.module, read.whole
    parent = module.parents.get(whole)
    match parent:
        case cst.Subscript(value=value) if value is whole:
            _index(context, parent, module, sites)
        case cst.Arg() if _builtin_of_arg(context, module, parent) == "len":
            _length(context, module, parent, sites)
        case _ if truth_tested(module, whole):
            output = replace_read(lambda base: attribute(base, "output"))
            context.edit(whole, module, sites, output, "MR312")
        case _:
            context.edit(whole, module, sites, replace_read(lambda base: cst.List([cst.Element(base)])), "MR312")


def _builtin_of_arg(context: Context, module: Module, arg: cst.Arg) -> str:
    call = module.parents.get(arg)
    return _builtin(context, call) if isinstance(call, cst.Call) else ""


def _index(context: Context, node: cst.Subscript, module: Module, sites: set[Site]) -> None:
    index = node.slice[0].slice
    known = constants(context.project.vars.get(index.value)) if isinstance(index, cst.Index) else None
    if known and all(value in (0, -1) for value in known):

        def collapse(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.Subscript)
            return base_of(updated.value)

        context.edit(node, module, sites, collapse, "MR301")
        return
    if isinstance(index, cst.Slice):
        inner = node.value
        context.edit(inner, module, sites, replace_read(lambda base: cst.List([cst.Element(base)])), "MR312")
        return
    context.manual(node, module, sites, "MR312", f"`{context.source(node, module)}`: which choice is decided at run time")


def _length(context: Context, module: Module, arg: cst.Arg, sites: set[Site]) -> None:
    """``len(resp.choices)`` is 1; a comparison with 0 asks whether there is an answer."""
    call = module.parents[arg]
    assert isinstance(call, cst.Call)
    comparison = module.parents.get(call)
    if isinstance(comparison, cst.Comparison) and comparison.left is call and len(comparison.comparisons) == 1:
        target = comparison.comparisons[0]
        sign = _nonempty(target)
        if sign is not None:

            def test(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
                assert isinstance(updated, cst.Comparison) and isinstance(updated.left, cst.Call)
                output = attribute(base_of(updated.left.args[0].value), "output")
                result = output if sign else cst.UnaryOperation(cst.Not(), output)
                return result.with_changes(lpar=updated.lpar, rpar=updated.rpar)

            context.edit(comparison, module, sites, test, "MR312")
            return
    context.edit(call, module, sites, lambda o, u: cst.Integer("1"), "MR312")


def _nonempty(target: cst.ComparisonTarget) -> bool | None:
    """Whether ``len(x) <op> n`` asks for a non-empty (True) or an empty (False) list."""
    if not isinstance(target.comparator, cst.Integer):
        return None
    value = target.comparator.evaluated_value
    match target.operator:
        case cst.GreaterThan() | cst.NotEqual() if value == 0:
            return True
        case cst.GreaterThanEqual() if value == 1:
            return True
        case cst.Equal() | cst.LessThanEqual() if value == 0:
            return False
        case cst.LessThan() if value == 1:
            return False
        case _:
            return None


def truth_tested(module: Module, node: cst.CSTNode) -> bool:
    """Whether only the truth of ``node`` matters where it stands."""
    parent = module.parents.get(node)
    match parent:
        case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test) | cst.Assert(test=test):
            return test is node
        case cst.CompIf():
            return True
        case cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.BooleanOperation():
            return truth_tested(module, parent)
        case _:
            return False


# -- whole parts -------------------------------------------------------------------------


def _use(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    """A part of the answer that is not read into here: passed on, tested, kept."""
    structural = [shape for shape in shapes if shape.kind in STRUCTURAL and shape.kind not in _ELSEWHERE]
    sites = {shape.site for shape in structural}
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(value=value) if value is node:
            if {shape.kind for shape in shapes} == {Kind.CHOICES}:
                _listed(context, parent, module, sites)
            else:
                text = context.source(parent, module)
                context.manual(parent, module, sites, "MR309", f"`{text}` is not understood")
        case cst.Attribute(value=value) if value is node:
            _dump(context, node, parent, module, shapes)
        case cst.Comparison():
            if not _compares_with_none(parent):
                context.manual(parent, module, sites, "MR309", f"`{context.source(parent, module)}` compares the answer")
        case cst.BinaryOperation() | cst.UnaryOperation(operator=cst.Minus()) | cst.AugAssign():
            context.manual(parent, module, sites, "MR309", f"`{context.source(parent, module)}` is not understood")
        case cst.Arg():
            _argument(context, node, parent, module, shapes)
        case _:
            return


def _listed(context: Context, node: cst.Subscript, module: Module, sites: set[Site]) -> None:
    """An element of a list of choices that was kept under a name: the list is ``[resp]`` now."""
    index = node.slice[0].slice
    known = constants(context.project.vars.get(index.value)) if isinstance(index, cst.Index) else None
    if isinstance(index, cst.Index) and not (known and all(value in (0, -1) for value in known)):
        text = context.source(node, module)
        context.manual(node, module, sites, "MR312", f"`{text}`: which choice is decided at run time")


def _compares_with_none(node: cst.Comparison) -> bool:
    parts = [node.left, *(target.comparator for target in node.comparisons)]
    return any(isinstance(part, cst.Name) and part.value == "None" for part in parts)


def _argument(context: Context, node: cst.BaseExpression, arg: cst.Arg, module: Module, shapes: list[Shape]) -> None:
    call = module.parents.get(arg)
    if not isinstance(call, cst.Call):
        return
    name = _builtin(context, call)
    sites = {shape.site for shape in shapes}
    if name == "hasattr" and call.args[0] is arg:
        _hasattr(context, call, module, shapes)
    elif name in ("getattr", "setattr", "delattr", "vars", "iter", "sorted", "reversed", "sum", "min", "max"):
        text = context.source(call, module)
        context.manual(call, module, sites, "MR309", f"`{text}` is not understood")


def _hasattr(context: Context, call: cst.Call, module: Module, shapes: list[Shape]) -> None:
    """``hasattr(resp, "choices")`` is settled by the kind."""
    key = constants(context.project.vars.get(call.args[1].value)) if len(call.args) > 1 else None
    sites = {shape.site for shape in shapes}
    kind = only_kind(context, call.args[0].value, module, shapes)
    if kind is None:
        return
    if not key or len(key) != 1:
        context.manual(call, module, sites, "MR309", f"`{context.source(call, module)}` is not understood")
        return
    settle(context, call, module, sites, (kind, str(key[0])) in SHAPES, "MR312")


def _dump(
    context: Context, node: cst.BaseExpression, method: cst.Attribute, module: Module, shapes: list[Shape]
) -> None:
    """``resp.model_dump()``: the Response itself, where the dict is read by key."""
    call = module.parents.get(method)
    sites = {shape.site for shape in shapes}
    if not isinstance(call, cst.Call) or method.attr.value not in DUMPS | JSON_DUMPS:
        context.manual(method, module, sites, "MR309", f"`{context.source(method, module)}` is not understood")
        return
    if shapes[0].kind not in RESPONSE | {Kind.USAGE, Kind.PROMPT_DETAILS, Kind.COMPLETION_DETAILS}:
        context.manual(call, module, sites, "MR309", f"`{context.source(call, module)}` is not understood")
        return
    dumped = [value for value in context.project.values(call) if isinstance(value, Shape)]
    if any(_is_read_by_key(context, shape) for shape in dumped):
        context.edit(call, module, sites, _undump, "MR313")
    else:
        context.note(call, module, sites, "MR314", f"`{context.source(call, module)}` shows the new answer")


def _loads(context: Context, call: cst.Call, module: Module, shapes: list[Shape]) -> None:
    """``json.loads(resp.model_dump_json())`` is the Response itself."""
    for value in context.project.values(call.func):
        if isinstance(value, External) and value.path == "json.loads":
            context.edit(call, module, {shape.site for shape in shapes}, lambda o, u: base_of(u), "MR313")


def _undump(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call) and isinstance(updated.func, cst.Attribute)
    return updated.func.value


def _is_read_by_key(context: Context, shape: Shape) -> bool:
    for node, module, shapes in context.shaped:
        if isinstance(node, cst.BaseExpression) and any(
            other.site is shape.site and other.form == "dict" and shape.form != "object" for other in shapes
        ):
            reading = read_of(context, node, module)
            if reading is not None and not isinstance(reading.whole, cst.Attribute):
                return True
    return False


def _escapes(context: Context, site: Site) -> None:
    """Parts that leave the project keep their old shape in somebody's eyes (MR305)."""
    from .read_history import is_history

    for kind in STRUCTURAL - {Kind.OTHER}:
        if kind in STREAM_KINDS:
            continue
        for form in ("object", "dict", "json"):
            for escape in context.escapes.of(Shape(kind, site, form)):
                if is_history(context, escape.node, escape.module):
                    continue  # the rule for histories judges what leaves with one
                _escape(context, site, kind, escape.node, escape.module, escape.way.name, escape.way.value, escape.to)


def _escape(
    context: Context, site: Site, kind: Kind, node: cst.CSTNode, module: Module, way: str, verb: str, to: str
) -> None:
    text = context.source(node, module)
    if way == "DISPLAY":
        if kind is not Kind.FINISH:
            context.note(node, module, [site], "MR314", f"`{text}` shows the new answer")
        return
    if kind is Kind.FINISH:
        return  # a string: the rule for finish reasons decides
    context.unsafe(node, module, [site], "MR305", f"`{text}` is {verb} {to}")

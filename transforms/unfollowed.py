"""The last net: reads that look like those of an answer, on values that could not be followed (MR309).

A value can take a way that the analysis does not see: inside an exception, through a registry, by
reflection. Code beside a call that reads ``.choices`` or ``.prompt_tokens`` of something unknown may read
just that call's answer, so the flows of that file are not safe to migrate.
"""

from __future__ import annotations

import libcst as cst

from ..decide.contents import hands_on
from ..decide.mixed import is_same_call
from ..know.kinds import SHAPES, Const, External, Kind, Shape, Site, Typed, Unknown, Value
from ..know.modules import Module, walk
from ..know.narrowing import AN_EXCEPTION
from .chosen_functions import sites_chosen
from .context import Context
from .handed import sites_kept, sites_made, sites_reflected
from .left_over import left_over
from .snippets import key_text
from .tested import is_of_tests, is_test

# Names that little else has. ``content``, ``message`` and ``usage`` are everybody's.
_TELLING = frozenset({"choices", "tool_calls", "finish_reason", "prompt_tokens", "completion_tokens"})


def plan(context: Context) -> None:
    """Hold back the flows of a program that reads such a field of something unknown."""
    for module, sites in _programs(context).items():
        for node in module.of(cst.Attribute, cst.Subscript, cst.Call):
            suspects = _with_such(context, node, _suspects(context, node, module, sites))
            unused = left_over(context, node, module) if suspects else None
            if unused is not None:
                detail = f"`{unused.name}` is called by nobody and reads the old form"
                context.note(unused.node, module, suspects, "MR315", detail)
                continue
            for site in suspects:
                text = context.source(node, module)
                detail = f"`{text}` may read an answer; where its value comes from is not known"
                context.unsafe(node, module, [site], "MR309", detail)  # one says nothing about another


def _suspects(context: Context, node: cst.CSTNode, module: Module, sites: list[Site]) -> list[Site]:
    """Those of ``sites`` whose answers ``node`` may read."""
    telling = _is_telling(node, module)
    if (
        _is_code(node)
        or _is_getter(context, node, module)
        or (telling and _is_unknown(context, node, module))
        or _is_of_lost_object(context, node)
    ):
        return sites
    kept = _of_libraries(context, node, module, telling)
    return [site for site in sites if site in kept] if kept else []


def _of_libraries(context: Context, node: cst.CSTNode, module: Module, telling: bool) -> set[Site]:
    """``kept.bot.ask("x").choices``: the calls whose answers may come out of a library that got functions."""
    match node:
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            made = name in _READ
        case cst.Subscript(value=value):
            made = False
        case _:
            return set()
    if not telling and not made:
        return set()
    values = context.project.values(value)
    if any(isinstance(one, Shape) for one in values):
        return set()
    find = sites_kept if telling else sites_made
    found = set().union(*(find(context, one) for one in values))
    if telling or not any(_is_telling(inner, module) for inner in walk(value)):  # else it has been seen
        found |= set().union(*(sites_reflected(context, one, module) for one in values))
        found |= sites_chosen(context, value, module)
    return found


def _programs(context: Context) -> dict[Module, list[Site]]:
    """The modules of each program with calls, and these; of what a test reads its doubles have a word."""
    found: dict[Module, list[Site]] = {}
    for site in context.sites:
        for module in context.project.alongside(site.module):
            if module is site.module or not is_test(module):
                found.setdefault(module, []).append(site)
    return found


def _is_of_lost_object(context: Context, node: cst.CSTNode) -> bool:
    """``step.call.id`` of who knows what, where objects of the project keep a tool call as ``call``."""
    match node:
        case cst.Attribute(
            value=cst.Attribute(value=owner, attr=cst.Name(value=field)) as kept, attr=cst.Name(value=name)
        ):
            kinds = _fields(context).get(field, ())
            known = context.project.values(owner) or context.project.values(kept)
            return not known and any((kind, name) in SHAPES for kind in kinds)
        case _:
            return False


def _fields(context: Context) -> dict[str, set[Kind]]:
    """The fields of objects of the project that parts of answers are kept in, and which parts."""
    known = context.memo.get("fields of answers")
    if isinstance(known, dict):
        return known
    found: dict[str, set[Kind]] = {}
    for cls in context.project.classes.values():
        for name, var in cls.instance.fields.items():
            kinds = {value.kind for value in var.values if isinstance(value, Shape)}
            if kinds:
                found.setdefault(name, set()).update(kinds)
    context.memo["fields of answers"] = found
    return found


def _is_getter(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """``attrgetter("usage.prompt_tokens")`` that is handed on: it reads what it is applied to elsewhere."""
    parent = module.parents.get(node)
    if not isinstance(node, cst.Call) or (isinstance(parent, cst.Call) and parent.func is node):
        return False
    names = [key_text(arg.value) for arg in node.args if isinstance(arg.value, cst.SimpleString)]
    if _READ.isdisjoint(step for name in names for step in name.split(".")):
        return False
    return any(
        isinstance(value, External) and value.path in _GETTERS for value in context.project.values(node.func)
    )


_GETTERS = frozenset({"operator.attrgetter", "operator.itemgetter", "operator.methodcaller"})
_READ = _TELLING | {"usage", "message", "function", "content", "delta", "model_dump"}


def _with_such(context: Context, node: cst.CSTNode, sites: list[Site]) -> list[Site]:
    """The sites whose answers can have the field: calls come only where tools are passed."""
    match node:
        case cst.Attribute(attr=cst.Name(value=name)):
            of_call = name in _OF_CALLS
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            of_call = key_text(key) in _OF_CALLS
        case _:
            of_call = False
    if not of_call:
        return sites
    requests = [(site, context.request(site)) for site in sites]
    return [site for site, request in requests if request.passes_tools or request.untracked]


_OF_CALLS = frozenset({"tool_calls", "name", "arguments"})


def _is_telling(node: cst.CSTNode, module: Module) -> bool:
    match node:
        case cst.Attribute(attr=cst.Name(value="choices")):  # of a form field or a parser, unless by number
            item = module.parents.get(node)
            by_number = isinstance(item, cst.Subscript) and isinstance(item.slice[0].slice, cst.Index)
            return by_number and not _is_of_no_choice(node, module)
        case cst.Attribute(
            value=cst.Attribute(attr=cst.Name(value="function")), attr=cst.Name(value="name" | "arguments")
        ):
            return True
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in _TELLING
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return key_text(key) in _TELLING and not _is_of_no_choice(node, module)
        case _:
            return False


# What the choices of an answer have, and of a chunk.
_OF_CHOICE = frozenset({"message", "delta", "text", "finish_reason", "index", "logprobs"})


def _is_of_no_choice(choices: cst.CSTNode, module: Module) -> bool:
    """``row["choices"][0]["turns"]``: a key that no choice of an answer has."""
    item = module.parents.get(choices)
    if not isinstance(item, cst.Subscript) or item.value is not choices:
        return False
    match module.parents.get(item):
        case cst.Subscript(
            value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]
        ):
            return value is item and key_text(key) not in _OF_CHOICE
        case _:
            return False


def _is_code(node: cst.CSTNode) -> bool:
    """``eval("response.choices[0]")``."""
    match node:
        case cst.Call(
            func=cst.Name(value="eval" | "exec"), args=[cst.Arg(value=cst.SimpleString() as text), *_]
        ):
            return any(f".{name}" in key_text(text) for name in _TELLING)
        case _:
            return False


def _is_unknown(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether the receiver is read here and can be anything."""
    parent = module.parents.get(node)
    if isinstance(parent, (cst.AssignTarget, cst.Annotation)) or _is_annotation(node, module):
        return False
    base = getattr(node, "value", None)
    if not isinstance(base, cst.BaseExpression):
        return False
    values = [value for value in context.project.values(base) if not _is_plain(value)]
    if not is_test(module):  # what a test passes in says nothing of what others do
        values = [value for value in values if not is_of_tests(context, value)]
    if isinstance(base, cst.Name) and base.value in ("self", "cls"):
        return False
    if shapes := [value for value in values if isinstance(value, Shape)]:  # and something else: MR306
        sites = {shape.site for shape in shapes}
        anything = any(isinstance(value, Unknown) and not is_same_call(value, sites) for value in values)
    else:
        anything = not values or any(map(hands_on, values))
    return anything and not (_makes_its_own(context, base, module) or _is_of_body(context, base))


def _is_of_body(context: Context, node: cst.BaseExpression) -> bool:
    """Whether ``node`` is the body of a raw response, which has a rule of its own."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
        if any(shape.kind is Kind.RAW for shape in context.project.shapes(node)):
            return True
    return False


def _makes_its_own(context: Context, base: cst.BaseExpression, module: Module) -> bool:
    """Whether the receiver visibly is the answer of another call: ``llm.chat.completions.create(...)``."""
    root = base
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        root = root.value
    if isinstance(root, cst.Name):
        scope = module.function(base) or module.tree
        made = [
            node.value
            for node in walk(scope)
            if isinstance(node, cst.Assign)
            and any(
                isinstance(target.target, cst.Name) and target.target.value == root.value
                for target in node.targets
            )
        ]
        return bool(made) and all(_is_create(context, node) for node in made)
    return _is_create(context, root)


def _is_create(context: Context, node: cst.BaseExpression) -> bool:
    """A call by a name that the SDKs use, and no function of the project that gives an answer."""
    call = node.expression if isinstance(node, cst.Await) else node
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return False
    name = call.func.attr.value
    return name in _MAKES and name not in _own_makers(context)


def _own_makers(context: Context) -> frozenset[str]:
    """The names of the functions of the project that return an answer."""
    known = context.memo.get("own makers")
    if known is None:
        known = context.memo["own makers"] = frozenset(
            function.name
            for function in context.project.functions.values()
            if any(isinstance(value, Shape) for value in function.result.values)
        )
    assert isinstance(known, frozenset)
    return known


_MAKES = frozenset({"create", "acreate", "parse", "completion", "acompletion"})


def _is_plain(value: Value) -> bool:
    if isinstance(value, Unknown):
        return value.why == AN_EXCEPTION  # it has none of these fields
    return isinstance(value, Typed) or (isinstance(value, Const) and value.value is None)


def _is_annotation(node: cst.CSTNode, module: Module) -> bool:
    return any(isinstance(parent, cst.Annotation) for parent in module.ancestors(node))

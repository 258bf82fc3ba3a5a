"""Calls of something unknown by the name of a wrapper: they may be its callers (MR119).

An instance that comes out of ``importlib``, a plug-in list or a parameter that nobody here fills can be
one of the project's. Where such a call passes the wrapper's ``**kwargs`` a keyword that gets another
form, or messages and tools in the old form, the wrapper stays as it is. What a test puts in the place
of a wrapper, or calls, says nothing of what the program calls.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.contents import hands_on
from ..know.graph import Var
from ..know.kinds import Const, DictValue, External, Function, Invocation, Site, Unknown, Value
from ..know.modules import walk
from ..know.testing import in_tests
from .context import Context, constants
from .handed import is_wrapper
from .params import ELSEWHERE, RULES
from .snippets import key_text
from .taken_out import taker
from .tested import is_of_tests

_RENAMED = ELSEWHERE | set(RULES)
# Keys that only the old form of messages, parts and tools has.
_OLD_KEYS = frozenset({"tool_calls", "tool_call_id", "image_url", "function", "function_call", "input_audio"})


def plan(context: Context) -> None:
    """Hold back the wrappers that calls of something unknown may mean."""
    wrappers: dict[str, list[tuple[Function, Site]]] = {}
    for site in context.sites:
        for function in _wrappers(context, site):
            if not function.name.startswith("__"):
                wrappers.setdefault(function.name, []).append((function, site))
    _uncalled(context)
    if not wrappers:
        return
    for call in context.project.invocations:
        by_name = _named_by(context, call)
        for function, site in wrappers.get(by_name or _name(call.node.func), ()):
            if call in function.callers or not _matters(call, function):
                continue
            if by_name or _is_unknown(context, call):
                text = context.source(call.node, call.module)
                detail = f"`{text}` may call `{function.name}`; what it is called on is not known"
                context.manual(call.node, call.module, [site], "MR119", detail)


def _uncalled(context: Context) -> None:
    """Hold back wrappers that nobody calls, where a call of something unknown passes such keywords.

    A method that is chosen by a computed name, a class out of a registry, ``task.delay(...)``.
    """
    unknown: list[Invocation] | None = None
    for site in context.sites:
        for function in _wrappers(context, site):
            if function.double_star is None or not all(in_tests(call.module) for call in function.callers):
                continue
            if unknown is None:
                unknown = [call for call in context.project.invocations if _passes_telling(context, call)]
            near = context.project.program(function.module)
            for call in unknown:
                if call.module in near and call not in function.callers:
                    text = context.source(call.node, call.module)
                    detail = f"`{text}` may call `{function.name}`; what it calls is not known"
                    context.manual(call.node, call.module, [site], "MR119", detail)


def _passes_telling(context: Context, call: Invocation) -> bool:
    """Whether ``call`` calls something unknown with a keyword that gets another form."""
    if call.node in context.project.sites:
        return False  # the SDK's method, or a double of it, and nobody's wrapper
    names = {argument.keyword for argument in call.arguments}
    stars = [argument.var for argument in call.arguments if argument.keyword == "**"]
    if names.isdisjoint(_RENAMED) and not stars:
        return False
    values = context.project.values(call.node.func)
    if values and not any(isinstance(value, Unknown) for value in values):
        return False
    return not names.isdisjoint(_RENAMED) or any(not _keys(var).isdisjoint(_RENAMED) for var in stars)


def _keys(var: Var) -> set[str]:
    """The keys of the dicts that ``var`` can be, and of those poured into them."""
    found: set[str] = set()
    seen: set[Value] = set()
    stack = list(var.values)
    while stack:
        value = stack.pop()
        if isinstance(value, DictValue) and value not in seen:
            seen.add(value)
            found.update(value.places)
            stack.extend(inner for source in value.merged for inner in source.values)
    return found


def _wrappers(context: Context, site: Site) -> Iterator[Function]:
    """The functions whose arguments become those of ``site``: the one around it, and those of its ``**``."""
    definitions: dict[cst.CSTNode | None, None] = {site.module.function(site.node): None}
    request = context.request(site)
    for value in (*request.dicts, *request.sources):
        definitions[taker(value)] = None
    for definition in definitions:
        function = context.project.functions.get(definition) if definition is not None else None
        if function is not None:
            yield function


def _named_by(context: Context, call: Invocation) -> str:
    """``"ask"`` of ``methodcaller("ask", "q", max_tokens=20)``, which calls a method of whatever it gets."""
    values = context.project.values(call.node.func)
    if not any(isinstance(value, External) and value.path == "operator.methodcaller" for value in values):
        return ""
    names = constants(call.arguments[0].var) if call.arguments else None
    return str(names[0]) if names and len(names) == 1 else ""


def _name(node: cst.BaseExpression) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else ""


def _is_unknown(context: Context, call: Invocation) -> bool:
    """Whether nothing is known of what ``call`` is made on."""
    func = call.node.func
    if not isinstance(func, cst.Attribute):
        return False
    values = context.project.values(func.value)
    if not in_tests(call.module):
        values = [value for value in values if not (is_of_tests(context, value) or _is_none(value))]
    return not values or any(
        hands_on(value) or is_wrapper(context, value, func.attr.value) for value in values
    )


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _matters(call: Invocation, function: Function) -> bool:
    """Whether the arguments of ``call`` would have to change with ``function``."""
    for argument in call.arguments:
        if function.double_star is not None and argument.keyword in _RENAMED - function.parameters.keys():
            return True
        if isinstance(argument.node, cst.Arg) and _has_old_keys(argument.node.value):
            return True
    return False


def _has_old_keys(value: cst.BaseExpression) -> bool:
    return any(
        isinstance(node, cst.DictElement)
        and isinstance(node.key, cst.SimpleString)
        and key_text(node.key) in _OLD_KEYS
        for node in walk(value)
    )

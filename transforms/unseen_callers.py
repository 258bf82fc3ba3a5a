"""Calls of something unknown by the name of a wrapper: they may be its callers (MR119).

An instance that comes out of ``importlib``, a plug-in list or a parameter that nobody here fills can be
one of the project's. Where such a call passes the wrapper's ``**kwargs`` a keyword that gets another
form, or messages and tools in the old form, the wrapper stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DictValue, Function, Invocation, Site, Unknown
from ..know.modules import walk
from .context import Context
from .params import ELSEWHERE, RULES
from .snippets import key_text

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
    if not wrappers:
        return
    for call in context.project.invocations:
        for function, site in wrappers.get(_name(call.node.func), ()):
            if call not in function.callers and _is_unknown(context, call) and _matters(call, function):
                text = context.source(call.node, call.module)
                detail = f"`{text}` may call `{function.name}`; what it is called on is not known"
                context.manual(call.node, call.module, [site], "MR119", detail)


def _wrappers(context: Context, site: Site) -> Iterator[Function]:
    """The functions whose arguments become those of ``site``: the one around it, and those of its ``**``."""
    definitions: dict[cst.CSTNode | None, None] = {site.module.function(site.node): None}
    for value in context.request(site).dicts:
        definitions[_taker(value)] = None
    for definition in definitions:
        function = context.project.functions.get(definition) if definition is not None else None
        if function is not None:
            yield function


def _taker(value: DictValue) -> cst.CSTNode | None:
    """The function that ``value`` is the ``**kwargs`` of."""
    parameters = value.module.parents.get(value.node) if isinstance(value.node, cst.Param) else None
    return value.module.parents.get(parameters) if parameters is not None else None


def _name(node: cst.BaseExpression) -> str:
    return node.attr.value if isinstance(node, cst.Attribute) else ""


def _is_unknown(context: Context, call: Invocation) -> bool:
    """Whether nothing is known of what ``call`` is made on."""
    func = call.node.func
    if not isinstance(func, cst.Attribute):
        return False
    values = context.project.values(func.value)
    return not values or any(isinstance(value, Unknown) for value in values)


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

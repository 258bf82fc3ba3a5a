"""What a call says of a flag such as ``stream``, where it says it outright.

A wrapper with a ``stream`` parameter answers in two ways; a caller that passes True or False, or leaves
the default, gets one of them.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from .graph import Var
from .kinds import STREAM_KINDS, Function, Invocation, Shape, Value
from .modules import walk


def flags_of(function: Function) -> tuple[str, ...]:
    """The parameters that ``function`` passes on as ``stream=``; none if it calls itself.

    The result of a function that calls itself is also that of calls with other flags.
    """
    found: dict[str, None] = {}
    for node in walk(function.node.body):
        match node:
            case cst.Arg(keyword=cst.Name(value="stream"), value=cst.Name(value=name)):
                if name in function.parameters:
                    found[name] = None
            case cst.Name(value=name) if name == function.name and _is_itself(function, node):
                return ()
            case _:
                continue
    return tuple(found)


class Settled:
    """The flags of ``function`` that ``call`` settles; it can give ``names`` by place."""

    def __init__(self, function: Function, flags: Iterable[str], call: Invocation, names: list[str]) -> None:
        self._values: dict[Var, bool] = {}
        for name in flags:
            value = _given(function, call, names, name)
            if value is not None:
                self._values[function.parameters[name]] = value

    def keep(self, value: Value) -> bool:
        """Whether the call can get ``value`` from the function."""
        if not isinstance(value, Shape):
            return True
        streams = value.kind in STREAM_KINDS
        return all(streams is wanted for flag, wanted in self._values.items() if flag in value.site.flags)


def _is_itself(function: Function, node: cst.CSTNode) -> bool:
    """Whether a mention of the function's name can mean the function: not ``client.chat`` in ``chat``."""
    match function.module.parents.get(node):
        case cst.Attribute(value=owner, attr=attr) if attr is node:
            return isinstance(owner, cst.Call) or (isinstance(owner, cst.Name) and owner.value in _OWNERS)
        case cst.Arg(keyword=keyword):
            return keyword is not node
        case _:
            return True


_OWNERS = frozenset({"self", "cls"})


def _given(function: Function, call: Invocation, names: list[str], name: str) -> bool | None:
    argument = call.named(name)
    if argument is None:
        if any(item.keyword in ("*", "**") for item in call.arguments):
            return None
        places = [item for item in call.arguments if item.keyword is None]
        position = names.index(name) if name in names else len(places)
        argument = places[position] if position < len(places) else None
    if argument is None:
        return _truth(_default(function, name))
    return _truth(argument.node.value if isinstance(argument.node, cst.Arg) else argument.node)


def _default(function: Function, name: str) -> cst.CSTNode | None:
    parameters = function.node.params
    for parameter in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params):
        if parameter.name.value == name:
            return parameter.default
    return None


def _truth(node: cst.CSTNode | None) -> bool | None:
    words: dict[str, bool] = {"True": True, "False": False, "None": False}
    return words.get(node.value) if isinstance(node, cst.Name) else None

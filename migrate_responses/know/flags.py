"""What a call says of a flag such as ``stream``, where it says it outright.

A wrapper with a ``stream`` parameter, or with keywords that it hands on, answers in two ways; a caller
that passes True or False, or leaves the default, gets one of them. A wrapper around a wrapper hands its own
flag on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import libcst as cst

from .copying import is_copied
from .graph import Var
from .kinds import STREAM_KINDS, Argument, DictValue, Function, Invocation, Shape, Site, Value
from .modules import walk
from .stated_flags import sets_stream, spelled

_STREAM = "stream"


def is_switch(function: cst.CSTNode, parameter: cst.Param) -> bool:
    """Whether ``stream=False`` of a function can be turned on: its body asks for it, so it is made for both.

    That nobody does so yet says nothing about the code for it, which reads the chunks of a stream.
    """
    name, default = parameter.name.value, parameter.default
    if name != _STREAM or not isinstance(default, cst.Name) or default.value != "False":
        return False
    return any(
        isinstance(node, (cst.If, cst.IfExp)) and isinstance(node.test, cst.Name) and node.test.value == name
        for node in walk(function)
    )


def flags_of(function: Function) -> tuple[str, ...]:
    """The parameters that ``function`` passes on as ``stream=``; none if it calls itself.

    The result of a function that calls itself is also that of calls with other flags.
    """
    if _STREAM not in function.module.text and function.double_star is None:
        return ()
    found: dict[str, None] = {}
    for node in walk(function.node.body):
        match node:
            case cst.Arg(keyword=None | cst.Name(value="stream"), value=cst.Name(value=name), star=""):
                if name in function.parameters and _STREAM in name:
                    found[name] = None
            case cst.Name(value=name) if name == function.name and _is_itself(function, node):
                return ()
            case _:
                continue
    for node in walk(function.node.body):
        match node:
            case (
                cst.Arg(keyword=cst.Name(value="stream"), value=cst.Name(value=name))
                | cst.DictElement(
                    key=cst.SimpleString(value='"stream"' | "'stream'"), value=cst.Name(value=name)
                )
            ):
                if name in function.parameters:
                    found[name] = None
            case cst.AssignTarget(target=target) if sets_stream(target):
                flag = spelled(target, function.module)[0]
                if isinstance(flag, cst.Name) and flag.value in function.parameters:
                    found[flag.value] = None
            case _:
                continue
    if hands_on_keywords(function, copied=True):
        found["**"] = None
    return tuple(found)


def hands_on_keywords(function: Function, copied: bool = False) -> bool:
    """Whether the ``stream`` in the ``**kwargs`` of ``function`` is what its callers say.

    With ``copied``, that may be in a dict that they are poured into, as in ``{**self.defaults, **kwargs}``:
    whether that has a ``stream`` of its own is found out later (``transforms/silent_stream.py``).
    """
    holder = function.double_star
    if holder is None or not isinstance(holder.node, cst.Param) or _STREAM in function.parameters:
        return False
    name, parents = holder.node.name.value, function.module.parents
    for node in walk(function.node.body):
        match node:
            case cst.SimpleString() if node.evaluated_value == _STREAM and not _is_asked(node, name, parents):
                return False
            case cst.Arg(keyword=cst.Name(value="stream")):
                return False
            case cst.Name(value=found) if found == name:
                parent = parents.get(node)
                if not _leaves_keys(node, parent) and not (copied and _is_poured(node, parent, parents)):
                    return False
            case _:
                continue
    return True


def _is_asked(node: cst.CSTNode, name: str, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> bool:
    """``kwargs.get("stream")``, of the keywords called ``name``."""
    call = parents.get(parents[node])
    return isinstance(call, cst.Call) and asked_of(call) == name


def asked_of(call: cst.Call) -> str | None:
    """``kwargs`` of ``kwargs.get("stream")``, which is false where there is none."""
    match call:
        case cst.Call(
            func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="get")),
            args=[cst.Arg(value=cst.SimpleString() as key, star=""), *rest],
        ) if key.evaluated_value == _STREAM:
            return name if all(_truth(argument.value) is False for argument in rest) else None
        case _:
            return None


def _leaves_keys(node: cst.Name, parent: cst.CSTNode | None) -> bool:
    """Whether a use of a dict gives it no other keys than those written there."""
    match parent:
        case cst.Arg(star="**"):
            return True
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString()))]):
            return True
        case cst.Attribute(value=value, attr=cst.Name(value="get" | "pop" | "setdefault")):
            return value is node
        case _:
            return False


def _is_poured(
    node: cst.Name, parent: cst.CSTNode | None, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> bool:
    """Whether the entries of a dict are copied to another, or its name given to one."""
    match parent:
        case cst.StarredDictElement() | cst.AssignTarget() | cst.BinaryOperation(operator=cst.BitOr()):
            return True
        case cst.Attribute(attr=cst.Name(value="items")):
            return is_copied(parents[parent], parents)
        case cst.Arg(keyword=None, star=""):
            match parents.get(parent):
                case cst.Call(func=cst.Name(value="dict") | cst.Attribute(attr=cst.Name(value="update"))):
                    return True
            return False
        case _:
            return False


class Flags:
    """Which flags decide whether a call streams, and whose flags those are further out."""

    def __init__(self) -> None:
        self._outer: dict[object, dict[object, None]] = {}

    def add(self, site: Site, flag: object) -> None:
        """``flag`` decides ``stream=`` of ``site``."""
        stack = [flag]
        while stack:
            found = stack.pop()
            if found not in site.flags:
                site.flags.add(found)
                stack.extend(self._outer.get(found, ()))

    def join(self, sites: Iterable[Site], flag: object, outer: object) -> None:
        """``flag`` is always what ``outer`` is."""
        self._outer.setdefault(flag, {})[outer] = None
        for site in sites:
            if flag in site.flags:
                self.add(site, outer)


def handed_on(
    function: Function, flags: Iterable[str], call: Invocation, names: list[str]
) -> Iterator[tuple[object, object]]:
    """The flags of ``function`` that ``call`` fills with those of the function around it, with these."""
    outer = call.scope
    if not isinstance(outer, Function) or outer is function or not _is_only_call(function, outer):
        return
    for name in flags:
        argument = _argument(call, names, name)
        if name == "**" or argument is None:
            poured = any(item.keyword == "**" for item in call.arguments)
            inner = flag_of(function, name)
            off = name == "**" or _truth(_default(function, name)) is False
            if poured and off and hands_on_keywords(outer) and outer.double_star is not None:
                yield inner, outer.double_star
            continue
        node = argument.node.value if isinstance(argument.node, cst.Arg) else None
        if isinstance(node, cst.Name) and node.value in outer.parameters:
            yield flag_of(function, name), outer.parameters[node.value]


def _is_only_call(function: Function, outer: Function) -> bool:
    """Whether the body of ``outer`` names ``function`` once: what it answers comes from there."""
    return (
        sum(
            isinstance(node, cst.Call) and _tail(node.func) == function.name for node in walk(outer.node.body)
        )
        == 1
    )


def _tail(node: cst.BaseExpression) -> str:
    name = node.attr if isinstance(node, cst.Attribute) else node
    return name.value if isinstance(name, cst.Name) else ""


def flag_of(function: Function, name: str) -> Var | DictValue:
    """What stands for a flag of ``function``: the parameter, or the dict of its keywords."""
    if name == "**" and function.double_star is not None:
        return function.double_star
    return function.parameters[name]


class Settled:
    """The flags of ``function`` that ``call`` settles; it can give ``names`` by place."""

    def __init__(self, function: Function, flags: Iterable[str], call: Invocation, names: list[str]) -> None:
        self._values: dict[Var | DictValue, bool] = {}
        for name in flags:
            value = _given(function, call, names, name)
            if value is not None:
                self._values[flag_of(function, name)] = value
        self.keeps_silent = (
            "**" in flags
            and _argument(call, names, "**") is None
            and (self._values.get(flag_of(function, "**")) is False)
        )

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
    argument = _argument(call, names, name)
    if argument is None:
        if any(item.keyword in ("*", "**") for item in call.arguments):
            return None
        return False if name == "**" else _truth(_default(function, name))
    return _truth(argument.node.value if isinstance(argument.node, cst.Arg) else argument.node)


def _argument(call: Invocation, names: list[str], name: str) -> Argument | None:
    """What ``call`` gives for a flag, by name or by place."""
    argument = call.named(_STREAM if name == "**" else name)
    if argument is not None or name not in names:
        return argument
    places = [item for item in call.arguments if item.keyword is None]
    position = names.index(name)
    return places[position] if position < len(places) else None


def _default(function: Function, name: str) -> cst.CSTNode | None:
    parameters = function.node.params
    for parameter in (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params):
        if parameter.name.value == name:
            return parameter.default
    return None


def _truth(node: cst.CSTNode | None) -> bool | None:
    words: dict[str, bool] = {"True": True, "False": False, "None": False}
    return words.get(node.value) if isinstance(node, cst.Name) else None

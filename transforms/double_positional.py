"""Recorded arguments that a call was given by their place: those of a request have names.

So what is read of them is nothing of the API: ``slot.call_args[0][0].text``, or ``args[0]`` after
``args, kwargs = slot.call_args``.
"""

from __future__ import annotations

import libcst as cst

from ..know.modules import Module
from .tested import key_asked

_RECORDED = ("call_args", "await_args")


_DEPTH = 4  # names after which it is not followed any more


def is_positional(module: Module, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
    """Whether ``node`` is one of the positional arguments of a recorded call, or what is read of one."""
    match node:
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="args"))):
            return True
        case cst.Subscript(value=cst.Subscript() as places) if _is_first(places) and _is_record(
            module, places.value
        ):
            return key_asked(node) is None
        case cst.Name():
            return depth > 0 and _is_taken_out(module, node, depth - 1)
        case cst.Subscript(value=cst.Name() as name) if key_asked(node) is None and _is_unpacked(
            module, name
        ):
            return True
        case cst.Attribute(value=value) | cst.Subscript(value=value):
            return is_positional(module, value, depth)
        case _:
            return False


def _is_first(node: cst.Subscript) -> bool:
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]:
            return True
        case _:
            return False


def _is_taken_out(module: Module, name: cst.Name, depth: int) -> bool:
    """Whether ``name`` only ever gets one of them, or what is read of one: ``x = slot.call_args[0][0]``."""
    found = _assigned(module, name)
    return bool(found) and all(
        _gives_one(module, each.targets[0].target, each.value, depth) for each in found
    )


def _gives_one(module: Module, target: cst.BaseExpression, value: cst.BaseExpression, depth: int) -> bool:
    is_unpacked = isinstance(target, (cst.Tuple, cst.List))  # `one, other = slot.call_args[0]`
    if (
        is_unpacked
        and isinstance(value, cst.Subscript)
        and _is_first(value)
        and _is_record(module, value.value)
    ):
        return True
    return not isinstance(value, cst.Name) and is_positional(module, value, depth)


def _assigned(module: Module, name: cst.Name) -> list[cst.Assign]:
    """What gives ``name`` a value in the function around it; nothing if that is not all by assignments."""
    function = module.function(name)
    found: list[cst.Assign] = []
    for node in module.of(cst.Assign, cst.For, cst.CompFor, cst.AsName, cst.NamedExpr, cst.AugAssign):
        match node:
            case cst.Assign(targets=targets):
                bound = any(_binds(target.target, name.value) for target in targets)
            case cst.AsName(name=target) | cst.For(target=target):
                bound = _binds(target, name.value)
            case cst.CompFor(target=target) | cst.NamedExpr(target=target) | cst.AugAssign(target=target):
                bound = _binds(target, name.value)
            case _:
                continue
        if bound and module.function(node) is function:
            if not isinstance(node, cst.Assign):
                return []
            found.append(node)
    return found


def _is_unpacked(module: Module, name: cst.Name) -> bool:
    """Whether ``name`` is only ever given the positional arguments of a recorded call around it."""
    found = _assigned(module, name)
    return bool(found) and all(
        _gives_places(module, assign.targets[0].target, assign.value) for assign in found
    )


def _binds(target: cst.BaseExpression, name: str) -> bool:
    if isinstance(target, (cst.Tuple, cst.List)):
        return any(_binds(element.value, name) for element in target.elements)
    return isinstance(target, cst.Name) and target.value == name


def _gives_places(module: Module, target: cst.BaseExpression, value: cst.BaseExpression) -> bool:
    """``args, kwargs = slot.call_args``, ``args = slot.call_args[0]``, ``args = slot.call_args.args``."""
    match target, value:
        case cst.Tuple(elements=[cst.Element(value=cst.Name()), _]), _:
            return _is_record(module, value)
        case cst.Name(), cst.Attribute(value=record, attr=cst.Name(value="args")):
            return _is_record(module, record)
        case cst.Name(), cst.Subscript(
            value=record, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]
        ):
            return _is_record(module, record)
        case _:
            return False


def _is_record(module: Module, node: cst.BaseExpression) -> bool:
    """``slot.call_args``, ``slot.call_args_list[0]``, or a name for one."""
    match node:
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in _RECORDED
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value=name))):
            return name in [f"{one}_list" for one in _RECORDED]
        case cst.Name():
            found = _assigned(module, node)
            return bool(found) and all(
                not isinstance(assign.value, cst.Name)
                and isinstance(assign.targets[0].target, cst.Name)
                and _is_record(module, assign.value)
                for assign in found
            )
        case _:
            return False

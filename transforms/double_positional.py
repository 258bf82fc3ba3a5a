"""Recorded arguments that a call was given by their place: those of a request have names.

So what is read of them is nothing of the API: ``slot.call_args[0][0].text``, or ``args[0]`` after
``args, kwargs = slot.call_args``.
"""

from __future__ import annotations

import libcst as cst

from ..know.modules import Module
from .tested import key_asked

_RECORDED = ("call_args", "await_args")


def is_positional(module: Module, node: cst.BaseExpression) -> bool:
    """Whether ``node`` is one of the positional arguments of a recorded call, or what is read of one."""
    match node:
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="args"))):
            return True
        case cst.Subscript(value=cst.Subscript(value=cst.Attribute(attr=cst.Name(value=name)))) if (
            name in _RECORDED
        ):
            return key_asked(node) is None
        case cst.Subscript(value=cst.Name() as name) if key_asked(node) is None:
            return _is_unpacked(module, name)
        case cst.Attribute(value=value) | cst.Subscript(value=value):
            return is_positional(module, value)
        case _:
            return False


def _is_unpacked(module: Module, name: cst.Name) -> bool:
    """Whether ``name`` is only ever given the positional arguments of a recorded call around it."""
    found = [
        assign
        for assign in module.of(cst.Assign)
        if isinstance(assign, cst.Assign)
        and module.function(assign) is module.function(name)
        and any(_binds(target.target, name.value) for target in assign.targets)
    ]
    return bool(found) and all(_gives_places(assign.targets[0].target, assign.value) for assign in found)


def _binds(target: cst.BaseExpression, name: str) -> bool:
    if isinstance(target, (cst.Tuple, cst.List)):
        return any(_binds(element.value, name) for element in target.elements)
    return isinstance(target, cst.Name) and target.value == name


def _gives_places(target: cst.BaseExpression, value: cst.BaseExpression) -> bool:
    """``args, kwargs = slot.call_args``, ``args = slot.call_args[0]``, ``args = slot.call_args.args``."""
    match target, value:
        case cst.Tuple(elements=[cst.Element(value=cst.Name()), _]), _:
            return _is_record(value)
        case cst.Name(), cst.Attribute(value=record, attr=cst.Name(value="args")):
            return _is_record(record)
        case cst.Name(), cst.Subscript(
            value=record, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]
        ):
            return _is_record(record)
        case _:
            return False


def _is_record(node: cst.BaseExpression) -> bool:
    """``slot.call_args``, ``slot.call_args_list[0]``."""
    match node:
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in _RECORDED
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value=name))):
            return name in [f"{one}_list" for one in _RECORDED]
        case _:
            return False

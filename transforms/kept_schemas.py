"""Schemas that a flat tool copies, ``{"type": "function", **schema}``: they keep their own form.

Who has such a dict otherwise sees what he has seen before. Only what takes it out of the tool gets the tool.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import DictValue, Place
from ..know.modules import Module
from .context import WRITES, Context
from .flatten import can_flatten
from .reading import builtin

_LEVEL = "function"
_SPELLED = frozenset({"literal", "keyword"})
# They look at what they are given, and give nothing of it back.
_LOOKS = frozenset({"isinstance", "print", "type"})


def kept_schemas(context: Context) -> set[DictValue]:
    """The dicts inside of tools that stay as they are when the tools become flat."""
    found = context.memo.get("kept_schemas")
    if not isinstance(found, set):
        found = context.memo["kept_schemas"] = _kept_schemas(context)
    return found


def _kept_schemas(context: Context) -> set[DictValue]:
    tools: dict[DictValue, list[DictValue]] = {}
    for tool in context.dicts():
        if _LEVEL in tool.fields:
            for part in tool.fields[_LEVEL].values:
                if isinstance(part, DictValue):
                    tools.setdefault(part, []).append(tool)
    return {
        part
        for part, around in tools.items()
        if all(_is_copied_by(tool) for tool in around) and not _is_taken_out(context, part)
    }


def _is_copied_by(tool: DictValue) -> bool:
    """Whether the inside of ``tool`` is something else's dict, which is poured into the flat one."""
    places = [place for place in tool.places.get(_LEVEL, ()) if place.how in WRITES]
    values = [place.node.value for place in places if isinstance(place.node, (cst.DictElement, cst.Arg))]
    return (
        bool(places)
        and len(values) == len(places)
        and all(place.how in _SPELLED for place in places)
        and not any(can_flatten(value) for value in values)
    )


def _is_taken_out(context: Context, part: DictValue) -> bool:
    """Whether ``tool["function"]`` goes on to something that may ask or change it later."""
    return any(
        is_taken(context, node) and not _is_used_up(context, node, module)
        for node, module in context.holders(part)
    )


def is_taken(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node``, which can be a schema, takes it out of a tool."""
    match node:
        case cst.Subscript(value=owner) | cst.Call(func=cst.Attribute(value=owner)):
            return any(
                isinstance(value, DictValue) and _LEVEL in value.fields
                for value in context.project.values(owner)
            )
        case _:
            return False


def _is_used_up(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether what is done with ``node`` ends where it stands: ``tool["function"]["name"]`` is read."""
    match parent := module.parents.get(node):
        case cst.Subscript(value=value) if value is node:
            holder = module.parents.get(parent)
            return not isinstance(holder, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del))
        case cst.ComparisonTarget(operator=cst.In() | cst.NotIn()):
            return True
        case cst.Attribute(value=value, attr=cst.Name(value="get")) if value is node:
            call = module.parents.get(parent)
            return isinstance(call, cst.Call) and call.func is parent
        case cst.Arg(star=""):
            call = module.parents.get(parent)
            return isinstance(call, cst.Call) and builtin(context, call) in _LOOKS
        case _:
            return False


def asks_tool(context: Context, place: Place) -> bool:
    """Whether the key that ``place`` asks a kept schema for is asked of the tool around it."""
    match place.node:
        case cst.Call(func=cst.Attribute(value=owner)) | cst.Subscript(value=owner):
            return is_taken(context, owner)
        case cst.Comparison(comparisons=targets):
            return any(is_taken(context, target.comparator) for target in targets)
        case _:
            return True

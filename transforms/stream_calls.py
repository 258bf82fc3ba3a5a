"""Streamed tool calls: how their pieces are taken (MR408, trap D13).

``response.output_item.done`` brings a whole call: code that adds up pieces does the same with one piece.
Code that shows the arguments while they are written takes the deltas; code that asks only which function
is called takes ``response.output_item.added``.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Kind, SeqValue
from .access import replace_read, same
from .context import Context
from .snippets import attribute
from .stream_region import Region

_GATHERING = frozenset({"append", "extend", "setdefault", "update", "get", "add", "insert", "len"})
_NAMES = {"id": "call_id", "name": "name", "arguments": "arguments"}


def choose(region: Region) -> None:
    """Decide how ``region`` takes the pieces, and find the lists that are filled by index."""
    read: set[str] = set()
    live = False
    for node in region.nodes():
        if not isinstance(node, cst.BaseExpression):
            continue
        piece = region.piece(node)
        if piece is not None and not _is_tested(region, node):
            read.add(piece)
            live |= piece == "arguments" and _is_shown(region, node)
        elif region.kind(node) is Kind.DELTA_CALL and _is_kept(region, node):
            read.add("whole")
    if read and not read & {"arguments", "whole"}:
        region.calls = "opening"
    elif live:
        region.calls = "arguments"
    elif not read:
        region.calls = "opening"
    region.lists = set(_indices(region))


def _is_tested(region: Region, node: cst.BaseExpression) -> bool:
    from .access import truth_tested

    return truth_tested(region.module, node) or isinstance(region.module.parents.get(node), cst.Comparison)


def _is_kept(region: Region, node: cst.BaseExpression) -> bool:
    parent = region.module.parents.get(node)
    if isinstance(parent, cst.Assign):
        return not isinstance(parent.targets[0].target, cst.Name)
    return isinstance(parent, (cst.Arg, cst.Element, cst.DictElement, cst.Yield, cst.Return))


def _is_shown(region: Region, node: cst.BaseExpression) -> bool:
    """Whether the piece goes where somebody sees it as it comes."""
    for parent in region.module.ancestors(node):
        if isinstance(parent, cst.Call):
            func = parent.func
            name = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
            if name not in _GATHERING:
                return True
        elif isinstance(parent, cst.Yield):
            return True
        elif isinstance(parent, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


def _indices(region: Region) -> list[cst.CSTNode]:
    """The indices of calls that stand between the brackets of a list."""
    found: list[cst.CSTNode] = []
    for node in region.nodes():
        if (
            isinstance(node, cst.Subscript)
            and len(node.slice) == 1
            and isinstance(node.slice[0].slice, cst.Index)
        ):
            index = node.slice[0].slice.value
            lists = [
                value for value in region.context.project.values(node.value) if isinstance(value, SeqValue)
            ]
            if lists and region.is_index(index):
                found.append(index)
    return found


def outside(context: Context, understood: set[cst.CSTNode]) -> set[cst.CSTNode]:
    """Calls that were kept as they came are items of the answer: their fields have new names."""
    found: set[cst.CSTNode] = set()
    for node, module, shapes in context.shaped:
        kinds = {shape.kind for shape in shapes}
        if (
            node in understood
            or not isinstance(node, cst.BaseExpression)
            or not kinds <= {Kind.DELTA_CALL, Kind.DELTA_FUNCTION}
        ):
            continue
        sites = {shape.site for shape in shapes}
        parent = module.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.value is node:
            name = parent.attr.value
            if kinds == {Kind.DELTA_CALL} and name == "function":
                context.edit(parent, module, sites, replace_read(same), "MR408")
            elif name in _NAMES:
                new = _NAMES[name]
                context.edit(
                    parent, module, sites, replace_read(lambda base, new=new: attribute(base, new)), "MR408"
                )  # type: ignore[misc]
            else:
                continue
            found.add(node)
        elif (
            (isinstance(parent, (cst.For, cst.CompFor)) and parent.target is node)
            or (isinstance(parent, (cst.Assign, cst.AssignTarget)) and kinds == {Kind.DELTA_CALL})
            or isinstance(node, cst.Subscript)
        ):
            found.add(node)
    return found


__all__ = ["choose", "outside"]

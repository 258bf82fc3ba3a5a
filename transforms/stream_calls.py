"""Streamed tool calls: how their pieces are taken (MR408, trap D13).

``response.output_item.done`` brings a whole call: code that adds up pieces does the same with one piece.
Code that shows the arguments while they are written takes the deltas; code that asks only which function
is called takes ``response.output_item.added``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import Module, walk
from .context import Context
from .reading import fixed, named, replace_read, same, truth_tested
from .stream_lists import indices
from .stream_parts import On
from .stream_pieces import GATHERING
from .stream_region import Region

_NAMES = {"id": "call_id", "name": "name", "arguments": "arguments"}


def choose(region: Region) -> None:
    """Decide how ``region`` takes the pieces, and find the lists that are filled by index."""
    asked: set[str] = set()
    live = False
    for node in region.nodes():
        piece = region.piece(node) if isinstance(node, cst.BaseExpression) else None
        if piece is not None and isinstance(node, cst.BaseExpression):
            asked.add(piece)
            live |= piece == "arguments" and not _is_tested(region, node) and _is_shown(region, node)
    read = taken(region, region.nodes())
    if live and not asked & {"id", "name"}:
        region.calls = "arguments"
    elif live and "whole" not in read:
        region.calls = "live"
        region.everything |= {On.PIECE}
    elif not live and not asked & {"arguments"} and "whole" not in read:
        region.calls = "opening"
    region.lists = {index for index, grows in indices(region) if grows}


def taken(region: Region, nodes: Iterable[cst.CSTNode]) -> set[str]:
    """What of streamed calls is read in ``nodes``, not only tested; ``whole`` where one is kept as it is."""
    found = set()
    for node in nodes:
        if not isinstance(node, cst.BaseExpression):
            continue
        piece = region.piece(node)
        if piece is not None and not _is_tested(region, node):
            found.add(piece)
        elif region.kind(node) is Kind.DELTA_CALL and _is_kept(region, node):
            found.add("whole")
    return found


def misused(region: Region) -> Iterator[cst.BaseExpression]:
    """Indices of calls that are more than keys: a call's place in the answer is another number."""
    for node in region.nodes():
        if isinstance(node, cst.BaseExpression) and region.is_index(node) and not _is_key(region, node):
            yield node
    yield from (index for index, grows in indices(region) if not grows)


def _is_key(region: Region, node: cst.BaseExpression) -> bool:
    parent = region.module.parents.get(node)
    match parent:
        case cst.Index():
            return True
        case cst.Arg():
            call = region.module.parents.get(parent)
            if not isinstance(call, cst.Call) or call.args[0] is not parent:
                return False
            return isinstance(call.func, cst.Attribute) and call.func.attr.value in (
                "setdefault",
                "get",
                "pop",
            )
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) | cst.AnnAssign(target=target):
            return isinstance(target, cst.Name) and not _is_read_after(region, target)
        case cst.AssignTarget():
            return True
        case cst.Comparison() | cst.ComparisonTarget():
            test = parent if isinstance(parent, cst.Comparison) else region.module.parents[parent]
            return isinstance(test, cst.Comparison) and region.pure(test) is not None
        case cst.Attribute(attr=attr):
            return attr is node  # no variable at all
        case cst.BinaryOperation():  # `len(calls) < call.index + 1`
            whole = region.module.parents[parent]
            return isinstance(whole, (cst.Comparison, cst.ComparisonTarget)) and _is_key(region, parent)
        case cst.BooleanOperation():  # `call.index or 0`
            return region.is_index(parent) and _is_key(region, parent)
        case _:
            return False


def _is_read_after(region: Region, name: cst.Name) -> bool:
    """Whether the name of an index is read outside of ``region``, where it may count."""
    inside = set(region.nodes())
    return any(
        isinstance(node, cst.Name)
        and node.value == name.value
        and node not in inside
        and not isinstance(region.module.parents.get(node), cst.AssignTarget)
        for node in walk(region.module.function(region.node) or region.module.tree)
    )


def _is_tested(region: Region, node: cst.BaseExpression) -> bool:
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
            if name not in GATHERING:
                return True
        elif isinstance(parent, cst.Yield):
            return True
        elif isinstance(parent, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


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
            elif kinds == {Kind.DELTA_CALL} and name == "type":
                context.edit(parent, module, sites, replace_read(fixed('"function"')), "MR408")
            elif name in _NAMES:
                context.edit(parent, module, sites, replace_read(named(_NAMES[name])), "MR408")
            else:
                continue
            found.add(node)
        elif (
            (isinstance(parent, (cst.For, cst.CompFor)) and parent.target is node)
            or (isinstance(parent, cst.Element) and _is_loop_target(parent, module))
            or (isinstance(parent, (cst.Assign, cst.AssignTarget)) and kinds == {Kind.DELTA_CALL})
            or isinstance(node, cst.Subscript)
        ):
            found.add(node)
    return found


def _is_loop_target(node: cst.Element, module: Module) -> bool:
    """Whether ``node`` is the ``call`` of ``for index, call in calls.items():``."""
    pair = module.parents[node]
    loop = module.parents.get(pair)
    return isinstance(loop, (cst.For, cst.CompFor)) and loop.target is pair


__all__ = ["choose", "outside"]

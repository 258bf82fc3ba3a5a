"""Names for parts of a chunk, which are the event now: ``delta = chunk.choices[0].delta``.

A name that is read where it may hold what an earlier chunk had stays a variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import bound_by, walk
from .stream_parts import SAME

if TYPE_CHECKING:
    from .stream_region import Region


@dataclass(eq=False, repr=False)
class Alias:
    """``name = <part of the chunk>``, once in a region; ``node`` is the statement or the ``:=``."""

    name: str
    kind: Kind
    node: cst.CSTNode
    value: cst.BaseExpression
    used_after: bool = False  # outside the region
    kept: bool = False  # stays a variable


def find(region: Region) -> list[cst.Name]:
    """Fill ``region.aliases``; the names that stand for the event, but may be of an earlier chunk."""
    found: list[Alias] = []
    bound = Counter(name for node in region.nodes() for name in bound_by(node))
    for node in region.nodes():
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                found.append(Alias(name, Kind.CHUNK, node, value))
            case cst.AnnAssign(target=cst.Name(value=name), value=cst.BaseExpression() as value):
                found.append(Alias(name, Kind.CHUNK, node, value))
            case cst.NamedExpr(target=cst.Name(value=name), value=value):
                found.append(Alias(name, Kind.CHUNK, node, value))
            case cst.For(target=cst.Name(value=name)):
                kinds = {shape.kind for shape in region.context.project.shapes(node.target)}
                if kinds in ({Kind.DELTA_CALL}, {Kind.CHUNK_CHOICE}):
                    region.aliases[name] = Alias(name, kinds.pop(), node, node.iter)
    _add(region, found, bound)
    strays: list[cst.Name] = []
    for alias in region.aliases.values():
        read_late = list(_strays(region, alias)) if bound[alias.name] == 1 else []
        if alias.kind in SAME:
            strays += read_late
        else:
            alias.kept = bool(read_late) or bound[alias.name] > 1
    return strays


def _add(region: Region, found: list[Alias], bound: Counter[str]) -> None:
    inside = set(region.nodes())
    for _ in range(len(found) + 1):  # an alias of an alias
        for alias in found:
            if alias.name in region.aliases or alias.name == region.name:
                continue
            kind = region.kind(alias.value)
            if kind is None or (bound[alias.name] > 1 and kind not in SAME):
                continue
            alias.kind = kind
            alias.used_after = _is_used_after(region, alias, inside)
            region.aliases[alias.name] = alias


def _strays(region: Region, alias: Alias) -> Iterator[cst.Name]:
    """Where an alias that is made under a test, or below, is read for what an earlier chunk had."""
    around = alias.node if isinstance(alias.node, cst.For) else _block(region, alias.node)
    made = False
    for node in region.nodes():
        made = made or node is alias.node
        if not isinstance(node, cst.Name) or node.value != alias.name:
            continue
        if isinstance(region.module.parents.get(node), (cst.AssignTarget, cst.NamedExpr, cst.AnnAssign)):
            continue
        if region.context.project.vars.get(node) is None:
            continue  # the name of an attribute or a keyword
        if not made or (around is not None and around not in region.module.ancestors(node)):
            yield node


def _block(region: Region, node: cst.CSTNode) -> cst.CSTNode | None:
    """What has to run for ``node`` to run, within the region; None if it always does."""
    for parent in region.module.ancestors(node):
        if parent in region.roots or parent is region.node:
            return None
        if isinstance(parent, (cst.If, cst.While, cst.For)):
            return parent
    return None


def _is_used_after(region: Region, alias: Alias, inside: set[cst.CSTNode]) -> bool:
    scope = region.module.function(region.node)
    for node, module, shapes in region.context.shaped:
        if module is not region.module or not isinstance(node, cst.Name) or node.value != alias.name:
            continue
        if node in inside or module.function(node) is not scope or is_bound_again(region, node):
            continue
        if any(shape.kind is alias.kind and shape.site in region.sites for shape in shapes):
            return True
    return False


def is_bound_again(region: Region, node: cst.Name) -> bool:
    """Whether ``node`` stands in another loop, which gives the name a value of its own."""
    above = list(region.module.ancestors(node))
    for item in above:
        if isinstance(item, (cst.BaseSimpleComp, cst.DictComp)) and node.value in bound_by(item.for_in):
            return True
    return any(
        region.node not in region.module.ancestors(loop)
        and loop is not region.node
        and region.node not in set(walk(loop))
        and any(node.value in bound_by(inner) for inner in walk(loop.body))
        for loop in above
        if isinstance(loop, cst.For)
    )

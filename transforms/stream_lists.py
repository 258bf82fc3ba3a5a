"""Lists that get one more item with each streamed call: where the index was, there the last item is meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from ..know.kinds import DictValue, SeqValue

if TYPE_CHECKING:
    from .stream_region import Region


def growing(region: Region) -> frozenset[str]:
    """The lists that the code of ``region`` adds to, as they are written there."""
    return frozenset(region.module.tree.code_for_node(node) for node in _added_to(region))


def _added_to(region: Region) -> Iterator[cst.BaseExpression]:
    for node in region.nodes():
        match node:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="append" | "extend"))):
                yield owner
            case cst.AugAssign(target=owner, operator=cst.AddAssign(), value=cst.List()):
                yield owner
            case _:
                continue


def indices(region: Region) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The indices of calls that stand between the brackets of a list, and whether that list grows."""
    for node in region.nodes():
        match node:
            case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                pass
            case _:
                continue
        if region.is_index(index):
            values = region.context.project.values(owner)
            grows = region.grows(owner)
            if any(isinstance(value, SeqValue) for value in values) or (
                grows and not any(isinstance(value, DictValue) for value in values)
            ):
                yield index, grows

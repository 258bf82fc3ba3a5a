"""Tests that a loop over a stream asks as often as it likes, for each event as for each chunk."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Bound, Function
from ..know.modules import walk
from .context import Context
from .stream_need import is_poll

# What gives something else, or less, each time it is asked.
_TAKES = frozenset(
    "next anext pop popleft popitem get_nowait acquire consume send read readline append add"
    " increment".split()
)


def polls(context: Context, node: cst.CSTNode) -> bool:
    """``if cancelled(): break``, where asking changes nothing."""
    return is_poll(node) and isinstance(node, cst.If) and not _takes(context, node.test, set())


def _takes(context: Context, node: cst.CSTNode, seen: set[cst.CSTNode]) -> bool:
    """Whether the calls in ``node`` take something away or count how often they are made."""
    if node in seen:
        return False
    seen.add(node)
    for call in walk(node):
        if not isinstance(call, cst.Call):
            continue
        name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        if isinstance(name, cst.Name) and name.value in _TAKES:
            return True
        for value in context.project.values(call.func):
            function = value.function if isinstance(value, Bound) else value
            if isinstance(function, Function) and (
                any(_keeps(inner) for inner in walk(function.node.body))
                or _takes(context, function.node.body, seen)
            ):
                return True
    return False


def _keeps(node: cst.CSTNode) -> bool:
    """Whether something is still changed when the function is over."""
    match node:
        case cst.Global() | cst.Nonlocal():
            return True
        case cst.AssignTarget(target=target) | cst.AugAssign(target=target):
            return isinstance(target, (cst.Attribute, cst.Subscript))
        case _:
            return False

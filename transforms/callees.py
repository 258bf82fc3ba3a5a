"""Keywords at calls that can reach several functions: a new name must suit all of them (MR120)."""

from __future__ import annotations

import libcst as cst

from ..know import models
from ..know.kinds import Bound, Class, External, Function, Place, Value
from ..know.subclassing import shapers
from .context import Context, Keyword
from .taken_out import kept_by


def other_taker(context: Context, item: Keyword) -> str | None:
    """Who else takes the keyword ``item`` under its old name, if a caller gives it to several functions.

    ``item`` stands in the ``**kwargs`` of one of them. It may be renamed for another if that one only
    hands its keywords on to calls that are migrated too.
    """
    if item.holder is None or not isinstance(item.holder.node, cst.Param):
        return None
    for callee in _callees(context, item.place):
        name = _takes(context, callee, item)
        if name is not None:
            return name
    return None


def _callees(context: Context, place: Place) -> list[Value]:
    call = place.module.parents.get(place.node)
    if isinstance(call, cst.ClassDef):
        return list(shapers(context.project, context.project.classes[call]))
    known = context.memo.get("callees")
    if known is None:
        known = context.memo["callees"] = _by_node(context)
    assert isinstance(known, dict)
    return list(known.get(call, ()))


def _by_node(context: Context) -> dict[cst.CSTNode, list[Value]]:
    found: dict[cst.CSTNode, list[Value]] = {}
    for invocation, callees in context.project.callees.items():
        found.setdefault(invocation.node, []).extend(callees)
    return found


def _takes(context: Context, callee: Value, item: Keyword) -> str | None:
    """The name of ``callee`` if the keyword ``item`` must not be renamed for it."""
    if isinstance(callee, Class):
        found = callee.members.get("__init__")
        inner = [value for value in found.values if isinstance(value, Function)] if found is not None else []
        return next((name for value in inner if (name := _takes(context, value, item))), None)
    if isinstance(callee, External):
        passes_on = callee.path in models.RUNNERS or callee.path in _PASS_ON
        tail = callee.path.rpartition(".")[2]
        return None if passes_on or tail in models.RUNNER_METHODS else f"{callee.path}"
    function = callee.function if isinstance(callee, Bound) else callee
    if not isinstance(function, Function):
        return None
    if item.name in kept_by(function, set(item.place.module.ancestors(item.place.node))):
        return function.name
    dict_ = function.double_star
    return function.name if dict_ is not None and not context.senders(dict_) else None


_PASS_ON = frozenset({"functools.partial", "threading.Thread"})

"""Answers that are kept out of sight, and messages that come from there: they may be the same.

A list of the project's own class (``class History(list)``), a database, a file: the message of one call goes
in as a whole, and what another call sends comes out of it, in this run or a later one.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

import libcst as cst

from ..decide.contents import contents
from ..decide.escapes import Way
from ..know.graph import Var
from ..know.kinds import External, Kind, Place, Shape, Site, Value
from ..know.modules import Module
from .context import Context
from .history_bonds import UNTOLD
from .item_facts import STORES, answers_in, facts
from .messages import are_untold, messages_at
from .read_history import is_history


def plan(context: Context) -> None:
    """Bind the calls that share a history nobody can follow; hold back who reads one of earlier runs."""
    kept = [site for site in context.sites if _is_kept(context, site)]
    for site in context.sites if kept else ():
        if are_untold(context, site):
            program = context.project.program(site.module)
            others = [other for other in kept if other.module in program]
            context.plan.bind(*messages_at(context, site), [site, *others], UNTOLD)
    for sites, place in facts(context).added:
        answers = {shape.site for shape in answers_in(place.var)}
        stored = next(_written_back(context, place), None) if answers else None
        if stored is not None:
            text = f"`{context.source(place.node, place.module)}`"
            detail = f"{text} adds an answer to what {stored} keeps, where those of before have the old form"
            context.unsafe(place.node, place.module, sites | answers, "MR207", detail)


def _is_kept(context: Context, site: Site) -> bool:
    """Whether the message of an answer, whole, dumped or by its parts, gets to code that may keep it."""
    return any(
        escape.way is not Way.DISPLAY and not is_history(context, escape.node, escape.module)
        for kind in _PARTS
        for form in ("object", "dict", "json")
        for escape in context.escapes.of(Shape(kind, site, form))
    )


# Of a message that is written out anew: ``{"role": m.role, "function_call": m.function_call, ...}``.
_PARTS = (Kind.MESSAGE, Kind.TOOL_CALLS, Kind.FUNCTION_CALL, Kind.OTHER)


def _written_back(context: Context, place: Place) -> Iterator[str]:
    """The stores that the list, which something is added to at ``place``, comes from and goes back to."""
    if not isinstance(place.node, cst.Call) or not isinstance(place.node.func, cst.Attribute):
        return
    program = context.project.program(place.module)
    for value in context.project.values(place.node.func.value):
        if not isinstance(value, External) or not value.path.startswith(STORES):
            continue
        if value.path.startswith("shelve.") or _is_dumped(context, value, program):
            yield value.path.partition(".")[0]


def _is_dumped(context: Context, value: External, program: Container[Module]) -> bool:
    """Whether ``program`` writes what was read as ``value`` into a store."""
    return any(
        _holds(argument.var, value)
        for call, callees in context.project.callees.items()
        if call.module in program
        and any(isinstance(callee, External) and callee.path.startswith(STORES) for callee in callees)
        for argument in call.arguments
    )


def _holds(var: Var, wanted: Value) -> bool:
    """Whether ``wanted`` is in ``var``, or in a dict or list that is."""
    return any(value == wanted or wanted in contents(value) for value in var.values)

"""Every place that a flow touches, for people who have to see all of it at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from .decide.flows import Flow, Groups
from .know.kinds import STRUCTURAL, Const, DictValue, SeqValue, Site, Typed, Value
from .know.modules import Module
from .places import Places
from .results import FlowPlace, FlowResult, Joint, Level, Role, Verdict
from .transforms.context import Context

_MOST = 400  # places of one request that are told; a history fed from all over a project has more

Found = tuple[Role, cst.CSTNode, Module, str]


def trace(found: Iterable[tuple[Flow, Verdict]], context: Context, places: Places) -> tuple[FlowResult, ...]:
    """The flows with their verdicts, as they are reported."""
    answers: dict[Site, list[tuple[cst.CSTNode, Module]]] = {}
    for node, module, shapes in context.shaped:
        # Once it is text it is text in either API: where that goes is no matter of the flow.
        for site in {shape.site for shape in shapes if shape.kind in STRUCTURAL}:
            answers.setdefault(site, []).append((node, module))
    return tuple(
        FlowResult(
            flow.number,
            verdict,
            _placed(_of(flow, verdict, context, answers), places),
            tuple(_joints(flow, places)) if len(flow.sites) > 1 else (),
        )
        for flow, verdict in found
    )


def scope_of(node: cst.CSTNode, module: Module) -> str:
    """The names of the classes and functions around ``node``, outermost first, with dots."""
    names = [
        parent.name.value
        for parent in module.ancestors(node)
        if isinstance(parent, (cst.FunctionDef, cst.ClassDef))
    ]
    return ".".join(reversed(names))


def _of(
    flow: Flow, verdict: Verdict, context: Context, answers: dict[Site, list[tuple[cst.CSTNode, Module]]]
) -> Iterator[Found]:
    for site in flow.sites:
        yield Role.CALL, site.node, site.module, ""
        for client in site.clients:
            yield Role.CLIENT, client.node, client.module, ""
        for node, module in _request(site, context):
            yield Role.REQUEST, node, module, ""
        for node, module in answers.get(site, ()):
            yield Role.ANSWER, node, module, ""
    for edit in flow.edits:
        yield Role.EDIT, edit.node, edit.module, edit.code
    for reason in flow.reasons:
        if reason.level is Level.NOTE and verdict is not Verdict.MIGRATED:
            continue  # it tells what changes with the move
        yield Role.REASON, reason.node, reason.module, reason.code


def _request(site: Site, context: Context) -> Iterator[tuple[cst.CSTNode, Module]]:
    """Where the arguments of a call are written, and what is put into their lists and dicts."""
    told = 0
    seen: set[Value] = set()
    todo: list[Value] = []
    for keyword in context.request(site).keywords:
        yield keyword.place.node, keyword.place.module
        if keyword.place.var is not None:
            todo.extend(keyword.place.var.values)
    while todo and told < _MOST:
        value = todo.pop()
        if value in seen or not isinstance(value, (SeqValue, DictValue)):
            continue
        seen.add(value)
        yield value.node, value.module
        inner = (
            [value.element, *value.derived]
            if isinstance(value, SeqValue)
            else [value.everything, *value.merged]
        )
        written = (
            value.places if isinstance(value, SeqValue) else [p for ps in value.places.values() for p in ps]
        )
        for place in written:
            if place.how in _WRITING:
                yield place.node, place.module
                told += 1
        for var in inner:
            todo.extend(other for other in var.values if not isinstance(other, (Const, Typed)))


_WRITING = frozenset({"literal", "keyword", "store", "setdefault", "append", "insert", "extend"})


def _joints(flow: Flow, places: Places) -> Iterator[Joint]:
    """Enough of what the calls of a flow share to tell why they are one; what most share comes first."""
    shared: dict[tuple[cst.CSTNode, str], tuple[Module, str, set[Site]]] = {}
    for edit in flow.edits:
        shared.setdefault((edit.node, ""), (edit.module, edit.code, set()))[2].update(edit.sites)
    for reason, owners in flow.owners.items():
        if reason.level is not Level.NOTE:
            shared.setdefault((reason.node, ""), (reason.module, reason.code, set()))[2].update(owners)
    for bond in flow.bonds:
        shared.setdefault((bond.node, bond.why), (bond.module, "", set()))[2].update(bond.sites)
    own = set(flow.sites)
    groups = Groups(flow.sites)
    most_first = sorted(shared.items(), key=lambda item: -len(item[1][2] & own))
    for (node, why), (module, code, sites) in most_first:
        about = [site for site in flow.sites if site in sites]
        if len({groups.find(site) for site in about}) < 2:
            continue
        groups.join(about)
        place = _place(Role.EDIT, node, module, code, places)
        calls = [_place(Role.CALL, site.node, site.module, "", places) for site in about]
        if place.line:
            yield Joint(place, tuple(calls), scope_of(node, module), why)


def _place(role: Role, node: cst.CSTNode, module: Module, code: str, places: Places) -> FlowPlace:
    line, column = places.position(node, module)
    return FlowPlace(role, module.path, line, column, places.last_line(node, module), code)


def _placed(found: Iterable[Found], places: Places) -> tuple[FlowPlace, ...]:
    """One place for each role, line and code: the leftmost."""
    kept: dict[tuple[Role, str, int, str], FlowPlace] = {}
    for role, node, module, code in found:
        line, column = places.position(node, module)
        if not line:
            continue
        key = (role, module.path, line, code)
        if key not in kept or column < kept[key].column:
            kept[key] = FlowPlace(role, module.path, line, column, places.last_line(node, module), code)
    return tuple(
        sorted(kept.values(), key=lambda place: (place.path, place.line, place.column, place.role.value))
    )

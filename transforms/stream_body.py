"""Statements of a region: each acts on the events that stand for the chunks it acted on (MR401).

The loop's own guards become tests of the event's type; what has no guard of its own and handles text is
put under one. A statement that acts whatever the chunk says would now act on other events: it holds the
flow back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import children, walk
from . import stream_pieces
from .stream_layout import Guard, Layout
from .stream_lost import lost
from .stream_need import (
    WANTS,
    Need,
    is_quiet,
    prints_line,
    reads,
    writes,
)
from .stream_parts import (
    CALL_TESTS,
    FINISH,
    FIRST_TEST,
    REFUSAL_TEST,
    TERMINAL,
    TEXT_TEST,
    On,
    Reach,
    leaves,
    skips,
)
from .stream_polls import polls
from .stream_statements import Statements
from .stream_syntax import lets_look

FAILURE = """if v.type in ("response.failed", "error"):
    raise RuntimeError(f"the response failed: {v}")
"""
_GUARDS = {
    "text": TEXT_TEST,
    "refusal": REFUSAL_TEST,
    "role": FIRST_TEST,
    "finish": TERMINAL,
    "usage": TERMINAL,
}


@dataclass(eq=False, repr=False)
class Unit:
    """A statement of a block, with what the chunk can say there."""

    node: cst.CSTNode
    reach: Reach
    tag: str = ""
    passes: bool = False  # `if "x" not in text: continue`, which keeps what is below to itself
    skipped: Reach = frozenset()  # ends of the stream for which a `continue` came before
    guard: Guard | None = None


class Again(Exception):
    """An alias turned out to be needed as a variable."""


class Body(Statements):
    """Rewrites the statements of one region."""

    dirty: dict[str, set[str]]
    runs: int
    skipped: Reach
    fresh: dict[str, str]  # names that each text gets, in a statement that runs where there is one
    split: set[str]  # names whose test tells which of two parts runs: in both, they are what the event is

    def run(self, suite: cst.BaseSuite) -> None:
        """Rewrite the region whose statements are in ``suite``."""
        start = self.region.everything | {On.OTHER}
        self._keep_used_after()
        for _ in range(len(self.region.aliases) + 1):
            self.dirty, self.fresh, self.runs = {}, {}, 0
            self.skipped, self.needless, self.split = frozenset(), set(), set()
            self.understood.clear()
            try:
                self._survey_all(suite, start)
                break
            except Again:
                continue
        self.dirty, self.fresh, self.runs = {}, {}, 0
        self.skipped, self.needless = frozenset(), set()
        self.understood.clear()
        self.block(suite, start, loop=not self.region.is_function)

    def _keep_used_after(self) -> None:
        for stray in self.region.strays:
            self.hold(stray, "may be of an earlier chunk")
        for name in self.region.inner.later:
            if self.region.kind(name) is not None:
                self.hold(name, "is read by a function that may run when another chunk has come")
        for alias in self.region.aliases.values():
            if alias.used_after and alias.kind in (Kind.CHUNK_FINISH, Kind.USAGE):
                alias.kept = True
            elif alias.used_after:
                self.hold(alias.node, "is used after the loop")

    def _survey_all(self, suite: cst.BaseSuite, reach: Reach) -> None:
        """Find the aliases that must stay variables."""
        for unit in self._units(suite, reach, Layout(self.region.new)):
            kept = self.survey(unit.node, unit.reach).aliases - self.split
            if kept:
                for name in kept:
                    self.region.aliases[name].kept = True
                raise Again

    # -- blocks --------------------------------------------------------------------------

    def block(self, suite: cst.BaseSuite, reach: Reach, loop: bool = False) -> None:
        """Rewrite the statements of ``suite``."""
        layout = Layout(self.region.new)
        units = self._units(suite, reach, layout)
        self._tag(units)
        self._guard(units, layout, loop)
        for unit in units:
            self.ended = unit.skipped
            self.statement(unit.node, unit.reach)
        if loop and self.context.settings.raise_on_failure and self.region.of_chunks:
            layout.first.append(FAILURE)
        if layout:
            self.context.edit(suite, self.module, self.sites, layout.apply, "MR401")

    def _units(self, suite: cst.BaseSuite, reach: Reach, layout: Layout) -> list[Unit]:
        units: list[Unit] = []
        self._collect(suite, reach, layout, units)
        return units

    def _collect(self, suite: cst.BaseSuite, reach: Reach, layout: Layout, units: list[Unit]) -> Reach:
        for node in suite.body:
            if node in self.needless:
                layout.dropped.add(node)
            elif reach <= WANTS["call"] and stream_pieces.is_added(self.region, node):
                layout.dropped.add(node)  # the call that is kept is whole
                self.forget(node)
            elif self.alias_at(node) is not None:
                layout.dropped.add(node)
                if self.need is None:
                    self.understood.update(walk(node))
            elif isinstance(node, cst.Try) and self._only_aliases(node):
                layout.dropped.add(node)
                self.forget(node)
            elif isinstance(node, cst.If):
                reach = self._collect_if(node, reach, layout, units)
            elif (
                isinstance(node, cst.For)
                and self._calls_of(node) is not None
                and (reach <= WANTS["call"] or self.asks_by_itself(node))
            ):
                layout.dissolved[node] = (True, False)
                self.forget(node.iter, node.target)
                self.no_break(node)
                self._collect(node.body, reach, layout, units)
            elif isinstance(node, cst.For) and self.is_over_choices(node):
                layout.dissolved[node] = (True, False)
                self.forget(node.iter, node.target)
                self._jumps(node, node is suite.body[-1])
                self._collect(node.body, reach - {On.USAGE}, layout, units)
            elif isinstance(node, cst.While) and reach <= WANTS["call"] and self.region.pure(node.test):
                layout.dissolved[node] = (True, False)
                self.forget(node.test)
                self._collect(node.body, reach, layout, units)
            else:
                units.append(Unit(node, reach, skipped=self.skipped))
        return reach

    def _skip(self, node: cst.If, must: Reach) -> None:
        """``if <usage>: ...; continue``: the end of the stream is in the same event, and must be seen."""
        last = node.body.body[-1]
        line = last if isinstance(last, cst.SimpleStatementLine) else None
        jump = line.body[-1] if line is not None else last
        if line is not None and must == {On.USAGE} and self._can_go_on(node, line):
            self.needless.add(line)
        elif isinstance(jump, cst.Continue) or (self.region.is_function and isinstance(jump, cst.Return)):
            self.skipped |= must & (FINISH | {On.USAGE})
        else:
            self.skipped |= must & {On.USAGE}  # the chunk with the end came before

    def _can_go_on(self, node: cst.If, last: cst.SimpleStatementLine) -> bool:
        """Whether what is below can run, too, as only names are set above."""
        kept = [
            small
            for line in node.body.body
            for small in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
        ]
        plain = all(isinstance(small, (cst.Assign, cst.AugAssign, cst.Continue)) for small in kept)
        alone = isinstance(last.body[-1], cst.Continue) and len(last.body) == 1
        return plain and alone and self._asks_for_end()

    def _asks_for_end(self) -> bool:
        return any(
            isinstance(node, cst.BaseExpression) and self.region.kind(node) is Kind.CHUNK_FINISH
            for node in self.region.nodes()
        )

    def _only_aliases(self, node: cst.Try) -> bool:
        """``try: text = chunk.choices[0].delta.content`` / ``except IndexError: continue``."""
        if node.orelse is not None or node.finalbody is not None:
            return False
        skipping = all(skips(handler.body, self.region.is_function) for handler in node.handlers)
        return skipping and all(self.alias_at(statement) is not None for statement in node.body.body)

    def _jumps(self, node: cst.For, last: bool) -> None:
        """``break`` and ``continue`` in a loop over choices, which falls away: both end its only round."""
        for jump in _jumps_of(node.body):
            if not last:
                self.hold(jump, "belongs to a loop over choices that falls away")
            elif isinstance(jump, cst.Break):
                self.edit(jump, lambda o, u: cst.Continue(), "MR401")

    def _collect_if(self, node: cst.If, reach: Reach, layout: Layout, units: list[Unit]) -> Reach:
        branch = self.branch(node, reach)
        if branch.stays == "whole":
            units.append(Unit(node, reach, skipped=self.skipped))
            self.need = Need()
            must = self.test(node.test, reach)[1]
            self.need = None
            if not leaves(node.body):
                return reach
            self._skip(node, must)
            if node.orelse is not None and isinstance(node.orelse, cst.Else) and leaves(node.orelse.body):
                return reach
            return (reach - must) or reach
        self.forget(node.test)
        body, orelse = branch.stays in ("body", "both", "apart"), branch.stays in ("else", "both", "apart")
        if branch.stays == "nothing" or (not body and node.orelse is None):
            layout.dropped.add(node)
            self.drop(node.body, node.test, reach)
            return branch.after
        layout.dissolved[node] = (body, orelse)
        if branch.stays == "apart":
            self.split.update(set(reads(node.test)) & set(self.region.aliases))
        if branch.jump is not None:
            self.needless.add(branch.jump)
        if body:
            self._collect(node.body, branch.body, layout, units)
        else:
            self.drop(node.body, node.test, reach)
        if not orelse and node.orelse is not None:
            self.drop(node.orelse, node.test, reach)
        elif node.orelse is not None:
            start = len(units)
            if isinstance(node.orelse, cst.If):
                after = self._collect_if(node.orelse, branch.orelse, layout, units)
            else:
                after = self._collect(node.orelse.body, branch.orelse, layout, units)
            if branch.stays == "else":
                return after
            if branch.stays == "apart":
                self.runs += 1
                test = self.spelled(node.test, branch.orelse, reach - {On.OTHER}) or TERMINAL
                for unit in units[start:]:
                    unit.guard = unit.guard or Guard(test, self.runs)
        return branch.after

    def _tag(self, units: list[Unit]) -> None:
        for unit in units:
            if On.OTHER not in unit.reach or unit.guard is not None:
                unit.tag = "safe"
                continue
            need = self.survey(unit.node, unit.reach)
            used = set(reads(unit.node))
            stained = [want for want, names in self.dirty.items() if names & used]
            if lets_look(unit.node) and self.dirty.keys() == {"text"}:
                stained += ["text" for name in self.dirty["text"] if name.startswith("self.")][:1]
            want = next(iter(need.wants), "")
            if len(need.wants) == 1 and need.handles <= WANTS[want] | {On.FIRST}:
                unit.tag = want
            elif need.wants and isinstance(unit.node, cst.BaseCompoundStatement):
                unit.tag = "safe"  # its parts are looked at one by one
            elif need.wants:
                self.hold(unit.node, "asks for several parts of a chunk at once")
            elif len(stained) == 1 and not need.handles:
                unit.tag = stained[0]
                unit.passes = isinstance(unit.node, cst.If) and skips(unit.node.body, False)
            elif not need.neutral or polls(self.context, unit.node) or self.is_latch(unit.node):
                only_text = bool(need.handles) and need.handles <= {On.TEXT}
                unit.tag = "quiet" if is_quiet_unit(unit.node) else "own" if only_text else "safe"
            else:
                self._neutral(need)
            self._read_late(unit, used)
            self._lose(unit)
            if unit.tag in _TEXTS.values():
                self.fresh.update(dict.fromkeys(_set_anew(unit.node), unit.tag))
            if unit.tag == "text" and prints_line(unit.node) and self.need is None:
                detail = f"`{self.context.source(unit.node, self.module)}` shows chunks without text, too"
                self.context.unsafe(unit.node, self.module, self.sites, "MR404", detail)
            if unit.tag in WANTS:
                self.dirty.setdefault(unit.tag, set()).update(writes(unit.node))
        for number, unit in enumerate(units):
            if unit.passes and any(below.tag not in (unit.tag, "quiet", "own") for below in units[number:]):
                unit.tag = "safe"  # asked on every event, as what it keeps from running acts on others
                self._read_late(unit, set(reads(unit.node)))

    def _read_late(self, unit: Unit, used: set[str]) -> None:
        """A name for the text of a chunk, set on events with text alone: elsewhere it is that of another."""
        fresh = {
            alias.name: _TEXTS[alias.kind]
            for alias in self.region.aliases.values()
            if alias.kept and alias.kind in _TEXTS
        }
        fresh |= self.fresh
        late = [name for name, tag in fresh.items() if name in used and unit.tag not in (tag, "own")]
        if late and self.need is None:
            self.hold(unit.node, f"asks for `{late[0]}` where no text has come")

    def _lose(self, unit: Unit) -> None:
        """Hold back for what a statement does on chunks that no event of its own stands for."""
        own = WANTS.get(unit.tag, frozenset())
        if not own or unit.tag in ("call", "role", "response") or self.need is not None:
            return
        if not own & unit.reach:
            self.hold(unit.node, "acts on chunks that have no event")
            return
        node = lost(self.region, unit.node, own & unit.reach, unit.reach)
        if node is not None:
            self.hold(node, "is asked of each chunk, and not each has an event")

    def _neutral(self, need: Need) -> None:
        for node in need.neutral[:1]:
            self.hold(node, "runs for each chunk, and events are not chunks")

    def _guard(self, units: list[Unit], layout: Layout, loop: bool) -> None:
        """Put each run of statements that want the same part under the test for it."""
        start = 0
        while start < len(units):
            tag = units[start].tag
            if tag not in WANTS or tag == "response":
                start += 1
                continue
            end = start + 1
            last = end
            while end < len(units) and units[end].tag in (tag, "quiet", "own" if tag == "text" else tag):
                end += 1
                if units[end - 1].tag == tag or units[end - 1].tag == "quiet":
                    last = end
            rest = end == len(units)
            skip = loop and rest and end - start > 1 and tag == "text"
            self.runs += 1
            test = CALL_TESTS[self.region.calls] if tag == "call" else _GUARDS[tag]
            stop = end if skip else last
            run = self._narrowed(units[start:stop], WANTS[tag] & self.region.everything, layout)
            for unit in run[:1] if skip else run:
                unit.guard = Guard(test, self.runs, skip)
            units[start:stop] = run
            start += len(run)
        for unit in units:
            if unit.guard is not None:
                layout.guards[unit.node] = unit.guard

    def _narrowed(self, units: list[Unit], reach: Reach, layout: Layout) -> list[Unit]:
        """The statements under a guard: tests that the guard settles dissolve."""
        found: list[Unit] = []
        for unit in units:
            if isinstance(unit.node, cst.If):
                self._collect_if(unit.node, reach, layout, found)
            else:
                found.append(Unit(unit.node, reach))
        return found


_TEXTS = {Kind.DELTA_TEXT: "text", Kind.DELTA_REFUSAL: "refusal"}


def _set_anew(node: cst.CSTNode) -> Iterator[str]:
    """The names that a statement gives a value which they have no part in."""
    for small in node.body if isinstance(node, cst.SimpleStatementLine) else ():
        match small:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                if name not in reads(value):
                    yield name
            case _:
                continue


def _jumps_of(node: cst.CSTNode) -> Iterator[cst.Break | cst.Continue]:
    """The jumps that belong to the loop around ``node``."""
    for child in children(node):
        if isinstance(child, (cst.Break, cst.Continue)):
            yield child
        elif not isinstance(child, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef)):
            yield from _jumps_of(child)


def is_quiet_unit(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.SimpleStatementLine):
        return all(is_quiet(small) for small in node.body)
    return is_quiet(node)


__all__ = ["Body"]

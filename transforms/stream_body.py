"""Statements of a region: each acts on the events that stand for the chunks it acted on (MR401).

The loop's own guards become tests of the event's type; what has no guard of its own and handles text is
put under one. A statement that acts whatever the chunk says would now act on other events: it holds the
flow back.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import children, walk
from . import stream_calls
from .snippets import expr
from .stream_layout import Guard, Layout
from .stream_need import WANTS, Need, expressions, is_poll, is_quiet, reads, writes
from .stream_parts import (
    CALL_TESTS,
    FIRST_TEST,
    REFUSAL_TEST,
    TERMINAL,
    TEXT_TEST,
    On,
    Reach,
    event_test,
    leaves,
    skips,
)
from .stream_reads import Reads

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


@dataclass(frozen=True)
class Branch:
    """How an ``if`` comes out: which of its parts stay, and what the chunk can say in and after it."""

    stays: str  # whole, body, else, both, nothing, apart
    body: Reach = frozenset()
    orelse: Reach = frozenset()
    after: Reach = frozenset()


@dataclass(eq=False, repr=False)
class Unit:
    """A statement of a block, with what the chunk can say there."""

    node: cst.CSTNode
    reach: Reach
    tag: str = ""
    guard: Guard | None = None


class Again(Exception):
    """An alias turned out to be needed as a variable."""


class Body(Reads):
    """Rewrites the statements of one region."""

    dirty: dict[str, set[str]]
    runs: int
    told = False

    def run(self, suite: cst.BaseSuite) -> None:
        """Rewrite the region whose statements are in ``suite``."""
        start = self.region.everything | {On.OTHER}
        self._keep_used_after()
        for _ in range(len(self.region.aliases) + 1):
            self.dirty, self.runs = {}, 0
            self.understood.clear()
            try:
                self._survey_all(suite, start)
                break
            except Again:
                continue
        self.dirty, self.runs = {}, 0
        self.understood.clear()
        self.block(suite, start, loop=not self.region.is_function)

    def _keep_used_after(self) -> None:
        for alias in self.region.aliases.values():
            if alias.used_after and alias.kind in (Kind.CHUNK_FINISH, Kind.USAGE):
                alias.kept = True
            elif alias.used_after:
                self.hold(alias.node, "is used after the loop")

    # -- branches ------------------------------------------------------------------------

    def branch(self, node: cst.If, reach: Reach) -> Branch:
        """What becomes of an ``if``."""
        pure = self.region.pure(node.test) if self.involves(node.test) else None
        classes = reach - {On.OTHER}
        if pure is None:
            return Branch("whole")
        pos, neg = pure & classes, classes - pure
        if not pos:
            return Branch("else", orelse=reach, after=reach)
        if self._splits_a_call(node, reach):
            return Branch("both", body=reach, orelse=reach, after=reach)
        if not neg and (On.OTHER not in reach or len(classes) > 1):
            return Branch("body", body=reach, after=reach)
        if node.orelse is None and skips(node.body, self.region.is_function):
            if self._one_test(neg):
                return Branch("whole")
            last = node.body.body[-1] if node.body.body else None
            passes = isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Pass)
            return Branch("nothing", after=reach if passes else reach - pos)
        if neg == {On.USAGE} and self.spelled(node.test, pos, classes) is None:
            return Branch("apart", body=reach - neg, orelse=neg, after=reach)
        return Branch("whole")

    def _one_test(self, wanted: Reach) -> bool:
        rest = wanted - {On.FIRST} if On.TEXT in wanted else wanted
        test = event_test(rest, rest, self.region.calls)
        return test is not None and (len(rest) == 1 or rest <= WANTS["finish"])

    def _splits_a_call(self, node: cst.If, reach: Reach) -> bool:
        """A test of what only the first piece of a call has, whose else takes the pieces that follow."""
        if node.orelse is None or self.region.calls != "whole" or not reach <= WANTS["call"]:
            return False
        return self._reads_arguments(node.orelse) and not self._reads_arguments(node.body)

    def _reads_arguments(self, node: cst.CSTNode) -> bool:
        for inner in walk(node):
            if isinstance(inner, cst.BaseExpression):
                if self.region.piece(inner) == "arguments":
                    return True
                if self.region.kind(inner) is Kind.DELTA_CALL and not isinstance(
                    self.module.parents.get(inner), (cst.Attribute, cst.AssignTarget)
                ):
                    return True
        return False

    # -- looking -------------------------------------------------------------------------

    def survey(self, node: cst.CSTNode, reach: Reach) -> Need:
        """What a statement asks for, without rewriting it."""
        need = Need()
        self.need = need
        try:
            self._survey(node, reach)
        finally:
            self.need = None
        return need

    def _survey_all(self, suite: cst.BaseSuite, reach: Reach) -> None:
        """Find the aliases that must stay variables."""
        for unit in self._units(suite, reach, Layout(self.region.new)):
            need = self.survey(unit.node, unit.reach)
            if need.aliases:
                for name in need.aliases:
                    self.region.aliases[name].kept = True
                raise Again

    def _survey(self, node: cst.CSTNode, reach: Reach) -> None:
        match node:
            case cst.SimpleStatementLine() | cst.BaseSuite():
                self._survey_block(node.body, reach)
            case cst.If():
                self._survey_if(node, reach)
            case cst.For() if self._calls_of(node) is not None:
                self._survey(node.body, WANTS["call"])
            case cst.FunctionDef() | cst.ClassDef():
                return
            case cst.BaseCompoundStatement():
                for part in expressions(node):
                    self.expression(part, reach)
                for suite in _suites(node):
                    self._survey(suite, reach)
            case _:
                self._survey_small(node, reach)

    def _survey_block(self, statements: object, reach: Reach) -> Reach:
        assert isinstance(statements, (list, tuple))
        for statement in statements:
            if isinstance(statement, cst.If):
                reach = self._survey_if(statement, reach) or reach
            else:
                self._survey(statement, reach)
        return reach

    def _survey_if(self, node: cst.If, reach: Reach) -> Reach:
        branch = self.branch(node, reach)
        orelse = node.orelse
        if branch.stays == "whole":
            may, must = self.test(node.test, reach)
            self._survey(node.body, may or frozenset({On.OTHER}))
            if orelse is not None:
                self._survey(orelse.body if isinstance(orelse, cst.Else) else orelse, reach - must)
            return reach - must if leaves(node.body) else reach
        if branch.stays in ("body", "both", "apart"):
            self._survey(node.body, branch.body)
        if branch.stays in ("else", "both", "apart") and orelse is not None:
            self._survey(orelse.body if isinstance(orelse, cst.Else) else orelse, branch.orelse)
        return branch.after

    def _survey_small(self, node: cst.CSTNode, reach: Reach) -> None:
        need = self.need
        assert need is not None
        if self.alias_at(node) is not None:
            return
        self.returning = self.region.is_function and isinstance(node, cst.Return)
        before = set(need.wants)
        for part in expressions(node):
            self.expression(part, reach)
        self.returning = False
        if On.OTHER not in reach:
            need.handles |= reach
        elif need.wants == before and not self._is_neutral(node):
            need.neutral.append(node)

    def _is_neutral(self, node: cst.CSTNode) -> bool:
        """Whether running ``node`` on an event that no chunk stood for changes nothing."""
        if is_quiet(node) or isinstance(node, (cst.Continue, cst.Global, cst.Nonlocal)):
            return True
        if self.region.is_function and isinstance(node, cst.Return):
            return True
        if isinstance(node, cst.Assign) and self.involves(node.value):
            call = node.value.expression if isinstance(node.value, cst.Await) else node.value
            return isinstance(call, cst.Call)  # what a helper makes of the chunk
        value = node.value if isinstance(node, cst.Expr) else None
        if isinstance(value, cst.Await):
            value = value.expression
        if isinstance(value, (cst.Yield, cst.Call)):
            return any(
                isinstance(inner, cst.BaseExpression) and self.region.kind(inner) in PASSED
                for inner in walk(value)
            )
        return False

    def alias_at(self, node: cst.CSTNode) -> str | None:
        """The name of the alias that the statement makes and that is no variable any more."""
        if isinstance(node, cst.SimpleStatementLine):
            return self.alias_at(node.body[0]) if len(node.body) == 1 else None
        for alias in self.region.aliases.values():
            if alias.kept or not isinstance(node, (cst.Assign, cst.AnnAssign)) or node.value is None:
                continue
            target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
            if (
                isinstance(target, cst.Name)
                and target.value == alias.name
                and self.region.kind(node.value) is alias.kind
            ):
                return alias.name
        return None

    def _calls_of(self, node: cst.For) -> cst.BaseExpression | None:
        """The streamed calls that ``node`` loops over."""
        return node.iter if self.region.kind(node.iter) is Kind.DELTA_CALLS else None

    # -- blocks --------------------------------------------------------------------------

    def block(self, suite: cst.BaseSuite, reach: Reach, loop: bool = False) -> None:
        """Rewrite the statements of ``suite``."""
        layout = Layout(self.region.new)
        units = self._units(suite, reach, layout)
        self._tag(units)
        self._guard(units, layout, loop)
        for unit in units:
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
            if self.alias_at(node) is not None:
                layout.dropped.add(node)
                if self.need is None:
                    self.understood.update(walk(node))
            elif isinstance(node, cst.Try) and self._only_aliases(node):
                layout.dropped.add(node)
                self._forget(node)
            elif isinstance(node, cst.If):
                reach = self._collect_if(node, reach, layout, units)
            elif isinstance(node, cst.For) and self._calls_of(node) is not None and reach <= WANTS["call"]:
                layout.dissolved[node] = (True, False)
                self._forget(node.iter, node.target)
                self._no_break(node)
                self._collect(node.body, reach, layout, units)
            elif isinstance(node, cst.While) and reach <= WANTS["call"] and self.region.pure(node.test):
                layout.dissolved[node] = (True, False)
                self._forget(node.test)
                self._collect(node.body, reach, layout, units)
            else:
                units.append(Unit(node, reach))
        return reach

    def _only_aliases(self, node: cst.Try) -> bool:
        """``try: text = chunk.choices[0].delta.content`` / ``except IndexError: continue``."""
        if node.orelse is not None or node.finalbody is not None:
            return False
        skipping = all(skips(handler.body, self.region.is_function) for handler in node.handlers)
        return skipping and all(self.alias_at(statement) is not None for statement in node.body.body)

    def _forget(self, *nodes: cst.CSTNode) -> None:
        for node in nodes:
            self.understood.update(walk(node))

    def _no_break(self, node: cst.For) -> None:
        for inner in walk(node.body):
            if isinstance(inner, cst.Break):
                self.hold(node, "leaves the loop over calls")

    def _collect_if(self, node: cst.If, reach: Reach, layout: Layout, units: list[Unit]) -> Reach:
        branch = self.branch(node, reach)
        if branch.stays == "whole":
            units.append(Unit(node, reach))
            self.need = Need()
            may, must = self.test(node.test, reach)
            self.need = None
            if not leaves(node.body):
                return reach
            if node.orelse is not None and isinstance(node.orelse, cst.Else) and leaves(node.orelse.body):
                return reach
            return (reach - must) or reach
        self._forget(node.test)
        body, orelse = branch.stays in ("body", "both", "apart"), branch.stays in ("else", "both", "apart")
        if branch.stays == "nothing" or (not body and node.orelse is None):
            layout.dropped.add(node)
            self._forget(node.body)
            return branch.after
        layout.dissolved[node] = (body, orelse)
        if body:
            self._collect(node.body, branch.body, layout, units)
        else:
            self._forget(node.body)
        if not orelse and node.orelse is not None:
            self._forget(node.orelse)
        elif isinstance(node.orelse, cst.If):
            return (
                self._collect_if(node.orelse, branch.orelse, layout, units)
                if branch.stays != "apart"
                else branch.after
            )
        elif node.orelse is not None:
            start = len(units)
            self._collect(node.orelse.body, branch.orelse, layout, units)
            if branch.stays == "apart":
                self.runs += 1
                for unit in units[start:]:
                    unit.guard = Guard(TERMINAL, self.runs)
        if branch.stays == "body" and leaves(node.body):
            return branch.after
        return branch.after

    def _tag(self, units: list[Unit]) -> None:
        for unit in units:
            if On.OTHER not in unit.reach or unit.guard is not None:
                unit.tag = "safe"
                continue
            need = self.survey(unit.node, unit.reach)
            used = set(reads(unit.node))
            stained = [want for want, names in self.dirty.items() if names & used]
            if len(need.wants) == 1:
                unit.tag = next(iter(need.wants))
            elif need.wants:
                unit.tag = "safe"  # its parts are looked at one by one, or it is held back
            elif len(stained) == 1 and not need.handles:
                unit.tag = stained[0]
            elif not need.neutral or is_poll(unit.node):
                only_text = bool(need.handles) and need.handles <= {On.TEXT}
                unit.tag = "quiet" if is_quiet_unit(unit.node) else "own" if only_text else "safe"
            else:
                self._neutral(need)
            if unit.tag in WANTS:
                self.dirty.setdefault(unit.tag, set()).update(writes(unit.node))

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
            for unit in units[start : end if skip else last]:
                unit.reach = WANTS[tag] & (self.region.everything | {On.OTHER})
                if not skip or unit is units[start]:
                    unit.guard = Guard(test, self.runs, skip)
            start = end if skip else last
        for unit in units:
            if unit.guard is not None:
                layout.guards[unit.node] = unit.guard

    # -- statements ----------------------------------------------------------------------

    def statement(self, node: cst.CSTNode, reach: Reach) -> None:
        """Rewrite one statement."""
        match node:
            case cst.SimpleStatementLine():
                for small in node.body:
                    self.statement(small, reach)
            case cst.If():
                self._if(node, reach)
            case cst.For() if self._calls_of(node) is not None:
                self._for_calls(node, reach)
            case cst.FunctionDef() | cst.ClassDef() | cst.Lambda():
                return
            case cst.BaseCompoundStatement():
                for part in expressions(node):
                    self.expression(part, reach)
                for suite in _suites(node):
                    self.block(suite, reach)
            case _:
                self._small(node, reach)

    def _small(self, node: cst.CSTNode, reach: Reach) -> None:
        if (
            reach <= WANTS["call"]
            and self.region.calls == "whole"
            and not stream_calls.gathers(self.region, node)
        ):
            if not self.told:
                self.hold(node, "acts on each piece of a call")
            self.told = True
        kept = next((a for a in self.region.aliases.values() if a.node is node and a.kept), None)
        self.returning = self.region.is_function and isinstance(node, cst.Return)
        if kept is not None:
            assert isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None
            self.understood.update(
                inner for child in children(node) if child is not node.value for inner in walk(child)
            )
            self.expression(node.value, reach)
        else:
            for part in expressions(node):
                self.expression(part, reach)
        self.returning = False

    def _if(self, node: cst.If, reach: Reach, chained: bool = False) -> None:
        if is_poll(node) and not self.involves(node):
            return
        branch = self.branch(node, reach)
        orelse = node.orelse
        if branch.stays == "whole" or not chained:
            may, must = self.test(node.test, reach)
            self.block(node.body, may or frozenset({On.OTHER}))
            rest = (reach - must) or frozenset({On.OTHER})
            if isinstance(orelse, cst.If):
                self._if(orelse, rest, chained=True)
            elif orelse is not None:
                self.block(orelse.body, rest)
        elif branch.stays == "body":
            self._forget(node.test, *([orelse] if orelse is not None else []))
            self.block(node.body, branch.body)
            self.context.edit(node, self.module, self.sites, _as_else, "MR401")
        elif branch.stays in ("else", "nothing"):
            self._forget(node.test, node.body)
            if isinstance(orelse, cst.If):
                self._if(orelse, branch.orelse or reach, chained=True)
            elif orelse is not None:
                self.block(orelse.body, branch.orelse or reach)
            self.context.edit(node, self.module, self.sites, _as_orelse, "MR401")
        else:
            self.hold(node.test)

    def _for_calls(self, node: cst.For, reach: Reach) -> None:
        """``for call in delta.tool_calls or []:`` runs once for an event."""
        self._forget(node.iter, node.target)
        self._no_break(node)
        self.block(node.body, WANTS["call"])
        test = expr(CALL_TESTS[self.region.calls], v=cst.Name(self.region.new))

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.For)
            return cst.If(test, updated.body, leading_lines=updated.leading_lines)

        self.context.edit(node, self.module, self.sites, apply, "MR408")


def is_quiet_unit(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.SimpleStatementLine):
        return all(is_quiet(small) for small in node.body)
    return is_quiet(node)


def _as_else(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.If)
    return cst.Else(updated.body, leading_lines=updated.leading_lines)


def _as_orelse(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode | cst.RemovalSentinel:
    assert isinstance(updated, cst.If)
    return updated.orelse if updated.orelse is not None else cst.RemovalSentinel.REMOVE


def _suites(node: cst.CSTNode) -> list[cst.BaseSuite]:
    """The blocks of a compound statement, those of its clauses too."""
    found: list[cst.BaseSuite] = []
    for child in children(node):
        if isinstance(child, cst.BaseSuite):
            found.append(child)
        elif not isinstance(child, cst.BaseExpression):
            found += _suites(child)
    return found


PASSED = frozenset({Kind.CHUNK, Kind.CHUNK_CHOICE, Kind.DELTA})

__all__ = ["Body"]

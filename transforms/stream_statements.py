"""Single statements of a region: what they read and test becomes reads and tests of the event (MR401)."""

from __future__ import annotations

from abc import abstractmethod

import libcst as cst

from ..decide.plan import Apply
from ..know.modules import children, walk
from . import stream_calls, stream_pieces
from .snippets import expr
from .stream_need import WANTS, expressions, latch_of, sets
from .stream_parts import CALL_TESTS, FINISH, On, Reach
from .stream_polls import polls
from .stream_survey import Survey, suites


class Statements(Survey):
    """Rewrites statements one by one; blocks of them are laid out by :class:`.stream_body.Body`."""

    told = False

    @abstractmethod
    def block(self, suite: cst.BaseSuite, reach: Reach, loop: bool = False) -> None:
        """Rewrite the statements of ``suite``."""

    def forget(self, *nodes: cst.CSTNode) -> None:
        for node in nodes:
            self.understood.update(walk(node))

    def drop(self, part: cst.CSTNode, test: cst.CSTNode, reach: Reach) -> None:
        """Leave out a part of an ``if`` that no event comes to, though pieces of a call may have."""
        self.forget(part)
        if self.region.calls != "whole" or self._is_needless(part):
            return
        above = On.CALL not in reach and self._has_pieces(part)  # told apart by a test further up
        if self._has_pieces(test) if reach <= WANTS["call"] else above:
            self.hold(part, "acts on pieces of a call")

    def _has_pieces(self, part: cst.CSTNode) -> bool:
        return any(isinstance(inner, cst.BaseExpression) and self.region.piece(inner) for inner in walk(part))

    def _is_needless(self, part: cst.CSTNode) -> bool:
        """Whether what is done with the whole call elsewhere is what was done with its pieces here."""
        inside = set(walk(part))
        own = stream_calls.taken(self.region, inside) - {"index", "type"}
        elsewhere = stream_calls.taken(self.region, (n for n in self.region.nodes() if n not in inside))
        known = own <= elsewhere or "whole" in elsewhere
        return known and stream_pieces.only_adds(self.region, part)

    def no_break(self, node: cst.For) -> None:
        for inner in walk(node.body):
            if isinstance(inner, cst.Break):
                self.hold(node, "leaves the loop over calls")

    def is_latch(self, node: cst.CSTNode) -> bool:
        """Whether ``node`` acts once, on whatever comes first."""
        flag = latch_of(node)
        return bool(flag) and sum(name == flag for inner in self.region.nodes() for name in sets(inner)) == 1

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
                for suite in suites(node):
                    self.block(suite, reach)
            case _:
                self._small(node, reach)

    def _small(self, node: cst.CSTNode, reach: Reach) -> None:
        if reach <= WANTS["call"] and not stream_pieces.gathers(self.region, node):
            if not self.told:
                self.hold(node, "acts on each piece of a call")
            self.told = True
        if stream_pieces.is_changed(self.region, node):
            self.hold(node, "changes a streamed call")
            return
        kept = next((a for a in self.region.aliases.values() if a.node is node and a.kept), None)
        self.returning = self.region.is_function and isinstance(node, cst.Return)
        if kept is not None:
            self.understood.update(
                inner for child in children(node) if child is not kept.value for inner in walk(child)
            )
            self.expression(kept.value, reach)
        else:
            for part in expressions(node):
                self.expression(part, reach)
        self.returning = False

    def _if(self, node: cst.If, reach: Reach, chained: bool = False) -> None:
        before = self.ended
        if (polls(self.context, node) or self.is_latch(node)) and not self.involves(node):
            return
        branch = self.branch(node, reach)
        orelse = node.orelse
        if branch.stays == "whole" or not chained:
            may, must = self.test(node.test, reach)
            self.ended = frozenset()
            self.block(node.body, may or frozenset({On.OTHER}))
            self.ended = before | must & (FINISH | {On.USAGE})
            rest = (reach - must) or frozenset({On.OTHER})
            if isinstance(orelse, cst.If):
                self._if(orelse, rest, chained=True)
            elif orelse is not None:
                self.block(orelse.body, rest)
                if self.region.calls == "live" and rest == {On.PIECE}:  # said, so that types are narrowed
                    piece = expr(CALL_TESTS["arguments"], v=cst.Name(self.region.new))
                    self.context.edit(orelse, self.module, self.sites, _as_elif(piece), "MR408")
        elif branch.stays == "body":
            self.forget(node.test)
            if orelse is not None:
                self.drop(orelse, node.test, reach)
            self.block(node.body, branch.body)
            self.context.edit(node, self.module, self.sites, _as_else, "MR401")
        elif branch.stays in ("else", "nothing"):
            self.forget(node.test)
            self.drop(node.body, node.test, reach)
            if isinstance(orelse, cst.If):
                self._if(orelse, branch.orelse or reach, chained=True)
            elif orelse is not None:
                self.block(orelse.body, branch.orelse or reach)
            self.context.edit(node, self.module, self.sites, _as_orelse, "MR401")
        else:
            self.hold(node.test)

    def _for_calls(self, node: cst.For, reach: Reach) -> None:
        """``for call in delta.tool_calls or []:`` runs once for an event."""
        self.forget(node.iter, node.target)
        self.no_break(node)
        self.block(node.body, self.region.of_calls)
        test = expr(CALL_TESTS[self.region.calls], v=cst.Name(self.region.new))

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.For)
            return cst.If(test, updated.body, leading_lines=updated.leading_lines)

        self.context.edit(node, self.module, self.sites, apply, "MR408")


def _as_elif(test: cst.BaseExpression) -> Apply:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Else)
        return cst.If(test, updated.body, leading_lines=updated.leading_lines)

    return apply


def _as_else(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.If)
    return cst.Else(updated.body, leading_lines=updated.leading_lines)


def _as_orelse(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode | cst.RemovalSentinel:
    assert isinstance(updated, cst.If)
    return updated.orelse if updated.orelse is not None else cst.RemovalSentinel.REMOVE

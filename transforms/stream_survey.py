"""What the statements of a region ask for, found before anything is rewritten."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import children, walk
from .stream_need import WANTS, Need, expressions, is_quiet
from .stream_parts import SAME, On, Reach, event_test, leaves, skips, skips_to_next
from .stream_tests import Tests


@dataclass(frozen=True)
class Branch:
    """How an ``if`` comes out: which of its parts stay, and what the chunk can say in and after it."""

    stays: str  # whole, body, else, both, nothing, apart
    body: Reach = frozenset()
    orelse: Reach = frozenset()
    after: Reach = frozenset()
    jump: cst.CSTNode | None = None  # the ``continue`` that falls away with the ``if``


class Survey(Tests):
    """Looks at statements without changing them."""

    needless: set[cst.CSTNode]  # statements that fall away

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
        if pos == self.region.of_calls and node.orelse is None and self.asks_by_itself(node):
            return Branch("body", body=reach, after=reach)
        if self._leaves_the_rest(node, reach):
            return Branch("body", body=reach, after=reach)
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
        passes = node.orelse is not None and skips(node.body, self.region.is_function)
        if not passes and not self._one_test(pos) and self._one_test(neg):
            return self._apart(node, reach, neg)
        return Branch("whole")

    def _apart(self, node: cst.If, reach: Reach, neg: Reach) -> Branch:
        """The statements of the branches side by side, each under the test for what it handles itself.

        A last ``continue`` keeps what is below to the other branch, which its own test does then.
        """
        last = node.body.body[-1] if isinstance(node.body, cst.IndentedBlock) else None
        goes_on = node.orelse is None and last is not None and skips_to_next(last, self.region.is_function)
        others = [line for line in node.body.body if not (goes_on and line is last)]
        if any(self._strays(line) for line in others):
            return Branch("whole")
        after = neg | (reach & {On.OTHER}) if goes_on else reach
        return Branch("apart", reach - neg, neg, after, last if goes_on else None)

    def _strays(self, node: cst.CSTNode) -> bool:
        """Whether a jump in ``node`` would run whatever the event says."""
        match node:
            case cst.Continue() | cst.Break() | cst.Return() | cst.Raise():
                return True
            case cst.If(test=test) if self.involves(test) and self.region.pure(test) is not None:
                return node.orelse is not None and self._strays(node.orelse)
            case cst.For() | cst.While() | cst.FunctionDef() | cst.ClassDef() | cst.BaseExpression():
                return False
            case _:
                return any(map(self._strays, children(node)))

    def _one_test(self, wanted: Reach) -> bool:
        rest = wanted - {On.FIRST} if On.TEXT in wanted else wanted
        test = event_test(rest, rest, self.region.calls)
        return test is not None and (len(rest) == 1 or rest <= WANTS["finish"])

    def _splits_a_call(self, node: cst.If, reach: Reach) -> bool:
        """A test of what only the first piece of a call has, whose else takes the pieces that follow."""
        if node.orelse is None or self.region.calls != "whole" or not reach <= WANTS["call"]:
            return False
        return self._reads_arguments(node.orelse) and not self._reads_arguments(node.body)

    def _leaves_the_rest(self, node: cst.If, reach: Reach) -> bool:
        """``if call.id: ...; continue``, and what is below takes the pieces that follow."""
        last = node.body.body[-1] if node.body.body else None
        if not isinstance(last, cst.SimpleStatementLine) or not isinstance(last.body[-1], cst.Continue):
            return False
        if node.orelse is not None or self.region.calls != "whole" or not reach <= WANTS["call"]:
            return False
        around = self.module.parents[node]
        rest = around.body if isinstance(around, cst.IndentedBlock) else ()
        below = rest[rest.index(node) + 1 :]
        if self._reads_arguments(node.body) or not any(map(self._reads_arguments, below)):
            return False
        if len(last.body) > 1:
            self.hold(last, "acts on each piece of a call")
        self.needless.add(last)
        return True

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

    def _survey(self, node: cst.CSTNode, reach: Reach) -> None:
        match node:
            case cst.SimpleStatementLine() | cst.BaseSuite():
                self._survey_block(node.body, reach)
            case cst.If():
                self._survey_if(node, reach)
            case cst.For() if self._calls_of(node) is not None:
                self._survey(node.body, reach if self.asks_by_itself(node) else self.region.of_calls)
            case cst.For() if self.is_over_choices(node):
                self._survey(node.body, reach - {On.USAGE})
            case cst.FunctionDef() | cst.ClassDef():
                return
            case cst.BaseCompoundStatement():
                for part in expressions(node):
                    self.expression(part, reach)
                for suite in suites(node):
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
        if self._keeps(node):
            return True
        if isinstance(node, cst.Assign) and self.involves(node.value):
            call = node.value.expression if isinstance(node.value, cst.Await) else node.value
            return isinstance(call, cst.Call)  # what a helper makes of the chunk
        value = node.value if isinstance(node, cst.Expr) else None
        if isinstance(value, cst.Await):
            value = value.expression
        if isinstance(value, (cst.Yield, cst.Call)):
            return any(
                isinstance(inner, cst.BaseExpression) and self.region.kind(inner) in SAME
                for inner in walk(value)
            )
        return False

    def _keeps(self, node: cst.CSTNode) -> bool:
        """``total = chunk.usage.total_tokens if chunk.usage else total``: it changes at the end alone."""
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.IfExp(test=test, orelse=cst.Name(value=other)),
            ) if name == other:
                return (self.region.pure(test) or {On.OTHER}) <= WANTS["response"]
            case _:
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

    def asks_by_itself(self, node: cst.If | cst.For) -> bool:
        """Whether each statement in ``node`` asks which piece of a call it has: the rest needs no test."""
        if self.region.calls != "live":
            return False
        for statement in node.body.body:
            if isinstance(statement, cst.For) and self._calls_of(statement) is not None:
                if not self.asks_by_itself(statement):
                    return False
            elif not isinstance(statement, cst.If) or statement.orelse is not None:
                return False
            else:
                asked = self.region.pure(statement.test) if self.involves(statement.test) else None
                if asked is None or not asked <= self.region.of_calls:
                    return False
        return True

    def is_over_choices(self, node: cst.For) -> bool:
        """Whether ``node`` loops over the choices of the chunk, of which there is one at most."""
        return node.orelse is None and self.region.kind(node.iter) is Kind.CHUNK_CHOICES

    def _calls_of(self, node: cst.For) -> cst.BaseExpression | None:
        """The streamed calls that ``node`` loops over."""
        return node.iter if self.region.kind(node.iter) is Kind.DELTA_CALLS else None


def suites(node: cst.CSTNode) -> list[cst.BaseSuite]:
    """The blocks of a compound statement, those of its clauses too."""
    found: list[cst.BaseSuite] = []
    for child in children(node):
        if isinstance(child, cst.BaseSuite):
            found.append(child)
        elif not isinstance(child, cst.BaseExpression):
            found += suites(child)
    return found

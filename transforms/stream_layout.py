"""Rebuilds the block of a loop: statements put under a test of the event, dissolved or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from .snippets import expr
from .stream_parts import negated


@dataclass(frozen=True)
class Guard:
    """``test`` (of the event ``v``) stands before the statement: an ``if`` around it, or a ``continue``."""

    test: str
    run: int  # neighbours with the same number share one guard
    skip: bool = False


@dataclass(eq=False, repr=False)
class Layout:
    """What happens to the statements of one block, by original node."""

    variable: str
    dropped: set[cst.CSTNode] = field(default_factory=set)
    dissolved: dict[cst.CSTNode, tuple[bool, bool]] = field(default_factory=dict)  # (body stays, else stays)
    guards: dict[cst.CSTNode, Guard] = field(default_factory=dict)
    first: list[str] = field(default_factory=list)  # statements to put at the start

    def __bool__(self) -> bool:
        return bool(self.dropped or self.dissolved or self.guards or self.first)

    def apply(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        """The block, rebuilt."""
        assert isinstance(original, cst.BaseSuite)
        assert isinstance(updated, cst.BaseSuite)
        flat = self._flat(original, updated)
        if flat and flat[0][0] is not original.body[0]:
            flat[0] = (flat[0][0], _at_the_top(flat[0][1]))
        body = self._guarded(flat)
        body = [*(cst.parse_statement(self._named(text)) for text in self.first), *body]
        if not body:
            body = [cst.SimpleStatementLine([cst.Pass()])]
        if isinstance(updated, cst.IndentedBlock):
            return updated.with_changes(body=body)
        return cst.IndentedBlock(body)

    def _named(self, text: str) -> str:
        return text.replace("v.", f"{self.variable}.").replace("{v}", f"{{{self.variable}}}")

    def _flat(
        self, original: cst.BaseSuite, updated: cst.BaseSuite
    ) -> list[tuple[cst.CSTNode, cst.BaseStatement]]:
        before, after = list(original.body), lines(updated)
        if len(before) != len(after):
            raise ValueError("another rule changed the number of statements")
        found: list[tuple[cst.CSTNode, cst.BaseStatement]] = []
        carried: list[cst.EmptyLine] = []
        for old, new in zip(before, after, strict=True):
            if old in self.dropped:
                carried += _comments(new)
                continue
            inner = [(old, new)]
            if old in self.dissolved:
                inner = self._dissolve(old, new)
                carried += list(getattr(new, "leading_lines", ()))
                if not inner:
                    carried = [line for line in carried if line.comment is not None]
            if inner and carried:
                inner[0] = (inner[0][0], _lead(inner[0][1], carried))
                carried = []
            found += inner
        return found

    def _dissolve(self, old: cst.CSTNode, new: cst.CSTNode) -> list[tuple[cst.CSTNode, cst.BaseStatement]]:
        body, orelse = self.dissolved[old]
        assert isinstance(old, (cst.If, cst.For, cst.While))
        assert isinstance(new, (cst.If, cst.For, cst.While))
        found = self._flat(old.body, new.body) if body else []
        if orelse and isinstance(new.orelse, cst.Else) and isinstance(old.orelse, cst.Else):
            found += self._flat(old.orelse.body, new.orelse.body)
        elif orelse and isinstance(new.orelse, cst.If) and isinstance(old.orelse, cst.If):
            if old.orelse in self.dissolved:
                found += self._dissolve(old.orelse, new.orelse)
            elif old.orelse not in self.dropped:
                found.append((old.orelse, new.orelse))
        return found

    def _guarded(self, pairs: Sequence[tuple[cst.CSTNode, cst.BaseStatement]]) -> list[cst.BaseStatement]:
        result: list[cst.BaseStatement] = []
        number = 0
        while number < len(pairs):
            old, new = pairs[number]
            guard = self.guards.get(old)
            run = [new]
            while guard is not None and number + len(run) < len(pairs):
                other, statement = pairs[number + len(run)]
                if self.guards.get(other) != guard:
                    break
                run.append(statement)
            result += run if guard is None else self._under(guard, run)
            number += len(run)
        return result

    def _under(self, guard: Guard, run: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
        above = list(getattr(run[0], "leading_lines", ()))
        blank = []
        while above and above[0].comment is None:
            blank.append(above.pop(0))
        test = expr(negated(guard.test) if guard.skip else guard.test, v=cst.Name(self.variable))
        if guard.skip:
            head = cst.If(
                test, cst.IndentedBlock([cst.SimpleStatementLine([cst.Continue()])]), leading_lines=blank
            )
            return [head, _with_lead(run[0], above), *run[1:]]
        body = [_with_lead(run[0], above), *run[1:]]
        return [cst.If(test, cst.IndentedBlock(body), leading_lines=blank)]


def lines(suite: cst.BaseSuite) -> list[cst.BaseStatement]:
    """The statements of a block; those of a block on one line, each on its own."""
    if isinstance(suite, cst.IndentedBlock):
        return [item for item in suite.body if isinstance(item, cst.BaseStatement)]
    found: list[cst.BaseStatement] = []
    for small in suite.body:
        assert isinstance(small, cst.BaseSmallStatement)
        found.append(cst.SimpleStatementLine([small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]))
    if (
        isinstance(suite, cst.SimpleStatementSuite)
        and suite.trailing_whitespace.comment is not None
        and found
    ):
        found[-1] = found[-1].with_changes(trailing_whitespace=suite.trailing_whitespace)
    return found


def _comments(statement: cst.CSTNode) -> list[cst.EmptyLine]:
    """The lines above a statement that leaves, and its own comment."""
    found = list(getattr(statement, "leading_lines", ()))
    trailing = getattr(statement, "trailing_whitespace", None)
    if isinstance(trailing, cst.TrailingWhitespace) and trailing.comment is not None:
        found.append(cst.EmptyLine(comment=trailing.comment))
    if not any(line.comment for line in found):
        return found[:0]
    return found


def _at_the_top(statement: cst.BaseStatement) -> cst.BaseStatement:
    """``statement`` without the blank lines that set it off from what stood before it."""
    above = list(getattr(statement, "leading_lines", ()))
    while above and above[0].comment is None:
        above.pop(0)
    return _with_lead(statement, above)


def _lead(statement: cst.BaseStatement, carried: Sequence[cst.EmptyLine]) -> cst.BaseStatement:
    return _with_lead(statement, [*carried, *getattr(statement, "leading_lines", ())])


def _with_lead(statement: cst.BaseStatement, above: Sequence[cst.EmptyLine]) -> cst.BaseStatement:
    return statement.with_changes(leading_lines=list(above))

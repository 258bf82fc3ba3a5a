"""Tests of a region: what was asked of the chunk is asked of the event's type."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import walk
from .snippets import parenthesized
from .stream_parts import FINISH, On, Reach, event_test, negated
from .stream_reads import Outcome, Reads


class Tests(Reads):
    """Rewrites tests, whole or operand by operand."""

    def usage_guard(self, node: cst.BaseExpression) -> str:
        """The guard on the usage itself that ``node`` holds."""
        for inner in walk(node):
            if isinstance(inner, cst.BaseExpression) and self.region.kind(inner) is Kind.USAGE:
                parent = self.module.parents.get(inner)
                return (
                    "v.response.usage is not None"
                    if isinstance(parent, cst.Comparison)
                    else "v.response.usage"
                )
        return ""

    def spelled(self, node: cst.BaseExpression, wanted: Reach, classes: Reach) -> str | None:
        return event_test(wanted, classes, self.region.calls, self.usage_guard(node))

    def test(self, node: cst.BaseExpression, reach: Reach) -> Outcome:
        """Rewrite a test; say for what it may be and must be true."""
        if not self.involves(node):
            self.below(node, reach)
            return reach, frozenset()
        pure = self.region.pure(node)
        if pure is not None:
            return self._pure(node, pure, reach)
        match node:
            case cst.BooleanOperation(operator=cst.And()):
                return self._all(node, reach)
            case cst.BooleanOperation(operator=cst.Or()):
                one = self.test(node.left, reach)
                other = self.test(node.right, reach - one[1])
                return reach, one[1] | other[1]
            case cst.UnaryOperation(operator=cst.Not()):
                may, must = self.test(node.expression, reach)
                return reach - must, reach - may
            case _:
                self.expression(node, reach)
                return reach, frozenset()

    def _pure(self, node: cst.BaseExpression, pure: Reach, reach: Reach) -> Outcome:
        classes = reach - {On.OTHER}
        pos, neg = pure & classes, classes - pure
        if not pos or (not neg and On.OTHER not in reach):
            self.replace(node, str(bool(pos)), "MR401")
            return (reach, reach) if pos else (frozenset(), frozenset())
        code = (
            "MR405"
            if On.USAGE in pos
            else "MR406"
            if pos <= FINISH
            else "MR408"
            if On.CALL in pos
            else "MR401"
        )
        usage = frozenset({On.USAGE})
        if (pos & usage and self.ended & FINISH) or (pos & FINISH and self.ended & usage):
            other = "the usage" if pos & FINISH else "the end of the stream"
            self.hold(node, f"comes in one event with {other} now, and the loop has gone on or ended there")
        text = self.spelled(node, pos, classes)
        if text is not None:
            self.replace(node, text, code)
            return pos, pos
        text = self.spelled(node, neg, classes)
        if text is not None:
            self.replace(node, negated(text), code)
            return pos | (reach & {On.OTHER}), pos | (reach & {On.OTHER})
        self.hold(node)
        return reach, frozenset()

    def _all(self, node: cst.BooleanOperation, reach: Reach) -> Outcome:
        """``a and b and ...``: the tests of the chunk together become one."""
        operands = flattened(node, cst.And)
        together = self.region.everything
        parts: list[bool] = []
        for part in operands:
            pure = self.region.pure(part) if self.involves(part) else None
            parts.append(pure is not None)
            together = together & pure if pure is not None else together
        classes = reach - {On.OTHER}
        pos = together & classes
        text: str | None = ""
        inner = reach
        if any(parts) and pos != classes:
            text = self.spelled(node, pos, classes) if pos else "False"
            if text is None:
                text = self.spelled(node, classes - pos, classes)
                text = negated(text) if text is not None else None
                inner = pos | (reach & {On.OTHER})
            else:
                inner = pos
        elif any(parts) and On.OTHER in reach and len(classes) == 1:
            text, inner = self.spelled(node, pos, classes), pos
        if text is None:
            self.hold(node)
            return reach, frozenset()
        seen = False
        may = inner
        for part, is_pure in zip(operands, parts, strict=True):
            if is_pure:
                seen = True
                self.edit(part, lambda o, u: u, "MR401")
            else:
                may = self.test(part, inner if seen else reach)[0] & may
        if any(parts):
            self._join(node, parts, text)
        return may, frozenset()

    def _join(self, node: cst.BooleanOperation, parts: list[bool], text: str) -> None:
        made = self.write(text) if text else None

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.BooleanOperation)
            result: list[cst.BaseExpression] = []
            placed = made is None
            for part, is_pure in zip(flattened(updated, cst.And), parts, strict=True):
                if not is_pure:
                    result.append(part)
                elif not placed and made is not None:
                    result.append(parenthesized(made) if _is_or(made) else made)
                    placed = True
            joined = result[0]
            for part in result[1:]:
                joined = cst.BooleanOperation(joined, cst.And(), part)
            return (
                joined.with_changes(lpar=updated.lpar, rpar=updated.rpar)
                if updated.lpar and len(result) > 1
                else joined
            )

        # The parts that stay have edits of their own; the whole is looked at already.
        if self.need is None:
            self.context.edit(node, self.module, self.sites, apply, "MR401")
            self.understood.add(node)


def _is_or(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or)


def flattened(node: cst.BaseExpression, operator: type[cst.BaseBooleanOp]) -> list[cst.BaseExpression]:
    """The operands of a chain of one boolean operator."""
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, operator):
        return [*flattened(node.left, operator), *flattened(node.right, operator)]
    return [node]

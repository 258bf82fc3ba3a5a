"""Chunks that a loop counts although they hold no text (MR404).

The first chunk of an answer has an empty text, which is not None, and the last ones have none at all; no
event stands for either. What counts below a test for truth counts the same as before.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import Module, walk
from .context import Context


def plan(context: Context) -> None:
    """Ask before a count of chunks becomes one of texts."""
    for module in context.project.modules:
        for node in module.of(cst.For):
            sites = {shape.site for shape in context.project.shapes(node.iter) if shape.kind is Kind.STREAM}
            for count in _counts(node) if sites else ():
                if _takes_empty(context, count, node, module):
                    detail = (
                        f"`{context.source(count, module)}` counts chunks with an empty text or none, and no"
                        " event stands for them"
                    )
                    context.unsafe(count, module, sites, "MR404", detail)


def _counts(loop: cst.For) -> Iterator[cst.AugAssign]:
    for node in walk(loop.body):
        match node:
            case cst.AugAssign(operator=cst.AddAssign() | cst.SubtractAssign(), value=cst.Integer()):
                yield node
            case _:
                continue


def _takes_empty(context: Context, count: cst.CSTNode, loop: cst.For, module: Module) -> bool:
    """Whether the nearest test of a text on the way to ``count`` lets one through that is empty or None."""
    below = count
    for parent in module.ancestors(count):
        if isinstance(parent, cst.If) and below is not parent.test:
            lets = _lets(context, parent.test, below is parent.body)
            if lets is not None:
                return lets
        elif isinstance(parent, cst.IndentedBlock) and isinstance(below, cst.BaseStatement):
            above = parent.body[: parent.body.index(below)]
            for guard in (node for node in reversed(above) if isinstance(node, cst.If)):
                lets = _lets(context, guard.test, False) if _skips(guard) else None
                if lets is not None:
                    return lets
        if parent is loop:
            return False
        below = parent
    return False


def _skips(node: cst.If) -> bool:
    """``if ...: continue``"""
    last = node.body.body[-1]
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Continue)


def _lets(context: Context, test: cst.BaseExpression, true: bool) -> bool | None:
    """Whether an empty text passes where ``test`` is true (or false); None if it asks for no text."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _lets(context, inner, not true)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot())]):
            return True if _is_text(context, left) else None
        case cst.BooleanOperation(operator=cst.And(), left=left, right=right) if true:
            found = [_lets(context, part, True) for part in (left, right)]
            return None if found == [None, None] else False not in found
        case _ if _is_text(context, test):
            return not true
        case _:
            return None


def _is_text(context: Context, node: cst.BaseExpression) -> bool:
    return any(shape.kind is Kind.DELTA_TEXT for shape in context.project.shapes(node))

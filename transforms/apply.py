"""Applies the edits of the flows that are migrated: one walk over the tree, deepest node first."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..decide.plan import Edit
from ..know.modules import Module, children
from .listing import HOLDERS, tidied


def apply(module: Module, edits: Sequence[Edit]) -> cst.Module:
    """The tree of ``module`` with ``edits`` done."""
    if not edits:
        return module.tree
    by_node: dict[cst.CSTNode, list[Edit]] = {}
    touched: set[cst.CSTNode] = {module.tree}
    for edit in edits:
        by_node.setdefault(edit.node, []).append(edit)
        touched.add(edit.node)
        touched.update(module.ancestors(edit.node))
    result = module.tree.visit(_Applier(by_node, touched))
    assert isinstance(result, cst.Module)
    return result


_Line = cst.SimpleStatementLine | cst.SimpleStatementSuite


class _Applier(cst.CSTTransformer):
    def __init__(self, edits: dict[cst.CSTNode, list[Edit]], touched: set[cst.CSTNode]) -> None:
        super().__init__()
        self._edits = edits
        self._touched = touched
        self._became: dict[cst.CSTNode, int] = {}  # how many nodes took the place of one, if not 1

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self._touched

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        if original_node not in self._touched:
            return updated_node
        if isinstance(original_node, HOLDERS) and self._has_lost(original_node):
            assert isinstance(updated_node, type(original_node))
            updated_node = tidied(original_node, updated_node, self._became)
        if isinstance(updated_node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) and self._has_lost(
            original_node
        ):
            updated_node = _ended(updated_node)
        if isinstance(updated_node, cst.FormattedStringExpression):
            assert isinstance(original_node, cst.FormattedStringExpression)
            return _labelled(original_node, updated_node)
        result: cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode] = updated_node
        for edit in self._edits.get(original_node, ()):
            if not isinstance(result, cst.CSTNode):
                break
            result = edit.apply(original_node, result)
        if isinstance(result, cst.FormattedString):
            result = _requote(result)
        if not isinstance(result, cst.CSTNode):
            self._became[original_node] = len(result) if isinstance(result, cst.FlattenSentinel) else 0
        return result

    def _has_lost(self, node: cst.CSTNode) -> bool:
        """Whether an item of a call or display is gone."""
        return any(self._became.get(child) == 0 for child in children(node))


def _ended(line: _Line) -> _Line:
    """``line`` without the semicolon that stood before a statement which is gone."""
    if not line.body or not isinstance(line.body[-1].semicolon, cst.Semicolon):
        return line
    last = line.body[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=[*line.body[:-1], last])


def _labelled(
    original: cst.FormattedStringExpression, updated: cst.FormattedStringExpression
) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
    """``f"{x.y=}"`` prints how it is written: the old writing stays, as text."""
    if updated.equal is None:
        return updated
    empty = cst.Module([])
    parts = (original.whitespace_before_expression, original.expression, original.equal)
    label = "".join(empty.code_for_node(part) for part in parts if part is not None)
    conversion = updated.conversion or (None if updated.format_spec else "r")
    plain = updated.with_changes(
        equal=None, conversion=conversion, whitespace_before_expression=cst.SimpleWhitespace("")
    )
    return cst.FlattenSentinel([cst.FormattedStringText(label.replace("{", "{{").replace("}", "}}")), plain])


def _requote(node: cst.FormattedString) -> cst.FormattedString:
    """Strings that edits put into an f-string must not end it (before Python 3.12 they would)."""
    quote = node.end
    if len(quote) != 1:
        return node
    flip = _Requote(quote, "'" if quote == '"' else '"')
    parts = [
        part.visit(flip) if isinstance(part, cst.FormattedStringExpression) else part for part in node.parts
    ]
    return node.with_changes(parts=parts)


class _Requote(cst.CSTTransformer):
    def __init__(self, quote: str, other: str) -> None:
        super().__init__()
        self._quote, self._other = quote, other

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        if original_node.quote != self._quote or self._other in original_node.raw_value:
            return updated_node
        text = f"{original_node.prefix}{self._other}{original_node.raw_value}{self._other}"
        return updated_node.with_changes(value=text)

"""A dict display inside another one dissolved into it: ``{"a": 1, "b": {"c": 2}}`` -> ``{"a": 1, "c": 2}``.

Layout and comments survive: what stood one level deeper moves out, a comment beside the inner brace
becomes a line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import libcst as cst

from .snippets import key_of, string

Node = TypeVar("Node", bound=cst.CSTNode)
_Space = cst.BaseParenthesizableWhitespace


def splice(outer: cst.Dict, key: str, names: Mapping[str, str] | None = None) -> cst.Dict:
    """``outer`` with the entries of the dict display under ``key`` in its place.

    ``names`` gives new names to keys of the inner dict. An entry that is not a dict display is
    poured in: ``"b": x`` becomes ``**x``.
    """
    for position, element in enumerate(outer.elements):
        if key_of(element) != key:
            continue
        assert isinstance(element, cst.DictElement)
        if not isinstance(element.value, cst.Dict):
            poured = cst.StarredDictElement(_operand(element.value), comma=element.comma)
            return outer.with_changes(
                elements=[*outer.elements[:position], poured, *outer.elements[position + 1 :]]
            )
        return _spliced(outer, position, element, element.value, names or {})
    return outer


def around(outer: cst.BaseExpression, inner: cst.BaseExpression) -> cst.BaseExpression:
    """``outer``, a dict display on one line around ``inner``, set out line by line as ``inner`` is."""
    if not isinstance(outer, cst.Dict) or not isinstance(inner, cst.Dict) or not inner.elements:
        return outer
    closing = inner.rbrace.whitespace_before
    if not isinstance(closing, cst.ParenthesizedWhitespace) or not _broken(inner.lbrace.whitespace_after):
        return outer  # on one line, or begun on the line of its brace: `{"format": {"type": ...`
    end = cst.ParenthesizedWhitespace(indent=closing.indent, last_line=closing.last_line)
    start = end.with_changes(last_line=cst.SimpleWhitespace(closing.last_line.value + _STEP))
    moved = inner.visit(_Indent())
    elements = []
    for element in outer.elements:
        assert isinstance(element, cst.DictElement)
        value = moved if element.value is inner else element.value
        elements.append(element.with_changes(value=value, comma=cst.Comma(whitespace_after=start)))
    elements[-1] = elements[-1].with_changes(comma=_without_space(inner.elements[-1].comma))
    lbrace = outer.lbrace.with_changes(whitespace_after=start)
    rbrace = outer.rbrace.with_changes(whitespace_before=end)
    return outer.with_changes(elements=elements, lbrace=lbrace, rbrace=rbrace)


def _without_space(comma: cst.Comma | cst.MaybeSentinel) -> cst.Comma | cst.MaybeSentinel:
    return cst.Comma() if isinstance(comma, cst.Comma) else comma


_STEP = "    "


class _Indent(cst.CSTTransformer):
    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        lines = [
            line.with_changes(whitespace=cst.SimpleWhitespace(line.whitespace.value + _STEP))
            if line.comment is not None
            else line
            for line in updated_node.empty_lines
        ]
        last = cst.SimpleWhitespace(updated_node.last_line.value + _STEP)
        return updated_node.with_changes(last_line=last, empty_lines=lines)


def _operand(node: cst.BaseExpression) -> cst.BaseExpression:
    loose = (cst.BooleanOperation, cst.IfExp, cst.Comparison, cst.Lambda, cst.NamedExpr, cst.UnaryOperation)
    if isinstance(node, loose) and not node.lpar:
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node


def _spliced(
    outer: cst.Dict, position: int, element: cst.DictElement, inner: cst.Dict, names: Mapping[str, str]
) -> cst.Dict:
    before, after = list(outer.elements[:position]), list(outer.elements[position + 1 :])
    if not inner.elements:
        return outer.with_changes(elements=[*before, *after])
    room, closing = inner.lbrace.whitespace_after, inner.rbrace.whitespace_before
    separator = _separator(outer, position)
    depth = _depth(room) - _depth(separator) if _broken(room) and _broken(separator) else 0
    items = [_named(dedented(item, depth), names) for item in inner.elements]
    if not _broken(room) and _broken(separator):
        items = [_followed(item, _plain(separator)) for item in items[:-1]] + items[-1:]
    last = items[-1]
    tail = last.comma.whitespace_after if isinstance(last.comma, cst.Comma) else closing
    if _broken(separator) or not _broken(room) or after:
        items[-1] = last.with_changes(comma=_with_comment(element.comma, _comment(tail) or _comment(closing)))
        lines = _own_lines(room, depth)
        if lines:
            outer, before = _with_lines(outer, before, lines)
        rbrace = outer.rbrace
        if not after:
            comment = _comment(tail) or _comment(closing)
            rbrace = rbrace.with_changes(whitespace_before=_with_ending(rbrace.whitespace_before, comment))
    else:  # `{"type": "x", "inner": {` on one line: the inner layout is the layout
        outer, before = _opened(outer, before, room)
        rbrace = outer.rbrace.with_changes(whitespace_before=closing)
    return outer.with_changes(elements=[*before, *items, *after], rbrace=rbrace)


def _broken(space: _Space) -> bool:
    return isinstance(space, cst.ParenthesizedWhitespace)


def _depth(space: _Space) -> int:
    return len(space.last_line.value) if isinstance(space, cst.ParenthesizedWhitespace) else 0


def _separator(outer: cst.Dict, position: int) -> _Space:
    """The white space before the element at ``position``."""
    if position:
        comma = outer.elements[position - 1].comma
        if isinstance(comma, cst.Comma):
            return comma.whitespace_after
    return outer.lbrace.whitespace_after


def _plain(space: _Space) -> _Space:
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(
            first_line=cst.TrailingWhitespace(newline=space.first_line.newline), empty_lines=[]
        )
    return space


def _followed(item: cst.BaseDictElement, space: _Space) -> cst.BaseDictElement:
    return item.with_changes(comma=cst.Comma(whitespace_after=space))


def _named(item: cst.BaseDictElement, names: Mapping[str, str]) -> cst.BaseDictElement:
    key = key_of(item)
    if key is not None and key in names and isinstance(item, cst.DictElement):
        return item.with_changes(key=string(names[key], item.key))
    return item


def _comment(space: _Space) -> cst.Comment | None:
    return space.first_line.comment if isinstance(space, cst.ParenthesizedWhitespace) else None


def _with_comment(
    comma: cst.Comma | cst.MaybeSentinel, comment: cst.Comment | None
) -> cst.Comma | cst.MaybeSentinel:
    """The comma after the dissolved entry, with the comment that ended the inner dict."""
    if comment is None or not isinstance(comma, cst.Comma):
        return comma
    return comma.with_changes(whitespace_after=_with_ending(comma.whitespace_after, comment))


def _with_ending(space: _Space, comment: cst.Comment | None) -> _Space:
    """``space`` with ``comment`` at the end of its first line, or on the next if that has one."""
    if comment is None or not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    if _comment(space) is not None:
        own = cst.EmptyLine(indent=space.indent, whitespace=space.last_line, comment=comment)
        return space.with_changes(empty_lines=[own, *space.empty_lines])
    line = space.first_line.with_changes(comment=comment, whitespace=cst.SimpleWhitespace("  "))
    return space.with_changes(first_line=line)


def _own_lines(room: _Space, depth: int) -> list[cst.EmptyLine]:
    """The comments at the opening brace of the inner dict, as lines."""
    if not isinstance(room, cst.ParenthesizedWhitespace):
        return []
    lines = [line for line in room.empty_lines if line.comment is not None]
    lines = [line.with_changes(whitespace=_shorter(line.whitespace, depth)) for line in lines]
    if room.first_line.comment is not None:
        indent = _shorter(room.last_line, depth)
        lines.insert(0, cst.EmptyLine(indent=room.indent, whitespace=indent, comment=room.first_line.comment))
    return lines


def _with_lines(
    outer: cst.Dict, before: list[cst.BaseDictElement], lines: Sequence[cst.EmptyLine]
) -> tuple[cst.Dict, list[cst.BaseDictElement]]:
    """``lines`` above the element that follows ``before``."""

    def added(space: _Space) -> _Space:
        if isinstance(space, cst.ParenthesizedWhitespace):
            return space.with_changes(empty_lines=[*space.empty_lines, *lines])
        return space

    if before and isinstance(before[-1].comma, cst.Comma):
        comma = before[-1].comma
        before[-1] = before[-1].with_changes(
            comma=comma.with_changes(whitespace_after=added(comma.whitespace_after))
        )
    elif not before:
        lbrace = outer.lbrace
        outer = outer.with_changes(
            lbrace=lbrace.with_changes(whitespace_after=added(lbrace.whitespace_after))
        )
    return outer, before


def _opened(
    outer: cst.Dict, before: list[cst.BaseDictElement], room: _Space
) -> tuple[cst.Dict, list[cst.BaseDictElement]]:
    """``outer`` with ``room`` before the element that follows ``before``."""
    if before:
        return outer, [*before[:-1], _followed(before[-1], room)]
    return outer.with_changes(lbrace=outer.lbrace.with_changes(whitespace_after=room)), before


def _shorter(space: cst.SimpleWhitespace, depth: int) -> cst.SimpleWhitespace:
    return cst.SimpleWhitespace(space.value[depth:]) if depth > 0 else space


def dedented(node: Node, depth: int) -> Node:
    """``node`` with its continuation lines moved ``depth`` columns to the left."""
    if depth <= 0:
        return node
    moved = node.visit(_Dedent(depth))
    assert isinstance(moved, type(node))
    return moved


def settled(node: cst.BaseExpression, lead: cst.BaseParenthesizableWhitespace) -> cst.BaseExpression:
    """``node``, which stood deeper, with its last lines as far out as an argument after ``lead``."""
    if not isinstance(lead, cst.ParenthesizedWhitespace):
        return node
    depths = _Depths()
    node.visit(depths)
    return dedented(node, min(depths.found) - _depth(lead)) if depths.found else node


class _Depths(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[int] = []

    def visit_ParenthesizedWhitespace(self, node: cst.ParenthesizedWhitespace) -> None:
        self.found.append(_depth(node))


class _Dedent(cst.CSTTransformer):
    def __init__(self, depth: int) -> None:
        super().__init__()
        self._depth = depth

    def leave_ParenthesizedWhitespace(
        self, original_node: cst.ParenthesizedWhitespace, updated_node: cst.ParenthesizedWhitespace
    ) -> cst.ParenthesizedWhitespace:
        lines = [
            line.with_changes(whitespace=_shorter(line.whitespace, self._depth))
            for line in updated_node.empty_lines
        ]
        return updated_node.with_changes(
            last_line=_shorter(updated_node.last_line, self._depth), empty_lines=lines
        )

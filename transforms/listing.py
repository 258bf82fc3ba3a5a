"""Calls and displays whose items join or leave: commas, layout and comments stay in order.

White space is looked at as gaps: one after the opening bracket, one after each item. The last gap stands
before the closing bracket, whichever node LibCST keeps it in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from ..know.modules import Module

Item = cst.Arg | cst.BaseElement | cst.BaseDictElement
_Space = cst.BaseParenthesizableWhitespace
_Display = (cst.Dict, cst.List, cst.Set, cst.Tuple)
HOLDERS = (cst.Call, cst.ClassDef, *_Display)
Holder = cst.Call | cst.ClassDef | cst.Dict | cst.List | cst.Set | cst.Tuple
Same = TypeVar("Same", bound=Holder)
_NONE = cst.SimpleWhitespace("")
_ONE = cst.SimpleWhitespace(" ")


@dataclass
class _Layout:
    opening: _Space
    items: list[Item]
    gaps: list[_Space]  # after each item
    trailing: bool  # a comma after the last item


def append(node: Same, item: Item) -> Same:
    """``node`` with ``item`` at the end, laid out as the others are."""
    layout = _read(node)
    if layout.items:
        between, closing = _hand_comment(layout.gaps[-1], _separator(layout))
        layout.gaps[-1:] = [between, closing]
    else:
        layout.gaps = [_NONE]
    layout.items.append(item)
    result = _write(node, layout)
    assert isinstance(result, type(node))
    return result


def indent_within(node: cst.CSTNode, module: Module) -> str:
    """How far the line of ``node`` is indented below its statement: that of the brackets around it."""
    inner = node
    for outer in module.ancestors(node):
        if isinstance(outer, HOLDERS):
            layout = _read(outer)
            number = next((n for n, item in enumerate(layout.items) if item is inner), None)
            if number is not None:
                gap = layout.gaps[number - 1] if number else layout.opening
                if isinstance(gap, cst.ParenthesizedWhitespace):
                    return gap.last_line.value
        inner = outer
    return ""


def tidied(original: Holder, updated: Holder, became: Mapping[cst.CSTNode, int]) -> Holder:
    """``updated`` in order after items of ``original`` are gone.

    ``became`` says how many items took the place of one, where that is not 1. A comment beside an item
    leaves with it; comments on lines of their own stay.
    """
    before, rest = _read(original), iter(_read(updated).items)
    layout = _Layout(before.opening, [], [], before.trailing)
    for item, gap in zip(before.items, before.gaps, strict=True):
        count = became.get(item, 1)
        for _ in range(count):
            new = next(rest)
            layout.items.append(new)
            layout.gaps.append(new.comma.whitespace_after if isinstance(new.comma, cst.Comma) else gap)
        if count and item is before.items[-1]:
            layout.gaps[-1] = gap
        elif count == 0:
            _drop(layout, gap, item is before.items[-1])
    return _write(updated, layout)


def _drop(layout: _Layout, gap: _Space, last: bool) -> None:
    """Join the gap after an item that is gone with the one before it."""
    if last and layout.items:
        layout.gaps[-1] = _ending(gap, layout.gaps[-1])
    elif last:
        remarks = _remarks(layout.opening) + _remarks(gap)
        room = gap if isinstance(gap, cst.ParenthesizedWhitespace) else layout.opening
        layout.opening = _with_lines(_without_comment(room), remarks) if remarks else _NONE
    elif layout.items:
        layout.gaps[-1] = _joined(layout.gaps[-1], gap)
    elif _remarks(gap):
        layout.opening = _joined(layout.opening, _without_comment(gap))


def _joined(kept: _Space, gone: _Space) -> _Space:
    """The gap between the neighbours of an item that is gone: ``kept`` before it, ``gone`` after it."""
    if isinstance(kept, cst.ParenthesizedWhitespace):
        lines = _remarks(gone)
        return _with_lines(kept, [*kept.empty_lines, *lines]) if lines else kept
    return gone  # the two stood on one line: its end is the end of that line still


def _ending(closing: _Space, before: _Space) -> _Space:
    """The closing gap after the last item is gone; the gap ``before`` it has the comments of the one left."""
    if not isinstance(before, cst.ParenthesizedWhitespace):
        return closing
    if isinstance(closing, cst.ParenthesizedWhitespace):
        lines = [*_remarks(before), *closing.empty_lines]
        return closing.with_changes(first_line=before.first_line, empty_lines=lines)
    return before if before.first_line.comment or _remarks(before) else closing


# -- reading and writing -----------------------------------------------------------------


def _read(node: Holder) -> _Layout:
    items = _items(node)
    gaps = [item.comma.whitespace_after if isinstance(item.comma, cst.Comma) else _ONE for item in items]
    if items:
        gaps[-1] = _closing(node, items[-1])
    trailing = bool(items) and isinstance(items[-1].comma, cst.Comma)
    return _Layout(_opening(node), items, gaps, trailing)


def _items(node: Holder) -> list[Item]:
    if isinstance(node, cst.Call):
        return list(node.args)
    if isinstance(node, cst.ClassDef):
        return [*node.bases, *node.keywords]
    return list(node.elements)


def _opening(node: Holder) -> _Space:
    match node:
        case cst.Call():
            return node.whitespace_before_args
        case cst.ClassDef(lpar=cst.LeftParen(whitespace_after=space)):
            return space
        case cst.Dict() | cst.Set():
            return node.lbrace.whitespace_after
        case cst.List():
            return node.lbracket.whitespace_after
        case cst.Tuple(lpar=[*_, cst.LeftParen(whitespace_after=space)]):
            return space
        case _:
            return _NONE


def _closing(node: Holder, last: Item) -> _Space:
    match node:
        case cst.Call() | cst.ClassDef():
            assert isinstance(last, cst.Arg)
            return (
                last.comma.whitespace_after
                if isinstance(last.comma, cst.Comma)
                else last.whitespace_after_arg
            )
        case cst.Dict() | cst.Set():
            return node.rbrace.whitespace_before
        case cst.List():
            return node.rbracket.whitespace_before
        case cst.Tuple(rpar=[cst.RightParen(whitespace_before=space), *_]):
            return space
        case _:
            return _NONE


def _write(node: Holder, layout: _Layout) -> Holder:
    pairs = zip(layout.items[:-1], layout.gaps[:-1], strict=True)
    items = [_comma_after(item, gap) for item, gap in pairs]
    if layout.items:
        items.append(_last(node, layout))
    closing = layout.gaps[-1] if layout.gaps else _NONE
    return _filled(node, items, layout.opening, closing)


def _comma_after(item: Item, gap: _Space) -> Item:
    if isinstance(item.comma, cst.Comma):
        return item.with_changes(comma=item.comma.with_changes(whitespace_after=gap))
    if isinstance(item, cst.Arg):  # it was the last: the gap stood there
        item = item.with_changes(whitespace_after_arg=_NONE)
    return item.with_changes(comma=cst.Comma(whitespace_after=gap))


def _last(node: Holder, layout: _Layout) -> Item:
    item, closing = layout.items[-1], layout.gaps[-1]
    if layout.trailing or (isinstance(node, cst.Tuple) and len(layout.items) == 1):
        return _comma_after(item, _NONE if isinstance(node, _Display) else closing)
    item = item.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return item.with_changes(whitespace_after_arg=closing) if isinstance(item, cst.Arg) else item


def _filled(node: Holder, items: Sequence[Item], opening: _Space, closing: _Space) -> Holder:
    match node:
        case cst.Call():
            return node.with_changes(args=items, whitespace_before_args=opening)
        case cst.ClassDef():
            keywords = [
                item for item in items if isinstance(item, cst.Arg) and (item.keyword or item.star == "**")
            ]
            return node.with_changes(
                bases=[item for item in items if item not in keywords], keywords=keywords
            )
        case cst.Dict() | cst.Set():
            lbrace = node.lbrace.with_changes(whitespace_after=opening)
            rbrace = node.rbrace.with_changes(whitespace_before=closing)
            return node.with_changes(elements=items, lbrace=lbrace, rbrace=rbrace)
        case cst.List():
            lbracket = node.lbracket.with_changes(whitespace_after=opening)
            rbracket = node.rbracket.with_changes(whitespace_before=closing)
            return node.with_changes(elements=items, lbracket=lbracket, rbracket=rbracket)
        case _:
            return _tuple(node, items, opening, closing)


def _tuple(node: cst.Tuple, items: Sequence[Item], opening: _Space, closing: _Space) -> cst.Tuple:
    lpar = [*node.lpar[:-1], *(paren.with_changes(whitespace_after=opening) for paren in node.lpar[-1:])]
    rpar = [*(paren.with_changes(whitespace_before=closing) for paren in node.rpar[:1]), *node.rpar[1:]]
    return node.with_changes(elements=items, lpar=lpar, rpar=rpar)


# -- white space -------------------------------------------------------------------------


def _separator(layout: _Layout) -> _Space:
    """The white space between two items, without comments."""
    model = layout.gaps[-2] if len(layout.gaps) > 1 else layout.opening
    if isinstance(model, cst.ParenthesizedWhitespace):
        return _with_lines(_without_comment(model), [])
    return _ONE if model.empty or len(layout.gaps) == 1 else model


def _hand_comment(closing: _Space, between: _Space) -> tuple[_Space, _Space]:
    """``between`` with the comment beside what was the last item, and ``closing`` without it."""
    if not isinstance(closing, cst.ParenthesizedWhitespace) or closing.first_line.comment is None:
        return between, closing
    if not isinstance(between, cst.ParenthesizedWhitespace):
        return between, closing  # items on one line stay on one
    return between.with_changes(first_line=closing.first_line), _without_comment(closing)


def _without_comment(space: _Space) -> _Space:
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    return space.with_changes(first_line=cst.TrailingWhitespace(newline=space.first_line.newline))


def _lines(space: _Space) -> list[cst.EmptyLine]:
    return list(space.empty_lines) if isinstance(space, cst.ParenthesizedWhitespace) else []


def _remarks(space: _Space) -> list[cst.EmptyLine]:
    """The comments on lines of their own."""
    return [line for line in _lines(space) if line.comment is not None]


def _with_lines(space: _Space, lines: Sequence[cst.EmptyLine]) -> _Space:
    return space.with_changes(empty_lines=lines) if isinstance(space, cst.ParenthesizedWhitespace) else space

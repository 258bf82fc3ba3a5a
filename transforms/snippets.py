"""Small pieces of syntax, and containers that stay tidy when an item leaves or joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

Item = TypeVar("Item", cst.Arg, cst.DictElement, cst.Element)
_SIMPLE = (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.SimpleString, cst.List, cst.Dict, cst.Integer)


def expr(template: str, **parts: cst.BaseExpression) -> cst.BaseExpression:
    """The expression ``template`` with each name of ``parts`` replaced by that expression.

    ``expr("int(r.created_at)", r=base)``. Parts that need parentheses must bring them.
    """
    tree = cst.parse_expression(template)
    replaced = tree.visit(_Fill(parts)) if parts else tree
    assert isinstance(replaced, cst.BaseExpression)
    return replaced


class _Fill(cst.CSTTransformer):
    def __init__(self, parts: dict[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._parts = parts

    def visit_Attribute_attr(self, node: cst.Attribute) -> None:
        return None

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._parts.get(original_node.value, updated_node)


def attribute(base: cst.BaseExpression, name: str) -> cst.Attribute:
    """``base.name``."""
    return cst.Attribute(atom(base), cst.Name(name))


def atom(node: cst.BaseExpression) -> cst.BaseExpression:
    """``node``, in parentheses if it could not stand before a dot as it is."""
    if isinstance(node, (*_SIMPLE, cst.BaseString, cst.BaseComp)) or node.lpar:
        return node
    return parenthesized(node)


def parenthesized(node: cst.BaseExpression) -> cst.BaseExpression:
    """``(node)``."""
    return node if node.lpar else node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """``node``, in parentheses if it could bind differently beside an operator."""
    loose = (cst.BooleanOperation, cst.Comparison, cst.UnaryOperation, cst.IfExp, cst.Lambda, cst.NamedExpr)
    return parenthesized(node) if isinstance(node, (*loose, cst.BinaryOperation, cst.Yield)) else node


def string(value: str, like: cst.CSTNode | None = None) -> cst.SimpleString:
    """A string literal with the quotes of ``like`` (double quotes without it)."""
    quote = '"'
    if isinstance(like, cst.SimpleString) and like.quote in ("'", '"'):
        quote = like.quote
    escaped = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return cst.SimpleString(f"{quote}{escaped}{quote}")


def quote_of(node: cst.CSTNode | None) -> cst.CSTNode | None:
    """A string key of a dict, to take its quotes from."""
    if isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
                return element.key
    return node


def is_simple(node: cst.BaseExpression) -> bool:
    """Whether ``node`` can be repeated: a name or a chain of attributes of one."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def key_of(element: cst.CSTNode) -> str | None:
    """The constant string key of a dict element."""
    if isinstance(element, cst.DictElement) and isinstance(element.key, (cst.SimpleString, cst.ConcatenatedString)):
        value = element.key.evaluated_value
        return value if isinstance(value, str) else None
    return None


def entry(node: cst.Dict, key: str) -> cst.DictElement | None:
    """The element of a dict display under ``key``."""
    for element in node.elements:
        if key_of(element) == key:
            assert isinstance(element, cst.DictElement)
            return element
    return None


def unmultiline(node: cst.BaseParenthesizableWhitespace) -> bool:
    """Whether white space stays on one line."""
    return not isinstance(node, cst.ParenthesizedWhitespace)


def append(items: Sequence[Item], item: Item, opening: cst.BaseParenthesizableWhitespace) -> list[Item]:
    """``items`` with ``item`` at the end, laid out as the others are.

    ``opening`` is the white space after the opening bracket: it shows how items are set off.
    """
    if not items:
        return [item]
    last = items[-1]
    between = _separator(items, opening)
    closing = last.comma
    if isinstance(closing, cst.Comma):
        after = closing.whitespace_after
        trailing_comment = isinstance(after, cst.ParenthesizedWhitespace) and after.first_line.comment is not None
        inner = between
        if trailing_comment and isinstance(between, cst.ParenthesizedWhitespace):
            assert isinstance(after, cst.ParenthesizedWhitespace)
            inner = between.with_changes(first_line=after.first_line)
            plain = cst.TrailingWhitespace(newline=after.first_line.newline)
            closing = closing.with_changes(whitespace_after=after.with_changes(first_line=plain))
        head = last.with_changes(comma=cst.Comma(whitespace_after=inner))
        return [*items[:-1], head, item.with_changes(comma=closing)]
    tail = {}
    if isinstance(last, cst.Arg):
        tail = {"whitespace_after_arg": last.whitespace_after_arg}
        last = last.with_changes(whitespace_after_arg=cst.SimpleWhitespace(""))
        whitespace = tail["whitespace_after_arg"]
        if isinstance(whitespace, cst.ParenthesizedWhitespace) and whitespace.first_line.comment is not None:
            between = whitespace.with_changes(last_line=_last_line(between))
            tail = {"whitespace_after_arg": whitespace.with_changes(first_line=cst.TrailingWhitespace(newline=whitespace.first_line.newline))}
    head = last.with_changes(comma=cst.Comma(whitespace_after=between))
    return [*items[:-1], head, item.with_changes(**tail)]


def _last_line(node: cst.BaseParenthesizableWhitespace) -> cst.SimpleWhitespace:
    return node.last_line if isinstance(node, cst.ParenthesizedWhitespace) else cst.SimpleWhitespace("    ")


def _separator(items: Sequence[Item], opening: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    """The white space between two items, without comments."""
    model: cst.BaseParenthesizableWhitespace | None = None
    for item in items[:-1]:
        if isinstance(item.comma, cst.Comma):
            model = item.comma.whitespace_after
    if model is None:
        model = opening if isinstance(opening, cst.ParenthesizedWhitespace) else cst.SimpleWhitespace(" ")
    if isinstance(model, cst.ParenthesizedWhitespace):
        newline = model.first_line.newline
        return model.with_changes(first_line=cst.TrailingWhitespace(newline=newline), empty_lines=[])
    return model if model.empty is False else cst.SimpleWhitespace(" ")


def tidy(
    original: Sequence[cst.CSTNode], updated: Sequence[cst.CSTNode], removed: set[cst.CSTNode]
) -> list[cst.CSTNode]:
    """Commas and comments after the items ``removed`` of a container are gone.

    Comments that stood above the item after a removed one move to the comma before it; the last
    item left ends as the last one did.
    """
    rest = iter(updated)
    kept: list[cst.CSTNode] = []
    for item in original:
        if item not in removed:
            kept.append(next(rest))
            continue
        comma = getattr(item, "comma", None)
        if not kept or not isinstance(comma, cst.Comma):
            continue
        after = comma.whitespace_after
        if isinstance(after, cst.ParenthesizedWhitespace) and any(line.comment for line in after.empty_lines):
            kept[-1] = _with_lines(kept[-1], after)
    kept.extend(rest)
    if kept and original and original[-1] in removed:
        changes = {"comma": getattr(original[-1], "comma")}
        if isinstance(kept[-1], cst.Arg) and isinstance(original[-1], cst.Arg):
            changes["whitespace_after_arg"] = original[-1].whitespace_after_arg
        kept[-1] = kept[-1].with_changes(**changes)
    return kept


def _with_lines(item: cst.CSTNode, after: cst.ParenthesizedWhitespace) -> cst.CSTNode:
    comma = getattr(item, "comma", None)
    if not isinstance(comma, cst.Comma) or not isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
        return item
    own = comma.whitespace_after
    lines = [*own.empty_lines, *after.empty_lines]
    return item.with_changes(comma=comma.with_changes(whitespace_after=own.with_changes(empty_lines=lines)))

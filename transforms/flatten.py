"""A tool, or a choice of tools, with its inner level dissolved: pure syntax.

``dict(type="function", function=dict(...))`` is flattened like the display it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from .listing import append
from .snippets import entry, expr, key_of, quote_of, string
from .splice import splice


@dataclass(frozen=True)
class Default:
    """An entry that the new API wants written out: ``value`` is its source.

    ``early`` puts it before entries that are poured in, so that one of theirs wins.
    """

    key: str
    value: str
    early: bool = False


def flatten(node: cst.CSTNode, levels: Sequence[str], defaults: Sequence[Default] = ()) -> cst.CSTNode:
    """``node``, a dict display or a call of ``dict``, with each of ``levels`` dissolved in turn.

    ``defaults`` are added to the entries of the first level. Something else comes back as it is.
    """
    shown = _as_display(node)
    if shown is None:
        return node
    for number, level in enumerate(levels):
        shown = _dissolve(shown, level, () if number else defaults)
    return shown if isinstance(node, cst.Dict) else _as_call(shown, node)


def can_flatten(node: cst.CSTNode) -> bool:
    """Whether :meth:`flatten` knows the syntax of ``node``."""
    return _as_display(node) is not None


def with_entries(node: cst.CSTNode, first: Sequence[Default], last: Sequence[Default]) -> cst.CSTNode:
    """``node``, a dict display or a call of ``dict``, with entries before and after its own."""
    shown = _as_display(node)
    if shown is None:
        return node
    for default in reversed(first):
        shown = _prepend(shown, _element(shown, default))
    for default in last:
        shown = _add(shown, default)
    return shown if isinstance(node, cst.Dict) else _as_call(shown, node)


def _dissolve(outer: cst.Dict, level: str, defaults: Sequence[Default]) -> cst.Dict:
    element = entry(outer, level)
    if element is None:
        return outer
    inner = _as_display(element.value)
    if inner is None or any(
        key_of(item) is None and isinstance(item, cst.DictElement) for item in inner.elements
    ):
        early = [default for default in defaults if default.early]
        late = [default for default in defaults if not default.early]
        for default in early:
            outer = _before(outer, level, _element(outer, default))
        outer = splice(outer, level)
        for default in late:
            outer = _add(outer, default)
        return outer
    # A dict that is also a function of its own has been given its type and its defaults already.
    said = {key_of(item) for item in outer.elements if isinstance(item, cst.DictElement)} - {level, None}
    inner = inner.with_changes(elements=[item for item in inner.elements if key_of(item) not in said])
    for default in defaults:
        if entry(inner, default.key) is None:
            inner = _ahead(inner, default) if default.early else _add(inner, default)
    elements = [item.with_changes(value=inner) if item is element else item for item in outer.elements]
    return splice(outer.with_changes(elements=elements), level)


def _ahead(node: cst.Dict, default: Default) -> cst.Dict:
    """``node`` with an entry that what is poured into it can override."""
    for number, item in enumerate(node.elements):
        if isinstance(item, cst.StarredDictElement):
            before = node.elements[number - 1].comma if number else None
            space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            comma = before if isinstance(before, cst.Comma) else space
            entry_ = _element(node, default).with_changes(comma=comma)
            return node.with_changes(elements=[*node.elements[:number], entry_, *node.elements[number:]])
    return _add(node, default)


def _element(like: cst.Dict, default: Default) -> cst.DictElement:
    return cst.DictElement(string(default.key, quote_of(like)), expr(default.value))


def _add(node: cst.Dict, default: Default) -> cst.Dict:
    return append(node, _element(node, default))


def _prepend(node: cst.Dict, element: cst.DictElement) -> cst.Dict:
    if not node.elements:
        return node.with_changes(elements=[element])
    opening = node.lbrace.whitespace_after
    between: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if isinstance(opening, cst.ParenthesizedWhitespace):
        between = opening
        opening = opening.with_changes(
            first_line=cst.TrailingWhitespace(newline=opening.first_line.newline), empty_lines=[]
        )
    lbrace = node.lbrace.with_changes(whitespace_after=opening)
    return node.with_changes(
        elements=[element.with_changes(comma=cst.Comma(whitespace_after=between)), *node.elements],
        lbrace=lbrace,
    )


def _before(outer: cst.Dict, level: str, element: cst.DictElement) -> cst.Dict:
    """``element`` before the entry ``level``, laid out as the entries are."""
    position = next(number for number, item in enumerate(outer.elements) if key_of(item) == level)
    space: cst.BaseParenthesizableWhitespace = outer.lbrace.whitespace_after
    if position:
        comma = outer.elements[position - 1].comma
        space = comma.whitespace_after if isinstance(comma, cst.Comma) else cst.SimpleWhitespace(" ")
    if not isinstance(space, cst.ParenthesizedWhitespace):
        space = cst.SimpleWhitespace(" ")
    new = element.with_changes(comma=cst.Comma(whitespace_after=space))
    return outer.with_changes(elements=[*outer.elements[:position], new, *outer.elements[position:]])


# -- dict(...) as a display ----------------------------------------------------------------


def _as_display(node: cst.CSTNode) -> cst.Dict | None:
    """``node`` as a dict display, if it is one or a call with keywords only."""
    if isinstance(node, cst.Dict):
        return node
    if not isinstance(node, cst.Call) or not node.args:
        return None
    elements: list[cst.BaseDictElement] = []
    for arg in node.args:
        if arg.star == "**":
            elements.append(cst.StarredDictElement(arg.value, comma=arg.comma))
        elif arg.keyword is not None:
            elements.append(cst.DictElement(string(arg.keyword.value), arg.value, comma=arg.comma))
        else:
            return None
    return cst.Dict(
        elements,
        lbrace=cst.LeftCurlyBrace(whitespace_after=node.whitespace_before_args),
        rbrace=cst.RightCurlyBrace(whitespace_before=node.args[-1].whitespace_after_arg),
    )


def _as_call(shown: cst.Dict, like: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(like, cst.Call)
    args: list[cst.Arg] = []
    for element in shown.elements:
        key = key_of(element)
        if isinstance(element, cst.DictElement) and key is not None and key.isidentifier():
            equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
            args.append(cst.Arg(element.value, cst.Name(key), equal=equal, comma=element.comma))
        elif isinstance(element, cst.StarredDictElement):
            args.append(cst.Arg(element.value, star="**", comma=element.comma))
        else:  # a key that cannot be a keyword
            assert isinstance(element, cst.DictElement)
            value = cst.Dict([element.with_changes(comma=cst.MaybeSentinel.DEFAULT)])
            args.append(cst.Arg(value, star="**", comma=element.comma))
    args[-1] = args[-1].with_changes(whitespace_after_arg=shown.rbrace.whitespace_before)
    return like.with_changes(args=args, whitespace_before_args=shown.lbrace.whitespace_after)

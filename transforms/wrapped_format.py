"""A format inside a ``text`` argument: how it gets there, and how it is read there."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from .snippets import expr, is_omitted, operand, spells_none
from .splice import around


def wrapped(
    none: bool, omitted: bool, verbosity: cst.BaseExpression | None
) -> Callable[[cst.BaseExpression], cst.BaseExpression]:
    """``value`` inside ``{"format": value}``; a value that says nothing stays as it is."""

    def wrap(value: cst.BaseExpression) -> cst.BaseExpression:
        if _is_absent(value):
            return value
        if isinstance(value, cst.IfExp) and (_is_absent(value.body) or _is_absent(value.orelse)):
            return value.with_changes(body=_arm(wrap, value.body), orelse=_arm(wrap, value.orelse))
        if verbosity is not None:
            return around(
                expr('{"format": value, "verbosity": verbosity}', value=value, verbosity=verbosity), value
            )
        if isinstance(value, (cst.Dict, cst.IfExp)) or not (none or omitted):
            return around(expr('{"format": value}', value=value), value)
        if omitted:
            return expr('{"format": value} if check else check', value=value, check=operand(value))
        # The API wants no null here (openai.types.responses.ResponseTextConfigParam).
        return expr('{"format": value or {"type": "text"}}', value=operand(value))

    return wrap


def _arm(
    wrap: Callable[[cst.BaseExpression], cst.BaseExpression], value: cst.BaseExpression
) -> cst.BaseExpression:
    """One arm of a conditional format: plain text where it was None."""
    if spells_none(value):
        return expr('{"format": {"type": "text"}}')
    return wrap(value)


def _is_absent(node: cst.BaseExpression) -> bool:
    return is_omitted(node) or spells_none(node)


def inner(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``kwargs.get("response_format", {})`` -> ``kwargs.get("text", {}).get("format", {})``."""
    match updated:
        case cst.Subscript(value=owner):
            return expr('owner["text"]["format"]', owner=owner)
        case cst.Call(func=cst.Attribute(value=owner), args=[_, *default]):
            found = expr('owner.get("text", {}).get("format")', owner=owner)
            assert isinstance(found, cst.Call)
            key = found.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return found.with_changes(args=[key, *default])
        case _:
            raise TypeError(original)

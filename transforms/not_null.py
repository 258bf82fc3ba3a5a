"""Tools and choices that can be None where they are passed: Responses wants no null there (MR108).

Chat Completions takes ``tools=None`` for no tools; the types of Responses have no None for ``tools`` and
``tool_choice`` (openai.types.responses.ResponseCreateParams), and the API refuses null. What says the
same there is an empty list, and ``"auto"``.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..know.graph import Var
from ..know.kinds import Const, Place, Site
from ..know.modules import Module
from .actions import Action, act
from .context import WRITES, Context, Keyword
from .messages import written_value
from .none_text import is_guarded
from .reading import truth_tested
from .snippets import expr, is_omitted, operand, spells_none

_NOTHING = {"tools": "[]", "functions": "[]", "tool_choice": '"auto"', "function_call": '"auto"'}
_UNAFFECTED = WRITES | {"contains", "delete"}


def plan(context: Context) -> None:
    """Write what None stood for wherever it can be passed."""
    for site in context.sites:
        request = context.request(site)
        for name in filter(request.passes, _NOTHING):
            optional = [item for item in request.written(name) if _can_be_null(context, site, item)]
            for item in optional:
                act(context, site, [item], Action("MR108", wrap=_instead(_NOTHING[name])))
            holders = {item.holder for item in optional} - {None}
            for item in request.named(name):
                if item.holder in holders:
                    _looked_at(context, site, item.place)


def _can_be_null(context: Context, site: Site, item: Keyword) -> bool:
    value = written_value(item.place)
    if not _may_be_none(item.place.var) or (value is not None and _is_no_null(value, item.place.module)):
        return False
    return item.holder is None or not any(
        _drops_none(chosen.node) for chosen in context.request(site).dicts if chosen is not item.holder
    )


def _may_be_none(var: Var | None) -> bool:
    return var is not None and any(isinstance(value, Const) and value.value is None for value in var.values)


def _is_no_null(value: cst.BaseExpression, module: Module) -> bool:
    """Whether the code sees to it that ``value`` is not None: ``if tools:``, ``tools or NOT_GIVEN``."""
    match value:
        case cst.BooleanOperation(operator=cst.Or(), right=right):
            return not spells_none(right)
        case cst.IfExp(body=body, orelse=orelse):
            return all(not spells_none(arm) and _is_no_null(arm, module) for arm in (body, orelse))
        case cst.Name() | cst.Attribute() | cst.Subscript():
            return is_omitted(value) or is_guarded(value, module)
        case _:
            return isinstance(value, (cst.List, cst.BaseString, cst.ListComp, cst.Dict))


def _drops_none(node: cst.CSTNode) -> bool:
    """``{key: value for key, value in options.items() if value is not None}``."""
    match node:
        case cst.DictComp(value=cst.Name(value=name), for_in=cst.CompFor(ifs=[cst.CompIf(test=test)])):
            match test:
                case cst.Name(value=tested):
                    return tested == name
                case cst.Comparison(
                    left=cst.Name(value=tested),
                    comparisons=[cst.ComparisonTarget(operator=cst.IsNot(), comparator=other)],
                ):
                    return tested == name and spells_none(other)
    return False


def _instead(nothing: str) -> Callable[[cst.BaseExpression], cst.BaseExpression]:
    """A wrapper that writes ``nothing`` where a value can be None."""

    def wrap(value: cst.BaseExpression) -> cst.BaseExpression:
        match value:
            case _ if spells_none(value):
                return expr(nothing)
            case cst.BooleanOperation(operator=cst.Or(), right=right) if spells_none(right):
                return value.with_changes(right=expr(nothing))
            case cst.IfExp(body=body, orelse=orelse) if spells_none(body) or spells_none(orelse):
                body, orelse = (expr(nothing) if spells_none(arm) else arm for arm in (body, orelse))
                return body if body.deep_equals(orelse) else value.with_changes(body=body, orelse=orelse)
            case _:
                return expr(f"value or {nothing}", value=operand(value))

    return wrap


def _looked_at(context: Context, site: Site, place: Place) -> None:
    """A look at an argument that is no longer None: only its truth is the same."""
    if place.how in _UNAFFECTED or (place.how != "pop" and truth_tested(place.module, place.node)):
        return
    text = context.source(place.node, place.module)
    detail = f"`{text}` looks at an argument that may be None, and may no longer be"
    context.manual(place.node, place.module, [site], "MR120", detail)

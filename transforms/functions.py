"""The form of 2023: ``functions`` and ``function_call`` become tools and a choice (MR503).

It answered with one call at most, so ``parallel_tool_calls=False`` is written beside it.
"""

from __future__ import annotations

import libcst as cst

from ..decide.escapes import Way
from ..decide.plan import Apply
from ..know import models
from ..know.kinds import Const, DictValue, External, SeqValue, Site, Typed, Unknown
from .actions import Action, act
from .context import Context, Keyword
from .flatten import Default, can_flatten, with_entries
from .listing import append
from .snippets import string
from .strictness import EMPTY_SCHEMA, Presence, presence
from .tools import SPLIT, members

_TYPE = Default("type", '"function"')


def plan(context: Context) -> None:
    """Rewrite the requests that pass ``functions``."""
    for site in context.sites:
        request = context.request(site)
        for item in request.named("functions", "function_call"):
            if request.passes(item.name):
                act(
                    context,
                    site,
                    [item],
                    Action("MR503", "tools" if item.name == "functions" else "tool_choice"),
                )
        if not request.passes("functions", "function_call"):
            continue
        if request.passes("tools"):
            context.manual(
                site.node, site.module, [site], "MR503", "`functions` and `tools` meet in one request"
            )
        lists: dict[SeqValue, set[Site]] = {}
        for item in request.written("functions"):
            _functions(context, site, item, lists)
            _one_call(context, site, item)
        for sequence in lists:
            _escapes(context, site, sequence)
        for item in request.written("function_call"):
            _choice(context, site, item)


def _functions(context: Context, site: Site, item: Keyword, lists: dict[SeqValue, set[Site]]) -> None:
    place = item.place
    if place.var is None or not place.var.values:
        context.manual(
            place.node, place.module, [site], "MR504", "where these functions are made could not be found"
        )
        return
    for value in members(place.var, lists, site):
        if not isinstance(value, DictValue):
            context.manual(
                place.node, place.module, [site], "MR504", "where these functions are made could not be found"
            )
        elif not can_flatten(value.node) or value.others:
            context.manual(
                value.node, value.module, [site], "MR504", "this function is not written as a dict"
            )
        else:
            first, last = _defaults(context, value)
            context.edit(value.node, value.module, [site], _adding(first, last), "MR503", key="entries")
            context.functions.setdefault(value, set()).add(site)
            _escapes(context, site, value)


def _defaults(context: Context, value: DictValue) -> tuple[list[Default], list[Default]]:
    """What a tool made of ``value`` must say besides: before its entries, and after them."""
    wanted = [Default("parameters", EMPTY_SCHEMA)]
    if context.settings.api_defaults == "preserve":
        wanted.append(Default("strict", "False"))
    first: list[Default] = []
    last: list[Default] = []
    for default in wanted:
        found = presence(context, value, default.key)
        if found is not Presence.ALWAYS:
            (first if value.merged and found is not Presence.NEVER else last).append(default)
    return first, last


def _adding(first: list[Default], last: list[Default]) -> Apply:
    return lambda original, updated: with_entries(updated, [_TYPE, *first], last)


def _escapes(context: Context, site: Site, value: DictValue | SeqValue) -> None:
    for escape in context.escapes.of(value):
        if escape.way is not Way.DISPLAY:
            detail = f"the functions are also {escape.way.value} {escape.to}"
            context.manual(escape.node, escape.module, [site], "MR504", detail, SPLIT)


def _one_call(context: Context, site: Site, item: Keyword) -> None:
    """``parallel_tool_calls=False`` beside the tools."""
    if context.request(site).named("parallel_tool_calls"):
        return
    node = item.place.node
    if isinstance(node, cst.DictElement):
        context.edit(node, item.place.module, [site], _and_entry, "MR503")
    else:
        call = site.carrier
        context.edit(call, site.module, [site], _and_argument, "MR503")


def _and_entry(original: cst.CSTNode, updated: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
    assert isinstance(updated, cst.DictElement)
    space = (
        updated.comma.whitespace_after if isinstance(updated.comma, cst.Comma) else cst.SimpleWhitespace(" ")
    )
    extra = cst.DictElement(
        string("parallel_tool_calls", updated.key), cst.Name("False"), comma=updated.comma
    )
    return cst.FlattenSentinel([updated.with_changes(comma=cst.Comma(whitespace_after=space)), extra])


def _and_argument(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    argument = cst.Arg(keyword=cst.Name("parallel_tool_calls"), value=cst.Name("False"), equal=equal)
    return append(updated, argument)


def _choice(context: Context, site: Site, item: Keyword) -> None:
    place = item.place
    values = list(place.var.values) if place.var is not None else []
    for value in values:
        match value:
            case DictValue() if can_flatten(value.node) and not value.others and not value.merged:
                context.edit(value.node, value.module, [site], _adding([], []), "MR503", key="entries")
                _escapes(context, site, value)
            case Const() | Typed(type="str"):
                continue
            case External(path=path) if path in models.OMITTED:
                continue
            case Unknown(node=cst.Param()) if not context.settings.packaged:
                continue
            case _:
                values = []
    if not values:
        detail = f"`{context.source(place.node, place.module)}`: what it names is not known"
        context.manual(place.node, place.module, [site], "MR504", detail)

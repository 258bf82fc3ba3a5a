"""Dicts and lists that change their form and are compared as a whole (MR309).

``params("q") == {"model": ..., "messages": ...}`` in a test holds no longer once the function builds
``input``; the same goes for tools, formats and messages with parts.
"""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from ..decide.contents import contents
from ..know.kinds import DictValue, SeqValue, Site
from .context import Context
from .kept_schemas import kept_schemas
from .tested import is_test

_Whole = DictValue | SeqValue


def plan(context: Context) -> None:
    """Hold back the flows that change a dict or list which something is compared with."""
    edited = edited_nodes(context)
    changed = _changed(context, edited)
    for value, sites in [*changed.items(), *dissolved(context, changed).items()]:
        for node, module in context.holders(value):
            comparison = module.parents.get(node)
            if isinstance(comparison, cst.ComparisonTarget):
                comparison = module.parents.get(comparison)
            if (
                isinstance(comparison, cst.Comparison)
                and _is_equality(comparison)
                and not (is_test(module) and edited.keys() & set(_sides(comparison)))  # seen to by doubles
            ):
                detail = f"`{context.source(comparison, module)}` compares what gets another form"
                context.manual(comparison, module, sites, "MR309", detail)


def _changed(context: Context, edited: dict[cst.CSTNode, set[Site]]) -> dict[_Whole, set[Site]]:
    """The dicts and lists that edits change, inside or out, and their copies, with the sites of the edits."""
    found: dict[_Whole, set[Site]] = {}
    holders: dict[_Whole, list[_Whole]] = {}
    for value in context.project.built.values():
        copied = value.poured if isinstance(value, DictValue) else ()
        for inner in (*contents(value), *copied):
            if isinstance(inner, (DictValue, SeqValue)):
                holders.setdefault(inner, []).append(value)
        sites = set().union(*(edited.get(node, ()) for node in nodes_of(value)))
        if sites and not is_test(value.module):  # the rule for doubles sees to what tests write
            found[value] = sites
    todo = list(found)
    while todo:
        inner_value = todo.pop()
        for outer in holders.get(inner_value, ()):
            if not found[inner_value] <= found.get(outer, set()):
                found.setdefault(outer, set()).update(found[inner_value])
                todo.append(outer)
    return found


# The entries whose dicts become one with the dict around them, or something else than a dict.
_LEVELS = frozenset("function custom allowed_tools grammar json_schema image_url file function_call".split())


def dissolved(
    context: Context,
    changed: Mapping[DictValue, set[Site]] | Mapping[_Whole, set[Site]],
) -> dict[DictValue, set[Site]]:
    """The dicts inside, which have more keys afterwards, or are none any more."""
    kept = kept_schemas(context)
    found: dict[DictValue, set[Site]] = {}
    for value, sites in changed.items():
        if isinstance(value, DictValue):
            for level in filter(_LEVELS.__contains__, value.fields):
                for inner in value.fields[level].values:
                    if isinstance(inner, DictValue) and inner not in kept:
                        found.setdefault(inner, set()).update(sites)
    return found


def edited_nodes(context: Context) -> dict[cst.CSTNode, set[Site]]:
    """The nodes that the rules so far want to edit, with the sites that they do it for."""
    edited: dict[cst.CSTNode, set[Site]] = {}
    for edit in context.plan.edits:
        edited.setdefault(edit.node, set()).update(edit.sites)
    return edited


def nodes_of(value: DictValue | SeqValue) -> list[cst.CSTNode]:
    """Where a dict or list is written: its display, and the places that add to it."""
    places = value.places if isinstance(value, SeqValue) else [p for ps in value.places.values() for p in ps]
    return [value.node, *(place.node for place in places)]


def _is_equality(node: cst.Comparison) -> bool:
    operators = (cst.Equal, cst.NotEqual, cst.In, cst.NotIn)
    return any(isinstance(target.operator, operators) for target in node.comparisons) and not any(
        isinstance(side, (cst.SimpleString, cst.Integer)) for side in _sides(node)
    )


def _sides(node: cst.Comparison) -> list[cst.BaseExpression]:
    return [node.left, *(target.comparator for target in node.comparisons)]

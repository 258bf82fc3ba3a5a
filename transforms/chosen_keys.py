"""Entries under a key that is chosen at run time among known names: ``params[name] = kwargs[name]``.

The names stay, as other code may know them; a table says what each is called in the request.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Const, DictValue, Place, Site, Value
from ..know.modules import target_names
from .context import Context, Keyword, chosen_names, key_node
from .moved_limits import LIMITS
from .snippets import string


def is_chosen(context: Context, place: Place) -> bool:
    """Whether the key at ``place`` is an expression that can be several names."""
    key = key_node(place)
    if key is None or isinstance(key, (cst.Arg, cst.SimpleString)) or place.how == "dumped":
        return False
    return len(set(chosen_names(context.project.vars.get(key)))) > 1


def values_of(context: Context, place: Place, name: str) -> list[Value]:
    """What is written at ``place`` for ``name``: of ``params[key] = options[key]``, that of ``options``."""
    values = list(place.var.values) if place.var is not None else []
    if place.how != "store" or not is_chosen(context, place):
        return values
    key = key_node(place)
    statement = place.module.parents.get(place.module.parents[place.node])
    got = statement.value if isinstance(statement, cst.Assign) else None
    match got:
        case (
            cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=same))])
            | cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="get")), args=[cst.Arg(value=same)]
            )
        ) if isinstance(key, cst.Name) and isinstance(same, cst.Name) and key.value == same.value:
            owners = context.project.values(owner)
            fields = [one.fields[name] for one in owners if isinstance(one, DictValue) and name in one.fields]
            return [one for var in fields for one in var.values] if len(fields) == len(owners) else values
        case _:
            return values


def rename_chosen(
    context: Context, sites: Sequence[Site], item: Keyword, name: str | None, code: str
) -> None:
    """Call ``item`` by its new ``name`` there; what becomes of it otherwise is not for the other names."""
    place = item.place
    key = key_node(place)
    if name is None or key is None or isinstance(key, cst.Subscript):
        detail = f"`{context.source(place.node, place.module)}` is also for other names than `{item.name}`"
        context.manual(place.node, place.module, sites, "MR120", detail)
        return
    names = list(dict.fromkeys(chosen_names(context.project.vars.get(key))))
    if len(LIMITS.intersection(names)) > 1 and _in_turn(key, place) and _may_be_none(place):
        detail = f"`{context.source(place.node, place.module)}` may put the None of one limit over the other"
        context.manual(place.node, place.module, sites, "MR120", detail)
        return
    context.edit(key, place.module, sites, _looked_up(names, item.name, name), code, item.name)


def _in_turn(key: cst.CSTNode, place: Place) -> bool:
    """Whether a loop goes through the names, so that one entry is written after the other."""
    return isinstance(key, cst.Name) and any(
        isinstance(outer, (cst.For, cst.CompFor)) and key.value in target_names(outer.target)
        for outer in place.module.ancestors(place.node)
    )


def _may_be_none(place: Place) -> bool:
    values = place.var.values if place.var is not None else ()
    return not values or any(not isinstance(one, Const) or one.value is None for one in values)


def _looked_up(names: list[str], old: str, new: str) -> Apply:
    """An edit of a key: what it is called in the request, of all that it can be."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.BaseExpression)
        known = _table(updated)
        table = {**{name: name for name in names}, **known, old: new}
        if isinstance(original, cst.Name) and set(table.values()) == {new}:
            return string(new)
        rows = [cst.DictElement(string(name), string(called)) for name, called in table.items()]
        if known and isinstance(updated, cst.Subscript):
            return updated.with_changes(value=cst.Dict(rows))
        return cst.Subscript(cst.Dict(rows), [cst.SubscriptElement(cst.Index(updated))])

    return apply


def _table(key: cst.CSTNode) -> dict[str, str]:
    """The table that an edit for another name has put around ``key``."""
    if not isinstance(key, cst.Subscript) or not isinstance(key.value, cst.Dict):
        return {}
    return {
        str(row.key.evaluated_value): str(row.value.evaluated_value)
        for row in key.value.elements
        if isinstance(row, cst.DictElement)
        and isinstance(row.key, cst.SimpleString)
        and isinstance(row.value, cst.SimpleString)
    }

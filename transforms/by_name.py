"""Arguments that an object gives by name: ``__getattr__`` or ``__getitem__`` over the dict it keeps."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Const, DictValue, Instance
from ..know.modules import Module
from .context import Context

_ATTRIBUTES = ("__getattr__", "__getattribute__")


def reads_by_name(
    context: Context, value: DictValue, names: frozenset[str]
) -> Iterator[tuple[cst.CSTNode, Module]]:
    """The places that ask an object for one of ``names``, which it may take from ``value``, its own dict."""
    keepers = _keepers(context).get(value, set())
    by_attribute = {one for one in keepers if any(_has(context, one, method) for method in _ATTRIBUTES)}
    by_item = {one for one in keepers if _has(context, one, "__getitem__")}
    if not by_attribute and not by_item:
        return
    for module in context.project.modules:
        for node in module.of(cst.Attribute, cst.Subscript, cst.Call):
            match node:
                case cst.Attribute(value=base, attr=cst.Name(value=name)) if name in names:
                    owners = by_attribute.intersection(_instances(context, base))
                    if any(not _has(context, owner, name) for owner in owners):
                        yield node, module
                case cst.Call(func=cst.Name(value="getattr" | "hasattr"), args=[first, key, *_]):
                    owners = by_attribute.intersection(_instances(context, first.value))
                    if owners and _can_be(context, key.value, names):
                        yield node, module
                case cst.Subscript(value=base, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
                    if by_item.intersection(_instances(context, base)) and _can_be(context, key, names):
                        yield node, module
                case _:
                    continue


def _keepers(context: Context) -> dict[DictValue, set[Instance]]:
    """The objects that keep a dict in one of their fields."""
    known = context.memo.get("keepers")
    if known is None:
        found: dict[DictValue, set[Instance]] = {}
        for cls in context.project.classes.values():
            for field in cls.instance.fields.values():
                for value in field.values:
                    if isinstance(value, DictValue):
                        found.setdefault(value, set()).add(cls.instance)
        known = context.memo["keepers"] = found
    assert isinstance(known, dict)
    return known


def _has(context: Context, instance: Instance, name: str) -> bool:
    """Whether ``instance`` has an attribute ``name`` of its own, or its class has."""
    field = instance.fields.get(name)
    return bool(field is not None and field.values) or bool(
        context.project.lookup(instance.type, name).values
    )


def _instances(context: Context, node: cst.BaseExpression) -> list[Instance]:
    return [value for value in context.project.values(node) if isinstance(value, Instance)]


def _can_be(context: Context, key: cst.BaseExpression, names: frozenset[str]) -> bool:
    """Whether ``key`` is one of ``names``, as far as is known."""
    values = context.project.values(key)
    return not values or any(not isinstance(value, Const) or value.value in names for value in values)

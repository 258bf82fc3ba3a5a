"""Calls written as dicts, read back: ``call["function"]["name"]`` -> ``call["name"]`` (MR213)."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..decide.escapes import Way
from ..know.kinds import DictValue, Site
from ..know.modules import Module
from .context import Context, constants
from .reading import replace_read, same
from .schema_reads import asked_anew
from .snippets import string

_RENAMED = {"id": "call_id"}
_KEPT = frozenset({"name", "arguments", "call_id"})


def read_back(context: Context, call: DictValue, sites: set[Site]) -> None:
    """Rewrite what is read of ``call``, which loses its inner level; hold what would see something else."""
    for node, module in context.holders(call):
        _use(context, node, module, sites)
    inner = [value for value in call.fields["function"].values if isinstance(value, DictValue)]
    for part in inner:
        for node, module in context.holders(part):
            if node is not part.node and _lists(node, module):
                _hold(context, node, module, sites)
        for place in asked_anew(part, ("type", "id", "call_id")):
            _hold(context, place.node, place.module, sites)
    for value in (call, *inner):
        for escape in context.escapes.of(value):
            if escape.direct and escape.way is not Way.DISPLAY:
                _hold(context, escape.node, escape.module, sites)


def _use(context: Context, node: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]) if (
            value is node
        ):
            _key(context, parent, key, module, sites)
        case cst.Attribute(value=value, attr=cst.Name(value="get")) if value is node:
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and call.args:
                _key(context, call, call.args[0].value, module, sites)
            else:
                _hold(context, parent, module, sites)
        case _ if _lists(node, module):
            _hold(context, node, module, sites)
        case _:
            return


def _lists(node: cst.CSTNode, module: Module) -> bool:
    """Whether all the keys of the dict are asked for."""
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            return value is node and name != "get"
        case cst.Arg(star="**") | cst.StarredDictElement() | cst.ComparisonTarget():
            return True
        case cst.For(iter=source) | cst.CompFor(iter=source):
            return source is node
        case _:
            return False


def _key(
    context: Context, whole: cst.BaseExpression, key: cst.BaseExpression, module: Module, sites: set[Site]
) -> None:
    names = constants(context.project.vars.get(key))
    name = str(names[0]) if names is not None and len(names) == 1 else ""
    if name == "function":
        context.edit(whole, module, sites, replace_read(same), "MR213")
    elif name in _RENAMED and isinstance(key, cst.SimpleString):
        context.edit(key, module, sites, _written(_RENAMED[name]), "MR213")
    elif name not in _KEPT:
        _hold(context, whole, module, sites)


def _written(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    return lambda original, updated: string(name, original)


def _hold(context: Context, node: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    detail = f"`{context.source(node, module)}` takes a call as a dict in a way that is not understood"
    context.manual(node, module, sites, "MR506", detail)

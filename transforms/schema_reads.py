"""Code that reads tools and choices back (MR507): ``t["function"]["name"]`` becomes ``t["name"]``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import libcst as cst

from ..know.kinds import Const, DictValue, Place, Site
from ..know.modules import Module
from .context import Context, constants
from .kept_schemas import asks_tool, is_taken, kept_schemas
from .snippets import string

Owners = Mapping[DictValue, set[Site]]

_WHOLE = frozenset({"items", "values", "keys", "update", "clear", "popitem"})
_KEYED = frozenset({"get", "pop", "setdefault"})
_LEVELS = ("function", "custom", "allowed_tools")
# What the one dict has that each of the two had not, as far as nobody has written it there.
_NEW_INSIDE = ("type", "strict")
_NEW_OUTSIDE = ("name", "description", "parameters", "strict", "format", "mode", "tools")
_WRITTEN = frozenset({"literal", "keyword"})
_ASKS = frozenset({"get", "contains", "pop", "delete", "setdefault"})


def read_back(context: Context, outer: Owners, inner: Owners) -> None:
    """Rewrite the reads of all tools; hold where a read would see something else."""
    seen: dict[cst.CSTNode, Module] = {}
    for tool in outer:
        seen.update(context.holders(tool))
    read: set[DictValue] = set()
    for node, module in seen.items():
        tools = [
            value for value in context.project.values(node) if isinstance(value, DictValue) and value in outer
        ]
        sites = {site for tool in tools for site in outer[tool]}
        if _use(context, node, module, sites, outer):
            read.update(part for tool in tools for level in _LEVELS for part in _parts(tool, level))
    for part in filter(read.__contains__, inner):
        kept = part in kept_schemas(context)
        for node, module in context.holders(part):
            if not kept or is_taken(context, node):
                _inner_use(context, node, module, inner[part], outer)
        _new_keys(context, part, _NEW_INSIDE, inner[part])
    for tool, owners in outer.items():
        if any(level in tool.places for level in _LEVELS):
            _new_keys(context, tool, _NEW_OUTSIDE, owners)


def _new_keys(context: Context, value: DictValue, names: Iterable[str], sites: set[Site]) -> None:
    """Hold what asks ``value`` for a key that it gets only now: ``tool["function"].get("strict")``."""
    kept = value in kept_schemas(context)
    for place in asked_anew(value, names):
        if not kept or asks_tool(context, place):
            _hold(context, place.node, place.module, sites)


def asked_anew(value: DictValue, names: Iterable[str]) -> Iterator[Place]:
    """Where ``value`` is asked for one of ``names`` that it has not had, or loses one that it must have."""
    for name in names:
        places = value.places.get(name, ())
        written = any(place.how in _WRITTEN for place in places)
        yield from (place for place in places if place.how in (("pop", "delete") if written else _ASKS))
    yield from (place for place in value.others if place.how in _ASKS)


def _parts(tool: DictValue, level: str) -> Iterator[DictValue]:
    if level in tool.fields:
        for value in tool.fields[level].values:
            if isinstance(value, DictValue):
                yield value


def _use(context: Context, node: cst.CSTNode, module: Module, sites: set[Site], outer: Owners) -> bool:
    """Look at one use of a tool; whether it reads the inner dict."""
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if (
            value is node
        ):
            key = constants(context.project.vars.get(index))
            if key is None:
                _hold(context, parent, module, sites)
            elif any(name in _LEVELS for name in key):
                _take_level(context, node, parent, module, sites, outer)
                return True
        case cst.Attribute(value=value, attr=cst.Name(value=name)) if value is node:
            return _method(context, node, parent, name, module, sites, outer)
        case cst.ComparisonTarget(operator=cst.In() | cst.NotIn()):
            comparison = module.parents[parent]
            left = comparison.left if isinstance(comparison, cst.Comparison) else None
            keys = constants(context.project.vars.get(left)) if left is not None else []
            if keys is None or any(level in keys for level in _LEVELS):
                if isinstance(left, cst.SimpleString) and _all_have(context, node, left, outer):
                    context.edit(left, module, sites, lambda o, u: string("name", o), "MR507")
                else:
                    _hold(context, parent, module, sites)
        case cst.Arg(star="**") | cst.StarredDictElement():
            if not _poured_into(context, parent, module, outer):
                _hold(context, parent, module, sites)
        case _:
            pass
    return False


def _take_level(
    context: Context, node: cst.CSTNode, whole: cst.CSTNode, module: Module, sites: set[Site], outer: Owners
) -> None:
    """``tool["function"]`` and ``tool.get("function")`` are the tool."""
    place = module.parents.get(whole)
    stored = isinstance(place, (cst.AssignTarget, cst.Del, cst.AugAssign, cst.AnnAssign))
    if stored or not _only_tools(context, node, outer):
        _hold(context, whole, module, sites)
        return

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        match updated:
            case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
                return value
            case _:
                return updated

    context.edit(whole, module, sites, apply, "MR507")


def _method(
    context: Context,
    node: cst.CSTNode,
    method: cst.Attribute,
    name: str,
    module: Module,
    sites: set[Site],
    outer: Owners,
) -> bool:
    call = module.parents.get(method)
    if name in _WHOLE:
        _hold(context, method, module, sites)
    elif name in _KEYED and isinstance(call, cst.Call) and call.args:
        key = constants(context.project.vars.get(call.args[0].value))
        if key is None:
            _hold(context, call, module, sites)
        elif any(level in key for level in _LEVELS):
            if name == "get":
                _take_level(context, node, call, module, sites, outer)
                return True
            _hold(context, call, module, sites)
    return False


def _inner_use(context: Context, node: cst.CSTNode, module: Module, sites: set[Site], outer: Owners) -> None:
    """A dict that was the inner level and is the whole tool now, where all of it is taken."""
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(value=value, attr=cst.Name(value=name)) if value is node and name in _WHOLE:
            _hold(context, parent, module, sites)
        case cst.Arg(star="**") | cst.StarredDictElement():
            if not _poured_into(context, parent, module, outer):
                _hold(context, parent, module, sites)
        case _:
            pass


def _poured_into(context: Context, parent: cst.CSTNode, module: Module, outer: Owners) -> bool:
    """Whether ``**tool`` is poured into a dict that is a tool itself, or the inside of one."""
    holder = module.parents.get(parent)
    built = context.project.built.get(holder) if holder is not None else None
    if not isinstance(built, DictValue):
        return False
    return built in outer or any(built in set(_parts(tool, level)) for tool in outer for level in _LEVELS)


def _only_tools(context: Context, node: cst.CSTNode, outer: Owners) -> bool:
    return all(
        (isinstance(value, DictValue) and value in outer) or (isinstance(value, Const) and not value.value)
        for value in context.project.values(node)
    )


def _all_have(context: Context, node: cst.CSTNode, level: cst.SimpleString, outer: Owners) -> bool:
    """Whether each tool that ``node`` can be has the ``level``."""
    return _only_tools(context, node, outer) and all(
        any(place.how in _WRITTEN for place in value.places.get(str(level.evaluated_value), ()))
        for value in context.project.values(node)
        if isinstance(value, DictValue)
    )


def _hold(context: Context, node: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    detail = f"`{context.source(node, module)}` reads a tool in a way that is not understood"
    context.manual(node, module, sites, "MR507", detail)

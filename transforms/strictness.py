"""What a flat tool must say that the nested one left out: its strictness, and an empty schema (traps D1, D4).

To the new API a tool that does not say whether it is strict is a strict one; to the old one it was not.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from ..know.graph import Var
from ..know.kinds import Const, DictValue, Place, Site, Value
from ..know.modules import walk
from .context import WRITES, Context
from .flatten import Default, can_flatten
from .none_text import is_guarded
from .snippets import expr

EMPTY_SCHEMA = '{"type": "object", "properties": {}}'


class Presence(enum.Enum):
    """Whether a dict has a key when it is sent."""

    ALWAYS = enum.auto()
    PERHAPS = enum.auto()
    NEVER = enum.auto()
    UNSEEN = enum.auto()  # what else is in the dict is not known


def presence(context: Context, value: DictValue, key: str, own_stores: bool = True) -> Presence:
    """Whether ``value`` has ``key``; what is stored into it counts with ``own_stores``."""
    if _is_written(context, value, key, {value}):
        return Presence.ALWAYS
    perhaps = False
    for part in family(value):
        for place in part.places.get(key, ()) if isinstance(part, DictValue) else ():
            stored = place.how in _STORES
            if place.how not in WRITES or (stored and part is value and not own_stores):
                continue
            if place.how == "store" and part is value and _follows(value, place.node):
                return Presence.ALWAYS
            perhaps = True
    if perhaps:
        return Presence.PERHAPS
    return Presence.NEVER if _is_closed(value) else Presence.UNSEEN


_STORES = frozenset({"store", "setdefault"})


def _follows(value: DictValue, store: cst.CSTNode) -> bool:
    """Whether the statement ``store`` comes after the one that makes ``value``, whatever happens."""
    module = value.module
    if store not in module.parents:
        return False
    made, stored = module.statement(value.node), module.statement(store)
    block = module.parents.get(made)
    lines = isinstance(made, cst.SimpleStatementLine) and isinstance(stored, cst.SimpleStatementLine)
    if not lines or block is not module.parents.get(stored):
        return False
    if not isinstance(block, (cst.IndentedBlock, cst.Module)):
        return False
    between = block.body[block.body.index(made) + 1 : block.body.index(stored)]
    return made is not stored and not any(
        isinstance(node, (cst.Return, cst.Break, cst.Continue)) for part in between for node in walk(part)
    )


def _is_written(context: Context, value: DictValue, key: str, seen: set[DictValue]) -> bool:
    """Whether the expression that makes ``value`` writes ``key``, itself or by what it pours in."""
    if any(value.module.parents.get(place.node) is value.node for place in value.places.get(key, ())):
        return True

    def has(part: Value) -> bool:
        if not isinstance(part, DictValue) or part in seen:
            return False
        return _is_written(context, part, key, seen | {part})

    poured = [context.project.values(source) for source in _poured(value.node)]
    return any(found and all(map(has, found)) for found in poured)


def _poured(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The dicts that the display, the call of ``dict`` or the union ``node`` pours into what it makes."""
    match node:
        case cst.Dict(elements=elements):
            yield from (item.value for item in elements if isinstance(item, cst.StarredDictElement))
        case cst.Call(args=args):
            yield from (arg.value for arg in args if arg.keyword is None and arg.star != "*")
        case cst.BinaryOperation(left=left, right=right):
            yield from (left, right)
        case _:
            return


def family(value: DictValue) -> Iterator[Value]:
    """``value`` and what is poured into it, however deep: ``d["x"] = {**d["x"]}`` goes into itself."""
    seen: dict[Value, None] = {value: None}
    for part in (stack := [value]):
        for source in part.merged:
            new = [inner for inner in source.values if inner not in seen]
            seen.update(dict.fromkeys(new))
            stack.extend(inner for inner in new if isinstance(inner, DictValue))
    yield from seen


def _is_closed(value: DictValue) -> bool:
    """Whether all the keys of a dict are known."""
    return all(
        isinstance(part, DictValue) and not part.others and not isinstance(part.node, cst.Param)
        for part in family(value)
    )


def defaults_of(context: Context, inner: Sequence[Value], node: cst.CSTNode) -> list[Default]:
    """What a flat tool must say besides ``inner``, which can be its inside and is put into it at ``node``."""
    value = node.value if isinstance(node, (cst.DictElement, cst.Arg)) else None
    shown = value is not None and can_flatten(value)
    strict = context.settings.api_defaults == "preserve"
    wanted: list[Default] = []
    for key, text, asked in (("parameters", EMPTY_SCHEMA, True), ("strict", "False", strict)):
        # What is stored into a dict that is spelled inside the tool is stored into the tool.
        found = {
            presence(context, part, key, not shown) if isinstance(part, DictValue) else Presence.UNSEEN
            for part in inner
        } or {Presence.UNSEEN}
        if not asked or found == {Presence.ALWAYS}:
            continue
        if key == "parameters" and Presence.UNSEEN in found:
            continue  # a schema of unknown content: it says itself what it takes
        # What is there at times only goes after the default.
        wanted.append(Default(key, text, early=found != {Presence.NEVER}))
    return wanted


def decide_strict(context: Context, inner: Sequence[Value], sites: Iterable[Site]) -> None:
    """``"strict": strict`` where that can be None: it meant False."""
    if context.settings.api_defaults != "preserve":
        return
    for place in null_strict(inner):
        node = place.node
        if isinstance(node, (cst.DictElement, cst.Arg)):
            context.edit(node, place.module, sites, _as_bool, "MR508")
        else:
            detail = f"`{context.source(node, place.module)}` can be None, which meant False"
            context.manual(node, place.module, sites, "MR507", detail)


def null_strict(inner: Iterable[Value]) -> Iterator[Place]:
    """Where what is ``inner`` to tools, or poured into that, gets a ``strict`` that can be None."""
    parts = {part: None for value in inner if isinstance(value, DictValue) for part in family(value)}
    for part in parts:
        for place in part.places.get("strict", ()) if isinstance(part, DictValue) else ():
            if place.how in WRITES and _can_be_none(place.var) and not _is_guarded(place):
                yield place


def _is_guarded(place: Place) -> bool:
    """Whether the code sees to it that what ``place`` writes is not None."""
    if isinstance(place.node, (cst.DictElement, cst.Arg)):
        return is_guarded(place.node.value, place.module)
    return _is_guarded_store(place)


def _is_guarded_store(place: Place) -> bool:
    """``if strict is not None: schema["strict"] = strict``."""
    match place.module.parents.get(place.node):
        case cst.AssignTarget() as target:
            statement = place.module.parents.get(target)
            return isinstance(statement, cst.Assign) and is_guarded(statement.value, place.module)
        case _:
            return False


def _can_be_none(var: Var | None) -> bool:
    return var is not None and any(isinstance(value, Const) and value.value is None for value in var.values)


def _as_bool(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, (cst.DictElement, cst.Arg))
    return updated.with_changes(value=expr("bool(x)", x=updated.value))

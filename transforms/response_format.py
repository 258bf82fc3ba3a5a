"""``response_format`` becomes ``text.format``, or ``text_format`` for a class (MR105, MR601, MR603, MR104).

A JSON schema loses its inner dict: ``{"type": "json_schema", "json_schema": {...}}`` is flat now, wherever
it is written. A format whose shape is not known holds the flow back.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from ..know.kinds import Class, Const, DictValue, External, Kind, Place, Site, Unknown, Value
from ..know.models import OMITTED
from ..know.modules import Module
from .actions import Action, act, rename_key
from .context import Context, Keyword, constants, is_none, key_node
from .folding import has_effect
from .snippets import entry, expr, key_of, spells_none
from .splice import splice
from .wrapped_format import inner, wrapped

NONE, TEXT, JSON, SCHEMA, MODEL = "none", "text", "json_object", "json_schema", "model"
_SCHEMA_KEYS = frozenset({"name", "schema", "strict", "description"})


def plan(context: Context) -> None:
    owners: dict[DictValue, list[Site]] = {}
    for site in context.sites:
        if not context.request(site).named("response_format"):
            continue
        for value in _site(context, site):
            owners.setdefault(value, []).append(site)
    for value, sites in owners.items():
        _flatten(context, value, sites)
        _elsewhere(context, value, sites)


def json_mode(context: Context, site: Site) -> bool:
    """Whether the request can ask for a JSON object, which wants the word in the input (trap A9)."""
    for value in context.request(site).values("response_format"):
        if not isinstance(value, Class) and kind_of(value, site) not in (NONE, TEXT, SCHEMA, MODEL):
            return True
    return False


def may_refuse(context: Context, site: Site) -> bool:
    """Whether the model can refuse, which leaves no text: where a schema binds it, or where somebody asks."""
    for value in context.request(site).values("response_format"):
        if kind_of(value, site) not in (NONE, TEXT, JSON):
            return True
    return site in _asked_for_refusals(context)


def _asked_for_refusals(context: Context) -> set[Site]:
    """The calls whose refusals the program reads."""
    known = context.memo.get("asked for refusals")
    if known is None:
        known = context.memo["asked for refusals"] = {
            shape.site for _, _, shapes in context.shaped for shape in shapes if shape.kind is Kind.REFUSAL
        }
    assert isinstance(known, set)
    return known


def writes_text(context: Context, site: Site) -> bool:
    """Whether the format of ``site`` ends up in a ``text`` argument, where ``verbosity`` must join it."""
    return any(_is_wrapped(site, item) for item in context.request(site).written("response_format"))


# -- what a format is --------------------------------------------------------------------


def kind_of(value: Value, site: Site) -> str:
    """What ``value`` asks for, or why that is not known (a sentence)."""
    match value:
        case Const(value=None):
            return NONE
        case External(path=path) if path in OMITTED:
            return NONE
        case DictValue():
            return _kind_of_dict(value)
        case Class():
            return MODEL
        case External() | Unknown() if site.method != "create":
            return MODEL
        case Unknown(why=why):
            return f"the format comes from {why}"
        case External():
            return f"the format comes from {value.words}"
        case _:
            return "the shape of the format is not known"


def _kind_of_dict(value: DictValue) -> str:
    found = constants(value.fields.get("type"))
    if not found or value.others or value.merged or not isinstance(value.node, (cst.Dict, cst.Call)):
        return "the shape of the format is not known"
    if len(set(found)) > 1 and SCHEMA in found:
        return "the type of the format changes"
    if SCHEMA not in found:
        strange = [kind for kind in found if kind not in (TEXT, JSON)]
        return f"`{strange[0]}` is not a known format" if strange else JSON if JSON in found else TEXT
    if set(value.places) - {"type", "json_schema"}:
        return "the format has keys that are not known"
    inner = value.fields.get("json_schema")
    schemas = list(inner.values) if inner is not None else []
    if _is_asked(value):
        schemas = [schema for schema in schemas if not _is_nothing(schema)]
    if not schemas:
        return "the schema of the format is not in sight"
    for schema in schemas:
        if (
            not isinstance(schema, DictValue)
            or schema.others
            or schema.merged
            or set(schema.places) - _SCHEMA_KEYS
        ):
            return "the schema of the format is not in sight"
        if "schema" not in schema.places or "name" not in schema.places:
            return "a `json_schema` without `schema` or `name` is refused by the Responses API"
    return SCHEMA


def _is_nothing(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _is_asked(value: DictValue) -> bool:
    """Whether a format is only made where its schema is there: ``if schema is not None: ...``."""
    written = entry(value.node, "json_schema") if isinstance(value.node, cst.Dict) else None
    if written is None or not isinstance(written.value, cst.Name):
        return False
    inner: cst.CSTNode = value.node
    for node in value.module.ancestors(value.node):
        if isinstance(node, (cst.FunctionDef, cst.Lambda)):
            return False
        tested = isinstance(node, (cst.If, cst.IfExp)) and node.body is inner
        if isinstance(node, (cst.If, cst.IfExp)) and tested and _asks_for(node.test, written.value.value):
            return True
        inner = node
    return False


def _asks_for(test: cst.BaseExpression, name: str) -> bool:
    match test:
        case cst.Name(value=found):
            return found == name
        case cst.Comparison(
            left=cst.Name(value=found),
            comparisons=[
                cst.ComparisonTarget(operator=cst.IsNot() | cst.NotEqual(), comparator=cst.Name(value="None"))
            ],
        ):
            return found == name
        case _:
            return False


# -- the argument ------------------------------------------------------------------------


def _site(context: Context, site: Site) -> Iterable[DictValue]:
    """Rewrite the argument at one site; give back the dicts to flatten."""
    request = context.request(site)
    items = request.named("response_format")
    kinds: set[str] = set()
    for item in request.written("response_format"):
        found = _kinds(site, item)
        unknown = sorted(found - {NONE, TEXT, JSON, SCHEMA, MODEL})
        if unknown:
            context.manual(item.place.node, item.place.module, [site], "MR603", unknown[0])
            return []
        kinds |= found
    first = items[0].place
    if MODEL in kinds:
        if site.method == "create":
            detail = "`create` does not take a class: it raises TypeError today; use `parse`"
            step = ""
            if site.also_parses:
                detail = "one call is of `create` or `parse`, and only `parse` takes this class"
                step = "write two calls"
            context.manual(first.node, first.module, [site], "MR603", detail, step)
        elif kinds - {MODEL, NONE}:
            context.manual(first.node, first.module, [site], "MR603", "the format can be a class or a dict")
        else:
            act(context, site, items, Action("MR601", "text_format"))
        return []
    verbosity = _verbosity(context, site)
    if verbosity is not None and NONE in kinds and len(kinds) > 1:
        detail = "`verbosity` and an optional `response_format` meet in one `text` argument"
        context.manual(first.node, first.module, [site], "MR104", detail)
        return []
    for item in items:
        _argument(context, site, item, verbosity)
    values = request.values("response_format")
    return [value for value in values if isinstance(value, DictValue) and kind_of(value, site) == SCHEMA]


def _kinds(site: Site, item: Keyword) -> set[str]:
    values = item.place.var.values if item.place.var is not None else {}
    if not values:
        return {MODEL} if site.method != "create" else {"the shape of the format is not known"}
    return {kind_of(value, site) for value in values}


def _is_wrapped(site: Site, item: Keyword) -> bool:
    kinds = _kinds(site, item)
    return not (MODEL in kinds or is_none(item.place.var) or _is_plain_text(item.place))


def _is_plain_text(place: Place) -> bool:
    """Whether ``{"type": "text"}``, the default, is written right there."""
    node = place.node.value if isinstance(place.node, (cst.Arg, cst.DictElement)) else None
    values = list(place.var.values) if place.var is not None else []
    return (
        len(values) == 1
        and isinstance(values[0], DictValue)
        and values[0].node is node
        and (_kind_of_dict(values[0]) == TEXT)
    )


def _verbosity(context: Context, site: Site) -> cst.BaseExpression | None:
    """The value of ``verbosity``, to be written into ``text``."""
    for item in context.request(site).written("verbosity"):
        if isinstance(item.place.node, (cst.Arg, cst.DictElement)) and not is_none(item.place.var):
            return item.place.node.value
    return None


def takes_verbosity(context: Context, site: Site) -> bool:
    """Whether ``verbosity`` stands right beside the format, for the same requests, so that it can join it."""
    request = context.request(site)
    levels, formats = request.written("verbosity"), request.written("response_format")
    if not len(levels) == len(formats) == 1:
        return False
    level, form = levels[0], formats[0]
    module = level.place.module
    return (
        level.holder is form.holder
        and module.parents.get(level.place.node) is module.parents.get(form.place.node)
        and all(item.place.how in ("keyword", "literal") for item in (level, form))
        and (level.holder is None or len(context.senders(level.holder)) == 1)
    )


def _argument(context: Context, site: Site, item: Keyword, verbosity: cst.BaseExpression | None) -> None:
    place = item.place
    if place.how in ("contains", "delete"):
        rename_key(context, [site], place, "text", "MR105")
    elif place.how in ("get", "read") and item.holder is not None and _is_always_wrapped(context, item):
        context.edit(place.node, place.module, context.senders(item.holder), inner, "MR105")
    elif place.var is not None and (
        (is_none(place.var) and _is_literal_none(place)) or _is_plain_text(place)
    ):
        act(context, site, [item], Action("MR108", drop=True))
    else:
        values = list(place.var.values) if place.var is not None else []
        none = any(isinstance(value, Const) for value in values)
        omitted = any(isinstance(value, External) for value in values)
        node = place.node.value if isinstance(place.node, (cst.Arg, cst.DictElement)) else None
        if omitted and node is not None and has_effect(context, node):
            detail = f"`{context.source(node, place.module)}` runs once: give what it gives a name"
            context.manual(place.node, place.module, [site], "MR105", detail)
        act(context, site, [item], Action("MR105", "text", wrap=wrapped(none, omitted, verbosity)))


def _is_always_wrapped(context: Context, item: Keyword) -> bool:
    """Whether whatever the dict of ``item`` has as its format is in a ``text`` afterwards, and not None."""
    assert item.holder is not None
    return isinstance(key_node(item.place), cst.SimpleString) and all(
        _kinds(site, one) <= {TEXT, JSON, SCHEMA} and not _is_plain_text(one.place)
        for site in context.senders(item.holder)
        for one in context.request(site).written("response_format")
    )


def _is_literal_none(place: Place) -> bool:
    node = getattr(place.node, "value", None)
    return spells_none(node)


# -- the dicts ---------------------------------------------------------------------------


def _flatten(context: Context, value: DictValue, sites: list[Site]) -> None:
    """Dissolve ``json_schema`` wherever the dict is written or read."""
    for place in value.places["json_schema"]:
        module = context.module_of(place.node)
        node = place.node
        parent = module.parents.get(node)
        match place.how, node:
            case "literal", cst.DictElement() if key_of(node) is not None:
                context.edit(value.node, module, sites, _splice, "MR105")
            case "keyword", cst.Arg():
                context.edit(node, module, sites, _star, "MR105")
            case "store", cst.Subscript():
                _store(context, node, module, sites)
            case "read" | "get", cst.Subscript() | cst.Call():
                if _is_read_on(module, node):
                    context.edit(node, module, sites, _collapse, "MR105")
                else:
                    detail = f"`{context.source(node, module)}` takes the inner schema as a whole"
                    context.manual(node, module, sites, "MR603", detail)
            case _:
                text = context.source(parent if parent is not None else node, module)
                context.manual(node, module, sites, "MR603", f"`{text}` is not understood")


def _splice(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Dict)
    return splice(updated, "json_schema")


def _star(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Arg)
    return updated.with_changes(keyword=None, star="**", equal=cst.MaybeSentinel.DEFAULT)


def _store(context: Context, node: cst.Subscript, module: Module, sites: list[Site]) -> None:
    target = module.parents.get(node)
    assign = module.parents.get(target) if isinstance(target, cst.AssignTarget) else None
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        context.manual(
            node, module, sites, "MR603", f"`{context.source(node, module)}` is assigned in an unusual way"
        )
        return

    def update(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Assign)
        target = updated.targets[0].target
        assert isinstance(target, cst.Subscript)
        return cst.Expr(expr("owner.update(value)", owner=target.value, value=updated.value))

    context.edit(assign, module, sites, update, "MR105")


def _is_read_on(module: Module, node: cst.CSTNode) -> bool:
    """Whether a part of ``node`` is taken by a constant key."""
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(
            value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString()))]
        ):
            return value is node
        case cst.Attribute(value=value, attr=cst.Name(value="get")):
            return value is node
        case _:
            return False


def _collapse(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    match updated:
        case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
            return value
        case _:
            return updated


def _elsewhere(context: Context, value: DictValue, sites: list[Site]) -> None:
    """Somebody else who gets the dict would see it flat."""
    for escape in context.escapes.of(value):
        if escape.way.name != "DISPLAY":
            detail = f"the format is also {escape.way.value} {escape.to}"
            context.manual(escape.node, escape.module, sites, "MR603", detail)


__all__ = ["json_mode", "kind_of", "plan", "writes_text"]

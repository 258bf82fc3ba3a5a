"""Content parts of messages (MR604): text, images and files; others stay on Chat (MR605, MR206).

A text part is ``input_text`` or, in an assistant message, ``output_text`` (trap B3); the dict inside an image
or file part is dissolved (traps B5, B6). Parts are rewritten wherever they are built.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import libcst as cst

from ..know.kinds import Const, DictValue, External, Instance, Place, SeqValue, Shape, Site, Unknown, Value
from ..know.modules import Module
from ..know.operators import is_text
from . import part_reads
from .context import WRITES, Context, constants, key_node
from .listing import append
from .part_reads import renamed
from .sent import messages_of, roles
from .snippets import entry, expr, key_of, quote_of, string
from .splice import splice

_KEYS: dict[str, frozenset[str]] = {
    "text": frozenset({"type", "text"}),
    "image_url": frozenset({"type", "image_url"}),
    "file": frozenset({"type", "file"}),
    "refusal": frozenset({"type", "refusal"}),
}
_INNER: dict[str, frozenset[str]] = {
    "image_url": frozenset({"url", "detail"}),
    "file": frozenset({"file_id", "file_data", "filename"}),
}
_RENAMED = {"image_url": {"url": "image_url"}, "file": {}}


@dataclass(eq=False, repr=False)
class Part:
    """One dict that is a part of messages: who sends it, and in which roles."""

    value: DictValue
    sites: dict[Site, None] = field(default_factory=dict)
    roles: set[object] = field(default_factory=set)
    lists: dict[SeqValue, None] = field(default_factory=dict)


def plan(context: Context) -> None:
    parts: dict[DictValue, Part] = {}
    lists: dict[SeqValue, dict[Site, None]] = {}
    for site in context.sites:
        for message in messages_of(context, site):
            content = message.fields.get("content")
            for value in list(content.values) if content is not None else []:
                if isinstance(value, SeqValue) and _may_hold_parts(value):
                    lists.setdefault(value, {})[site] = None
                    _collect(context, site, message, value, parts)
    kinds = {part.value: kind for part in parts.values() if (kind := _part(context, part)) is not None}
    for listed, sites in lists.items():
        _elsewhere(context, listed, list(sites))
    for part in parts.values():
        _elsewhere(context, part.value, list(part.sites))
    part_reads.plan(context, {value: (list(parts[value].sites), _names(parts[value])) for value in kinds})


def _elements(listed: SeqValue) -> dict[Value, None]:
    found: dict[Value, None] = dict.fromkeys(listed.element.values)
    for var in listed.items.values():
        found.update(dict.fromkeys(var.values))
    return found


def _may_hold_parts(listed: SeqValue) -> bool:
    """Whether a list can be the content of a message: texts, and dicts without a type, are no parts."""
    found = _elements(listed)
    if any(isinstance(value, DictValue) and _is_typed(value) for value in found):
        return True
    if any(isinstance(value, Instance) for value in found):
        return True  # of a class whose dicts are made out of sight
    return (
        listed.type != "tuple"
        and any(
            isinstance(value, (Unknown, External)) or (isinstance(value, DictValue) and _is_open(value))
            for value in found
        )
        and not any(_is_no_part(value) for value in found)
    )


def _is_typed(value: DictValue) -> bool:
    return any(place.how in WRITES for place in value.places.get("type", ()))


def _is_open(value: DictValue) -> bool:
    """Whether the dict may have entries that are not in sight."""
    return bool(value.merged or value.others)


def _is_no_part(value: Value) -> bool:
    match value:
        case Unknown() | External() | Const(value=None):
            return False
        case DictValue():
            return not _is_open(value)
        case _:
            return True


def _collect(
    context: Context, site: Site, message: DictValue, listed: SeqValue, parts: dict[DictValue, Part]
) -> None:
    known = roles(message)
    for value in _elements(listed):
        match value:
            case DictValue():
                part = parts.setdefault(value, Part(value))
                part.sites[site] = None
                part.roles.update(known if known is not None else [None])
                part.lists[listed] = None
            case Unknown() | External():
                why = value.why if isinstance(value, Unknown) else "code this tool does not see"
                context.unsafe(listed.node, listed.module, [site], "MR204", f"some parts come from {why}")
            case Const(value=None):
                continue
            case _:
                context.manual(
                    listed.node, listed.module, [site], "MR604", "a part that is no dict is not understood"
                )


def _names(part: Part) -> dict[str, str]:
    """Old type -> new type, as this part's roles have it."""
    text = "output_text" if part.roles == {"assistant"} else "input_text"
    return {"text": text, "image_url": "input_image", "file": "input_file"}


# -- one part ----------------------------------------------------------------------------


def _part(context: Context, part: Part) -> str | None:
    """Rewrite one part; its old type, if it was understood."""
    value, sites = part.value, list(part.sites)
    where = value.node if value.node in value.module.parents else sites[0].node
    module = context.module_of(where)
    found = set(constants(value.fields.get("type")) or [])
    if "input_audio" in found:
        context.manual(where, module, sites, "MR605", "`input_audio` has no Responses equivalent")
        return None
    if len(found) != 1 or value.merged or value.others or not isinstance(value.node, (cst.Dict, cst.Call)):
        context.manual(where, module, sites, "MR604", "a part whose type is not known")
        return None
    kind = str(next(iter(found)))
    if kind not in _KEYS:
        context.manual(where, module, sites, "MR206", f"a `{kind}` part belongs to another API")
        return None
    written = {key for key, places in value.places.items() if any(place.how in WRITES for place in places)}
    foreign = sorted(written - _KEYS[kind])
    if foreign:
        context.manual(where, module, sites, "MR206", f"`{foreign[0]}` on a part belongs to another API")
        return None
    if (kind == "text" and "assistant" in part.roles and part.roles != {"assistant"}) or None in part.roles:
        detail = (
            f"`{context.source(where, module, 30)}` is sent in messages of several roles, whose parts differ"
        )
        context.manual(where, module, sites, "MR604", detail, "give each role its own, or write plain texts")
        return None
    if kind == "refusal" or (kind == "text" and _as_string(context, part)):
        return kind
    if kind in _INNER and not _inner(context, part, kind, where, module):
        return None
    for place in value.places["type"]:
        _type(context, place, sites, _names(part)[kind])
    return kind


def _as_string(context: Context, part: Part) -> bool:
    """A list with one text, in an assistant or tool message, becomes that text (traps B4, B11)."""
    if not part.roles <= {"assistant", "tool"} or len(part.lists) != 1:
        return False
    held = next(iter(part.lists))
    listed = held.node
    if _is_looked_at(context, held):
        return False
    if (
        not isinstance(listed, cst.List)
        or len(listed.elements) != 1
        or listed.elements[0].value is not part.value.node
    ):
        return False
    module = context.module_of(listed)
    if not isinstance(part.value.node, cst.Dict) or not isinstance(
        module.parents.get(listed), (cst.DictElement, cst.Arg)
    ):
        return False

    def unwrap(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.List)
        assert isinstance(updated.elements[0].value, cst.Dict)
        found = entry(updated.elements[0].value, "text")
        return found.value if found is not None else updated

    context.edit(listed, module, list(part.sites), unwrap, "MR604")
    return True


def _is_looked_at(context: Context, listed: SeqValue) -> bool:
    """Whether something in the program gets the list ``listed`` back: it stays a list then."""
    return any(node is not listed.node for node, _ in context.holders(listed))


def _type(context: Context, place: Place, sites: list[Site], name: str) -> None:
    module = context.module_of(place.node)
    node = place.node

    if place.how in ("literal", "keyword") and isinstance(node, (cst.DictElement, cst.Arg)):
        context.edit(node.value, module, sites, renamed(name), "MR604")
    elif place.how in ("store", "setdefault", "delete", "pop"):
        context.manual(
            node, module, sites, "MR604", f"`{context.source(node, module)}` changes the type of a part"
        )


# -- images and files --------------------------------------------------------------------


def _inner(context: Context, part: Part, kind: str, where: cst.CSTNode, module: Module) -> bool:
    """Dissolve the dict inside an image or file part; whether that is possible."""
    var = part.value.fields.get(kind)
    values = list(var.values) if var is not None else []
    sites = list(part.sites)
    if kind == "image_url" and values and all(_is_string(value) for value in values):
        if _wants_detail(context, part):
            context.edit(part.value.node, module, sites, _with_detail, "MR604")
        return True
    if not values or not all(_is_known(value, _INNER[kind]) for value in values):
        context.manual(where, module, sites, "MR604", f"what the `{kind}` of a part holds is not known")
        return False
    for place in part.value.places[kind]:
        if isinstance(place.node, cst.Arg):
            understood = _keyword(context, place, sites, kind)
        elif isinstance(place.node, cst.DictElement):
            understood = key_of(place.node) == kind
        else:
            understood = place.how not in ("store", "setdefault", "delete", "pop")
        if not understood:
            text = context.source(place.node, module)
            context.manual(place.node, module, sites, "MR604", f"`{text}` is not understood")
            return False
    inline = isinstance(part.value.node, cst.Dict) and entry(part.value.node, kind)
    for value in values:
        assert isinstance(value, DictValue)
        if inline and inline.value is value.node:
            continue
        _renamed(context, value, sites, _RENAMED[kind])
        _elsewhere(context, value, sites)
    if isinstance(part.value.node, cst.Dict):
        detail = kind == "image_url" and _wants_detail(context, part) and not _has_detail(values)
        context.edit(part.value.node, module, sites, _dissolve(kind, detail), "MR604")
    return True


def _is_known(value: Value, keys: frozenset[str]) -> bool:
    """Whether a value is a dict of no other keys, which are written where it is made."""
    if not isinstance(value, DictValue) or value.others or value.merged or set(value.places) - keys:
        return False
    node = value.node
    return not isinstance(node, cst.Dict) or all(key_of(element) is not None for element in node.elements)


def _is_string(value: Value) -> bool:
    return (
        is_text(value) or isinstance(value, Shape) or (isinstance(value, External) and value.path in _TEXTUAL)
    )


# Methods of the standard library that end in text.
_TEXTUAL = frozenset({"base64.b64encode().decode()"})


def _has_detail(values: list[Value]) -> bool:
    return any(isinstance(value, DictValue) and "detail" in value.places for value in values)


def _dissolve(kind: str, detail: bool) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Dict)
        result = splice(updated, kind, _RENAMED[kind])
        return _with_detail(original, result) if detail else result

    return apply


def _with_detail(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``"detail": "auto"`` where a type checker looks for it."""
    assert isinstance(updated, cst.Dict)
    like = quote_of(updated)
    element = cst.DictElement(string("detail", like), string("auto", like))
    return append(updated, element)


def _wants_detail(context: Context, part: Part) -> bool:
    """Whether the part is checked against the SDK's types: it stands in the call, or is annotated."""
    node = part.value.node
    module = context.module_of(node)
    calls = {site.node for site in part.sites}
    for parent in module.ancestors(node):
        if parent in calls:
            return True
        match parent:
            case (
                cst.AnnAssign(annotation=annotation) | cst.FunctionDef(returns=cst.Annotation() as annotation)
            ):
                return "ChatCompletion" in context.source(annotation.annotation, module, 1000)
            case cst.FunctionDef() | cst.Lambda():
                return False
            case _:
                continue
    return False


def _keyword(context: Context, place: Place, sites: list[Site], kind: str) -> bool:
    """``dict(type=..., image_url={...})`` and the constructors of typed dicts."""
    node = place.node
    module = context.module_of(node)
    if not isinstance(node, cst.Arg) or not isinstance(node.value, (cst.Dict, cst.Call, cst.Name)):
        return False

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
        assert isinstance(updated, cst.Arg)
        value = updated.value
        items = _as_arguments(value, _RENAMED[kind])
        if items is None:
            return updated.with_changes(keyword=None, star="**", equal=cst.MaybeSentinel.DEFAULT)
        if kind == "image_url" and not any(item.keyword and item.keyword.value == "detail" for item in items):
            items.append(cst.Arg(expr('"auto"'), keyword=cst.Name("detail"), equal=_TIGHT))
        items = [
            item.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))) for item in items
        ]
        items[-1] = items[-1].with_changes(
            comma=updated.comma, whitespace_after_arg=updated.whitespace_after_arg
        )
        return cst.FlattenSentinel(items)

    context.edit(node, module, sites, apply, "MR604")
    return True


_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _as_arguments(value: cst.BaseExpression, names: dict[str, str]) -> list[cst.Arg] | None:
    """The entries of a dict, as keyword arguments."""
    found: list[tuple[str, cst.BaseExpression]] = []
    if isinstance(value, cst.Dict):
        for element in value.elements:
            key = key_of(element)
            if key is None:
                return None
            found.append((key, element.value))
    elif isinstance(value, cst.Call) and all(arg.keyword is not None for arg in value.args):
        found = [(arg.keyword.value, arg.value) for arg in value.args if arg.keyword is not None]
    else:
        return None
    return [cst.Arg(item, keyword=cst.Name(names.get(key, key)), equal=_TIGHT) for key, item in found]


def _new_keyword(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    return lambda original, updated: updated.with_changes(keyword=cst.Name(name))


def _renamed(context: Context, value: DictValue, sites: list[Site], names: dict[str, str]) -> None:
    """Rename keys of a dict that stands apart from its part."""
    for old, new in names.items():
        for place in value.places.get(old, []):
            module = context.module_of(place.node)
            key = key_node(place)
            if isinstance(key, cst.Arg):
                context.edit(key, module, sites, _new_keyword(new), "MR604")
            elif isinstance(key, cst.SimpleString):
                context.edit(key, module, sites, renamed(new), "MR604")
            else:
                detail = f"`{context.source(place.node, module)}`: the key is not written there"
                context.manual(place.node, module, sites, "MR604", detail)


# -- who else sees them ------------------------------------------------------------------


def _elsewhere(context: Context, value: DictValue | SeqValue, sites: list[Site]) -> None:
    """Somebody else who gets a part would see its new form."""
    for escape in context.escapes.of(value):
        if escape.way.name != "DISPLAY" and (escape.direct or isinstance(value, DictValue)):
            detail = f"the parts are also {escape.way.value} {escape.to}"
            context.unsafe(escape.node, escape.module, sites, "MR210", detail)

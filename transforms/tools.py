"""Tools lose their inner level wherever they are written (MR501, MR508, MR509); reads follow (MR507).

A tool ``{"type": "function", "function": {...}}`` and the dict inside it are one dict afterwards, so
``tool["function"]`` is ``tool``. What cannot be found, or is also given to somebody else, holds (MR504).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import libcst as cst

from ..decide.escapes import Escape, Way
from ..decide.plan import Plan
from ..know import models
from ..know.graph import Var
from ..know.kinds import Const, DictValue, External, SeqValue, Site, Typed, Unknown, Value
from ..know.modules import Module
from . import compared, copied_forms
from .actions import Action, act
from .context import Context, is_none
from .flatten import can_flatten, flatten
from .kept_schemas import kept_schemas
from .loaded_tools import come_back, flatten_loaded, is_loaded
from .passed_tools import Sent, can_flatten_passed, flatten_at, held_in_place, kept
from .schema_changes import changed_later
from .schema_reads import read_back
from .sent import untold
from .snippets import key_of
from .strictness import decide_strict, defaults_of, family

Key = TypeVar("Key")
PYDANTIC = ("openai.pydantic_function_tool()", "openai.lib._tools.pydantic_function_tool()")
_WRITTEN = frozenset({"literal", "keyword"})
SPLIT = "give each a copy of its own, in its own form"
_TEXT = ("json.", "yaml.", "builtins.str", "builtins.repr", "str.format", "toml", "pickle.")


class Tools:
    """The tools of every site: outer dicts, the dicts inside them, and the lists they are in."""

    def __init__(self) -> None:
        self.outer: dict[DictValue, set[Site]] = {}
        self.inner: dict[DictValue, set[Site]] = {}
        self.lists: dict[SeqValue, set[Site]] = {}
        self.loaded: set[Site] = set()  # those whose tools are read from data
        self.sent: dict[Site, Sent] = {}

    def held(self) -> Iterator[tuple[DictValue | SeqValue, set[Site]]]:
        """Everything that belongs to what is sent, and the calls that send it."""
        yield from self.outer.items()
        yield from self.inner.items()
        yield from self.lists.items()

    def without(self, sites: set[Site]) -> Tools:
        """The same without what these calls send: it keeps its form."""
        rest = Tools()
        rest.outer = {value: own for value, own in self.outer.items() if not own <= sites}
        rest.inner = {value: own for value, own in self.inner.items() if not own <= sites}
        rest.lists = {value: own for value, own in self.lists.items() if not own <= sites}
        rest.loaded = self.loaded
        return rest


def plan(context: Context) -> None:
    """Flatten the tools and the choices of all sites."""
    found, chosen = Tools(), Tools()
    for site in context.sites:
        request = context.request(site)
        if request.passes("tools"):
            _collect(context, site, found)
        _drop_none(context, site)
        if request.passes("tool_choice"):
            _choice(context, site, chosen)
    _in_place(context, _keep_for_others(context, found, chosen), chosen)


def _keep_for_others(context: Context, found: Tools, chosen: Tools) -> Tools:
    """Flatten at the call what would be held back if it were flattened where it is written; the others."""
    able = {site for site, sent in found.sent.items() if can_flatten_passed(context, site, sent)}
    if not able:
        return found
    real, context.plan = context.plan, Plan(context.project, context.settings)
    _in_place(context, found, chosen)
    compared.plan(context)
    copied_forms.plan(context)
    held, context.plan = held_in_place(context.plan), real
    keeping = kept(able, held, [sites for _, sites in found.held()])
    for site in (site for site in found.sent if site in keeping):
        flatten_at(context, site, found.sent[site])
    context.nested_tools.update(value for value, sites in found.held() if sites <= keeping)
    return found.without(keeping)


def _in_place(context: Context, found: Tools, chosen: Tools) -> None:
    """Flatten tools where they are written, with all that reads them."""
    for tool, sites in found.outer.items():
        _flatten(context, tool, sites)
    _bind_functions(context, found.inner)
    read_back(context, _joined(found.outer, chosen.outer), _joined(found.inner, chosen.inner))
    for tool, sites in found.outer.items() if found.loaded else ():
        come_back(context, tool, sites, found.loaded)
    for value, sites in found.held():
        _escapes(context, value, sites)


def _joined(one: Mapping[Key, set[Site]], other: Mapping[Key, set[Site]]) -> dict[Key, set[Site]]:
    return {key: one.get(key, set()) | other.get(key, set()) for key in (*one, *other)}


def _bind_functions(context: Context, inner: Mapping[DictValue, set[Site]]) -> None:
    """A dict that is a function of one call, and becomes a tool there, may be inside a tool of another."""
    for part, sites in inner.items():
        for value in family(part):
            if isinstance(value, DictValue) and value in context.functions:
                sharing = sites | context.functions[value]
                context.plan.bind(
                    part.node, part.module, sharing, "a function of some calls and a tool of others"
                )


def _drop_none(context: Context, site: Site) -> None:
    request = context.request(site)
    for item in request.named("tools", "tool_choice", "functions", "function_call"):
        if item.holder is None:
            nothing = is_none(item.place.var)
        else:
            nothing = bool(request.written(item.name)) and not any(
                context.request(sender).passes(item.name) for sender in context.senders(item.holder)
            )
        if nothing:
            act(context, site, [item], Action("MR108", drop=True))


# -- finding them ------------------------------------------------------------------------


def _collect(context: Context, site: Site, found: Tools) -> None:
    keywords = context.request(site).written("tools")
    every: list[Value] = []
    among: dict[SeqValue, None] = {}
    for item in keywords:
        var, place = item.place.var, item.place
        if var is None or not var.values:
            _stranger(context, site, place.node, place.module, "where they are made could not be found")
            continue
        lists: dict[SeqValue, set[Site]] = {}
        held = list(members(var, lists, site))
        if is_loaded(context, site, item, held):
            flatten_loaded(context, site, item)
            found.loaded.add(site)
            continue
        every += held
        among.update(dict.fromkeys(lists))
        for sequence in lists:
            found.lists.setdefault(sequence, set()).add(site)
        for value in held:
            _member(context, site, value, found, place.node, place.module)
    if site not in found.loaded:
        found.sent[site] = Sent(keywords, list(among), every)


def members(var: Var, lists: dict[SeqValue, set[Site]], site: Site) -> Iterator[Value]:
    """What the lists in ``var`` hold, through lists they were made from; what is no list comes as it is."""
    seen: dict[Value, None] = {}
    stack = list(var.values)
    while stack:
        value = stack.pop(0)
        if isinstance(value, SeqValue):
            if value not in lists or site not in lists[value]:
                lists.setdefault(value, set()).add(site)
                seen.update(dict.fromkeys(value.element.values))
                for part in value.items.values():
                    seen.update(dict.fromkeys(part.values))
                for source in value.derived:
                    stack.extend(source.values)
                seen.update(dict.fromkeys(untold(value)))
        elif not _says_nothing(value):
            seen[value] = None
    yield from seen


def _says_nothing(value: Value) -> bool:
    if isinstance(value, External):
        return value.path in models.OMITTED
    return isinstance(value, Const) and not value.value


def _member(
    context: Context, site: Site, value: Value, found: Tools, node: cst.CSTNode, module: Module
) -> None:
    """One thing that can be a tool of ``site``."""
    match value:
        case DictValue():
            if site in found.outer.setdefault(value, set()):
                return
            found.outer[value].add(site)
            for source in value.merged:
                for part in source.values:
                    _member(context, site, part, found, node, module)
            for part in inner_values(value, "function", "custom"):
                if isinstance(part, DictValue):
                    found.inner.setdefault(part, set()).add(site)
        case Const():
            return
        case External(path=path) if path in PYDANTIC:
            return  # the rule for pydantic models
        case Unknown(why=why):
            only_type = why.startswith("a `")
            said = f"only their type is known, {why}" if only_type else f"they come from {why}"
            _stranger(context, site, node, module, said)
        case External(path=path):
            made = External(path.removesuffix("()"))
            _stranger(context, site, node, module, f"they come from {made.words}")
        case SeqValue():
            return
        case _:
            _stranger(context, site, node, module, "where they are made could not be found")


def _stranger(context: Context, site: Site, node: cst.CSTNode, module: Module, why: str) -> None:
    context.manual(node, module, [site], "MR504", f"these tools cannot be flattened: {why}")


def inner_values(value: DictValue, *levels: str) -> Iterator[Value]:
    """What stands under the inner level of a tool."""
    for level in levels:
        if level in value.places:
            yield from value.fields[level].values if level in value.fields else ()


# -- flattening --------------------------------------------------------------------------


def _flatten(context: Context, tool: DictValue, sites: Iterable[Site]) -> None:
    level = next((name for name in ("function", "custom") if name in tool.places), None)
    if level is None:
        if tool.others:
            context.manual(tool.node, tool.module, sites, "MR504", "a key of this tool is computed")
        return
    written = [place for place in tool.places[level] if place.how in _WRITTEN]
    if not written:
        if any(place.how in ("store", "setdefault") for place in tool.places[level]):
            context.manual(
                tool.node, tool.module, sites, "MR504", f'`"{level}"` of this tool is put in later'
            )
        return
    if not can_flatten(tool.node):
        context.manual(tool.node, tool.module, sites, "MR504", "this tool is not written as a dict")
        return
    if _is_computed(tool, level):
        context.manual(tool.node, tool.module, sites, "MR504", "a key of this tool is computed")
        return
    if level == "custom":
        levels = [level, "grammar"]
        context.edit(tool.node, tool.module, sites, lambda o, u: _flatten_custom(u), "MR509")
        return
    decide_strict(context, list(inner_values(tool, "function")), sites)
    levels = [level]
    defaults = defaults_of(context, list(inner_values(tool, "function")), written[0].node)
    parts = [part for part in inner_values(tool, "function") if isinstance(part, DictValue)]
    held = changed_later(context, tool, parts, written[0].node)
    if held is not None:
        context.manual(
            held, tool.module, sites, "MR507", "the schema is changed after it was put into the tool"
        )
    context.edit(tool.node, tool.module, sites, lambda o, u: flatten(u, levels, defaults), "MR501")


def _is_computed(value: DictValue, level: str) -> bool:
    """Whether the key of an entry is not written as a string where it stands."""
    return any(
        isinstance(place.node, cst.DictElement) and key_of(place.node) is None
        for place in value.places[level]
    )


def _flatten_custom(updated: cst.CSTNode) -> cst.CSTNode:
    """``{"type": "custom", "custom": {"format": {"type": "grammar", "grammar": {...}}}}``."""
    shown = flatten(updated, ["custom"])
    if not isinstance(shown, cst.Dict):
        return shown
    elements = []
    for element in shown.elements:
        if isinstance(element, cst.DictElement) and isinstance(element.value, cst.Dict):
            element = element.with_changes(value=flatten(element.value, ["grammar"]))
        elements.append(element)
    return shown.with_changes(elements=elements)


# -- choices -----------------------------------------------------------------------------


def _choice(context: Context, site: Site, chosen: Tools) -> None:
    """``tool_choice``: words stay, a named function loses its level (MR502, MR509)."""
    for item in context.request(site).written("tool_choice"):
        place = item.place
        for value in place.var.values if place.var is not None else ():
            match value:
                case DictValue():
                    _flatten_choice(context, site, value)
                    _note(site, value, chosen)
                case Const() | Typed(type="str"):
                    continue
                case External() if _says_nothing(value):
                    continue
                case Unknown(node=cst.Param()) if not context.settings.packaged:
                    continue
                case _:
                    detail = f"`{context.source(place.node, place.module)}`: what it names is not known"
                    context.manual(place.node, place.module, [site], "MR504", detail)
        if place.var is None or not place.var.values:
            detail = f"`{context.source(place.node, place.module)}`: what it names is not known"
            context.manual(place.node, place.module, [site], "MR504", detail)


def _note(site: Site, choice: DictValue, chosen: Tools) -> None:
    """A choice, and the tools that it allows, are read as tools are."""
    chosen.outer.setdefault(choice, set()).add(site)
    for part in inner_values(choice, "function", "custom", "allowed_tools"):
        if isinstance(part, DictValue):
            chosen.inner.setdefault(part, set()).add(site)
            tools = members(part.fields["tools"], {}, site) if "tools" in part.fields else ()
            for tool in tools:
                if isinstance(tool, DictValue):
                    _note(site, tool, chosen)


def _flatten_choice(context: Context, site: Site, choice: DictValue) -> None:
    level = next((name for name in ("function", "custom", "allowed_tools") if name in choice.places), None)
    if level is None:
        return
    if choice.others or choice.merged or not can_flatten(choice.node) or _is_computed(choice, level):
        context.manual(choice.node, choice.module, [site], "MR504", "this choice is not written as a dict")
        return
    insides = [part for part in inner_values(choice, level) if isinstance(part, DictValue)]
    for escape in [escape for part in (choice, *insides) for escape in context.escapes.of(part)]:
        if escape.way is not Way.DISPLAY:
            context.manual(
                escape.node,
                escape.module,
                [site],
                "MR504",
                f"the choice is also {escape.way.value} {escape.to}",
                SPLIT,
            )
    context.edit(choice.node, choice.module, [site], lambda o, u: flatten(u, [level]), "MR502")
    for part in inner_values(choice, "allowed_tools"):
        if isinstance(part, DictValue) and "tools" in part.fields:
            for tool in members(part.fields["tools"], {}, site):
                if isinstance(tool, DictValue) and can_flatten(tool.node):
                    context.edit(
                        tool.node, tool.module, [site], lambda o, u: flatten(u, ["function"]), "MR509"
                    )
                else:
                    _stranger(
                        context, site, choice.node, choice.module, "the allowed tools could not be found"
                    )


# -- who else has them -------------------------------------------------------------------


def _escapes(context: Context, value: DictValue | SeqValue, sites: set[Site]) -> None:
    for escape in context.escapes.of(value):
        if escape.way is Way.DISPLAY or (_only_text(escape) and value in kept_schemas(context)):
            continue
        text = context.source(escape.node, escape.module)
        detail = f"the tools (`{text}`) are also {escape.way.value} {escape.to}"
        if _only_text(escape):
            context.unsafe(escape.node, escape.module, sites, "MR507", detail)
        else:
            context.manual(escape.node, escape.module, sites, "MR504", detail, SPLIT)


def _only_text(escape: Escape) -> bool:
    return escape.way is not Way.ARGUMENT or escape.to.startswith(_TEXT)

"""Tools that must keep their form for others lose their inner level where they are passed (MR501).

Another SDK gets them too, a package offers them, or something reads or changes them in a way that the flat
form would not bear: then the request alone gets flat ones, made at the call, and all else stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial

import libcst as cst

from ..decide.plan import Plan
from ..know import models
from ..know.kinds import DictValue, External, SeqValue, Site, Value
from ..know.modules import Module, walk
from .context import WRITES, Context, Keyword
from .loaded_tools import flatten_passed
from .strictness import EMPTY_SCHEMA, Presence, null_strict, presence
from .tested import is_test

_WRITTEN = frozenset({"literal", "keyword"})
_OF_TOOLS = ("MR504", "MR507")
_OWN_KEYS = frozenset({"type", "function"})
_DUMPED = re.compile(
    r"(json\.loads?|\.(model_dump|dict|model_json_schema)|openai\.types\.[\w.]*(Param|FunctionDefinition))\(\)$"
)
_TYPES = ("ChatCompletionToolParam", "ChatCompletionFunctionToolParam", "ChatCompletionToolUnionParam")


@dataclass(frozen=True)
class Sent:
    """What one call sends as tools: where it is passed, the lists it can be, and what these can hold."""

    keywords: Sequence[Keyword]
    lists: Sequence[SeqValue]
    held: Sequence[Value]


def can_flatten_passed(context: Context, site: Site, sent: Sent) -> bool:
    """Whether the call may make flat tools of what it is given: all are functions, and passed as they are."""
    if not sent.keywords or not sent.held or not all(_is_direct(site, item) for item in sent.keywords):
        return False
    if any(map(partial(_may_be_filled, context), sent.lists)):
        return False
    return all(isinstance(value, DictValue) and _is_plain(context, value) for value in sent.held)


def _may_be_filled(context: Context, tools: SeqValue) -> bool:
    """Whether code that nobody sees gets a list itself, and may put something else into it."""
    return any(escape.direct and escape.to.startswith("parameter ") for escape in context.escapes.of(tools))


def _is_direct(site: Site, item: Keyword) -> bool:
    """Whether the call itself says what is passed, and something always is."""
    var = item.place.var
    if var is None or not any(arg is item.place.node for arg in site.node.args):
        return False
    if any(isinstance(value, External) and value.path in models.OMITTED for value in var.values):
        return False
    return not any(isinstance(node, cst.NamedExpr) for node in walk(item.place.node))


def _is_plain(context: Context, tool: DictValue) -> bool:
    """Whether ``tool`` is ``{"type": "function", "function": {...}}`` whenever it is sent."""
    added = [place for key, places in tool.places.items() if key not in _OWN_KEYS for place in places]
    if tool.merged or any(place.how in WRITES for place in (*added, *tool.others)):
        return False
    if not any(place.how in _WRITTEN for place in tool.places.get("function", ())):
        return False
    insides = tool.fields["function"].values if "function" in tool.fields else {}
    if not insides or not all(_is_dict(context, value) for value in (tool, *insides)):
        return False
    return not any(True for _ in null_strict(insides))


def _is_dict(context: Context, value: Value) -> bool:
    """Whether ``value`` is a dict at run time; the SDK also takes objects of pydantic for one."""
    if not isinstance(value, DictValue):
        return isinstance(value, External) and _DUMPED.search(value.path) is not None
    if not isinstance(value.node, cst.Call):
        return True
    makers = context.project.values(value.node.func)
    return bool(makers) and all(isinstance(maker, External) for maker in makers)


def _insides(tool: DictValue) -> Iterator[DictValue]:
    if "function" in tool.fields:
        yield from (value for value in tool.fields["function"].values if isinstance(value, DictValue))


def held_in_place(trial: Plan) -> set[Site]:
    """The calls that ``trial``, a plan that flattens tools where they are written, holds back.

    What a test compares the rules for doubles see to.
    """
    return {
        site
        for sites, reason in trial.reasons
        if reason.level.rank
        and (reason.code in _OF_TOOLS or (reason.code == "MR309" and not is_test(reason.module)))
        for site in sites
    }


def kept(able: Set[Site], held: Set[Site], shared: Iterable[set[Site]]) -> set[Site]:
    """The calls that are to make their own tools: those that share some with one of ``held``.

    ``shared`` are the calls that send the same thing: all of them have to be ``able``.
    """
    groups = _groups(shared)
    return {site for group in groups if group & held and group <= able for site in group}


def _groups(sets: Iterable[set[Site]]) -> list[set[Site]]:
    """``sets``, those that overlap joined."""
    groups: list[set[Site]] = []
    for found in sets:
        apart = [group for group in groups if not group & found]
        joined = set(found).union(*(group for group in groups if group & found))
        groups = [*apart, joined]
    return groups


def flatten_at(context: Context, site: Site, sent: Sent) -> None:
    """Pass flat copies of the tools."""
    tools = [value for value in sent.held if isinstance(value, DictValue)]
    typed = any(map(_names_type, dict.fromkeys([site.module, *(tool.module for tool in tools)])))
    insides = [part for tool in tools for part in _insides(tool)]
    asked = {key: {presence(context, part, key) for part in insides} for key in ("parameters", "strict")}
    wanted = []
    if typed or asked["parameters"] != {Presence.ALWAYS}:
        wanted.append(f'"parameters": {EMPTY_SCHEMA}')
    if context.settings.api_defaults == "preserve" and asked["strict"] != {Presence.ALWAYS}:
        wanted.append('"strict": False')
    for item in sent.keywords:
        flatten_passed(context, site, item, wanted, typed)


def _names_type(module: Module) -> bool:
    """Whether ``module`` says that tools have the SDK's own type: then the new ones are checked as well."""
    return any(isinstance(node, cst.Name) and node.value in _TYPES for node in module.of(cst.Name))

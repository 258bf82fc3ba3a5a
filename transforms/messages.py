"""``messages`` becomes ``input`` (MR201); a leading system message may become ``instructions`` (MR202).

A plain history of role/content messages is valid input as it is, so most lists stay untouched.
Tool messages and parts have rules of their own (:mod:`.tool_messages`, :mod:`.parts`).
"""

from __future__ import annotations

import libcst as cst

from ..decide.receivers import DOUBLES
from ..know.kinds import (
    DictValue,
    External,
    Instance,
    Place,
    SeqValue,
    Site,
    Unknown,
    Value,
)
from ..know.modules import Module
from ..know.testing import in_tests
from .actions import Action, act
from .built_up import names_result
from .chosen_keys import is_chosen
from .context import WRITES, Context, Keyword, is_none
from .instructions import hoist_local, inline, local_list
from .named_messages import LEAVE_OUT, is_poured, origin_of_names
from .part_objects import writes_part_objects
from .sent import KEYS, PLAIN_ROLES, elements_of, messages_of, roles, writes_items
from .unlisted import make_list

_NULLABLE_KEYS = frozenset(
    {"refusal", "annotations", "audio", "function_call", "tool_calls", "name", "parsed"}
)


def plan(context: Context) -> None:
    for site in context.sites:
        keywords = context.request(site).named("messages")
        for item in keywords:
            _input(context, site, item)
        for message in messages_of(context, site):
            _message(context, site, message)
        _origin(context, site)


# -- what is sent ------------------------------------------------------------------------


def _input(context: Context, site: Site, item: Keyword) -> None:
    place = item.place
    node = place.node
    if isinstance(node, cst.Arg) and item.holder is None and node in site.module.parents:
        if isinstance(node.value, cst.List):
            inline(context, site, node, node.value)
            return
        local = local_list(context, site, node)
        if local is not None:
            hoist_local(context, site, node, local)
            return
    written = written_value(place)
    if written is not None:
        make_list(context, site, item, written)
    act(context, site, [item], Action("MR201", "input"))


def written_value(place: Place) -> cst.BaseExpression | None:
    """The expression that is put into the request at ``place``."""
    match place.node:
        case cst.Arg(value=value) | cst.DictElement(value=value) if place.how in WRITES:
            return value
        case cst.Subscript() if place.how == "store":
            target = place.module.parents[place.node]
            statement = place.module.parents[target]
            return statement.value if isinstance(statement, cst.Assign) else None
        case cst.Call(args=[_, cst.Arg(value=value)]) if place.how == "setdefault":
            return value
        case _:
            return None


# -- single messages ---------------------------------------------------------------------


def _message(context: Context, site: Site, message: DictValue) -> None:
    """Keys that an input message cannot have (traps B1, B26)."""
    known = roles(message)
    if known is not None and any(role not in PLAIN_ROLES for role in known):
        return  # tool and function messages: another rule
    if is_poured(message):
        detail = f"`name` comes into `{context.source(message.node, message.module)}` from another dict"
        context.manual(message.node, message.module, [site], "MR205", detail, LEAVE_OUT)
    for key, places in message.places.items():
        for place in places:
            if place.how not in ("literal", "keyword", "store", "setdefault"):
                continue
            if key in _NULLABLE_KEYS and is_chosen(context, place):
                detail = f"`{context.source(place.node, place.module)}` is also for other keys than `{key}`"
                context.manual(place.node, place.module, [site], "MR206", detail)
                continue
            if key in _NULLABLE_KEYS and is_none(place.var):
                _drop_key(context, site, place.node, place.module)
            elif key == "name" and any(other.how not in WRITES for other in places):
                detail = "`name` on a message is refused, and read elsewhere"
                context.manual(place.node, place.module, [site], "MR205", detail)
            elif key == "name" and names_result(message, place):
                continue  # another rule
            elif key == "name":
                context.unsafe(place.node, place.module, [site], "MR205", "`name` on a message is refused")
                _drop_key(context, site, place.node, place.module)
            elif key not in KEYS:
                context.manual(place.node, place.module, [site], "MR206", f"`{key}` belongs to another API")


def _drop_key(context: Context, site: Site, node: cst.CSTNode, module: Module) -> None:
    if isinstance(node, (cst.DictElement, cst.Arg)):
        context.edit(node, module, [site], lambda o, u: cst.RemovalSentinel.REMOVE, "MR108")
        return
    parent = module.parents.get(node)
    assign = module.parents.get(parent) if parent is not None else None
    line = module.parents.get(assign) if assign is not None else None
    if (
        isinstance(parent, cst.AssignTarget)
        and isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
    ):
        context.edit(line, module, [site], lambda o, u: cst.RemovalSentinel.REMOVE, "MR108")
    else:
        context.manual(node, module, [site], "MR206", "this key cannot be removed here")


# -- where they come from ----------------------------------------------------------------


def _origin(context: Context, site: Site) -> None:
    """Messages from outside are taken as plain, unless something speaks against it (trap B25)."""
    request = context.request(site)
    untold = are_untold(context, site)
    if not untold and not any(message.others or message.merged for message in messages_of(context, site)):
        return
    node, module = messages_at(context, site)
    place = f"`{context.source(node, module)}`, which cannot be followed"
    unknown = _untold(context, site)
    why = _whence(context, unknown[0]) if unknown else place
    named = origin_of_names(context, site)
    if named is not None:
        context.unsafe(node, module, [site], "MR205", f"messages come from {why}, and {named}", LEAVE_OUT)
    if not untold:
        return
    if request.passes_tools or writes_items(context, site) or writes_part_objects(context, site):
        context.unsafe(node, module, [site], "MR204", f"some messages come from {why}")
    else:
        detail = f"messages come from {why}: texts pass as they are, pictures and tool calls would not"
        context.note(node, module, [site], "MR204", detail)


def messages_at(context: Context, site: Site) -> tuple[cst.CSTNode, Module]:
    """Where the messages of ``site`` are written; itself, if that is not seen."""
    written = context.request(site).written("messages")
    return (written[0].place.node, written[0].place.module) if written else (site.node, site.module)


def are_untold(context: Context, site: Site) -> bool:
    """Whether ``site`` may send messages that nobody here writes out."""
    request = context.request(site)
    if not request.written("messages") and not request.untracked:
        return False
    return bool(_untold(context, site)) or not _sent(context, site)


def _sent(context: Context, site: Site) -> list[Value]:
    return [*context.request(site).values("messages"), *elements_of(context, site)]


def _untold(context: Context, site: Site) -> list[Value]:
    of_tests = in_tests(site.module)
    return [value for value in _sent(context, site) if _is_untold(value, of_tests)]


def _whence(context: Context, value: Value) -> str:
    """Where messages that nobody here writes out come from, for a person."""
    match value:
        case Unknown(why=why):
            return why
        case External(path=path):
            return value.words if " " in path else f"`{path.partition('(')[0]}`"
        case Instance(type=cls):
            return f"a `{cls.name}`"
        case SeqValue(node=node, module=module):
            return f"`{context.source(node, module)}`"
        case _:
            return "code this tool does not see"


def _is_untold(value: Value, of_tests: bool) -> bool:
    """Whether ``value``, sent by a test or not, may hold messages that nobody here writes out."""
    if isinstance(value, SeqValue):
        if isinstance(value.node, cst.ListComp) and not value.element.values and not value.derived:
            return True  # made of something that could not be followed
        return any(
            isinstance(inner, Instance) and "__iter__" not in inner.type.members
            for source in value.derived
            for inner in source.values
        )
    if isinstance(value, External) and value.path.startswith(DOUBLES):
        # A test's: where an answer would be, its rule has a word.
        return not of_tests and value.path.startswith("types.SimpleNamespace")
    return isinstance(value, (Unknown, External, Instance))

"""The messages that a call sends: the lists, their elements, and what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from ..know.graph import Var
from ..know.kinds import (
    DictValue,
    Kind,
    SeqValue,
    Shape,
    Site,
    Unknown,
    Value,
)
from ..know.modules import Module
from ..know.operators import is_text
from .context import WRITES, Context, constants
from .told_roles import ruled_out
from .uncalled import is_ever_made

PLAIN_ROLES = frozenset({"system", "developer", "user", "assistant"})
KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "function_call", "name", "type", "phase"})


def sequences_of(context: Context, site: Site) -> list[SeqValue]:
    """The lists that feed ``messages``, those they were joined from included."""
    found: dict[SeqValue, None] = {}
    stack: list[Value] = context.request(site).values("messages")
    while stack:
        value = stack.pop()
        if isinstance(value, SeqValue) and value not in found:
            found[value] = None
            for source in value.derived:
                stack.extend(source.values)
    return list(found)


def untold(sequence: SeqValue) -> list[Value]:
    """A stand-in for each element of which nothing is known at all."""
    return [
        Unknown("a value that could not be followed", place.node)
        for place in sequence.places
        if place.var is not None and not place.var.values and place.how in _GIVES
    ]


_GIVES = frozenset({"literal", "append", "insert", "comprehension"})


def elements_of(context: Context, site: Site) -> list[Value]:
    """Everything that can be an element of the messages of ``site``."""
    found: dict[Value, None] = {}
    for sequence in sequences_of(context, site):
        found.update(dict.fromkeys(sequence.element.values))
        for var in sequence.items.values():
            found.update(dict.fromkeys(var.values))
        found.update(dict.fromkeys(untold(sequence)))
    return list(found)


def messages_of(context: Context, site: Site) -> list[DictValue]:
    """The message dicts that can be sent."""
    return [
        value for value in elements_of(context, site) if isinstance(value, DictValue) and _may_be_sent(value)
    ]


def _may_be_sent(value: DictValue) -> bool:
    """Whether a dict can be a message: the API refuses one that has neither role nor type."""
    written = {key for key, places in value.places.items() if any(place.how in WRITES for place in places)}
    open_ended = bool(value.merged or value.others)
    return not written.isdisjoint({"role", "type"}) or (open_ended and written <= KEYS)


def roles(message: DictValue) -> list[object] | None:
    """The roles a message can have, or None if they are not all known."""
    found = constants(message.fields.get("role"))
    return [role for role in found if not ruled_out(message, role)] if found is not None else None


def is_str(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression is certainly a string."""
    var = context.project.vars.get(node)
    return var is not None and text_var(var)


def text_var(var: Var) -> bool:
    """Whether every value of a variable is text."""
    textual = (Kind.CONTENT, Kind.DELTA_TEXT)
    return bool(var.values) and all(
        is_text(value) or (isinstance(value, Shape) and value.kind in textual) for value in var.values
    )


def writes_items(context: Context, site: Site) -> bool:
    """Whether anything in the program of ``site`` writes tool messages or parts, as a dict or as a text."""
    program = context.project.program(site.module)
    return any(
        isinstance(value, DictValue)
        and value.module in program
        and is_item(value)
        and is_ever_made(context, value)
        for value in context.project.built.values()
    ) or any(_spells_items(module) for module in program)


def _spells_items(module: Module) -> bool:
    """Whether ``module`` reads data from a text, and one of its texts is a list of messages with parts."""
    return any(all(sign.search(text) for sign in _SPELLED) for text in _texts_read(module))


def spells_parts(module: Module) -> bool:
    """Whether ``module`` reads data from a text, and a part is spelled in one of its texts."""
    return any(_SPELLED[1].search(text) for text in _texts_read(module))


def _texts_read(module: Module) -> Iterator[str]:
    """The texts that are written in ``module``, if it reads data from any."""
    if any(loader in module.text for loader in _LOADERS):
        for node in module.of(cst.SimpleString):
            if isinstance(text := node.evaluated_value, str):
                yield text


_LOADERS = ("loads", "literal_eval", "safe_load")
_SPELLED = (
    re.compile(r"""["']role["']\s*:"""),
    re.compile(
        r"""["'](?:tool_calls|tool_call_id|input_audio|image_url)["']|["']type["']\s*:\s*["'](?:text|file)["']"""
    ),
)


_PART_TYPES = frozenset({"image_url", "input_audio", "file", "tool_use", "tool_result"})


# What the message of an answer has, and no message that is sent may have.
_OF_ANSWERS = ("refusal", "annotations", "audio", "parsed")


def is_item(value: DictValue) -> bool:
    """Whether a dict is a tool message, one with calls or with more keys, or a part that is not text."""
    if _writes(value, "tool_calls") or _writes(value, "tool_call_id"):
        return True
    if _writes(value, "role") and any(_writes(value, key) for key in _OF_ANSWERS):
        return True
    found = constants(value.fields.get("role")) or []
    if any(role in ("tool", "function") for role in found):
        return True
    types = constants(value.fields.get("type")) or []
    return any(kind in _PART_TYPES for kind in types)


def _writes(value: DictValue, key: str) -> bool:
    return any(place.how in WRITES for place in value.places.get(key, ()))


def owners(context: Context, value: DictValue) -> Iterable[Site]:
    """The sites that ``value`` can be sent by, as a message."""
    return [site for site in context.sites if value in messages_of(context, site)]

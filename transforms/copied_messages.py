"""Copies of messages that change their form: ``rows.append({**out, "n": 1})`` (MR208).

A copy has the keys that the message gets. What reads it under the old ones, or looks at all of them,
holds the flow back.
"""

from __future__ import annotations

from ..know.kinds import DictValue
from .context import Context
from .item_facts import Form, facts
from .poured import READS, inherited, looks
from .shared_dicts import keyword_taker

_CHANGED = {
    Form.RESULT: frozenset({"role", "tool_call_id", "content", "name"}),
    Form.LEGACY_RESULT: frozenset({"role", "name", "content"}),
    Form.MIXED: frozenset({"role", "tool_call_id", "name", "content"}),
    Form.CALLS: frozenset({"role", "tool_calls", "function_call", "content"}),
}


def plan(context: Context) -> None:
    """Look at the copies of all messages that become items."""
    known = facts(context)
    for message, form in known.forms.items():
        names = _CHANGED.get(form, frozenset())
        if not names:
            continue
        for value, changed in inherited(context, {message: names}).items():
            _looked_at(context, message, value, changed)
            if value not in known.messages:
                _copy(context, message, value, changed)


def _looked_at(context: Context, message: DictValue, value: DictValue, names: frozenset[str]) -> None:
    sites = facts(context).messages[message]
    for node, module in looks(context, value):
        if not context.is_gone(node, module):
            text = context.source(module.parents[node], module)
            detail = f"`{text}` looks at the keys of a message, which are others now"
            context.manual(node, module, sites, "MR208", detail)
    for node, module in context.holders(value):
        if (name := keyword_taker(context, node, module, names)) is not None:
            detail = f"`{name}` takes a key of a message, which has another name now"
            context.manual(node, module, sites, "MR208", detail)


def _copy(context: Context, message: DictValue, value: DictValue, names: frozenset[str]) -> None:
    sites = facts(context).messages[message]
    places = [place for name in sorted(names) for place in value.places.get(name, ())]
    for place in [*places, *value.others]:
        if place.how in READS:
            text = context.source(place.node, place.module)
            detail = f"`{text}` reads a copy of a message, whose keys are others now"
            context.manual(place.node, place.module, sites, "MR208", detail)

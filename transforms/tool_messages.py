"""Messages that are items of other types for the new API: tool results, calls, function results."""

from __future__ import annotations

from ..know.kinds import Kind, Shape, Site
from .context import Context
from .messages import elements_of, messages_of, roles


def plan(context: Context) -> None:
    """Hold back what no rule rewrites."""
    for site in context.sites:
        _messages(context, site)


def _messages(context: Context, site: Site) -> None:
    for message in messages_of(context, site):
        found = roles(message) or []
        if "function" in found:
            context.manual(message.node, message.module, [site], "MR211", "a result of a function")
        elif "tool" in found or "tool_call_id" in message.places or "tool_calls" in message.places:
            context.manual(message.node, message.module, [site], "MR506", "a tool message is not understood")
    for value in elements_of(context, site):
        if isinstance(value, Shape) and value.kind in (Kind.MESSAGE, Kind.CHOICE, Kind.COMPLETION):
            context.manual(site.node, site.module, [site, value.site], "MR506", "the answer is kept in the history")

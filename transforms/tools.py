"""Tools and the choice between them (MR501 to MR504, MR507 to MR509)."""

from __future__ import annotations

from .context import Context

_NAMES = ("tools", "tool_choice", "functions", "function_call")


def plan(context: Context) -> None:
    """Hold back what no rule rewrites."""
    for site in context.sites:
        for item in context.request(site).named(*_NAMES):
            if context.request(site).passes(item.name):
                context.manual(item.place.node, item.place.module, [site], "MR504", f"`{item.name}` is not understood")

"""Reading tool calls (MR505, MR506)."""

from __future__ import annotations

from ..know.kinds import Kind
from .context import Context

KINDS = frozenset({Kind.TOOL_CALLS, Kind.TOOL_CALL, Kind.FUNCTION, Kind.FUNCTION_CALL, Kind.CUSTOM})


def plan(context: Context) -> None:
    """Hold back what no rule rewrites."""
    for node, module, shapes in context.shaped:
        if any(shape.kind in KINDS for shape in shapes):
            text = context.source(node, module)
            context.manual(node, module, {shape.site for shape in shapes}, "MR506", f"`{text}` is not understood")

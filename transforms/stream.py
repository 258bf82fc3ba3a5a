"""Streams of chunks become streams of events (MR401 to MR409).

A use of a stream, a chunk or a part of one that no rule here understands holds the flow back.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import STREAM_KINDS, Kind, Shape
from .context import Context


def plan(context: Context) -> None:
    """Look at every expression that can be a part of a stream."""
    for node, module, shapes in context.shaped:
        if not isinstance(node, cst.BaseExpression):
            continue
        streamed = [shape for shape in shapes if shape.kind in STREAM_KINDS]
        if not streamed:
            continue
        sites = {shape.site for shape in shapes}
        kinds = {shape.kind for shape in shapes}
        if kinds - STREAM_KINDS:
            text = context.source(node, module)
            context.manual(node, module, sites, "MR403", f"`{text}` is a whole answer or a stream")
        elif kinds - {Kind.STREAM, Kind.MANAGER}:
            context.manual(node, module, sites, "MR404", f"`{context.source(node, module)}` is not understood")
    for site in context.sites:
        for kind in STREAM_KINDS:
            for escape in context.escapes.of(Shape(kind, site)):
                text = context.source(escape.node, escape.module)
                detail = f"`{text}` is {escape.way.value} {escape.to}"
                context.unsafe(escape.node, escape.module, [site], "MR402", detail)

"""``message.parsed`` and ``message.refusal`` (MR601, MR606)."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import SHAPES, Kind
from .access import read_of
from .context import Context


def plan(context: Context) -> None:
    for node, module, shapes in context.shaped:
        if not isinstance(node, cst.BaseExpression):
            continue
        reading = read_of(context, node, module)
        if reading is None:
            continue
        for shape in shapes:
            part = SHAPES.get((shape.kind, reading.name))
            if part in (Kind.PARSED, Kind.REFUSAL):
                code = "MR601" if part is Kind.PARSED else "MR606"
                context.manual(reading.whole, module, [shape.site], code, f"`{context.source(reading.whole, module)}`")

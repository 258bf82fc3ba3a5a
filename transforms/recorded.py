"""Requests that a double keeps, looked at elsewhere: by a test that gets them from a fixture (MR803).

The rules for doubles rewrite what stands beside the double; what they left as it was looks for old names.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DictValue
from ..know.modules import Module, walk
from .context import Context
from .double_targets import RENAMED, RESHAPED
from .poured import READS, looks
from .taken_out import taker


def plan(context: Context) -> None:
    """Hold back what a look at a recorded request is about. To be asked when the doubles are planned."""
    tests = context.plan.test_modules
    edited = {inner for edit in context.plan.edits if edit.module in tests for inner in walk(edit.node)}
    for value in context.dicts():
        double = taker(value) if value.module in tests else None
        for node, module in _looks(context, value) if double is not None else ():
            beside = module is value.module and module.function(node) is double
            if not beside and edited.isdisjoint(walk(node)):
                text = context.source(node, module)
                detail = f"`{text}` looks at a recorded request"
                context.unsafe(node, module, tests[value.module], "MR803", detail)


def _looks(context: Context, value: DictValue) -> Iterator[tuple[cst.CSTNode, Module]]:
    for name, places in value.places.items():
        if name in RENAMED or name in RESHAPED:
            yield from ((place.node, place.module) for place in places if place.how in READS)
    yield from looks(context, value)

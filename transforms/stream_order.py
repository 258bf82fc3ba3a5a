"""The end of a stream and its usage: two chunks of the old stream, one event of the new one (MR405).

The old stream tells its finish reason first and its usage in a chunk after that. Code that acts on usage
above the code that acts on the end would act in the other order on one event.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind, Shape
from ..know.modules import Module, walk
from .context import Context
from .stream_need import reads, sets


def plan(context: Context) -> None:
    """Hold back loops in which usage is acted on before the end is."""
    for module in context.project.modules:
        for node in module.of(cst.For):
            sites = {shape.site for shape in context.project.shapes(node.iter) if shape.kind is Kind.STREAM}
            if sites and _swaps(context, node, module):
                detail = "usage is acted on above the end of the stream, and both come in one event now"
                context.unsafe(node, module, sites, "MR404", detail)


def _swaps(context: Context, loop: cst.For, module: Module) -> bool:
    usage: list[cst.If | cst.Assign] = []
    for node in walk(loop.body):
        if not isinstance(node, cst.Attribute):
            continue
        kinds = {shape.kind for shape in context.project.shapes(node)}
        asking = _asking(node, module) if kinds & {Kind.USAGE, Kind.CHUNK_FINISH} else None
        if Kind.USAGE in kinds:
            acting = asking or _choosing(node, module)
            if acting is not None and _of_chunk(context, node):
                usage.append(acting)
        elif Kind.CHUNK_FINISH in kinds:
            end = asking if asking is not None else module.statement(node)
            above = [other for other in usage if other is not end and end not in walk(other)]
            if any(
                (_acts(other) and asking is not None and _acts(asking)) or _waits(other, end)
                for other in above
            ):
                return True
    return False


def _acts(node: cst.If | cst.Assign) -> bool:
    return isinstance(node, cst.If) and any(
        isinstance(inner, (cst.Call, cst.Yield)) for inner in walk(node.body)
    )


def _waits(usage: cst.If | cst.Assign, end: cst.CSTNode) -> bool:
    """``if done and chunk.usage:`` above ``if chunk.choices[0].finish_reason: done = True``.

    The other way round as well: what is done at the end may look at what usage would set only later.
    """
    early = set(_set_in(usage.body if isinstance(usage, cst.If) else usage)) & set(reads(end))
    return bool(early) or not set(reads(usage)).isdisjoint(_set_in(end))


def _set_in(node: cst.CSTNode) -> Iterator[str]:
    return (name for inner in walk(node) for name in sets(inner))


def _of_chunk(context: Context, node: cst.Attribute) -> bool:
    return any(
        isinstance(value, Shape) and value.kind is Kind.CHUNK for value in context.project.values(node.value)
    )


def _choosing(node: cst.Attribute, module: Module) -> cst.Assign | None:
    """``total = chunk.usage.total_tokens if chunk.usage else total``"""
    for parent in module.ancestors(node):
        if isinstance(parent, cst.Assign):
            return parent if isinstance(parent.value, cst.IfExp) else None
    return None


def _asking(node: cst.Attribute, module: Module) -> cst.If | None:
    """The conditional that asks ``node`` in its test."""
    below: cst.CSTNode = node
    for parent in module.ancestors(node):
        if isinstance(parent, cst.If) and parent.test is below:
            return parent
        if isinstance(parent, (cst.For, cst.While, cst.FunctionDef)):
            return None
        below = parent
    return None

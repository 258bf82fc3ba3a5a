"""The end of a stream and its usage: two chunks of the old stream, one event of the new one (MR405).

The old stream tells its finish reason first and its usage in a chunk after that. Code that acts on usage
above the code that acts on the end would act in the other order on one event.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Kind, Shape
from ..know.modules import Module, walk
from .context import Context


def plan(context: Context) -> None:
    """Hold back loops in which usage is acted on before the end is."""
    for module in context.project.modules:
        for node in module.of(cst.For):
            sites = {shape.site for shape in context.project.shapes(node.iter) if shape.kind is Kind.STREAM}
            if sites and _swaps(context, node, module):
                detail = "usage is acted on above the end of the stream, and both come in one event now"
                context.unsafe(node, module, sites, "MR404", detail)


def _swaps(context: Context, loop: cst.For, module: Module) -> bool:
    usage: cst.CSTNode | None = None
    for node in walk(loop.body):
        if not isinstance(node, cst.Attribute):
            continue
        kinds = {shape.kind for shape in context.project.shapes(node)}
        if Kind.USAGE in kinds and _of_chunk(context, node):
            usage = usage or _acting(node, module)
        elif Kind.CHUNK_FINISH in kinds and usage is not None:
            end = _acting(node, module)
            if end is not None and end is not usage:
                return True
    return False


def _of_chunk(context: Context, node: cst.Attribute) -> bool:
    return any(
        isinstance(value, Shape) and value.kind is Kind.CHUNK for value in context.project.values(node.value)
    )


def _acting(node: cst.CSTNode, module: Module) -> cst.CSTNode | None:
    """The conditional that asks ``node`` in its test and shows or calls something in its body."""
    below = node
    for parent in module.ancestors(node):
        if isinstance(parent, cst.If) and parent.test is below:
            return parent if any(isinstance(inner, cst.Call) for inner in walk(parent.body)) else None
        if isinstance(parent, (cst.For, cst.While, cst.FunctionDef)):
            return None
        below = parent
    return None

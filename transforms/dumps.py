"""Answers that are dumped: ``resp.model_dump()`` read by key is the Response itself (MR313)."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import DUMPS, JSON_DUMPS, External, Kind, Shape
from ..know.modules import Module
from .context import Context
from .read_history import is_history
from .reading import base_of, read_of

# The parts that can be dumped, and read by key as they can be by attribute.
DUMPED = frozenset(
    {Kind.COMPLETION, Kind.CHOICE, Kind.MESSAGE, Kind.USAGE, Kind.PROMPT_DETAILS, Kind.COMPLETION_DETAILS}
)


_CHOOSING = frozenset({"include", "exclude"})


def dump(
    context: Context, node: cst.BaseExpression, method: cst.Attribute, module: Module, shapes: list[Shape]
) -> None:
    """``resp.model_dump()``: the Response itself, where the dict is read by key."""
    call = module.parents.get(method)
    sites = {shape.site for shape in shapes}
    if not isinstance(call, cst.Call) or method.attr.value not in DUMPS | JSON_DUMPS:
        context.manual(
            method, module, sites, "MR309", f"`{context.source(method, module)}` is not understood"
        )
        return
    if shapes[0].kind not in DUMPED:
        context.manual(call, module, sites, "MR309", f"`{context.source(call, module)}` is not understood")
        return
    chosen = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value in _CHOOSING]
    if chosen and not is_history(context, call, module):
        text = context.source(call, module)
        context.unsafe(call, module, sites, "MR305", f"`{text}` chooses fields by their old names")
        return
    dumped = [value for value in context.project.values(call) if isinstance(value, Shape)]
    if any(is_read_by_key(context, shape) for shape in dumped):
        context.edit(call, module, sites, _undump, "MR313")
    elif not is_history(context, call, module):
        context.note(call, module, sites, "MR314", f"`{context.source(call, module)}` shows the new answer")


def loads(context: Context, call: cst.Call, module: Module, shapes: list[Shape]) -> None:
    """``json.loads(resp.model_dump_json())`` is the Response itself."""
    for value in context.project.values(call.func):
        if isinstance(value, External) and value.path == "json.loads":
            context.edit(call, module, {shape.site for shape in shapes}, lambda o, u: base_of(u), "MR313")


def _undump(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    assert isinstance(updated.func, cst.Attribute)
    return updated.func.value


def is_read_by_key(context: Context, shape: Shape) -> bool:
    for node, module, shapes in context.shaped:
        if isinstance(node, cst.BaseExpression) and any(
            other.site is shape.site and other.form == "dict" and shape.form != "object" for other in shapes
        ):
            reading = read_of(context, node, module)
            if reading is not None and not isinstance(reading.whole, cst.Attribute):
                return True
    return False

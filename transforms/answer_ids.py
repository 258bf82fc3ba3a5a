"""Code that knows an answer by its id: ``chatcmpl-...`` is ``resp_...`` now (MR304)."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Const, Kind
from ..know.modules import Module, walk
from .context import Context

_PREFIX = "chatcmpl"


def plan(context: Context) -> None:
    """Hold back where the old beginning of an id is looked for."""
    for node, module, shapes in context.shaped:
        if not any(shape.kind is Kind.LEAF for shape in shapes) or _PREFIX not in module.text:
            continue
        asked = _asked(node, module)
        if asked is not None and _names_it(context, asked):
            detail = f"`{context.source(asked, module)}` knows the answer by an id that begins otherwise now"
            context.manual(asked, module, {shape.site for shape in shapes}, "MR304", detail)


def _asked(node: cst.CSTNode, module: Module) -> cst.CSTNode | None:
    """The comparison, or the call of a method, that ``node`` is looked at by."""
    parent = module.parents.get(node)
    match parent:
        case cst.Comparison():
            return parent
        case cst.ComparisonTarget() | cst.Attribute() | cst.Arg():
            outer = module.parents.get(parent)
            return outer if isinstance(outer, (cst.Comparison, cst.Call)) else None
        case _:
            return None


def _names_it(context: Context, node: cst.CSTNode) -> bool:
    return any(
        isinstance(value, Const) and isinstance(value.value, str) and _PREFIX in value.value
        for part in walk(node)
        for value in context.project.values(part)
    )

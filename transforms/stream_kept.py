"""Lists that chunks are kept in: lists of events now, which is the same to whoever only loops over them."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Bound, Function, SeqValue
from ..know.modules import Module
from .context import Context


def is_only_looped_over(context: Context, value: object) -> bool:
    """Whether ``value`` is a list of chunks that nobody counts, indexes or gives away."""
    if not isinstance(value, SeqValue) or value.type != "list":
        return False
    if any(context.escapes.of(value)):
        return False
    return all(_is_harmless(context, node, module, value) for node, module in context.holders(value))


def _is_harmless(context: Context, node: cst.CSTNode, module: Module, value: SeqValue) -> bool:
    parent = module.parents.get(node)
    match parent:
        case cst.Assign() | cst.AnnAssign() | cst.AssignTarget() | cst.Param():
            return True
        case cst.For(iter=source) | cst.CompFor(iter=source):
            return source is node
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in ("append", "clear")
        case cst.If(test=test) | cst.While(test=test):
            return test is node
        case cst.Return() | cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.Arg(star=""):
            call = module.parents.get(parent)
            callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
            return bool(callees) and all(isinstance(callee, (Function, Bound)) for callee in callees)
        case _:
            return node is value.node and isinstance(parent, cst.Expr)

"""Parts of the answer that are not read into where they stand: passed on, tested, kept (MR309)."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import STREAM_KINDS, STRUCTURAL, USAGES, DictValue, Kind, Method, Shape, Site, Value
from ..know.modules import Module
from .asked import compares_with_none, contains, has_field
from .choices import element_of_kept
from .chosen_fields import chosen_count
from .context import Context
from .dumps import dump, stays_a_dict
from .item_facts import facts
from .reading import builtin

# Kinds whose reads other rules rewrite.
ELSEWHERE = (
    frozenset(
        {
            Kind.FINISH,
            Kind.TOOL_CALLS,
            Kind.TOOL_CALL,
            Kind.FUNCTION,
            Kind.FUNCTION_CALL,
            Kind.CUSTOM,
        }
    )
    | STREAM_KINDS
)


def plan(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    """A part of the answer that is not read into here: passed on, tested, kept."""
    structural = [shape for shape in shapes if shape.kind in STRUCTURAL and shape.kind not in ELSEWHERE]
    sites = {shape.site for shape in structural}
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(value=value) if value is node:
            if {shape.kind for shape in shapes} == {Kind.CHOICES}:
                element_of_kept(context, parent, module, sites)
            else:
                text = context.source(parent, module)
                context.manual(parent, module, sites, "MR309", f"`{text}` is not understood")
        case cst.Attribute(value=value) if value is node:
            dump(context, node, parent, module, shapes)
        case cst.Comparison():
            if not compares_with_none(parent):
                context.manual(
                    parent, module, sites, "MR309", f"`{context.source(parent, module)}` compares the answer"
                )
        case cst.BinaryOperation() | cst.UnaryOperation(operator=cst.Minus()) | cst.AugAssign():
            context.manual(
                parent, module, sites, "MR309", f"`{context.source(parent, module)}` is not understood"
            )
        case cst.Arg():
            _argument(context, node, parent, module, shapes)
        case cst.ComparisonTarget():
            contains(context, parent, module, shapes)
        case cst.StarredElement():
            _iterated(context, node, module, shapes, sites)
        case cst.Assign(targets=targets) if any(isinstance(t.target, (cst.Tuple, cst.List)) for t in targets):
            _iterated(context, node, module, shapes, sites)
        case cst.For() | cst.CompFor() if parent.iter is node:
            _iterated(context, node, module, shapes, sites)
        case _ if not isinstance(parent, _CARRIERS):
            text = context.source(parent if parent is not None else node, module)
            context.manual(node, module, sites, "MR309", f"`{text}` is not understood")
        case _:
            return


def _iterated(
    context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape], sites: set[Site]
) -> None:
    """A loop over fields, or what unpacks them."""
    kinds = {shape.kind for shape in shapes}  # with a stream among them it is MR403
    if Kind.STREAM not in kinds and not kinds <= {Kind.CHOICES} | STREAM_KINDS:
        context.manual(node, module, sites, "MR309", f"a loop over `{context.source(node, module)}`")


# Where a part of the answer only passes through, is tested, or is named.
_CARRIERS = (
    cst.Assign,
    cst.AnnAssign,
    cst.AssignTarget,
    cst.NamedExpr,
    cst.Return,
    cst.Yield,
    cst.Await,
    cst.Expr,
    cst.Element,
    cst.DictElement,
    cst.IfExp,
    cst.BooleanOperation,
    cst.UnaryOperation,
    cst.If,
    cst.While,
    cst.Assert,
    cst.For,
    cst.CompFor,
    cst.CompIf,
    cst.FormattedStringExpression,
    cst.Lambda,
    cst.BaseComp,
    cst.WithItem,
    cst.AsName,
    cst.Del,
    cst.Param,
    cst.Raise,
    cst.From,
    cst.SubscriptElement,
    cst.Index,
    cst.Global,
    cst.Nonlocal,
    cst.NameItem,
)


def _argument(
    context: Context, node: cst.BaseExpression, arg: cst.Arg, module: Module, shapes: list[Shape]
) -> None:
    call = module.parents.get(arg)
    if not isinstance(call, cst.Call):
        return
    name = builtin(context, call)
    sites = {shape.site for shape in shapes}
    if name == "hasattr" and call.args[0] is arg:
        has_field(context, call, module, shapes)
    elif name == "getattr" and call.args[0] is arg and chosen_count(context, call, module, shapes):
        return
    elif name == "setattr" and call.args[0] is not arg:
        return  # kept under a name; whether that can be followed, the escapes know
    elif name in _REFLECTION or arg.star or _pours(context, call, name, shapes):
        text = context.source(call, module)
        context.manual(call, module, sites, "MR309", f"`{text}` is not understood")


_REFLECTION = frozenset(
    {"getattr", "setattr", "delattr", "vars", "iter", "sorted", "reversed", "sum", "min", "max"}
)


def _pours(context: Context, call: cst.Call, name: str, shapes: list[Shape]) -> bool:
    """Whether the fields of a part of the answer go into a dict under their old names.

    What becomes of a message that is made a dict and sent, the rules for histories know.
    """
    if name == "dict":
        module = context.module_of(call)
        made = context.project.values(call)
        sent = any(value in history.element.values for history in facts(context).senders for value in made)
        # Under a name it is read, changed and shown as a dict, and an answer is none.
        put = isinstance(module.parents.get(call), cst.Element) or facts(context).is_added(call, module)
        sent = sent and put and len(call.args) == 1
        kept = {Kind.MESSAGE} if sent else set()
        if len(call.args) == 1 and any(_stays(context, value) for value in made):
            kept |= USAGES
        return any(shape.kind in STRUCTURAL - kept for shape in shapes)
    return any(
        isinstance(value, Method) and isinstance(value.owner, DictValue) and value.name == "update"
        for value in context.project.values(call.func)
    )


def _stays(context: Context, value: Value) -> bool:
    return isinstance(value, Shape) and stays_a_dict(context, value)

"""Parts of an answer that were always None for its request: code that asks for them did nothing (MR505).

A request with ``tools`` never got a ``function_call``, and one with ``functions`` no ``tool_calls``. The read
becomes ``None``; a test that it settles goes, with the branch that was never taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from ..know.kinds import Kind, Shape, Site
from ..know.modules import Module, walk
from .context import Context
from .folding import is_lost
from .reading import Read, read_of

# The part that is read -> the argument that brought it, and the one that brought the other instead.
_BROUGHT_BY = {"function_call": ("functions", "tools"), "tool_calls": ("tools", "functions")}
_PARTS = {
    Kind.FUNCTION_CALL: "function_call",
    Kind.TOOL_CALLS: "tool_calls",
    Kind.TOOL_CALL: "tool_calls",
    Kind.FUNCTION: "tool_calls",
    Kind.CUSTOM: "tool_calls",
}


def plan(context: Context) -> None:
    """Settle the reads of parts that never came, before any rule looks at the code around them."""
    for node, module, shapes in context.shaped:
        messages = [shape for shape in shapes if shape.kind is Kind.MESSAGE]
        if not messages or not isinstance(node, cst.BaseExpression) or context.is_gone(node, module):
            continue
        reading = read_of(context, node, module)
        if reading is not None and never_came(context, reading, {shape.site for shape in messages}):
            _settle(context, reading, {shape.site for shape in shapes})
    context.shaped = list(_present(context))


def _present(context: Context) -> Iterator[tuple[cst.CSTNode, Module, list[Shape]]]:
    """The expressions that can be a part of an answer that came, in code that can run."""
    for node, module, shapes in context.shaped:
        found = [shape for shape in shapes if not _is_absent(context, shape)]
        if found and not context.is_gone(node, module):
            yield node, module, found


def never_came(context: Context, read: Read, sites: Iterable[Site]) -> bool:
    """Whether the part that is read was None in every answer of ``sites``."""
    return read.name in _BROUGHT_BY and all(_lacks(context, site, read.name) for site in sites)


def _is_absent(context: Context, shape: Shape) -> bool:
    """Whether a value cannot be this part of an answer, because its request never brought one."""
    part = _PARTS.get(shape.kind)
    return part is not None and _lacks(context, shape.site, part)


def _lacks(context: Context, site: Site, part: str) -> bool:
    own, other = _BROUGHT_BY[part]
    request = context.request(site)
    return not request.untracked and request.passes(other) and not request.named(own)


def _settle(context: Context, read: Read, sites: set[Site]) -> None:
    """``None`` instead of the read, and no more tests than are needed around it."""
    module, node = read.module, read.whole
    parent = module.parents.get(node)
    if isinstance(parent, (cst.Attribute, cst.Subscript)) and parent.value is node:
        text = context.source(node, module)
        context.manual(node, module, sites, "MR506", f"`{text}` was always None for this request")
        return
    if is_lost(context, node, module, sites, "MR506"):
        return
    context.edit(node, module, sites, lambda o, u: cst.Name("None"), "MR505")
    truth: bool | None = False
    while truth is not None:
        parent = module.parents.get(node)
        match parent:
            case cst.BooleanOperation() | cst.UnaryOperation(operator=cst.Not()) | cst.Comparison():
                truth = _truth_of(parent, node, truth)
                context.edit(parent, module, sites, lambda o, u: _folded(u), "MR505")
                if truth is not None and isinstance(parent, cst.BooleanOperation) and parent.left is node:
                    _leave_out(context, [parent.right])
                node = parent
            case cst.IfExp(test=test) if test is node:
                if _leave_out(context, [parent.orelse if truth else parent.body]):
                    context.edit(parent, module, sites, lambda o, u: _arm(u), "MR505")
                return
            case cst.If(test=test) if test is node:
                _branch(context, parent, module, sites, truth)
                return
            case _:
                return


def _leave_out(context: Context, dead: Sequence[cst.CSTNode]) -> bool:
    """Take ``dead`` for code that is gone, unless something hangs on its being there."""
    for part in dead:
        for inner in walk(part):
            if inner in context.project.sites or isinstance(inner, (cst.Yield, cst.Await, cst.NamedExpr)):
                return False
    context.gone.update(dead)
    return True


def _arm(node: cst.CSTNode) -> cst.BaseExpression:
    """The arm of a conditional expression that is always taken."""
    assert isinstance(node, cst.IfExp)
    truth = _said(node.test)
    if truth is None:
        return node
    kept = node.body if truth else node.orelse
    return kept.with_changes(lpar=node.lpar, rpar=node.rpar) if node.lpar and not kept.lpar else kept


def _truth_of(node: cst.BaseExpression, inner: cst.BaseExpression, truth: bool) -> bool | None:
    """What ``node`` says, given what ``inner`` says; None if the rest of it matters."""
    match node:
        case cst.UnaryOperation():
            return not truth
        case cst.BooleanOperation(operator=operator):
            return truth if isinstance(operator, cst.And) is not truth else None
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Name(value="None"))],
        ) if left is inner and isinstance(inner, (cst.Attribute, cst.Call, cst.Subscript)):
            if isinstance(operator, (cst.Is, cst.Equal)):
                return True
            return False if isinstance(operator, (cst.IsNot, cst.NotEqual)) else None
        case _:
            return None


def _folded(node: cst.CSTNode) -> cst.BaseExpression:
    """``node`` without the operands that are written out as None, True or False."""
    assert isinstance(node, cst.BaseExpression)
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner) if _said(inner) is not None:
            return cst.Name(str(not _said(inner)))
        case cst.Comparison(
            left=cst.Name(value="None"),
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Name(value="None"))],
        ):
            return cst.Name(str(isinstance(operator, (cst.Is, cst.Equal))))
        case cst.BooleanOperation(operator=operator, left=left, right=right):
            decides = isinstance(operator, cst.Or)
            if _said(left) is not None:
                kept = left if _said(left) is decides else right
            elif _said(right) is not None and _said(right) is not decides and _is_test(right):
                kept = left  # `x and True`, in a condition
            else:
                return node
            return kept.with_changes(lpar=node.lpar, rpar=node.rpar) if node.lpar and not kept.lpar else kept
        case _:
            return node


def _said(node: cst.BaseExpression) -> bool | None:
    return (
        {"None": False, "False": False, "True": True}.get(node.value) if isinstance(node, cst.Name) else None
    )


def _is_test(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value in ("True", "False")


# -- branches ----------------------------------------------------------------------------


def _branch(context: Context, node: cst.If, module: Module, sites: set[Site], truth: bool) -> None:
    """An ``if`` whose answer is known: what it never did goes, where nothing else hangs on it."""
    dead = [node.orelse if truth else node.body]
    if not _leave_out(context, [part for part in dead if part is not None]):
        return  # the test stays, and says that it fails
    outer = module.parents.get(node)
    chained = isinstance(outer, cst.If)
    if truth:
        context.edit(node, module, sites, _as_else if chained else _body_only, "MR505")
    elif chained or isinstance(node.orelse, cst.If):
        context.edit(node, module, sites, _rest_of_chain, "MR505")
    elif node.orelse is None and isinstance(outer, cst.IndentedBlock) and len(outer.body) == 1:
        context.edit(node, module, sites, lambda o, u: cst.SimpleStatementLine([cst.Pass()]), "MR505")
    else:
        context.edit(node, module, sites, _else_only, "MR505")


def _body_only(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode]:
    assert isinstance(updated, cst.If)
    return _statements(updated, updated.body) if isinstance(updated.body, cst.IndentedBlock) else updated


def _as_else(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.If)
    return cst.Else(updated.body, leading_lines=updated.leading_lines)


def _rest_of_chain(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode | cst.RemovalSentinel:
    """What comes after the branch in its chain, in its place: an ``elif``, as ``if`` or ``elif``."""
    assert isinstance(updated, cst.If)
    if updated.orelse is None:
        return cst.RemovalSentinel.REMOVE
    if isinstance(updated.orelse, cst.If):
        lines = [*updated.leading_lines, *updated.orelse.leading_lines]
        return updated.orelse.with_changes(leading_lines=lines)
    return updated.orelse  # the `else` of a chain


def _else_only(
    original: cst.CSTNode, updated: cst.CSTNode
) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
    assert isinstance(updated, cst.If)
    if isinstance(updated.orelse, cst.Else) and isinstance(updated.orelse.body, cst.IndentedBlock):
        return _statements(updated, updated.orelse.body)
    if updated.orelse is not None:
        return updated
    return cst.RemovalSentinel.REMOVE


def _statements(node: cst.If, block: cst.IndentedBlock) -> cst.FlattenSentinel[cst.CSTNode]:
    """The statements of ``block`` where ``node`` stood, under the comments that stood over it."""
    first, *rest = block.body
    over = [*node.leading_lines, *getattr(first, "leading_lines", ())]
    return cst.FlattenSentinel([first.with_changes(leading_lines=over), *rest])

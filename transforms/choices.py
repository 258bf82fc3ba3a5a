"""``resp.choices``: one answer is what there always is (MR312)."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import (
    Site,
)
from ..know.modules import Module
from .context import Context, constants
from .folding import is_lost
from .reading import Read, base_of, builtin, replace_read, truth_tested
from .snippets import attribute


def choices(context: Context, read: Read, sites: set[Site]) -> None:
    """``resp.choices`` wherever it stands (MR312)."""
    module, whole = read.module, read.whole
    parent = module.parents.get(whole)
    match parent:
        case cst.Subscript(value=value) if value is whole:
            _index(context, parent, module, sites)
        case cst.Arg() if _builtin_of_arg(context, module, parent) == "len":
            _length(context, module, parent, sites)
        case _ if truth_tested(module, whole):
            output = replace_read(lambda base: attribute(base, "output"))
            context.edit(whole, module, sites, output, "MR312")
        case _:
            context.edit(
                whole, module, sites, replace_read(lambda base: cst.List([cst.Element(base)])), "MR312"
            )


def element_of_kept(context: Context, node: cst.Subscript, module: Module, sites: set[Site]) -> None:
    """An element of a list of choices that was kept under a name: the list is ``[resp]`` now."""
    index = node.slice[0].slice
    known = constants(context.project.vars.get(index.value)) if isinstance(index, cst.Index) else None
    if isinstance(index, cst.Index) and not (known and all(value in (0, -1) for value in known)):
        text = context.source(node, module)
        context.manual(node, module, sites, "MR312", f"`{text}`: which choice is decided at run time")


def _index(context: Context, node: cst.Subscript, module: Module, sites: set[Site]) -> None:
    index = node.slice[0].slice
    known = constants(context.project.vars.get(index.value)) if isinstance(index, cst.Index) else None
    if known and all(value in (0, -1) for value in known):

        def collapse(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.Subscript)
            return base_of(updated.value)

        context.edit(node, module, sites, collapse, "MR301")
        return
    if isinstance(index, cst.Slice):
        inner = node.value
        context.edit(inner, module, sites, replace_read(lambda base: cst.List([cst.Element(base)])), "MR312")
        return
    context.manual(
        node, module, sites, "MR312", f"`{context.source(node, module)}`: which choice is decided at run time"
    )


def _length(context: Context, module: Module, arg: cst.Arg, sites: set[Site]) -> None:
    """``len(resp.choices)`` is 1; a comparison with 0 asks whether there is an answer."""
    call = module.parents[arg]
    assert isinstance(call, cst.Call)
    comparison = module.parents.get(call)
    if (
        isinstance(comparison, cst.Comparison)
        and comparison.left is call
        and len(comparison.comparisons) == 1
    ):
        target = comparison.comparisons[0]
        sign = _nonempty(target)
        if sign is not None:

            def test(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
                assert isinstance(updated, cst.Comparison)
                assert isinstance(updated.left, cst.Call)
                output = attribute(base_of(updated.left.args[0].value), "output")
                result = output if sign else cst.UnaryOperation(cst.Not(), output)
                return result.with_changes(lpar=updated.lpar, rpar=updated.rpar)

            context.edit(comparison, module, sites, test, "MR312")
            return
    if not is_lost(context, arg.value, module, sites, "MR312"):
        context.edit(call, module, sites, lambda o, u: cst.Integer("1"), "MR312")


def _nonempty(target: cst.ComparisonTarget) -> bool | None:
    """Whether ``len(x) <op> n`` asks for a non-empty (True) or an empty (False) list."""
    if not isinstance(target.comparator, cst.Integer):
        return None
    value = target.comparator.evaluated_value
    match target.operator:
        case cst.GreaterThan() | cst.NotEqual() if value == 0:
            return True
        case cst.GreaterThanEqual() if value == 1:
            return True
        case cst.Equal() | cst.LessThanEqual() if value == 0:
            return False
        case cst.LessThan() if value == 1:
            return False
        case _:
            return None


def _builtin_of_arg(context: Context, module: Module, arg: cst.Arg) -> str:
    call = module.parents.get(arg)
    return builtin(context, call) if isinstance(call, cst.Call) else ""

"""Where the text of an answer goes so that its having been None can be told there (MR310, trap E1)."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..know.kinds import Class, Const, DictValue, Kind, Method, SeqValue, Shape, Site, Value
from ..know.modules import Module
from .context import Context
from .reading import truth_tested
from .snippets import spells_none


def is_kept(
    context: Context, site: Site, is_some: Callable[[cst.CSTNode, Module], bool] = lambda node, module: False
) -> bool:
    """Whether the text is put, or looked for, where its being None can be told: a dict, an object, a set.

    Places are passed over of which ``is_some`` says that it is not None there.
    """
    return any(
        is_kept_by_object(context, node, module) or _is_told(context, node, module)
        for node, module in context.texts(site)
        if not is_some(node, module)
    )


def _is_told(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether what is done with ``node`` gives something else for None than for ``""``."""
    parent = module.parents.get(node)
    match parent:
        case cst.DictElement() | cst.Index():
            return True
        case cst.ListComp(elt=made) | cst.SetComp(elt=made) | cst.DictComp(value=made):
            return made is node
        case cst.Element():
            return not _is_unpacked(context, parent, module)
        case cst.Comparison() | cst.ComparisonTarget() if isinstance(node, cst.BaseExpression):
            return _is_compared(context, node, module)
        case cst.BooleanOperation(operator=cst.And(), left=left) if left is node:
            outer = module.parents.get(parent)
            chosen = isinstance(outer, cst.BooleanOperation) and isinstance(outer.operator, cst.Or)
            return not chosen and not truth_tested(module, parent)
        case cst.Arg():
            call = module.parents.get(parent)
            callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
            return any(
                isinstance(callee, Method) and isinstance(callee.owner, (DictValue, SeqValue))
                for callee in callees
            )
        case _:
            return False


def _is_unpacked(context: Context, element: cst.Element, module: Module) -> bool:
    """Whether a tuple is only taken apart again, so that its elements are followed one by one."""
    whole = module.parents.get(element)
    holder = module.parents.get(whole) if isinstance(whole, (cst.Tuple, cst.List)) else None
    if isinstance(holder, (cst.AssignTarget, cst.For, cst.CompFor)) and holder.target is whole:
        return True
    if isinstance(whole, cst.List):
        return False
    if isinstance(holder, cst.Assign):
        return unpacks_into_names(holder)
    function = context.project.functions.get(module.function(element) or element)
    if not isinstance(holder, cst.Return) or function is None or function.escaped or not function.callers:
        return False
    return all(_takes_apart(caller.node, caller.module) for caller in function.callers)


def unpacks_into_names(assign: cst.Assign) -> bool:
    """Whether what is assigned is taken apart, and no part gets into an object, a dict or a list."""
    return all(
        isinstance(target.target, (cst.Tuple, cst.List)) and not _keeps(target.target)
        for target in assign.targets
    )


def _keeps(target: cst.CSTNode) -> bool:
    """Whether what is assigned to ``target`` gets into an object, a dict or a list."""
    if isinstance(target, (cst.Attribute, cst.Subscript, cst.StarredElement)):
        return True
    return isinstance(target, (cst.Tuple, cst.List, cst.Element)) and any(map(_keeps, target.children))


def _takes_apart(node: cst.CSTNode, module: Module) -> bool:
    """Whether the result of the call ``node`` is unpacked, or only one part of it is taken."""
    parent = module.parents.get(node)
    match parent:
        case cst.Await():
            return _takes_apart(parent, module)
        case cst.Assign():
            return unpacks_into_names(parent)
        case cst.Subscript(value=value):
            return value is node
        case cst.Expr():
            return True
        case _:
            return False


def _is_compared(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether a comparison can tell None from ``""``; a test for None alone is rewritten, and is none."""
    other = compared(node, module)
    parent = module.parents[node]
    if other is None:
        return True
    if isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, (cst.In, cst.NotIn)):
        return False  # None was an error there
    comparison = parent if isinstance(parent, cst.Comparison) else module.parents[parent]
    assert isinstance(comparison, cst.Comparison)
    match comparison.comparisons[0].operator:
        case cst.In() | cst.NotIn():
            elements = other.elements if isinstance(other, (cst.Tuple, cst.List, cst.Set)) else None
            return elements is None or not all(_is_some_text(context, item.value) for item in elements)
        case cst.Equal() | cst.NotEqual() | cst.Is() | cst.IsNot():
            return not spells_none(other) and not _is_some_text(context, other)
        case _:
            return False  # None was an error there


def _is_some_text(context: Context, node: cst.BaseExpression) -> bool:
    """Whether ``node`` is a text that is neither None nor empty, or the text of an answer as well."""
    values = context.project.values(node)
    return bool(values) and all(map(_is_some, values))


def _is_some(value: Value) -> bool:
    if isinstance(value, Const):
        return bool(value.value) or isinstance(value.value, (int, float))
    return isinstance(value, Shape) and value.kind is Kind.CONTENT


def compared(node: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """The other side of a comparison with ``node``."""
    parent = module.parents[node]
    comparison = parent if isinstance(parent, cst.Comparison) else module.parents[parent]
    assert isinstance(comparison, cst.Comparison)
    if len(comparison.comparisons) != 1:
        return None
    return comparison.comparisons[0].comparator if comparison.left is node else comparison.left


def is_kept_by_object(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether an object of the project gets the value: it can be shown, compared or saved with the object."""
    parent = module.parents.get(node)
    match parent:
        case cst.Arg():
            call = module.parents.get(parent)
            callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
            return any(isinstance(callee, Class) for callee in callees)
        case cst.Assign():
            return any(isinstance(target.target, cst.Attribute) for target in parent.targets)
        case cst.AnnAssign():
            return isinstance(parent.target, cst.Attribute)
        case _:
            return False

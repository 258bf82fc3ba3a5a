"""Whether a name can be None instead of an answer: ``ask`` returned nothing, nobody has passed one."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Const
from ..know.modules import Module, bound_by, walk
from .context import Context
from .none_errors import Failure, is_heard_above
from .reading import truth_tested
from .snippets import spells_none


def may_be_none(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node`` can be None; the default of a ``getattr`` never shows where the field is there."""
    return any(
        isinstance(value, Const) and value.value is None and not _is_default(context, value)
        for value in context.project.values(node)
    )


def _is_default(context: Context, value: Const) -> bool:
    module = context.module_of(value.node)
    argument = module.parents.get(value.node)
    call = module.parents.get(argument) if isinstance(argument, cst.Arg) else None
    func = call.func if isinstance(call, cst.Call) else None
    match func:
        case cst.Name(value="getattr") if isinstance(call, cst.Call):
            return not may_be_none(context, call.args[0].value)
        case cst.Attribute(attr=cst.Name(value="get")):
            return True
        case _:
            return False


def is_doubted(context: Context, module: Module, scope: cst.CSTNode, name: str) -> bool:
    """Whether ``name`` can be None somewhere in ``scope``, or the code asks whether it is."""
    return any(
        isinstance(node, cst.Name)
        and node.value == name
        and not _is_of_comprehension(module, node)
        and (may_be_none(context, node) or truth_tested(module, node) or _is_asked(module, node))
        for node in walk(scope)
    )


def _is_of_comprehension(module: Module, node: cst.Name) -> bool:
    """Whether a comprehension has a variable of its own by that name."""
    return any(
        isinstance(part, cst.CompFor) and node.value in set(bound_by(part))
        for parent in module.ancestors(node)
        if isinstance(parent, cst.BaseComp)
        for part in walk(parent)
    )


def _is_asked(module: Module, node: cst.Name) -> bool:
    parent = module.parents.get(node)
    match parent:
        case cst.Comparison(left=left, comparisons=[target]) if left is node:
            return spells_none(target.comparator)
        case cst.ComparisonTarget():
            comparison = module.parents[parent]
            return isinstance(comparison, cst.Comparison) and spells_none(comparison.left)
        case _:
            return False


_NO_ANSWER = Failure(frozenset({"AttributeError", "TypeError"}))


def would_be_heard(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether what is read of ``node`` is an error at times, and a handler waits for that."""
    return any(
        isinstance(part, cst.Name)
        and may_be_none(context, part)
        and is_heard_above(context, part, module, _NO_ANSWER, broad=True)
        for part in walk(node)
    )

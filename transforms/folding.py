"""Tests whose answer is known: the rest of the condition stays."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from ..know.kinds import DUMPS, JSON_DUMPS, Bound, Function, Instance, Site, Super
from ..know.modules import Module, walk
from .context import Context
from .maybe_none import would_be_heard
from .reading import truth_tested

# Calls that do nothing but look.
_LOOKS = frozenset({"getattr", "hasattr", "isinstance", "len", "dict", "str", "type"})
_METHODS = frozenset({"get", "copy"}) | DUMPS | JSON_DUMPS


def is_lost(
    context: Context, node: cst.BaseExpression, module: Module, sites: Iterable[Site], code: str = "MR309"
) -> bool:
    """Whether ``node``, which is about to be left out, does something: then it holds ``sites`` back."""
    acts = any(_does_something(part) or _runs_code(context, part) for part in walk(node))
    if not acts and not would_be_heard(context, node, module):
        return False
    text = context.source(node, module)
    context.manual(node, module, sites, code, f"`{text}` would no longer run: give what it returns a name")
    return True


def has_effect(context: Context, node: cst.BaseExpression) -> bool:
    """Whether it matters how often ``node`` runs: once is not the same as twice, or never."""
    return any(_changes_something(context, part) or _runs_code(context, part) for part in walk(node))


def _changes_something(context: Context, node: cst.CSTNode) -> bool:
    match node:
        case cst.Call(func=cst.Name(value=name)) if name in _LOOKS | _PURE:
            return False
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in _METHODS | _PURE_METHODS:
            return False
        case cst.Call(func=func):
            functions = [
                callee.function if isinstance(callee, Bound) else callee
                for callee in context.project.values(func)
            ]
            return not functions or not all(
                isinstance(function, Function)
                and not any(map(_does_something, walk(function.node.body)))
                and not any(isinstance(part, _STATEMENTS) for part in walk(function.node.body))
                for function in functions
            )
        case _:
            return isinstance(node, (cst.Await, cst.NamedExpr, cst.Yield))


_PURE = frozenset("int float bool max min round abs list tuple set sorted".split())
_PURE_METHODS = frozenset(
    "getenv strip lower upper title format join replace encode decode startswith endswith split".split()
)
_STATEMENTS = (cst.AugAssign, cst.Del, cst.Global, cst.Nonlocal, cst.AssignTarget)


def _does_something(node: cst.CSTNode) -> bool:
    match node:
        case cst.Call(func=cst.Name(value=name)):
            return name not in _LOOKS
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name not in _METHODS
        case _:
            return isinstance(node, (cst.Call, cst.Await, cst.NamedExpr, cst.Yield))


def _runs_code(context: Context, node: cst.CSTNode) -> bool:
    """Whether reading ``node`` runs a function of the project that calls something: a property."""
    names: tuple[str, ...]
    match node:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            names = (name, "__getattr__", "__getattribute__")
        case cst.Subscript(value=owner):
            names = ("__getitem__", "__missing__")
        case _:
            return False
    for value in context.project.values(owner):
        if isinstance(value, (Instance, Super)):
            project = context.project
            members = [found for name in names for found in project.lookup(value.type, name).values]
            for descriptor in [found for found in members if isinstance(found, Instance)]:
                members += project.lookup(descriptor.type, "__get__").values
            for found in members:
                if isinstance(found, Function) and any(map(_does_something, walk(found.node.body))):
                    return True
    return False


def settle(
    context: Context, node: cst.BaseExpression, module: Module, sites: Iterable[Site], truth: bool, code: str
) -> None:
    """``node`` is always ``truth``: drop it from the condition it is part of, or write the answer."""
    if is_lost(context, node, module, sites):
        return
    parent = module.parents.get(node)
    while isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Not):
        node, truth, parent = parent, not truth, module.parents.get(parent)
    is_idle = isinstance(parent, cst.BooleanOperation) and isinstance(parent.operator, cst.And) is truth
    if isinstance(parent, cst.BooleanOperation) and is_idle and _may_go(parent, node, module):
        left = parent.left is node

        def other(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            if not isinstance(updated, cst.BooleanOperation):
                return cst.Name(str(truth))  # both of its operands are always so
            rest = updated.right if left else updated.left
            if updated.lpar and not rest.lpar:
                return rest.with_changes(lpar=updated.lpar, rpar=updated.rpar)
            return rest

        context.edit(parent, module, sites, other, code)
    else:
        context.edit(node, module, sites, lambda o, u: cst.Name(str(truth)), code)


def _may_go(whole: cst.BooleanOperation, node: cst.BaseExpression, module: Module) -> bool:
    """Whether an operand can be left out: the last one may be the result, as of ``usage and True``."""
    return whole.left is node or truth_tested(module, whole)

"""Reads of a part of an answer: how they are written, and how one is replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import (
    DUMPS,
    JSON_DUMPS,
    External,
)
from ..know.modules import Module
from .context import Context, constants
from .snippets import attribute, expr

# Functions that only ask what something is.
ASKS = frozenset({"hasattr", "isinstance", "type", "callable", "id", "issubclass"})

# Where an expression needs no parentheses, whatever it is.
BARE = (cst.Assign, cst.AnnAssign, cst.Return, cst.Arg, cst.Element, cst.DictElement, cst.Expr)

Template = Callable[[cst.BaseExpression], cst.BaseExpression]


@dataclass(frozen=True, repr=False)
class Read:
    """``whole`` reads the part ``name`` of ``base``: as an attribute, a key, ``.get`` or ``getattr``."""

    name: str
    base: cst.BaseExpression
    whole: cst.BaseExpression
    module: Module


def same(base: cst.BaseExpression) -> cst.BaseExpression:
    """The part is the Response itself."""
    return base


def named(name: str) -> Template:
    """The part is another attribute."""
    return lambda base: attribute(base, name)


def fixed(text: str) -> Template:
    """The part is always the same."""
    return lambda base: expr(text)


def read_of(context: Context, node: cst.BaseExpression, module: Module) -> Read | None:
    """How the parent of ``node`` takes a part of it, if it does."""
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(value=value, attr=attr) if value is node:
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and call.func is parent:
                if attr.value == "get":
                    key = constants(context.project.vars.get(call.args[0].value)) if call.args else None
                    if key and len(key) == 1 and isinstance(key[0], str):
                        return Read(key[0], node, call, module)
                    return None
                if attr.value in DUMPS | JSON_DUMPS:
                    return None
            return Read(attr.value, node, parent, module)
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if (
            value is node
        ):
            key = constants(context.project.vars.get(index))
            if key and len(key) == 1 and isinstance(key[0], str):
                return Read(key[0], node, parent, module)
            return None
        case cst.Arg():
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and builtin(context, call) == "getattr" and call.args[0] is parent:
                key = constants(context.project.vars.get(call.args[1].value)) if len(call.args) > 1 else None
                if key and len(key) == 1 and isinstance(key[0], str):
                    return Read(key[0], node, call, module)
            return None
        case _:
            return None


def builtin(context: Context, call: cst.Call) -> str:
    for value in context.project.values(call.func):
        if isinstance(value, External) and value.path.startswith("builtins."):
            return value.path[9:]
    return ""


def base_of(updated: cst.CSTNode) -> cst.BaseExpression:
    """The receiver inside an updated read."""
    match updated:
        case cst.Attribute(value=value) | cst.Subscript(value=value):
            return value
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="get"))):
            return value
        case cst.Call(args=[first, *_]):
            return first.value
        case _:
            assert isinstance(updated, cst.BaseExpression)
            return updated


def replace_read(template: Template) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An edit of a read: the template applied to its receiver, parentheses kept."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        base = base_of(updated)
        result = template(base)
        outer = getattr(updated, "lpar", ())
        if outer and not result.lpar:
            assert isinstance(updated, cst.BaseExpression)
            result = result.with_changes(lpar=updated.lpar, rpar=updated.rpar)
        if isinstance(updated, cst.Attribute) and isinstance(result, cst.Attribute) and result.value is base:
            result = result.with_changes(dot=_dot(original))
        return result

    return apply


def _dot(node: cst.CSTNode) -> cst.Dot:
    """The dot of a read, or the first dot on a line of its own among those that fall away before it."""
    assert isinstance(node, cst.Attribute)
    dot, current = node.dot, node.value
    while isinstance(current, (cst.Attribute, cst.Subscript)):
        if isinstance(current, cst.Attribute):
            if current.attr.value not in ("choices", "message"):
                break
            if isinstance(current.dot.whitespace_before, cst.ParenthesizedWhitespace):
                dot = current.dot
        current = current.value
    return dot


def truth_tested(module: Module, node: cst.CSTNode) -> bool:
    """Whether only the truth of ``node`` matters where it stands."""
    parent = module.parents.get(node)
    match parent:
        case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test) | cst.Assert(test=test):
            return test is node
        case cst.CompIf():
            return True
        case cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.BooleanOperation():
            return truth_tested(module, parent)
        case _:
            return False


def is_stored_to(module: Module, node: cst.CSTNode) -> bool:
    parent = module.parents.get(node)
    return (
        isinstance(parent, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del))
        and getattr(parent, "target", None) is node
    )

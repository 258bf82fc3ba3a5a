"""Small questions about expressions, as the rules for streams ask them."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Const, SeqValue
from .context import Context, constants


def is_nothing(value: object) -> bool:
    """Whether a value stands for a part that is not there: None, "", []."""
    if isinstance(value, SeqValue):
        return not value.places and not value.derived  # the [] of `or []`
    return isinstance(value, Const) and value.value in (None, "", False)


def is_zero(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is written as 0."""
    return isinstance(node, cst.Integer) and node.evaluated_value == 0


def is_empty(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is written as nothing: None, "", [], ()."""
    match node:
        case cst.SimpleString():
            return node.evaluated_value == ""
        case cst.Name(value="None" | "False"):
            return True
        case cst.List(elements=[]) | cst.Tuple(elements=[]):
            return True
        case _:
            return False


def is_truth(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is True or False; ``a or b`` and ``len(a)`` are values of their own."""
    match node:
        case cst.Comparison() | cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.BooleanOperation(left=left, right=right):
            return is_truth(left) and is_truth(right)
        case cst.Call(func=cst.Name(value="bool" | "hasattr" | "isinstance")):
            return True
        case _:
            return False


def known_values(context: Context, node: cst.BaseExpression) -> list[object] | None:
    """The constants that ``node`` can be, or that its elements can; None if it can be anything else."""
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        found: list[object] = []
        for element in node.elements:
            part = constants(context.project.vars.get(element.value))
            if part is None:
                return None
            found.extend(part)
        return found
    return constants(context.project.vars.get(node))


def is_call_of(node: cst.BaseExpression, name: str) -> bool:
    """Whether ``node`` calls the builtin ``name`` with an argument."""
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == name
        and bool(node.args)
    )


def is_display(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is a list, a tuple or a set that is written out."""
    return isinstance(node, (cst.List, cst.Tuple, cst.Set))


def is_nonempty(target: cst.ComparisonTarget) -> bool | None:
    """Whether ``<op> n`` after a length asks for a full (True) or an empty (False) list."""
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


def lets_look(node: cst.CSTNode) -> bool:
    """Whether ``node`` is a ``yield`` of nothing: who draws from it looks at what its object has by now."""
    match node:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Yield(value=None))]):
            return True
        case _:
            return False

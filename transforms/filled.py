"""Whether a list that is poured into another has something in it: ``[system, *history]``."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..know.kinds import SeqValue, Value
from ..know.modules import Module
from .context import Context

_TAKES_OUT = frozenset({"pop", "remove", "clear", "delete"})


def is_filled(context: Context, module: Module, elements: Sequence[cst.BaseElement]) -> bool:
    """Whether one of ``elements`` is certainly there: it is written out, or a list that is not empty."""
    return any(
        not isinstance(element, cst.StarredElement)
        or _holds_something(context, element.value)
        or _has_just_got(module, element.value)
        for element in elements
    )


def _holds_something(context: Context, node: cst.BaseExpression) -> bool:
    values = context.project.values(node)
    return bool(values) and all(map(_is_made_full, values))


def _is_made_full(value: Value) -> bool:
    if not isinstance(value, SeqValue) or not isinstance(value.node, (cst.List, cst.Tuple)):
        return False
    written = any(isinstance(element, cst.Element) for element in value.node.elements)
    return written and not any(place.how in _TAKES_OUT for place in value.places)


def _has_just_got(module: Module, node: cst.BaseExpression) -> bool:
    """Whether a statement before, which has run as well, puts something into the list."""
    name = module.tree.code_for_node(node)
    below: cst.CSTNode = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            for statement in parent.body:
                if statement is below:
                    break
                if _puts(module, statement, name):
                    return True
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return False
        below = parent
    return False


def _puts(module: Module, statement: cst.CSTNode, name: str) -> bool:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    call = small.value if isinstance(small, cst.Expr) else None
    match small, call:
        case _, cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="append" | "insert"))):
            return module.tree.code_for_node(owner) == name
        case cst.AugAssign(target=owner, value=cst.List(elements=[cst.Element(), *_])), _:
            return module.tree.code_for_node(owner) == name
        case _:
            return False

"""Tests whose answer is known: the rest of the condition stays."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from ..know.kinds import Site
from ..know.modules import Module
from .context import Context


def settle(
    context: Context, node: cst.BaseExpression, module: Module, sites: Iterable[Site], truth: bool, code: str
) -> None:
    """``node`` is always ``truth``: drop it from the condition it is part of, or write the answer."""
    parent = module.parents.get(node)
    if isinstance(parent, cst.BooleanOperation) and isinstance(parent.operator, cst.And) is truth:
        left = parent.left is node

        def other(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.BooleanOperation)
            rest = updated.right if left else updated.left
            if updated.lpar and not rest.lpar:
                return rest.with_changes(lpar=updated.lpar, rpar=updated.rpar)
            return rest

        context.edit(parent, module, sites, other, code)
    else:
        context.edit(node, module, sites, lambda o, u: cst.Name(str(truth)), code)

"""The loop variable ``chunk`` becomes ``event`` where that confuses nobody."""

from __future__ import annotations

import libcst as cst

from ..know.modules import Module, walk

_OLD, _NEW = "chunk", "event"


def rename(module: Module, binder: cst.For | cst.CompFor, extent: cst.CSTNode, name: str) -> str:
    """The name that the variable of a loop gets; ``extent`` is where it is meant to be used."""
    if name != _OLD or _is_in_sight(module, extent):
        return name
    scope = module.function(extent) or module.tree
    inside = set(walk(extent))
    for node in walk(scope):
        if (
            isinstance(node, cst.Name)
            and node.value == name
            and node not in inside
            and not _is_other(module, node, name, scope)
        ):
            return name
    if isinstance(extent, cst.For) and any(
        node is not extent and _binds(node, name) for node in walk(extent.body)
    ):
        return name
    return _NEW


def _is_in_sight(module: Module, extent: cst.CSTNode) -> bool:
    """Whether ``event`` means something where the loop is."""
    scope: cst.CSTNode | None = module.function(extent) or module.tree
    if any(isinstance(node, cst.Name) and node.value == _NEW for node in walk(scope or module.tree)):
        return True
    while scope is not None:
        known = module.scopes.get(scope)
        if known is not None and _NEW in known.bound:
            return True
        scope = module.function(scope) or (module.tree if scope is not module.tree else None)
    return False


def _binds(node: cst.CSTNode, name: str) -> bool:
    if isinstance(node, (cst.For, cst.CompFor)):
        return isinstance(node.target, cst.Name) and node.target.value == name
    return False


def _is_other(module: Module, node: cst.Name, name: str, scope: cst.CSTNode) -> bool:
    """Whether this occurrence is no variable of ``scope``, or belongs to another loop that binds it."""
    parent = module.parents.get(node)
    if isinstance(parent, cst.Attribute) and parent.attr is node:
        return True
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return True
    for ancestor in module.ancestors(node):
        if ancestor is scope:
            return False
        if _binds(ancestor, name):
            return True
        if isinstance(ancestor, (cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)):
            loop: cst.CompFor | None = ancestor.for_in
            while loop is not None:
                if _binds(loop, name):
                    return True
                loop = loop.inner_for_in
        if isinstance(ancestor, (cst.FunctionDef, cst.Lambda)) and name in module.scopes[ancestor].bound:
            return True
    return False

"""Functions that nobody calls or names: what they would make is never there."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import DictValue
from ..know.modules import Module
from .context import Context


def is_ever_made(context: Context, value: DictValue) -> bool:
    """Whether the function that makes ``value`` may run; of a package for others any may."""
    maker = value.module.function(value.node)
    function = context.project.functions.get(maker) if maker is not None else None
    if function is None or not isinstance(maker, cst.FunctionDef) or context.settings.packaged:
        return True
    if function.callers or function.escaped or maker.decorators or value.module.is_notebook:
        return True
    name = maker.name.value
    return (name.startswith("__") and name.endswith("__")) or _is_named(context, name)


def _is_named(context: Context, name: str) -> bool:
    """Whether ``name`` stands anywhere but where functions are defined; a text may hold part of it."""
    known = context.memo.get("named")
    if not isinstance(known, tuple):
        names = {name for module in context.project.modules for name in _names(module)}
        pieces = {text for module in context.project.modules for text in _pieces(module)}
        known = context.memo["named"] = (names, pieces)
    names, pieces = known
    return name in names or any(piece in name for piece in pieces)


def _names(module: Module) -> set[str]:
    found: set[str] = set()
    for node in module.of(cst.Name):
        parent = module.parents.get(node)
        if not (isinstance(parent, cst.FunctionDef) and parent.name is node):
            found.add(node.value)
    for text in module.of(cst.SimpleString):
        value = text.evaluated_value
        if isinstance(value, str) and value.isidentifier():
            found.add(value)
    return found


def _pieces(module: Module) -> set[str]:
    """Texts that names are made of: ``getattr(self, f"handle_{kind}")``, ``"handle_" + kind``."""
    pieces: set[str] = {node.value for node in module.of(cst.FormattedStringText)}
    for text in module.of(cst.SimpleString):
        value = text.evaluated_value
        if isinstance(value, str) and (value.startswith("_") or value.endswith("_")):
            pieces.add(value)
    return {piece for piece in pieces if len(piece) >= _SHORTEST and piece.isidentifier()}


_SHORTEST = 3

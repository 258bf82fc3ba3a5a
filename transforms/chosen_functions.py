"""Functions that are chosen by a name put together: ``getattr(self, f"do_{name}")(question)``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Const, External, Site
from ..know.modules import Module, walk
from .context import Context
from .handed import sites_of


def sites_chosen(context: Context, node: cst.BaseExpression, module: Module) -> set[Site]:
    """The calls whose answers ``node`` may be, as what such a function gave."""
    found: set[Site] = set()
    for call in _chosen(context, node, module):
        prefix = _beginning(call.args[1].value)
        for owner in context.project.values(call.args[0].value):
            found.update(sites_of(context, owner, prefix))
    return found


def _chosen(context: Context, node: cst.BaseExpression, module: Module) -> Iterator[cst.Call]:
    """The calls of ``getattr`` with a computed name whose result was called for ``node``."""
    for call in _made(node, module):
        for function in _made(call.func, module):
            if len(function.args) < 2 or not _is_getattr(context, function.func):
                continue
            names = context.project.values(function.args[1].value)
            if not names or not all(isinstance(name, Const) for name in names):
                yield function


def _made(node: cst.BaseExpression, module: Module) -> Iterator[cst.Call]:
    """``node`` as a call: itself, or what the name that it is was bound to in its function."""
    match node:
        case cst.Await(expression=inner):
            yield from _made(inner, module)
        case cst.Call():
            yield node
        case cst.Name(value=name):
            for made in walk(module.function(node) or module.tree):
                match made:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))], value=value):
                        if target == name and not isinstance(value, cst.Name):
                            yield from _made(value, module)
                    case _:
                        continue
        case _:
            return


def _is_getattr(context: Context, node: cst.BaseExpression) -> bool:
    return any(
        isinstance(value, External) and value.path == "builtins.getattr"
        for value in context.project.values(node)
    )


def _beginning(name: cst.BaseExpression) -> str:
    """What a name that is put together begins with, as far as it is written out."""
    match name:
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return text
        case cst.BinaryOperation(operator=cst.Add(), left=left):
            return _beginning(left)
        case cst.SimpleString():
            return str(name.evaluated_value)
        case _:
            return ""

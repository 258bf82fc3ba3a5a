"""Functions that are written in a loop over chunks: their own names, and what they read when they run.

``lambda text=text: show(text)`` has a name of its own. ``lambda: show(text)`` reads the text of whichever
chunk has come by the time it runs, so there must still be a name for it then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from ..know.modules import Module, bound_by, parameters, walk


@dataclass(repr=False)
class Inner:
    """The names in such functions."""

    own: set[cst.CSTNode] = field(default_factory=set)
    later: list[cst.Name] = field(default_factory=list)  # of the loop around, read when the function runs


def inner_names(roots: list[cst.CSTNode], module: Module) -> Inner:
    """The names in the functions that are written in ``roots``."""
    found = Inner()
    for root in roots:
        for node in walk(root):
            if isinstance(node, (cst.Lambda, cst.FunctionDef)):
                _look(node, module, found)
    return found


def _look(function: cst.Lambda | cst.FunctionDef, module: Module, found: Inner) -> None:
    params = list(parameters(function.params))
    found.own.update(param.name for param in params)
    own = {param.name.value for param in params} | set(_locals(function))
    at_once = _runs_at_once(function, module)
    for name in walk(function.body):
        if not isinstance(name, cst.Name) or _is_label(name, module):
            continue
        if name.value in own:
            found.own.add(name)
        elif not at_once:
            found.later.append(name)


def _locals(function: cst.Lambda | cst.FunctionDef) -> Iterator[str]:
    shared: set[str] = set()
    for node in walk(function.body) if isinstance(function, cst.FunctionDef) else ():
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            shared.update(item.name.value for item in node.names)
        yield from (name for name in bound_by(node) if name not in shared)


def _is_label(name: cst.Name, module: Module) -> bool:
    """The name of an attribute or a keyword."""
    parent = module.parents.get(name)
    return (isinstance(parent, cst.Attribute) and parent.attr is name) or (
        isinstance(parent, cst.Arg) and parent.keyword is name
    )


def _runs_at_once(function: cst.Lambda | cst.FunctionDef, module: Module) -> bool:
    """``await loop.run_in_executor(None, lambda: show(text))``"""
    arg = module.parents.get(function)
    call = module.parents.get(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and isinstance(module.parents.get(call), cst.Await)

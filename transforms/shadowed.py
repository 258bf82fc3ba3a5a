"""Code in which ``any``, ``next`` and their like are not the builtins that new code calls (MR309)."""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Edit
from ..know.modules import Module
from .context import Context

_USED = frozenset({"any", "bool", "int", "list", "max", "next"})
# Packages whose star import brings one of them.
_BRINGING = ("numpy", "pylab", "matplotlib.pylab", "jax.numpy", "cupy")
# Names that are often those of parameters, and the only edits that call what they usually mean; a list
# is made by the rule for messages alone, which looks for itself.
_CALLED_BY: dict[str, frozenset[str]] = {
    "int": frozenset({"MR301"}),
    "list": frozenset(),
    "max": frozenset({"MR102"}),
}


def plan(context: Context) -> None:
    """Hold back the flows that change code with a builtin of its own."""
    for edit in context.plan.edits:
        name = _shadowing(edit.module) or _shadowing_here(edit)
        if name is not None and edit.sites:
            detail = f"`{name}` is not Python's own in {edit.module.path}"
            context.manual(edit.node, edit.module, edit.sites, "MR309", detail)


def _shadowing(module: Module) -> str | None:
    own = sorted(_USED & module.scope.bound)
    if own:
        return own[0]
    return "any" if any(star.path in _BRINGING for star in module.externals) else None


def _shadowing_here(edit: Edit) -> str | None:
    """A parameter or a variable of a function around the edit."""
    for name in sorted(_USED):
        if edit.code in _CALLED_BY.get(name, {edit.code}) and is_local(name, edit.node, edit.module):
            return name
    return None


def is_local(name: str, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``name`` is a parameter or a variable of a function around ``node``."""
    return any(
        name in module.scopes[around].bound
        for around in module.ancestors(node)
        if isinstance(around, (cst.FunctionDef, cst.Lambda)) and around in module.scopes
    )

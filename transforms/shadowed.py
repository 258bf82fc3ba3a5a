"""Files in which ``any``, ``next`` and their like are not the builtins that new code calls (MR309)."""

from __future__ import annotations

from ..know.modules import Module
from .context import Context

_USED = frozenset({"any", "bool", "int", "list", "max", "next"})
# Packages whose star import brings one of them.
_BRINGING = ("numpy", "pylab", "matplotlib.pylab", "jax.numpy", "cupy")


def plan(context: Context) -> None:
    """Hold back the flows that change a file with a builtin of its own."""
    for edit in context.plan.edits:
        name = _shadowing(edit.module)
        if name is not None and edit.sites:
            detail = f"`{name}` is not Python's own in {edit.module.path}"
            context.manual(edit.node, edit.module, edit.sites, "MR309", detail)


def _shadowing(module: Module) -> str | None:
    own = sorted(_USED & module.scope.bound)
    if own:
        return own[0]
    return "any" if any(star.path in _BRINGING for star in module.externals) else None

"""Counts of the usage that are read by a name chosen at run time: ``getattr(usage, name)``.

The names are those of the old API, and the program may show them, so they stay; a table gives the new ones.
"""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Kind, Shape
from ..know.modules import Module
from .context import Context, constants
from .only_kind import only_kind
from .snippets import expr

_COUNTS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}


def chosen_count(context: Context, call: cst.Call, module: Module, shapes: list[Shape]) -> bool:
    """Plan the edit of ``getattr(usage, name)`` with known names; whether ``call`` is one."""
    if len(call.args) < 2 or any(shape.kind is not Kind.USAGE for shape in shapes):
        return False
    names = constants(context.project.vars.get(call.args[1].value))
    if not names or any(name not in _COUNTS for name in names):
        return False
    if only_kind(context, call.args[0].value, module, shapes) is not None:
        text = ", ".join(f'"{old}": "{new}"' for old, new in _COUNTS.items() if old in names)
        sites = {shape.site for shape in shapes}
        context.edit(call, module, sites, _through(f"{{{text}}}"), "MR303")
    return True


def _through(table: str) -> Apply:
    """An edit that looks the name up in ``table``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        owner, key, *rest = updated.args
        found = key.with_changes(value=expr(f"{table}[key]", key=key.value))
        return updated.with_changes(args=[owner, found, *rest])

    return apply

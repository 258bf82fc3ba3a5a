"""The old types in annotations and tests (MR701, MR702)."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import External
from .context import Context


def plan(context: Context) -> None:
    for node, module, shapes in context.shaped:
        arg = module.parents.get(node)
        call = module.parents.get(arg) if isinstance(arg, cst.Arg) else None
        if not isinstance(call, cst.Call) or len(call.args) != 2:
            continue
        named = context.project.values(call.func)
        if any(isinstance(v, External) and v.path == "builtins.isinstance" for v in named):
            sites = {shape.site for shape in shapes}
            context.manual(call, module, sites, "MR702", f"`{context.source(call, module)}` asks for an old type")

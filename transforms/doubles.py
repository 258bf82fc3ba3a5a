"""Tests and doubles (MR801 to MR803)."""

from __future__ import annotations

import libcst as cst

from .context import Context


def plan(context: Context) -> None:
    for module in context.project.modules:
        text = module.tree.code
        if "unittest" not in text and "mock" not in text and "pytest" not in text:
            continue
        for node in module.parents:
            match node:
                case cst.Attribute(value=cst.Attribute(attr=cst.Name(value="chat")), attr=cst.Name(value="completions")):
                    known = bool(context.project.values(node)) and isinstance(module.parents[node], cst.Attribute)
                case cst.SimpleString() if "chat.completions" in node.value or "/chat/completions" in node.value:
                    known = False
                case _:
                    continue
            if not known:
                context.unsafe(node, module, context.sites, "MR803", f"`{context.source(node, module)}` in a test")
                break

"""Doctests of code that changes: they make answers, or show requests, in the old form (MR803).

They are texts, and not rewritten. To be asked when all edits are known.
"""

from __future__ import annotations

import re

import libcst as cst

from ..know.kinds import Site
from .context import Context

# What only the old form says, as it stands in an example: an argument, an attribute, a key.
_OLD = re.compile(
    r"\.choices\b|\bchoices=|\b(tool_calls|finish_reason|prompt_tokens|completion_tokens|tool_call_id"
    r"|image_url|function_call)\b"
    r"|[\"'](choices|function|functions|messages|max_tokens|response_format|reasoning_effort)[\"']"
)
_PROMPT = re.compile(r"^\s*>>> ", re.MULTILINE)
_ASKS_API = re.compile(r"\bOpenAI\(|\.create\(")  # an example that shows how it is used, and never runs


def plan(context: Context) -> None:
    """Hold the calls back that such an example would fail for."""
    for module in context.project.modules:
        if ">>> " not in module.text:
            continue
        edits = [edit for edit in context.plan.edits if edit.module is module]
        for owner in module.of(cst.FunctionDef, cst.ClassDef):
            assert isinstance(owner, (cst.FunctionDef, cst.ClassDef))
            said = _said(owner)
            if said is None:
                continue
            sites: set[Site] = set()
            for edit in edits:
                if any(parent is owner for parent in module.ancestors(edit.node)):
                    sites |= edit.sites
            if sites:
                detail = f"the doctest of `{owner.name.value}` speaks of `{said}`"
                context.unsafe(owner, module, sites, "MR803", detail)


def _said(owner: cst.FunctionDef | cst.ClassDef) -> str | None:
    """The first word of the old form in the doctest of ``owner``."""
    text = owner.get_docstring(clean=False) or ""
    start = _PROMPT.search(text)
    examples = text[start.start() :] if start is not None else ""
    if _ASKS_API.search(examples):
        return None
    found = _OLD.search(examples)
    return found[0].strip("\"'.=") if found is not None else None

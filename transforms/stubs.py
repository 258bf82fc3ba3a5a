"""Stubs beside modules (``llm.pyi``): what they declare is what others are checked against (MR702).

A stub is not rewritten. Where it speaks of the types of Chat Completions, the calls of its module stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..know.kinds import Site
from .context import Context

_OLD = re.compile(
    r"^[^#\n]*\b(?:ChatCompletion\w*|ParsedChatCompletion\w*|CompletionUsage|ChoiceDelta\w*"
    r"|openai\.types\.chat)\b.*$",
    re.MULTILINE,
)
STEP = "change the stub together with the call"


def plan(context: Context, stubs: Mapping[str, str]) -> None:
    """Hold back the calls that change a module whose stub names an old type; ``stubs`` are texts by path."""
    lines = {path.removesuffix("i"): line for path, text in stubs.items() if (line := _first(path, text))}
    if not lines:
        return
    touched: dict[str, dict[Site, None]] = {}
    for site in context.sites:
        touched.setdefault(site.path, {})[site] = None
    for edit in context.plan.edits:
        touched.setdefault(edit.module.path, {}).update(dict.fromkeys(edit.sites))
    for path, line in lines.items():
        for site in touched.get(path, ()):
            context.manual(site.node, site.module, [site], "MR702", line, STEP)


def _first(path: str, text: str) -> str:
    """The first line of a stub that names an old type and is no import, or one that is; "" without any."""
    found = list(_OLD.finditer(text))
    declared = [match for match in found if not match[0].lstrip().startswith(("from ", "import "))]
    for match in declared or found:
        number = text.count("\n", 0, match.start()) + 1
        return f"{path}:{number} declares `{' '.join(match[0].split())}`"
    return ""

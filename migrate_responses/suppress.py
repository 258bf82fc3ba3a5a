"""What a person asked to leave alone: by a comment, by ``--select`` and ``--ignore``, or file by file.

The comments are ``# migrate-responses: skip`` and ``skip=CODE,..`` on a statement, and ``skip-file``
anywhere in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import libcst as cst

from .config import Settings
from .know.modules import Module, walk

_COMMENT = re.compile(r"#\s*migrate-responses:\s*(?P<word>[\w-]+)?(?:=(?P<codes>\w+(?:\s*,\s*\w+)*))?")
_WORDS = ("skip", "skip-file")

Use = tuple[str, Module]
"""A code that a flow needs, and the file in which it does."""


def left_out(uses: Iterable[Use], settings: Settings) -> str | None:
    """Why the options leave out a flow that needs ``uses``; None if they do not."""
    needed = sorted(set(uses), key=lambda use: use[0])
    ignored, selected = tuple(settings.ignore), tuple(settings.select)
    by_file = dict(settings.file_ignores)
    for code, module in needed:
        if code.startswith(tuple(by_file.get(module.path, ()))):
            return f"it needs {code}, which per-file-ignores leaves out in {module.path}"
    wanting = dict.fromkeys(code for code, _ in needed if ignored and code.startswith(ignored))
    if wanting:
        return f"it needs {', '.join(wanting)}, which --ignore leaves out"
    wanting = dict.fromkeys(code for code, _ in needed if selected and not code.startswith(selected))
    if wanting:
        return f"it also needs {', '.join(wanting)}, which --select does not name"
    return None


def is_suppressed(node: cst.CSTNode, module: Module, codes: Iterable[str]) -> bool:
    """Whether a comment asks to leave the statement of ``node``, or its file; ``codes`` are those it needs."""
    found = [match for match in _COMMENT.finditer(module.text) if match["word"] in _WORDS]
    if not found:
        return False
    if any(match["word"] == "skip-file" for match in found):
        return True
    return any(
        isinstance(inner, cst.Comment) and _asks(inner.value, codes)
        for inner in _head(module.statement(node))
    )


def _asks(comment: str, codes: Iterable[str]) -> bool:
    match = _COMMENT.search(comment)
    if match is None or match["word"] != "skip":
        return False
    named = match["codes"]
    return named is None or not set(re.split(r"\s*,\s*", named.upper())).isdisjoint(codes)


def misspelt(module: Module) -> Iterator[tuple[cst.Comment, str]]:
    """The comments for this tool that say nothing it knows, each with what may have been meant."""
    from .rules import RULES

    known = {rule.code for rule in RULES}
    if "migrate-responses:" not in module.text:
        return
    for node in walk(module.tree):
        match = _COMMENT.search(node.value) if isinstance(node, cst.Comment) else None
        if match is None or not isinstance(node, cst.Comment):
            continue
        word, named = match["word"] or "", re.split(r"\s*,\s*", (match["codes"] or "").upper())
        if word not in _WORDS:
            close = get_close_matches(word.lower(), _WORDS, n=1, cutoff=0.5) or ["skip"]
            yield node, f"`{word}` asks for nothing; did you mean `{close[0]}`?"
        elif match["codes"] and (unknown := [code for code in named if code not in known]):
            yield node, f"there is no rule {unknown[0]}"


def _head(statement: cst.CSTNode) -> list[cst.CSTNode]:
    """All nodes of a statement line, or of the header of a compound statement."""
    found: list[cst.CSTNode] = []
    stack = [statement]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend([node.header] if isinstance(node, cst.IndentedBlock) else node.children)
    return found

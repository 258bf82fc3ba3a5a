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
from .know.modules import Module

_COMMENT = re.compile(r"#\s*migrate-responses:\s*(?P<word>[\w-]+)?(?:=(?P<codes>\w+(?:\s*,\s*\w+)*))?")
_WORDS = ("skip", "skip-file")


def left_out(codes: Iterable[str], paths: Iterable[str], settings: Settings) -> str | None:
    """Why the options leave out what needs ``codes`` and stands in ``paths``; None if they do not."""
    needed = sorted(set(codes))
    ignored, selected = tuple(settings.ignore), tuple(settings.select)
    by_file = dict(settings.file_ignores)
    for path in sorted(set(paths)):
        wanting = [code for code in needed if code.startswith(tuple(by_file.get(path, ())))]
        if wanting:
            return f"it needs {', '.join(wanting)}, which per-file-ignores leaves out in {path}"
    wanting = [code for code in needed if code.startswith(ignored)]
    if wanting:
        return f"it needs {', '.join(wanting)}, which --ignore leaves out"
    wanting = [code for code in needed if selected and not code.startswith(selected)]
    if wanting:
        return f"it also needs {', '.join(wanting)}, which --select does not name"
    return None


def is_suppressed(node: cst.CSTNode, module: Module, codes: Iterable[str]) -> bool:
    """Whether a comment asks to leave the statement of ``node``, which needs ``codes``, or its file."""
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
    if not any(map(_complaint, _COMMENT.finditer(module.text))):
        return
    stack: list[cst.CSTNode] = [module.tree]
    while stack:
        node = stack.pop()
        stack.extend(reversed(node.children))
        match = _COMMENT.search(node.value) if isinstance(node, cst.Comment) else None
        if match is not None and isinstance(node, cst.Comment) and (complaint := _complaint(match)):
            yield node, complaint


def _complaint(match: re.Match[str]) -> str | None:
    from .rules import RULES

    word, named = match["word"] or "", match["codes"]
    if word not in _WORDS:
        close = get_close_matches(word.lower(), _WORDS, n=1, cutoff=0.5) or ["skip"]
        return f"`{word}` asks for nothing; did you mean `{close[0]}`?"
    known = {rule.code for rule in RULES}
    unknown = [code for code in re.split(r"\s*,\s*", named.upper()) if code not in known] if named else []
    return f"there is no rule {unknown[0]}" if unknown else None


def _head(statement: cst.CSTNode) -> list[cst.CSTNode]:
    """All nodes of a statement line, or of the header of a compound statement."""
    found: list[cst.CSTNode] = []
    stack = [statement]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend([node.header] if isinstance(node, cst.IndentedBlock) else node.children)
    return found

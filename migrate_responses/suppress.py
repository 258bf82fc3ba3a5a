"""What a person asked to leave alone: by a comment, by ``--select`` and ``--ignore``, or file by file.

The comments are ``# migrate-responses: skip`` and ``skip=CODE,..`` on a statement, and ``skip-file``
anywhere in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache

import libcst as cst

from .config import Settings
from .know.modules import Module, walk

_COMMENT = re.compile(
    r"#\s*(?P<tool>migrate[-_ ]?responses?)(?P<colon>\s*:\s*|\s+(?=(?:skip|ignore|noqa)\b))"
    r"(?P<word>[\w-]+)?(?:\s*=\s*(?P<codes>\w+(?:\s*,\s*\w+)*))?",
    re.IGNORECASE,
)
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


def is_unheard(code: str, path: str, settings: Settings) -> bool:
    """Whether the options leave out the note ``code`` on the file ``path``: nobody is told of it."""
    return code.startswith((*settings.ignore, *dict(settings.file_ignores).get(path, ())))


def suppressed(node: cst.CSTNode, module: Module, codes: Iterable[str]) -> tuple[str, str] | None:
    """What a comment says for leaving alone the statement of ``node``, which needs ``codes``, or its file.

    A code and a sentence. A comment that is misspelt counts: who wrote it wanted something left.
    """
    if _COMMENT.search(module.text) is None:
        return None
    around = [one for one in (node, *module.ancestors(node)) if isinstance(one, _STATEMENTS)]
    for comment, owner in _comments(module):
        match = _COMMENT.search(comment.value)
        if match is None:
            continue
        complaint = _complaint(match)
        if complaint is None and match["word"] == "skip-file":
            return _ASKED
        if complaint is None and owner in around and _needs(match, codes):
            return _ASKED
        if complaint is not None and (owner in around or _is_for_file(match, owner)):
            return "MR912", f"a comment may ask to leave it, but {complaint}"
    return None


_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
_ASKED = ("MR908", "left alone as asked")


def _needs(match: re.Match[str], codes: Iterable[str]) -> bool:
    named = match["codes"]
    return named is None or not set(re.split(r"\s*,\s*", named.upper())).isdisjoint(codes)


def _is_for_file(match: re.Match[str], owner: cst.CSTNode | None) -> bool:
    """Whether a misspelt comment is about a whole file: it says so, or stands where nothing is called."""
    if owner is None or "file" in (match["word"] or "").lower():
        return True
    return not any(isinstance(inner, cst.Call) for inner in walk(owner))


def misspelt(module: Module) -> Iterator[tuple[cst.Comment, str]]:
    """The comments for this tool that say nothing it knows, each with what may have been meant."""
    if _COMMENT.search(module.text) is None:
        return
    for comment, _ in _comments(module):
        match = _COMMENT.search(comment.value)
        if match is not None and (complaint := _complaint(match)):
            yield comment, complaint


@lru_cache(maxsize=1)  # each call in a file asks
def _comments(module: Module) -> list[tuple[cst.Comment, cst.CSTNode | None]]:
    """The comments of ``module`` in order, each with the statement on whose head or above which it stands."""
    found: list[tuple[cst.Comment, cst.CSTNode | None]] = []
    stack: list[tuple[cst.CSTNode, cst.CSTNode | None]] = [(module.tree, None)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, cst.Comment):
            found.append((node, owner))
        inner = node if isinstance(node, _STATEMENTS) else owner
        stack.extend((child, inner) for child in reversed(node.children))
    return found


def _complaint(match: re.Match[str]) -> str | None:
    from .rules import RULES

    word, named = match["word"] or "", match["codes"]
    if word not in _WORDS:
        close = get_close_matches(word.lower(), _WORDS, n=1, cutoff=0.5) or ["skip"]
        return f"`{word}` asks for nothing; did you mean `{close[0]}`?"
    if match["tool"] != "migrate-responses" or ":" not in match["colon"]:
        return f"it is written `# migrate-responses: {word}`"
    known = {rule.code for rule in RULES}
    unknown = [code for code in re.split(r"\s*,\s*", named.upper()) if code not in known] if named else []
    return f"there is no rule {unknown[0]}" if unknown else None

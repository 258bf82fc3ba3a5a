"""reStructuredText: the blocks of directives that hold code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .block import KNOWN, Block
from .text import parted

_DIRECTIVE = re.compile(
    r"(?P<margin>[ \t]*)(?:\S.*?[ \t])??\.\.[ \t]+"
    r"(?P<name>code|code-block|doctest|jupyter-execute|sourcecode|testcode|testsetup)::"
    r"[ \t]*(?P<argument>\S*)[ \t]*"
)
_OPTION = re.compile(r"[ \t]+:[\w-]+:(?:[ \t].*)?")
_LITERAL = re.compile(r"(?P<margin>[ \t]*)(?!\.\.[ \t]).*::[ \t]*")


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The blocks in the lines of a document that are Python, or do not say what they are."""
    bodies = [parted(line)[0] for line in lines]
    at = 0
    while at < len(bodies):
        found = _DIRECTIVE.fullmatch(bodies[at])
        literal = None if found else _LITERAL.fullmatch(bodies[at])
        at += 1
        match = found or literal
        if match is None:
            if bodies[at - 1].lstrip().startswith(">>> "):
                end = next((end for end in range(at, len(bodies)) if not bodies[end].strip()), len(bodies))
                session = _block(lines, at - 1, end, "doctest")
                if session is not None:
                    yield session
                at = end
            continue
        language = _language(found) if found else ""
        while found and at < len(bodies) and _OPTION.fullmatch(bodies[at]):
            at += 1
        end = _end(bodies, at, _width(match["margin"]))
        block = _block(lines, at, end, language)
        if block is not None and language in KNOWN:
            yield block
        at = max(at, end)


def _language(found: re.Match[str]) -> str:
    name = found["name"]
    if name.startswith(("test", "jupyter")):
        return "python"
    return name if name == "doctest" else found["argument"].lower()


def _end(bodies: Sequence[str], start: int, margin: int) -> int:
    """Where the lines that are indented deeper than ``margin`` end."""
    end = start
    for at in range(start, len(bodies)):
        if bodies[at].strip():
            if _width(bodies[at]) <= margin:
                break
            end = at + 1
    return end


def _width(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def _block(lines: Sequence[str], start: int, end: int, language: str) -> Block | None:
    bodies = [parted(line)[0] for line in lines[start:end]]
    while bodies and not bodies[0].strip():
        del bodies[0]
        start += 1
    margins = [body[: len(body) - len(body.lstrip())] for body in bodies if body.strip()]
    if not margins:
        return None
    margin = min(margins, key=len)
    if not all(other.startswith(margin) for other in margins):
        return None
    found = []
    for body, line in zip(bodies, lines[start:end], strict=True):
        cut = len(margin) if body.strip() else min(len(margin), len(body))
        found.append((body[:cut], body[cut:], parted(line)[1]))
    return Block(start, tuple(found), language)

"""Markdown: the fenced blocks of Python, wherever they are nested."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .block import KNOWN, Block
from .text import parted

_ADMONITION = re.compile(r"[ \t]*(?:!!!|\?\?\?\+?|===\+?)[ \t]")  # what follows is indented, and no paragraph
_WORD = re.compile(r"[\w-]+")
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
_DIRECTIVES = frozenset({"code", "code-block", "code-cell", "sourcecode"})


def blocks(lines: Sequence[str], mdx: bool) -> Iterator[Block]:
    """The blocks in the lines of a document that are Python, or do not say what they are."""
    parser = MarkdownIt("commonmark")
    # Indented blocks are where admonitions and tabs of documentation tools have their fences.
    parser.disable(["code", "html_block"] if mdx else ["code"])
    tokens: list[Token] = []
    bodies = (parted(line)[0] for line in lines)
    text = "\n".join("" if _ADMONITION.match(body) else body for body in bodies)
    parser.block.parse(text, parser, {}, tokens)
    for token in tokens:
        language = _language(token.info)
        if token.type == "fence" and token.map is not None and language in KNOWN:
            first = token.map[0] + 1
            code = token.content.removesuffix("\n").split("\n")
            options = _options(code) if token.info.startswith("{") else 0
            first, code = first + options, code[options:]
            found = [_parted(lines[first + at], line) for at, line in enumerate(code) if token.content]
            whole = [line for line in found if line is not None]
            if whole and len(whole) == len(found):
                yield Block(first, tuple(whole), language)


def _options(code: Sequence[str]) -> int:
    """How many lines at the beginning are options of a directive: ``:tags: [x]``, or YAML between dashes."""
    if code[0].strip() == "---":
        return next((at + 1 for at, line in enumerate(code) if at and line.strip() == "---"), 0)
    return next((at for at, line in enumerate(code) if not _OPTION.match(line)), len(code))


def _parted(line: str, code: str) -> tuple[str, str, str] | None:
    """What stands before ``code`` on its line, the code, the line's end; None if a tab is part of both."""
    body, end = parted(line)
    if not body.endswith(code):
        return None
    return body[: len(body) - len(code)], code, end


def _language(info: str) -> str:
    """The language that a fence names: ``python title="x"``, ``{.python}``, ``{code-cell} python``."""
    words = _WORD.findall(info.lower())
    if words and words[0] in _DIRECTIVES:
        words = words[1:]
    return words[0] if words else ""

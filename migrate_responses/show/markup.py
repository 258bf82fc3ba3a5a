"""Text in Markdown as GitHub reads it: what comes from a project cannot become markup, links or mentions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import quote

from migrate_responses.show.words import flat
from migrate_responses.visible import visible

_MARKS = re.compile(r"[\\`*_\[\]<>|~$&]")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_LEADING = re.compile(r"^(\d*)([-+#=.)])")  # what makes a list or a heading at the start of a line
# `@name`, `#12` and addresses become links even where their marks are escaped.
_ACTIVE = re.compile(r"@(?=\w)|#(?=\w)|(?<=:)(?=//)|\bwww(?=\.)|\bGH(?=-\d)")
_NOTHING = "\u2060"  # a word joiner: no width, and what stands on both sides is no longer one word
_QUOTED = re.compile(r"(`[^`]+`)")


def plain(text: str) -> str:
    """``text`` on one line, to be read as it is, wherever it stands."""
    return _LEADING.sub(r"\1\\\2", _escaped(flat(text)))


def _escaped(text: str) -> str:
    inert = _ACTIVE.sub(lambda found: found.group() + _NOTHING, visible(text))
    return _MARKS.sub(lambda found: _ENTITIES.get(found.group(), "\\" + found.group()), inert)


def code(text: str) -> str:
    """``text`` as code on one line."""
    shown = visible(flat(text)) or " "
    fence = "`" * (_longest(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def prose(text: str) -> str:
    """A message of the tool: what it has in backticks is code, the rest plain."""
    parts = _QUOTED.split(flat(text))
    shown = "".join(code(part[1:-1]) if _QUOTED.fullmatch(part) else _escaped(part) for part in parts)
    return _LEADING.sub(r"\1\\\2", shown)


def fenced(lines: Iterable[str], language: str = "python") -> str:
    """``lines`` as a block of code."""
    shown = [visible(line) for line in lines]
    fence = "`" * max(3, _longest("\n".join(shown)) + 1)
    return "\n".join([fence + language, *shown, fence])


def link(text: str, path: str, line: int = 0, base: str = "") -> str:
    """A link to a line of a file; ``text`` is shown as code."""
    target = base + quote(os.fsencode(path), safe="/")
    return f"[{code(text)}]({target}{f'#L{line}' if line else ''})"


def _longest(text: str) -> int:
    """The length of the longest run of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)

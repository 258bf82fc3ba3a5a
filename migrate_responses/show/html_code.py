"""Python source with its syntax told apart, line by line.

One pattern does it, wherever it is put: it also does for code that does not parse, and takes a small part
of the time that a lexer with states takes, which counts for a report of thousands of files.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

from migrate_responses.show.html_tags import Html, joined, tag
from migrate_responses.visible import visible

CLASSES = ("", "k", "s", "n", "c", "d")
"""Plain, keyword, string, number, comment, name that is defined: the styles of a :data:`Run`, by number."""

Run = tuple[str, int]
"""Text without a line end, and the number of its style."""
Line = list[Run]

_PLAIN, _KEYWORD, _STRING, _NUMBER, _COMMENT, _NAME = range(len(CLASSES))
_ENDS = re.compile("\r\n|\r")
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>(?P<prefix>\b[rRbBfFtTuU]{1,2})?(?:
        \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
        | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?))
    |(?P<number>\b\d[\w.]*)
    |(?P<word>[^\W\d]\w*)
    |(?P<decorator>^[ \t]*@[\w.]+)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_INSERTED = re.compile(r"(\{\{|\}\}|\{[^{}\n]*\})")  # in an f-string
_CONSTANTS = frozenset({"True", "False", "None"})
_KEYWORDS = frozenset(keyword.kwlist) - _CONSTANTS
_NAMING = frozenset({"def", "class"})


def highlighted(path: str, text: str, last: int | None = None) -> list[Line]:
    """The lines of ``text`` (as far as line ``last``, from 1) as runs, made visible.

    A line is what Python takes for one. What is not a Python file, going by its ``path``, is plain.
    """
    text = _ENDS.sub("\n", text)
    runs = _runs(text) if path.endswith((".py", ".pyi", ".pyw")) else [(text, _PLAIN)]
    lines: list[Line] = [[]]
    for value, style in runs:
        first, *rest = value.split("\n")
        _add(lines[-1], first, style)
        for piece in rest:
            if last is not None and len(lines) >= last:
                return lines
            lines.append([])
            _add(lines[-1], piece, style)
    return lines


def code(text: str) -> Html:
    """A block of Python."""
    spans = (
        [[tag("span", value, class_=CLASSES[style] or None) for value, style in line], "\n"]
        for line in highlighted("example.py", text)
    )
    return tag("pre", tag("code", joined(spans)), tabindex=0)


def _runs(text: str) -> Iterator[Run]:
    at, before = 0, ""
    for found in _TOKEN.finditer(text):
        style, word = _style(found, before), found.group()
        before = word if found["word"] else ""
        if style == _PLAIN:
            continue
        yield text[at : found.start()], _PLAIN
        if style == _STRING and "f" in (found["prefix"] or "").lower():
            pieces = _INSERTED.split(word)
            yield from (
                (piece, _PLAIN if number % 2 and len(piece) > 2 else _STRING)
                for number, piece in enumerate(pieces)
            )
        else:
            yield word, style
        at = found.end()
    yield text[at:], _PLAIN


def _style(found: re.Match[str], before: str) -> int:
    word = found["word"]
    if word is None:
        kind = found.lastgroup or ""
        return {"comment": _COMMENT, "string": _STRING, "number": _NUMBER}.get(kind, _NAME)
    if before in _NAMING:
        return _NAME
    if word in _CONSTANTS:
        return _NUMBER
    return _KEYWORD if word in _KEYWORDS else _PLAIN


def _add(line: Line, text: str, style: int) -> None:
    if not text:
        return
    text = visible(text)
    if line and line[-1][1] == style:
        line[-1] = (line[-1][0] + text, style)
    else:
        line.append((text, style))

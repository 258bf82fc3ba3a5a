"""Source text with its syntax told apart, line by line."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from migrate_responses.show.html_tags import Html, joined, tag
from migrate_responses.show.screen import visible

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CLASSES = ("", "k", "s", "n", "c", "d", "b")
"""Plain, keyword, string, number, comment, definition, builtin: the styles of a :data:`Run`, by number."""

Run = tuple[str, int]
"""Text without a line end, and the number of its style."""
Line = list[Run]

_ENDS = re.compile("\r\n|\r")
_STYLES = (
    ("Token.Keyword.Constant", 3),
    ("Token.Keyword", 1),
    ("Token.Operator.Word", 1),
    ("Token.Literal.String", 2),
    ("Token.Literal.Number", 3),
    ("Token.Comment", 4),
    ("Token.Name.Function", 5),
    ("Token.Name.Class", 5),
    ("Token.Name.Decorator", 5),
    ("Token.Name.Builtin", 6),
)


def highlighted(path: str, text: str, last: int | None = None) -> list[Line]:
    """The lines of ``text`` (as far as line ``last``, from 1) as runs, made visible.

    A line is what Python takes for one. Only the name of ``path`` counts.
    """
    lines: list[Line] = [[]]
    for _, kind, value in _lexer(path.rpartition(".")[2]).get_tokens_unprocessed(_ENDS.sub("\n", text)):
        style = _style(kind)
        first, *rest = value.split("\n")
        _add(lines[-1], first, style)
        for piece in rest:
            if last is not None and len(lines) == last:
                return lines
            lines.append([])
            _add(lines[-1], piece, style)
    return lines


def code(path: str, text: str) -> Html:
    """``text`` as a block of code."""
    lines = (
        (tag("span", value, class_=CLASSES[style]) for value, style in line)
        for line in highlighted(path, text)
    )
    return tag("pre", tag("code", joined([line, "\n"] for line in lines)), tabindex=0)


def _add(line: Line, text: str, style: int) -> None:
    if not text:
        return
    text = visible(text)
    if line and line[-1][1] == style:
        line[-1] = (line[-1][0] + text, style)
    else:
        line.append((text, style))


@lru_cache(16)
def _lexer(ending: str) -> Lexer:
    from pygments.lexers import get_lexer_for_filename
    from pygments.lexers.python import PythonLexer
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    if ending in {"py", "pyi", "pyw"}:
        return PythonLexer()
    try:
        return get_lexer_for_filename(f"a.{ending}")
    except ClassNotFound:
        return TextLexer()


@cache
def _style(kind: Any) -> int:
    name = str(kind)
    return next((style for start, style in _STYLES if name == start or name.startswith(f"{start}.")), 0)

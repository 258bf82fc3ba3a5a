"""Which source files are not even parsed: the parser would take them wrongly, or for ever."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from .find.candidates import LARGEST_CODE

_LONG = 4_000  # characters of a line; a shorter one cannot nest so deeply that it matters
_BRACKETS = 200  # Python itself takes no more
_DEEPEST = 3_500  # LibCST's time grows with the square of this
_BRACKET = re.compile(r"[(\[{]|[)\]}]")
_NEWLINE = re.compile(r"\r\n?|\n")


def refused(text: str) -> tuple[str, int, str] | None:
    """The code, the line and the reason if ``text`` is not to be parsed; None for all ordinary files."""
    if len(text) > LARGEST_CODE:
        return "MR914", 0, f"{len(text) / 1e6:.0f} million characters of Python are too many to follow"
    odd = min((at for mark in "\0\ufeff" if (at := text.find(mark)) >= 0), default=-1)
    if odd >= 0 and text[odd] == "\0":
        return "MR901", _line(text, odd), "not valid Python 3: there is a null byte"
    if odd == 0:  # LibCST drops it
        return "MR901", 1, "not valid Python 3: there are two byte order marks"
    if _may_nest(text) and _nests(text):
        return "MR904", 0, "expressions are nested too deeply"
    return None


def _line(text: str, offset: int) -> int:
    return len(_NEWLINE.findall(text, 0, offset)) + 1


def _may_nest(text: str) -> bool:
    """Whether brackets or a long line, in code or in strings, could be nested beyond what is followed."""
    if any(end - start > _LONG for start, end in _lines(text)):
        return True
    depth = 0
    for found in _BRACKET.finditer(text):
        depth += 1 if found[0] in "([{" else -1
        if depth > _BRACKETS:
            return True
        depth = max(depth, 0)
    return False


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _NEWLINE.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _nests(text: str) -> bool:
    """Whether it does, as Python's own parser finds, which has guards against it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (RecursionError, MemoryError):
        return True
    except SyntaxError as error:
        return "too many" in str(error.msg)  # nested parentheses, or levels of indentation
    except ValueError:
        return False
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True

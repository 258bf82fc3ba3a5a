"""Which source files are not even parsed: the parser would take them wrongly, or for ever."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache

from .find.candidates import LARGEST_CODE
from .room import with_deep_stack

LARGEST_PART = 25_000_000  # of files that hang together: their trees take some 4 GB
_LONG = 4_000  # characters of a line; a shorter one cannot nest so deeply that it matters
_BRACKETS = 200  # Python itself takes no more
DEEPEST = 3_500  # levels of syntax: there is a call of a function for each, again and again
_COPIES = 10_000_000  # parts of trees that are copied while a file is parsed: some seconds
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
    if may_nest(text) and _nests(text):
        return "MR904", 0, "expressions are nested too deeply"
    return None


@cache
def deepest() -> int:
    """Levels of syntax that are followed. Python 3.12 ends calls that come by way of C at a number of its own
    (``Py_C_RECURSION_LIMIT``: 1,500 in 3.12.1, 10,000 later), whatever the limit on recursion is.
    """
    if sys.version_info < (3, 12):
        return DEEPEST
    reached = 0

    class Level:
        def down(self, **nothing: object) -> None:  # as LibCST calls what prints a node
            nonlocal reached
            reached += 1
            if reached < 2 * DEEPEST:
                self.down(**nothing)

    with contextlib.suppress(RecursionError):
        with_deep_stack(Level().down)
    return min(DEEPEST, reached * 9 // 10)


def _line(text: str, offset: int) -> int:
    return len(_NEWLINE.findall(text, 0, offset)) + 1


def may_nest(text: str) -> bool:
    """Whether brackets, long lines or long expressions could nest beyond what is followed."""
    long = min(_LONG, 2 * deepest())
    if text.count("\\\n") > _BRACKETS or any(end - start > long for start, end in _lines(text)):
        return True
    if text.count("elif ") > deepest():
        return True
    depth = start = 0
    for found in _BRACKET.finditer(text):
        if depth and found.start() - start > long:
            return True
        opens = found[0] in "([{"
        if opens and not depth:
            start = found.start()
        depth = max(depth + (1 if opens else -1), 0)
        if depth > _BRACKETS:
            return True
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
    return _is_beyond(tree)


def _is_beyond(tree: ast.Module) -> bool:
    """Whether a tree is too deep, or made such that LibCST would copy parts of it again and again.

    It copies what it has of a chain with each link that it adds, which takes time that grows with the square
    of their number.
    """
    levels: list[list[ast.AST]] = [[tree]]
    while levels[-1]:
        if len(levels) > deepest():
            return True
        levels.append([child for node in levels[-1] for child in ast.iter_child_nodes(node)])
    weights: dict[ast.AST, int] = {}
    copied = 0
    for level in reversed(levels):
        for node in level:
            weight = _WEIGHTS.get(type(node), 1)
            weight += sum([weights[child] for child in ast.iter_child_nodes(node)])
            if isinstance(node, ast.Call):
                weight += 2 * len(node.args)
            elif isinstance(node, ast.BoolOp) and len(node.values) > deepest():  # LibCST makes levels of them
                return True
            if isinstance(node, _COPIED):
                copied += weight
            weights[node] = weight
    return copied > _COPIES


_WEIGHTS: dict[type[ast.AST], int] = {ast.Call: 2, ast.Subscript: 3, ast.keyword: 3, ast.Load: 0, ast.Add: 0}
_COPIED = (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Lambda, ast.Await)

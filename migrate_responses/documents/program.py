"""A program in pieces: the cells of a notebook, or the blocks of a text that need one another."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from . import names

_SPELLED = re.compile(r"\w[\w.\[\]()]*\.chat\.completions\.\w+(?:\.\w+)*")


@dataclass(frozen=True)
class Piece:
    """Python in a document, without a line end behind its last line."""

    text: str
    margins: tuple[int, ...] = ()  # how much stands before each line


@dataclass(frozen=True)
class Unread:
    """A part of a document that is not read although it is, or may be, Python, and why not."""

    text: str
    piece: int  # of the document's cells or blocks, from 0
    line: int  # of the text in the piece, from 0
    why: str
    is_broken: bool = False  # meant as Python, but does not parse

    def calls(self) -> list[tuple[str, int]]:
        """The calls that it spells, each with its line in the piece."""
        return [
            (found.group(), self.line + self.text.count("\n", 0, found.start()))
            for found in _SPELLED.finditer(self.text)
        ]


class Program:
    """One module for the engine: its pieces one after the other, each behind a border.

    ``comment`` is one that the document has outside of them.
    """

    def __init__(self, path: str, pieces: Sequence[Piece], comment: str = "") -> None:
        self.path = path
        self._pieces = pieces
        text = "".join(piece.text for piece in pieces)
        end = "\r\n" if "\n" in text and text[text.index("\n") - 1 : text.index("\n")] == "\r" else "\n"
        self._end = end
        parts = [f"{names.border(number)}{end}{piece.text}{end}" for number, piece in enumerate(pieces)]
        last = names.border(len(pieces))
        self.text = "".join([*parts, f"{last}  # {comment}" if comment else last, end])
        counts = (part.count("\n") for part in parts)
        self._starts = [0, *accumulate(counts)]  # of each piece, the line of its border, from 0

    def place(self, line: int, column: int) -> tuple[int, int, int]:
        """The piece that ``line`` (from 1) is in, its line there (from 0), and the column in the file."""
        number = max(0, min(bisect_right(self._starts, line - 1) - 1, len(self._pieces) - 1))
        inside = max(line - self._starts[number] - 2, 0)
        margins = self._pieces[number].margins
        return number, inside, column + (margins[inside] if column and inside < len(margins) else 0)

    def split(self, edited: str) -> list[str]:
        """The texts of the pieces in ``edited``, which is this program after a migration."""
        lines = edited.split("\n")
        found: list[str] = []
        start = 0
        for number in range(len(self._pieces) + 1):
            at = next(
                at for at in range(start, len(lines)) if lines[at].split()[:1] == [names.border(number)]
            )
            if number:
                text = "\n".join(lines[start:at]) + ("\n" if at > start else "")
                found.append(text.removesuffix(self._end))
            start = at + 1
        return found


def parses(text: str) -> bool:
    """Whether ``text`` is Python on its own. An ``await`` outside a function is."""
    if "\0" in text:
        return False  # LibCST takes it, Python never does
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are the author's
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        import libcst as cst

        try:
            cst.parse_module(text)  # a syntax newer than the Python that runs this tool
        except (cst.ParserSyntaxError, ValueError, RecursionError):
            return False
    return True

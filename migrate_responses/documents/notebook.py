"""Jupyter notebooks: all code cells as one program, and edited cells back into the file's own JSON."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..results import Cell
from . import names
from .magics import Inert, mask
from .program import Piece, Program, Unread, parses
from .spans import Lines, Value, members, whole
from .text import NotReadableError, decoded, encoded


@dataclass(frozen=True)
class _Cell:
    number: int  # from 1, all cells counted
    source: Value

    @property
    def text(self) -> str:
        value = self.source.value
        return value if isinstance(value, str) else "".join(value)


class Notebook:
    """A notebook as a program. Raises ``NotReadableError`` if it is none."""

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._data = data
        self._text = decoded(data)
        self._inert = Inert()
        self._known_lines: dict[int, Lines] = {}
        self._margins: list[str] = []  # of each cell, what IPython takes off its lines
        self.unread: list[Unread] = []
        self._cells = list(_code_cells(self._text))
        pieces = [self._piece(number, cell) for number, cell in enumerate(self._cells)]
        self.programs = [Program(path, pieces)] if pieces else []

    def place(self, program: Program, line: int, column: int) -> tuple[int, int, Cell]:
        """Line and column in the file, and the place in a cell, of a place in ``program``."""
        return self.place_in(*program.place(line, column))

    def place_in(self, piece: int, line: int, column: int) -> tuple[int, int, Cell]:
        """The same of a ``column`` (from 1) in a ``line`` (from 0) of the code cell ``piece``."""
        at = self._lines(piece).offset(line, column - 1)
        row = bisect_right(self._starts, at)
        return row, at - self._starts[row - 1] + 1, Cell(self._cells[piece].number, line + 1, column)

    @cached_property
    def _starts(self) -> list[int]:
        """Where the lines of the file begin."""
        return [0, *(found.end() for found in re.finditer("\n", self._text))]

    def _lines(self, piece: int) -> Lines:
        known = self._known_lines.get(piece)
        if known is None:
            known = self._known_lines[piece] = Lines(self._text, self._cells[piece].source)
        return known

    def _piece(self, number: int, cell: _Cell) -> Piece:
        text = cell.text
        margin = _margin(text)
        known = len(self._inert.originals)
        masked = mask(_dedented(text, margin), self._inert)
        if not names.inert_lines(text) and parses(masked):
            for call, original in list(self._inert.originals.items())[known:]:
                line = masked.count("\n", 0, masked.index(call))
                why = f"`{original.split(None, 1)[0]}` runs something else than the notebook's own Python"
                self.unread.append(Unread(original, number, line, why))
            self._margins.append(margin)
            return Piece(masked, (len(margin),) * (masked.count("\n") + 1))
        self._inert.forget(known)
        self.unread.append(Unread(text, number, 0, "the cell does not parse", True))
        self._margins.append("")
        return Piece(self._inert.unread(text))

    def encode(self, texts: Mapping[str, str]) -> bytes:
        """The notebook with ``texts``, the edited programs by path, in its cells."""
        edited = texts.get(self._path)
        if edited is None:
            return self._data
        program = self.programs[0]
        before, after = program.split(program.text), program.split(edited)
        ascii_only = self._text.isascii() and "\\u" in self._text
        parts: list[str] = []
        at = 0
        pieces = zip(self._cells, self._margins, before, after, strict=True)
        for number, (cell, margin, old, new) in enumerate(pieces):
            if old != new:
                lines = self._lines(number)
                text = _indented(self._inert.restore(new), margin)
                parts += [self._text[at : cell.source.start], lines.rewritten(text, ascii_only)]
                at = cell.source.end
        return encoded("".join([*parts, self._text[at:]]), self._data)


def _margin(text: str) -> str:
    """The white space before all lines of a cell, which IPython takes off."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    margin = first[: len(first) - len(first.lstrip())]
    return margin if _indented(_dedented(text, margin), margin) == text else ""


def _dedented(text: str, margin: str) -> str:
    return "\n".join(line.removeprefix(margin) for line in text.split("\n")) if margin else text


def _indented(text: str, margin: str) -> str:
    return "\n".join(margin + line if line.strip() else line for line in text.split("\n")) if margin else text


def _code_cells(text: str) -> Iterator[_Cell]:
    """The code cells of a notebook for Python; none of any other. Raises ``NotReadableError``."""
    try:
        book = whole(text)
    except json.JSONDecodeError as error:
        raise NotReadableError(
            "MR901", f"is not a notebook: {error.msg}", error.lineno, error.colno
        ) from error
    except RecursionError as error:
        raise NotReadableError("MR904", "is nested too deeply") from error
    except ValueError as error:  # a number with more digits than Python reads
        raise NotReadableError("MR901", f"is not a notebook: {error}") from error
    if not isinstance(book.value, dict) or not any(
        isinstance(book.value.get(key), list) for key in ("cells", "worksheets")
    ):
        if "chat.completions" in text:
            raise NotReadableError("MR901", "is not a notebook: it has no list of cells")
        return
    if not _is_python(book.value.get("metadata")):
        return
    number = 0
    for sheet in _sheets(text, book):
        for value in members(text, sheet.start):
            number += 1
            cell = value.value
            if not isinstance(cell, dict) or cell.get("cell_type") != "code":
                continue
            if cell.get("language", "python") != "python":
                continue
            for member in members(text, value.start):
                if member.key in ("source", "input") and _is_text(member.value):
                    yield _Cell(number, member)


def _sheets(text: str, book: Value) -> Iterator[Value]:
    """The arrays of cells: one, or in the third version of the format one for each worksheet."""
    for member in members(text, book.start):
        if member.key == "cells" and isinstance(member.value, list):
            yield member
        elif member.key == "worksheets" and isinstance(member.value, list):
            for sheet in members(text, member.start):
                if isinstance(sheet.value, dict):
                    yield from (
                        inner
                        for inner in members(text, sheet.start)
                        if inner.key == "cells" and isinstance(inner.value, list)
                    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )


def _is_python(metadata: object) -> bool:
    """Whether the kernel is one for Python, as it is when nothing is said."""
    if not isinstance(metadata, dict):
        return True
    kernel, info = (
        value if isinstance(value := metadata.get(key), dict) else {}
        for key in ("kernelspec", "language_info")
    )
    language = str(kernel.get("language") or info.get("name") or "").lower()
    return language in ("", "ipython", "python") or language.startswith("python")

"""Differences as data for the page: hunks of rows, each with its old line, its new line, or both.

The page draws a diff only when somebody opens it, so what is kept here is small and is no markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from migrate_responses.secrets import masked
from migrate_responses.show.html_code import CLASSES, Line, highlighted
from migrate_responses.source import decode

CONTEXT = 3
CHANGED = len(CLASSES)
"""Added to the style of a run that the other line does not have."""

_LARGEST = 4000  # pairs of lines to compare in one block; in a larger one, lines are paired in order
_ALIKE = 0.25  # how much of two lines must be the same for them to stand side by side
_WORDS = re.compile(r"\w+|\s+|.")

Cell = list[object]
"""A line: text, style, text, style, ..."""
Row = tuple[Cell | None, Cell | None]


@dataclass(frozen=True)
class Hunk:
    """Some lines of a file, before and after; ``old`` and ``new`` are the numbers of the first ones."""

    old: int
    new: int
    rows: tuple[Row, ...]
    changes: bool = True

    @property
    def end(self) -> int:
        """The line of the old text after the last one here."""
        return self.lines(0, len(self.rows)).stop

    def near(self, lines: Collection[int]) -> list[tuple[int, int]]:
        """The rows, from and up to, that show ``lines`` of the old text, with all of a change."""
        parts: list[tuple[int, int]] = []
        for at in self._rows_of(lines):
            first, last = at, at + 1
            while first > 0 and self._is_change(first) and self._is_change(first - 1):
                first -= 1
            while last < len(self.rows) and self._is_change(last - 1) and self._is_change(last):
                last += 1
            first, last = max(0, first - CONTEXT), min(len(self.rows), last + CONTEXT)
            if parts and first <= parts[-1][1]:
                parts[-1] = (parts[-1][0], max(last, parts[-1][1]))
            else:
                parts.append((first, last))
        return parts

    def _rows_of(self, lines: Collection[int]) -> Iterator[int]:
        line = self.old
        for at, (old, _) in enumerate(self.rows):
            if old is not None:
                if line in lines:
                    yield at
                line += 1

    def _is_change(self, at: int) -> bool:
        return self.rows[at][0] is not self.rows[at][1]

    def lines(self, first: int, last: int) -> range:
        """The lines of the old text in the rows from ``first`` up to ``last``."""
        start = self.old + sum(old is not None for old, _ in self.rows[:first])
        return range(start, start + sum(old is not None for old, _ in self.rows[first:last]))

    def data(self) -> list[object]:
        """``[old, new, changes, rows]``, with rows of one cell where both lines are the same."""
        rows = [[old] if old is new else [old, new] for old, new in self.rows]
        return [self.old, self.new, int(self.changes), rows]


class FileDiff:
    """The hunks of one file. Lines that stay as they are can be added as hunks of their own."""

    def __init__(self, path: str, before: bytes, after: bytes) -> None:
        self._path = path
        self._plain: dict[tuple[int, int], int] = {}
        self._text, changed = _text(before), _text(after)
        before_lines = _split(self._text)
        self._size = len(before_lines)
        groups = list(_groups(before_lines, _split(changed)))
        ends = [(group[-1][2], group[-1][4]) for group in groups]
        self._old = highlighted(path, self._text, ends[-1][0]) if groups else []
        new = highlighted(path, changed, ends[-1][1]) if groups else []
        self.hunks = [_hunk(group, self._old, new) for group in groups]
        rows = [row for hunk in self.hunks for row in hunk.rows if row[0] is not row[1]]
        self.added = sum(new is not None for _, new in rows)
        self.removed = sum(old is not None for old, _ in rows)

    def views(self, lines: Iterable[int], always: Iterable[int] = ()) -> list[str]:
        """Where to look for what changes at ``lines`` of the old text, and for ``always`` in any case.

        A view is ``hunk``, or ``hunk.first-last`` for some rows of it: others can have changes beside these.
        """
        needed = {line for line in always if 1 <= line <= self._size}
        wanted = needed.union(lines)
        found: list[tuple[int, str]] = []
        seen: set[int] = set()
        for number, hunk in enumerate(self.hunks):
            for first, last in hunk.near(wanted) if hunk.changes else ():
                whole = (first, last) == (0, len(hunk.rows))
                found.append((hunk.old, str(number) if whole else f"{number}.{first}-{last}"))
                seen.update(hunk.lines(first, last))
        for first, last in _spans(sorted(needed - seen), self._size):
            bare = [line for line in range(first, last + 1) if line not in seen]
            found.append((first, str(self._shown(bare[0], bare[-1]))))
        return [view for _, view in sorted(found, key=lambda one: one[0])]

    def _shown(self, first: int, last: int) -> int:
        """The number of the hunk that shows the lines from ``first`` to ``last`` as they are."""
        if (first, last) not in self._plain:
            if last > len(self._old):
                self._old = highlighted(self._path, self._text)
            cells = [_cell(old) for old in self._old[first - 1 : last]]
            self._plain[first, last] = len(self.hunks)
            self.hunks.append(Hunk(first, first, tuple((cell, cell) for cell in cells), changes=False))
        return self._plain[first, last]


def _spans(lines: Iterable[int], size: int) -> list[tuple[int, int]]:
    """From and to which line to show for ``lines`` to be seen with what is around them."""
    spans: list[tuple[int, int]] = []
    for line in lines:
        first, last = max(1, line - CONTEXT), min(size, line + CONTEXT)
        if spans and first <= spans[-1][1] + 1:
            first = spans.pop()[0]
        spans.append((first, last))
    return spans


_Opcode = tuple[str, int, int, int, int]


def _text(data: bytes) -> str:
    """The text of a file, keys masked; bytes that cannot be decoded are written out."""
    try:
        text = decode(data).text
    except (SyntaxError, ValueError, LookupError):
        text = data.decode("utf-8", "backslashreplace")
    return masked(text)


def _split(text: str) -> list[str]:
    return re.split("\r\n|\r|\n", text)


def _groups(old: list[str], new: list[str]) -> Iterator[list[_Opcode]]:
    if old != new:
        yield from SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)


def _hunk(group: Sequence[_Opcode], old: list[Line], new: list[Line]) -> Hunk:
    rows: list[Row] = []
    for what, old_first, old_last, new_first, new_last in group:
        before, after = old[old_first:old_last], new[new_first:new_last]
        if what == "equal":
            rows += [(cell, cell) for cell in map(_cell, before)]
        else:
            rows += _paired(before, after)
    return Hunk(group[0][1] + 1, group[0][3] + 1, tuple(rows))


def _paired(before: list[Line], after: list[Line]) -> Iterator[Row]:
    """Rows for the lines of a change: those that are alike side by side, in order."""
    at_old, at_new = 0, 0
    for old, new in [*_alike(before, after), (len(before), len(after))]:
        yield from ((_cell(line), None) for line in before[at_old:old])
        yield from ((None, _cell(line)) for line in after[at_new:new])
        if old < len(before):
            yield _compared(before[old], after[new])
        at_old, at_new = old + 1, new + 1


def _alike(before: list[Line], after: list[Line]) -> list[tuple[int, int]]:
    """The pairs of lines, by index and in order, that have the most in common together."""
    if len(before) * len(after) > _LARGEST:
        return [(at, at) for at in range(min(len(before), len(after)))]
    old, new = ([Counter(re.findall(r"\w+", _plain(line))) for line in lines] for lines in (before, after))
    best: list[list[tuple[float, list[tuple[int, int]]]]] = [[(0.0, [])] * (len(new) + 1)]
    for row, words in enumerate(old):
        line = [best[row][0]]
        for column, others in enumerate(new):
            share = _share(words, others)
            score, pairs = max(best[row][column + 1], line[column], key=lambda entry: entry[0])
            before_score, before_pairs = best[row][column]
            if share >= _ALIKE and before_score + share > score:
                score, pairs = before_score + share, [*before_pairs, (row, column)]
            line.append((score, pairs))
        best.append(line)
    return best[-1][-1][1]


def _share(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _compared(old: Line, new: Line) -> Row:
    """Two lines side by side, with what differs marked."""
    words, others = _WORDS.findall(_plain(old)), _WORDS.findall(_plain(new))
    removed: list[range] = []
    added: list[range] = []
    starts, other_starts = _starts(words), _starts(others)
    for what, i, j, k, m in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        if what != "equal":
            removed.append(range(starts[i], starts[j]))
            added.append(range(other_starts[k], other_starts[m]))
    return _cell(old, _legible(removed, _plain(old))), _cell(new, _legible(added, _plain(new)))


def _legible(parts: list[range], text: str) -> list[range]:
    """``parts`` without blanks at their edges, and as one where no word is between them."""
    found: list[range] = []
    for part in parts:
        words = text[part.start : part.stop]
        part = range(part.stop - len(words.lstrip()), part.start + len(words.rstrip()))
        if not part:
            continue
        if found and not re.search(r"\w", text[found[-1].stop : part.start]):
            found[-1] = range(found[-1].start, part.stop)
        else:
            found.append(part)
    return found


def _starts(words: list[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line)


def _cell(line: Line, marked: Sequence[range] = ()) -> Cell:
    cuts = sorted({edge for part in marked for edge in (part.start, part.stop)})
    cell: Cell = []
    at = 0
    for text, style in line:
        end = at + len(text)
        edges = [at, *(cut for cut in cuts if at < cut < end), end]
        for first, last in pairwise(edges):
            changed = any(first in part for part in marked)
            cell += [text[first - at : last - at], style + CHANGED * changed]
        at = end
    return cell

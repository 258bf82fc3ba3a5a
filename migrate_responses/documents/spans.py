"""JSON text with positions: where a value stands, and new lines for a string without touching the others."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_LETTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_FRAGMENT = re.compile(r"(?:[^\\]+|\\(?!n|u000[aA]).)*(\\n|\\u000[aA])?", re.DOTALL)


@dataclass(frozen=True)
class Value:
    """A value in JSON text, from ``start`` to ``end``; ``key`` in an object."""

    start: int
    end: int
    value: Any
    key: str = ""


def whole(text: str) -> Value:
    """The value that ``text`` holds. Raises ``json.JSONDecodeError`` unless it is one value."""
    start = _skip(text, 0)
    value, end = _DECODER.raw_decode(text, start)
    if _skip(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return Value(start, end, value)


def members(text: str, start: int) -> Iterator[Value]:
    """The members of the object, or the items of the array, that begins at ``start``; both are valid JSON."""
    keyed = text[start] == "{"
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        key = ""
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        yield Value(at, end, value, key)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


@dataclass(frozen=True)
class _Line:
    """A line of a text: what it says, how JSON writes it, and what stands between it and the next one."""

    text: str
    raw: str
    gap: str
    start: int  # where it is written


class Lines:
    """The lines of a text that JSON holds as one string, or as an array of strings."""

    def __init__(self, text: str, place: Value) -> None:
        self._is_list = isinstance(place.value, list)
        self._place = place
        strings = list(members(text, place.start)) if self._is_list else [place]
        self._lines = list(_split(text, strings))
        self._head = text[place.start : strings[0].start + 1] if strings else ""
        last = self._lines[-1] if self._lines else None
        self._tail = text[last.start + len(last.raw) : place.end] if last else ""
        self._gap = self._usual_gap()
        self._ascii = not any(ord(letter) > 126 for letter in text[place.start : place.end])

    def _usual_gap(self) -> str:
        """What stands between two lines that the text did not have side by side."""
        if not self._is_list:
            return ""
        gaps = Counter(line.gap for line in self._lines[:-1] if line.gap)
        return gaps.most_common(1)[0][0] if gaps else f'",{self._head[1:]}'

    def offset(self, line: int, column: int) -> int:
        """Where the letter at ``line`` and ``column`` (both from 0) is written."""
        if not self._lines:
            return self._place.start
        found = self._lines[min(line, len(self._lines) - 1)]
        letters = itertools.islice(_LETTER.finditer(found.raw), column)
        return found.start + sum(len(letter.group()) for letter in letters)

    def rewritten(self, new: str, ascii_only: bool) -> str:
        """The JSON of ``new`` where lines that stay are written as they were.

        ``ascii_only`` tells how the rest of the file writes other letters; this text's own way comes first.
        """
        lines = _lines(new)
        if not lines:
            return "[]" if self._is_list else '""'
        if not self._lines:
            raise ValueError("an empty text has no lines to change")
        chosen: list[tuple[int, str]] = []
        old = [line.text for line in self._lines]
        ascii_only = self._ascii and (ascii_only or any("\\u" in line.raw for line in self._lines))
        for tag, first, last, start, end in SequenceMatcher(None, old, lines, autojunk=False).get_opcodes():
            if tag == "equal":
                chosen += [(number, self._lines[number].raw) for number in range(first, last)]
            else:
                chosen += [(-1, json.dumps(line, ensure_ascii=ascii_only)[1:-1]) for line in lines[start:end]]
        return f"{self._head}{''.join(self._joined(chosen))}{self._tail}"

    def _joined(self, chosen: Sequence[tuple[int, str]]) -> Iterator[str]:
        for at, (number, raw) in enumerate(chosen):
            yield raw
            if at + 1 < len(chosen):
                together = number >= 0 and chosen[at + 1][0] == number + 1
                yield self._lines[number].gap if together else self._gap


def _split(text: str, strings: Sequence[Value]) -> Iterator[_Line]:
    """The lines of ``strings`` one after the other; a line may go on in the next string."""
    raw = ""
    start = 0
    for number, string in enumerate(strings):
        following = strings[number + 1 : number + 2]
        between = text[string.end - 1 : following[0].start + 1] if following else ""
        inside = text[string.start + 1 : string.end - 1]
        fragments = [found for found in _FRAGMENT.finditer(inside) if found.group()]
        for at, fragment in enumerate(fragments, 1):
            start = start if raw else string.start + 1 + fragment.start()
            raw += fragment.group()
            if fragment.group(1):
                yield _Line(_decoded(raw), raw, between if at == len(fragments) else "", start)
                raw = ""
        if raw or not fragments:
            start = start if raw else string.end - 1
            raw += between
    if raw and (last := _decoded(raw)):
        yield _Line(last, raw, "", start)


def _decoded(raw: str) -> str:
    """What ``raw`` says; it may hold the marks between strings that a line goes across."""
    return "".join(json.loads(f'["{raw}"]'))


def _lines(text: str) -> list[str]:
    """The lines of ``text`` with their ends; only a line feed ends one."""
    return [line for line in re.split(r"(?<=\n)", text) if line]

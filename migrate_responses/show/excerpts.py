"""The lines of all files that a flow touches, with what is around them, marked by what they do."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from migrate_responses.results import FlowPlace, Role

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report

AROUND = 2  # lines shown before and after each statement
WHOLE = 40  # lines of a function that is shown whole
MOST = 600  # lines of one flow

# A mark for each role, the most telling first: a line has the first that fits.
MARKS: Mapping[Role, tuple[str, str]] = {
    Role.REASON: ("!", "what holds the call back"),
    Role.CALL: ("*", "the call"),
    Role.CLIENT: ("c", "where its client is made"),
    Role.REQUEST: (">", "what goes into the request"),
    Role.ANSWER: ("<", "where the answer is used"),
    Role.EDIT: ("~", "what else changes"),
}


def excerpts(places: Iterable[FlowPlace], report: Report) -> Iterator[tuple[str, list[str]]]:
    """For each file its path and its lines: mark, number, text; ``…`` stands for lines between."""
    by_path: dict[str, list[FlowPlace]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place)
    room = MOST
    for path, inside in by_path.items():
        lines = list(_marked(path, inside, report))
        if lines:
            yield path, lines[:room] if len(lines) <= room else [*lines[:room], "… and more, left out"]
        room = max(room - len(lines), 20)


def _marked(path: str, places: Iterable[FlowPlace], report: Report) -> Iterator[str]:
    marks: dict[int, str] = {}
    shown: set[int] = set()
    heads = _heads(report.sources.get(path, b""))
    order = list(MARKS)
    for place in sorted(places, key=lambda place: order.index(place.role)):
        marks.setdefault(place.line, MARKS[place.role][0])
        shown.update(range(place.line - AROUND, max(place.line, place.end_line) + AROUND + 1))
        for first, last in heads:
            if first <= place.line <= last:
                shown.update(range(first, last + 1) if last - first < WHOLE else [first])
    texts = dict(report.excerpt(path, min(shown, default=1), max(shown, default=0)))
    wanted = sorted(shown & texts.keys())
    width = len(str(wanted[-1])) if wanted else 0
    for before, number in zip([0, *wanted], wanted, strict=False):
        if before and number > before + 1:
            yield f"  {'…':>{width}}"
        yield f"{marks.get(number, ' ')} {number:>{width}}  {texts[number]}".rstrip()


def _heads(data: bytes) -> list[tuple[int, int]]:
    """Where each function and class begins and ends; nothing for what Python cannot parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]

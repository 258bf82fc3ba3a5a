"""What each flow changes in each file, as exact replacements that can be applied one flow at a time.

The change of a file is cut into hunks, and each hunk is given to the flows whose places it touches. Flows
that share one (an import, two calls on a line) get one fix together: each fix can be applied alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from migrate_responses.results import FileResult, FlowPlace, Role, Verdict
from migrate_responses.secrets import masked
from migrate_responses.source import decode

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report

_TODO = "# TODO(migrate-responses)"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Replacement:
    """``text`` in place of what stands between two positions of a file, both from 1, the second exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Fix:
    """The replacements that migrate ``flows``, or that write their TODO comments, and nothing else."""

    flows: frozenset[int]
    replacements: tuple[Replacement, ...]
    verdicts: frozenset[Verdict]


@dataclass(frozen=True)
class _Hunk:
    """Neighbouring lines that change: ``first`` to ``last`` (from 1; ``last`` is smaller if none go)."""

    replacement: Replacement
    first: int
    last: int
    lines: tuple[str, ...]  # all that go and come

    @property
    def is_todo(self) -> bool:
        """Whether nothing but a TODO comment comes or goes; in a notebook, lines stand in quotes."""
        lines = [line.strip().removeprefix('"').lstrip() for line in self.lines]
        return all(line.startswith("#") for line in lines) and any(line.startswith(_TODO) for line in lines)

    def touches(self, place: FlowPlace) -> bool:
        """Whether the place is among the lines, or beside the gap where lines come in."""
        if self.last < self.first:
            return place.line <= self.first and self.last <= place.end_line
        return place.line <= self.last and self.first <= place.end_line


_Place = tuple[int, Verdict, FlowPlace]


def fixes(report: Report) -> list[Fix]:
    """The fixes of a report: together they are all of its changes, but for lines with a key in them."""
    places: dict[str, list[_Place]] = {}
    for flow in report.outcome.flows:
        for place in flow.places:
            places.setdefault(place.path, []).append((flow.number, flow.verdict, place))
    owned = [
        (_owners(hunk, places.get(file.path, [])), hunk.replacement)
        for file in report.outcome.changed
        for hunk in _hunks(file)
    ]
    verdicts = {flow.number: flow.verdict for flow in report.outcome.flows}
    return [
        Fix(flows, tuple(hunks), frozenset(verdicts[flow] for flow in flows))
        for flows, hunks in _joined(owned)
        if not any(masked(hunk.text) != hunk.text for hunk in hunks)
    ]


def by_flow(found: Iterable[Fix]) -> Mapping[int, Fix]:
    """The fix of each flow that has one."""
    return {flow: fix for fix in found for flow in fix.flows}


def _hunks(file: FileResult) -> Iterator[_Hunk]:
    before, after = (_LINE.findall(decode(data).text) for data in (file.before, file.after))
    for kind, first, last, start, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            begin, end = _position(before, first), _position(before, last)
            replacement = Replacement(file.path, *begin, *end, "".join(after[start:stop]))
            yield _Hunk(replacement, first + 1, last, (*before[first:last], *after[start:stop]))


def _position(lines: Sequence[str], at: int) -> tuple[int, int]:
    """Where line number ``at`` (from 0) begins; after a last line without an end, where that one stops."""
    if at == len(lines) and lines and not lines[-1].endswith(("\r", "\n")):
        return at, len(lines[-1]) + 1
    return at + 1, 1


def _owners(hunk: _Hunk, places: Sequence[_Place]) -> frozenset[int]:
    """The flows that a hunk belongs to.

    A comment belongs to the next call, other lines to the migrated flows that edit them; the rest (imports)
    to all flows that the file is migrated for.
    """
    if hunk.is_todo:
        below = [
            (place.line, n) for n, _, place in places if place.role is Role.CALL and place.line >= hunk.first
        ]
        if below:
            return frozenset({min(below)[1]})
    edits = [
        (number, place)
        for number, verdict, place in places
        if verdict is Verdict.MIGRATED and place.role is Role.EDIT
    ]
    touched = frozenset(number for number, place in edits if hunk.touches(place))
    return touched or frozenset(number for number, _ in edits) or frozenset(number for number, _, _ in places)


def _joined(
    owned: Iterable[tuple[frozenset[int], Replacement]],
) -> list[tuple[frozenset[int], list[Replacement]]]:
    """The hunks in groups that have no flow in common, in the order of their first hunks."""
    groups: list[tuple[set[int], list[Replacement]]] = []
    for flows, hunk in owned:
        same = [group for group in groups if group[0] & flows]
        first = same[0] if same else (set[int](), list[Replacement]())
        if not same:
            groups.append(first)
        first[0].update(flows)
        for other in same[1:]:
            first[0].update(other[0])
            first[1].extend(other[1])
            groups = [group for group in groups if group is not other]
        first[1].append(hunk)
    return [(frozenset(flows), hunks) for flows, hunks in groups]

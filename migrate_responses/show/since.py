"""What changed between an earlier report and this one.

Calls are matched by file, scope, text and order, never by line. A call that is no longer there counts
as migrated if its scope, or at least its file, holds more calls on the Responses API than before; else
it is gone.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from migrate_responses.results import Role, Verdict

HELD = (Verdict.UNSAFE, Verdict.MANUAL)


class SinceError(Exception):
    """What --since names cannot be compared with; the text says why."""


@dataclass(frozen=True)
class Entry:
    """A call as one of the two reports has it."""

    path: str
    line: int
    scope: str
    text: str
    verdict: Verdict
    codes: tuple[str, ...]


@dataclass(frozen=True)
class Since:
    """The difference. What was migrated or is gone is told as it was, the rest as it is."""

    label: str  # the git revision or the file that was compared with
    before: Mapping[str, int]  # the calls then: "sites", each verdict, and "on_responses"
    migrated: tuple[Entry, ...] = ()
    gone: tuple[Entry, ...] = ()
    new: tuple[Entry, ...] = ()
    held: tuple[Entry, ...] = ()  # could be migrated then, are held back now
    freed: tuple[Entry, ...] = ()  # were held back then, can be migrated now
    date: str | None = None  # of the earlier report, if it tells
    options: tuple[str, ...] = ()  # those that had another value then
    rules: Mapping[str, int] = field(
        default_factory=dict
    )  # the places that each rule had in what was migrated

    @property
    def groups(self) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
        """The entries under the words that tell what became of them."""
        return (
            ("migrated", self.migrated),
            ("can be migrated now", self.freed),
            ("newly held back", self.held),
            ("new", self.new),
            ("gone", self.gone),
        )


def compare(label: str, earlier: Mapping[str, Any], later: Mapping[str, Any]) -> Since:
    """The difference between two reports, as the documents that docs/json.md describes.

    Raises :class:`SinceError` if the earlier one is none.
    """
    try:
        before, then, edits = _entries(earlier), _moved(earlier), _edits(earlier)
        told = {Verdict.DOUBLE.value: 0, **earlier["summary"]}  # older reports do not tell of these
        figures = {name: int(told[name]) for name in ("sites", *_VERDICTS, "on_responses")}
        figures["sites"] -= figures[Verdict.DOUBLE.value]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SinceError(f"{label} is not a report that can be compared with") from error
    now, grown = _entries(later), _moved(later)
    grown.subtract(then)
    pairs: list[tuple[Entry, Entry]] = []
    rules = [edits[site["flow"]] for site in _calls(earlier)]
    about = dict(zip(map(id, before), rules, strict=True))
    before, now = _paired(before, now, pairs, _as_before, _in_place)
    migrated, before = _taken(before, grown, lambda entry: (entry.path, entry.scope))
    before, now = _paired(before, now, pairs, _in_file, _in_moved_file)
    others, before = _taken(before, _by_file(grown), lambda entry: entry.path)
    taken = {id(edited): edited for edited in (about[id(entry)] for entry in (*migrated, *others))}
    return Since(
        label,
        figures,
        migrated=_ordered([*migrated, *others]),
        gone=_ordered(before),
        new=_ordered(now),
        held=_ordered(b for a, b in pairs if a.verdict is Verdict.MIGRATED and b.verdict in HELD),
        freed=_ordered(b for a, b in pairs if a.verdict in HELD and b.verdict is Verdict.MIGRATED),
        options=_differing(earlier, later),
        date=str(earlier.get("date") or "") or None,
        rules=dict(sum(taken.values(), Counter())),
    )


_VERDICTS = tuple(verdict.value for verdict in Verdict)


def _differing(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the options that have another value now."""
    then = earlier.get("options")
    if not isinstance(then, dict):
        return ()
    return tuple(name for name, value in later["options"].items() if name in then and then[name] != value)


def _entries(document: Mapping[str, Any]) -> list[Entry]:
    return [
        Entry(
            str(site["path"]),
            int(site["line"]),
            str(site["scope"]),
            str(site["text"]),
            Verdict(site["verdict"]),
            tuple(dict.fromkeys(_code(reason["code"]) for reason in site["reasons"])),
        )
        for site in _calls(document)
    ]


def _calls(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The sites of a report, but for mocks and routes in tests: these come and go with their calls."""
    return [site for site in document["sites"] if site["verdict"] != Verdict.DOUBLE.value]


def _code(value: object) -> str:
    """The code of a rule; nothing else gets into a report this way."""
    if not isinstance(value, str) or not re.fullmatch(r"MR\d{3}", value):
        raise ValueError(f"{value!r} is no code")
    return value


def _moved(document: Mapping[str, Any]) -> Counter[tuple[str, str]]:
    """The calls on Responses of each file and scope."""
    return Counter(
        {
            (str(file["path"]), str(scope)): int(count)
            for file in document["files"]
            for scope, count in file["on_responses"].items()
        }
    )


def _edits(document: Mapping[str, Any]) -> dict[int, Counter[str]]:
    """The places that each rule would change, by the number of the flow, for those that could be migrated."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for flow in document["flows"]:
        if flow["verdict"] == Verdict.MIGRATED.value:
            codes = [_code(place["code"]) for place in flow["places"] if place["role"] == Role.EDIT.value]
            found[int(flow["number"])].update(codes)
    return found


def _by_file(grown: Mapping[tuple[str, str], int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (path, _), count in grown.items():
        found[path] += count
    return found


# What makes two entries one call, from the surest on.
_Key = Callable[[Entry], Hashable]


def _as_before(entry: Entry) -> Hashable:
    return entry.path, entry.scope, entry.text, entry.verdict, entry.codes


def _in_place(entry: Entry) -> Hashable:
    return entry.path, entry.scope, entry.text


def _in_file(entry: Entry) -> Hashable:
    return entry.path, entry.text


def _in_moved_file(entry: Entry) -> Hashable:
    return posixpath.basename(entry.path), entry.scope, entry.text


def _paired(
    before: Sequence[Entry], now: Sequence[Entry], pairs: list[tuple[Entry, Entry]], *keys: _Key
) -> tuple[list[Entry], list[Entry]]:
    """Add to ``pairs`` what is the same by one of ``keys``, in order; returns the rest of both."""
    olds, news = list(before), list(now)
    for key in keys:
        waiting: dict[Hashable, list[Entry]] = {}
        for entry in news:
            waiting.setdefault(key(entry), []).append(entry)
        left: list[Entry] = []
        for entry in olds:
            same = waiting.get(key(entry))
            if same:
                pairs.append((entry, same.pop(0)))
            else:
                left.append(entry)
        rest = {id(entry) for entries in waiting.values() for entry in entries}
        olds, news = left, [entry for entry in news if id(entry) in rest]
    return olds, news


def _taken(
    entries: Sequence[Entry], room: Counter[Any], place: Callable[[Entry], Any]
) -> tuple[list[Entry], list[Entry]]:
    """The entries for which ``room`` has one more call at their place, which is used up; and the others."""
    taken: list[Entry] = []
    left: list[Entry] = []
    for entry in entries:
        if room[place(entry)] > 0:
            room[place(entry)] -= 1
            taken.append(entry)
        else:
            left.append(entry)
    return taken, left


def _ordered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda entry: (entry.path, entry.line, entry.text)))

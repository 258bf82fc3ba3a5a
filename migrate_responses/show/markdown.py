"""The report as Markdown, made to be the text of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrate_responses import __version__
from migrate_responses.results import Diagnostic, FileResult, Role, SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.show.links import PROJECT, about
from migrate_responses.show.markup import code, link, plain, prose
from migrate_responses.show.moved import responses_calls
from migrate_responses.show.patch import line_counts
from migrate_responses.show.summary import many
from migrate_responses.show.words import HELD, advice, codes, goes_with

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report
    from migrate_responses.show.since import Entry, Since

LIMIT = 65_536
"""What GitHub takes for the text of a pull request or a comment."""

_RESERVE = 600  # for the closing lines


@dataclass
class _Section:
    """A part of the text. What is long and less important is folded."""

    title: str
    lines: list[str] = field(default_factory=list)
    folded: bool = False

    def whole(self) -> str:
        return self.cut(len(self.lines))

    def cut(self, count: int) -> str:
        """The section with its first ``count`` lines."""
        lines = self.lines[:count]
        if count < len(self.lines):
            lines.append(f"\n… and {many(len(self.lines) - count, 'more line')}, left out here.")
        text = "\n".join(lines).strip("\n")
        if self.folded:
            return f"<details><summary>{self.title}</summary>\n\n{text}\n\n</details>"
        return f"### {self.title}\n\n{text}"


def as_markdown(report: Report) -> str:
    """The report, within what GitHub takes."""
    sections = [section for section in _sections(report) if section.lines]
    parts = ["## Chat Completions to Responses", *_totals(report)]
    closing = _closing(report)
    room = LIMIT - _RESERVE - _size("\n\n".join([*parts, closing]))
    for number, section in enumerate(sections):
        text = section.whole()
        if _size(text) + 2 > room:
            parts += [_fitted(section, room), _too_long([other.title for other in sections[number + 1 :]])]
            break
        parts.append(text)
        room -= _size(text) + 2
    return "\n\n".join([*(part for part in parts if part), closing]) + "\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _fitted(section: _Section, room: int) -> str:
    """As much of a section as there is room for; nothing if that is no line."""
    low, high = 0, len(section.lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _size(section.cut(middle)) + 2 <= room else (low, middle - 1)
    return section.cut(low) if low else ""


def _too_long(others: list[str]) -> str:
    also = f" Also left out: {', '.join(others)}." if others else ""
    return (
        f"> GitHub takes no more than {LIMIT:,} characters, so this is not all of it.{also}"
        " `migrate-responses report --format html` has everything."
    )


def _totals(report: Report) -> Iterator[str]:
    outcome = report.outcome
    counts = Counter(site.verdict for site in outcome.sites)
    held = sum(counts[verdict] for verdict in HELD)
    moved = sum(sum(responses_calls(path, report.sources.get(path, b"")).values()) for path in outcome.named)
    if not outcome.sites:
        yield f"No Chat Completions calls in {many(outcome.seen, 'Python file')}."
    rows = [
        ("ready", counts[Verdict.MIGRATED]),
        ("held back", held),
        ("of these with an unsafe fix (`--unsafe-fixes`)", counts[Verdict.UNSAFE]),
        ("left alone: not a plain OpenAI client", counts[Verdict.LEFT]),
        ("skipped, as a comment or an option asks", counts[Verdict.SKIPPED]),
        ("on Responses already", moved),
        ("in tests: no calls, but mocks and routes", counts[Verdict.DOUBLE]),
    ]
    lines = [f"| {what} | {count:,} |" for what, count in rows if count]
    if lines:
        yield "\n".join(["| Calls | |", "|---|--:|", *lines])


def _sections(report: Report) -> Iterator[_Section]:
    outcome = report.outcome
    if report.since is not None:
        yield from _since(report.since, report)
    yield _Section("What could not be processed", [f"- {_finding(one, report)}" for one in outcome.errors])
    held = [site for site in outcome.sites if site.verdict in HELD]
    yield _Section("What stays, and why", list(_by_reason(held, report)))
    yield _Section("What changes", list(_by_rule(report)))
    changed = [f"- {_changed(file, report)}" for file in outcome.changed]
    yield _Section(f"The {many(len(changed), 'file')} that would change", changed, folded=True)
    left = [site for site in outcome.sites if site.verdict in (Verdict.LEFT, Verdict.SKIPPED)]
    yield _Section("What is left alone", list(_by_reason(left, report)), folded=True)
    doubles = [site for site in outcome.sites if site.verdict is Verdict.DOUBLE]
    title = "Mocks and routes in tests, which go with their calls"
    alone = [site for site in doubles if not site.reasons]
    others = [site for site in doubles if site.reasons]
    lines = [*_partners(alone, report), *_by_reason(others, report, "place")]
    yield _Section(title, lines, folded=True)
    told = [(note.code, advice(note), note) for note in outcome.notes]
    yield _Section("Worth knowing", list(_grouped(told, "place", report)), folded=True)


def _by_reason(sites: Iterable[SiteResult], report: Report, noun: str = "call") -> Iterator[str]:
    """The calls under the first of their reasons."""
    return _grouped([(site.reasons[0].code, advice(site.reasons[0]), site) for site in sites], noun, report)


def _partners(doubles: Iterable[SiteResult], report: Report) -> Iterator[str]:
    """The mocks and routes under the calls that they go with."""
    groups: dict[str, list[SiteResult | Diagnostic]] = {}
    for site in doubles:
        groups.setdefault(goes_with(site, report.flows), []).append(site)
    for said, places in groups.items():
        yield f"- {prose(said)}:"
        yield from _by_file(places, report)


_Told = tuple[str, str, SiteResult | Diagnostic]  # a code, what is said, and of what


def _grouped(told: Iterable[_Told], noun: str, report: Report) -> Iterator[str]:
    """Lines for findings, the commonest rule first; what is said of several places is said once."""
    groups: dict[str, dict[str, list[SiteResult | Diagnostic]]] = {}
    for name, said, one in told:
        groups.setdefault(name, {}).setdefault(said, []).append(one)
    ordered = sorted(groups.items(), key=lambda item: (-sum(map(len, item[1].values())), item[0]))
    for name, sentences in ordered:
        yield f"\n**{_rule(name)}** · {many(sum(map(len, sentences.values())), noun)}\n"
        for said, places in sentences.items():
            if len(places) == 1:
                yield f"- {_place(places[0], report)}: {prose(said)}"
            else:
                yield f"- {prose(said)}:"
                yield from _by_file(places, report)


def _by_file(places: Iterable[SiteResult | Diagnostic], report: Report) -> Iterator[str]:
    """A line for each file: its only place in full, or the lines of several."""
    by_path: dict[str, list[SiteResult | Diagnostic]] = {}
    for one in places:
        by_path.setdefault(one.path, []).append(one)
    for path, inside in by_path.items():
        if len(inside) == 1:
            yield f"  - {_place(inside[0], report)}"
            continue
        name = report.in_repository(path)
        spots = ", ".join(f"{link(one.spot, name, one.line, report.links)}{_also(one)}" for one in inside)
        yield f"  - {link(path, name, 0, report.links)} at {spots}"


def _changed(file: FileResult, report: Report) -> str:
    added, removed = line_counts(file)
    return f"{link(file.path, report.in_repository(file.path), 0, report.links)} +{added} \u2212{removed}"


def _by_rule(report: Report) -> Iterator[str]:
    """How often each rule changes something, in the flows that can be migrated."""
    return _rules(
        Counter(
            place.code
            for flow in report.outcome.flows
            for place in flow.places
            if flow.verdict is Verdict.MIGRATED and place.role is Role.EDIT
        )
    )


def _rules(counts: Mapping[str, int]) -> Iterator[str]:
    """The rows of a table, the commonest rule first."""
    if counts:
        yield from ("| rule | | places |", "|---|---|--:|")
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"| [{name}]({about(name)}) | {prose(_title(name))} | {count:,} |"


def _since(since: Since, report: Report) -> Iterator[_Section]:
    lines = [f"- **{many(len(entries), 'call')} {words}**" for words, entries in since.groups if entries]
    lines = lines or ["Nothing has changed."]
    if since.options:
        names = ", ".join(map(code, since.options))
        lines.append(f"\nThe earlier report was made with other options: {names}.")
    label = code(since.label)
    yield _Section(f"Since {label}", lines)
    yield _Section("What the migration took", list(_rules(since.rules)))
    for words, entries in since.groups:
        gone = words in ("migrated", "gone")
        yield _Section(
            f"Since then {words}", [f"- {_entry(entry, report, gone)}" for entry in entries], folded=True
        )


def _entry(entry: Entry, report: Report, gone: bool) -> str:
    where = f"{entry.path}:{entry.line}"
    place = code(where) if gone else link(where, report.in_repository(entry.path), entry.line, report.links)
    because = f" ({', '.join(entry.codes)})" if entry.codes else ""
    return f"{place} {_within(entry.text, entry.scope)}{because}"


def _linked(one: SiteResult | Diagnostic, report: Report) -> str:
    return link(one.place, report.in_repository(one.path), one.line, report.links)


def _place(one: SiteResult | Diagnostic, report: Report) -> str:
    about = f" {_within(one.text, one.scope)}" if isinstance(one, SiteResult) else ""
    return f"{_linked(one, report)}{about}{_also(one)}"


def _within(text: str, scope: str) -> str:
    return f"{code(text)} in {code(scope)}" if scope else code(text)


def _also(one: SiteResult | Diagnostic) -> str:
    others = codes(one)[1:] if isinstance(one, SiteResult) else []
    return f" (also {', '.join(f'[{name}]({about(name)})' for name in others)})" if others else ""


def _finding(one: Diagnostic, report: Report) -> str:
    where = f"{_linked(one, report)}: " if one.path else ""
    return f"{where}[{one.code}]({about(one.code)}) {prose(advice(one))}"


def _rule(name: str) -> str:
    return f"[{name}]({about(name)}) {prose(_title(name))}"


def _title(name: str) -> str:
    """The title of a rule; empty for one that an older report names and that is no more."""
    try:
        return rule(name).title
    except KeyError:
        return ""


def _closing(report: Report) -> str:
    day = f" on {report.date}" if report.date else ""
    name = f" for {plain(report.name)}" if report.name else ""
    return f"---\nMade{name}{day} by [migrate-responses]({PROJECT}) {__version__}."

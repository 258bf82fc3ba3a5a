"""One flow on a terminal: its calls, where their values come from and go, and what holds it back.

For someone who argues with a TODO: every place is one that the analysis found, so a missing or a
surprising one shows where its knowledge ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from migrate_responses.results import Diagnostic, FlowPlace, Joint, Level, Placed, Role, SiteResult, Verdict
from migrate_responses.show.formats import Report
from migrate_responses.show.screen import Screen
from migrate_responses.show.words import shared

_VERDICTS = {
    Verdict.MIGRATED: ("can be migrated", "green"),
    Verdict.UNSAFE: ("held back; --unsafe-fixes would migrate it", "yellow"),
    Verdict.MANUAL: ("held back; a person must decide", "red"),
    Verdict.LEFT: ("left alone: not the OpenAI SDK alone", "cyan"),
    Verdict.SKIPPED: ("skipped, as asked", "cyan"),
    Verdict.DOUBLE: ("in a test; goes with the calls that it is about", "cyan"),
}
_PARTS = (
    ("Client", Role.CLIENT),
    ("What is sent", Role.REQUEST),
    ("Where the answer goes", Role.ANSWER),
    ("What changes too", Role.EDIT),
)
_HELD = "What holds it back"
_JOINTS, _JOINED = 12, 6  # joints, and calls of one, that are told
_NEAR = 5  # calls that are named to who asks about a line without any
_ENOUGH = 40  # places of one part; what is beyond is counted


@dataclass(frozen=True)
class Asked:
    """The line that somebody asks about: of a file, or of a cell (counted from 1) of a notebook."""

    path: str
    line: int
    cell: int | None = None

    def __str__(self) -> str:
        return f"line {self.line} of {'' if self.cell is None else f'cell {self.cell} of '}{self.path}"

    def is_in(self, one: Placed, more: int = 0) -> bool:
        """Whether ``one``, and as many lines after it as ``more`` says, is there."""
        if one.path != self.path or (self.cell is not None and one.cell is None):
            return False
        first = one.line
        if self.cell is not None and one.cell is not None:
            if one.cell.number != self.cell:
                return False
            first = one.cell.line
        return first <= self.line <= first + more


def explain(screen: Screen, report: Report, asked: Asked) -> bool:
    """Write every flow that the line has to do with; False if there is none."""
    numbers = _flows_at(report, asked)
    alone = [
        site
        for site in report.outcome.sites
        if not site.flow and asked.is_in(site)
        if not site.about or not set(site.about).issubset(numbers)
    ]
    for at, number in enumerate(numbers):
        if at:
            screen.line()
        _flow(screen, report, number, asked)
    for at, site in enumerate(alone):
        if numbers or at:
            screen.line()
        _calls(screen, [site])
        _told(screen, _HELD, site.reasons)
    return bool(numbers or alone)


def sites_at(report: Report, asked: Asked) -> list[SiteResult]:
    """The calls that the line has to do with."""
    numbers = set(_flows_at(report, asked))
    return [
        site for site in report.outcome.sites if (site.flow in numbers if site.flow else asked.is_in(site))
    ]


def nearest(report: Report, asked: Asked) -> list[str]:
    """Where calls are in the file, in order: the few that are closest to the line."""
    inside = [site for site in report.outcome.sites if site.path == asked.path]
    inside.sort(key=lambda site: _distance(site, asked))
    found = dict.fromkeys((site.line, site.row) for site in inside)
    return [row for _, row in sorted(list(found)[:_NEAR])]


def _distance(site: SiteResult, asked: Asked) -> tuple[int, int]:
    if asked.cell is None or site.cell is None:
        return abs(site.line - asked.line), site.line
    return abs(site.cell.number - asked.cell), abs(site.cell.line - asked.line)


def _flows_at(report: Report, asked: Asked) -> list[int]:
    """The flows with a call at the line, or else with any place there."""
    here = [site for site in report.outcome.sites if asked.is_in(site)]
    calls = dict.fromkeys(number for site in here for number in (site.flow, *site.about) if number)
    if calls:
        return list(calls)
    return [
        flow.number
        for flow in report.outcome.flows
        if any(asked.is_in(place, place.end_line - place.line) for place in flow.places)
    ]


def _flow(screen: Screen, report: Report, number: int, asked: Asked) -> None:
    sites = [site for site in report.outcome.sites if site.flow == number]
    places = report.flows[number].places
    _calls(screen, sites, asked)
    _joints(screen, report, report.flows[number].joints)
    told = {site.whole_row for site in sites}
    for title, role in _PARTS:
        part = [place for place in places if place.role is role]
        if role is Role.EDIT:  # the rest has been told
            part = [place for place in part if place.whole_row not in told]
        _part(screen, report, title, part)
        told.update(place.whole_row for place in part)
    _told(screen, _HELD, _distinct(reason for site in sites for reason in site.reasons))
    spoken = {(place.path, place.line, place.code) for place in places if place.role is Role.REASON}
    _told(
        screen,
        "Good to know",
        [note for note in report.outcome.notes if (note.path, note.line, note.code) in spoken],
    )


def _calls(screen: Screen, sites: Sequence[SiteResult], asked: Asked | None = None) -> None:
    for site in sites:
        words, style = _VERDICTS[site.verdict]
        mark = "  (asked for)" if len(sites) > 1 and asked is not None and asked.is_in(site) else ""
        screen.line((site.whole_row, "bold"), f"  {site.text}  ", (words, style), mark)


def _joints(screen: Screen, report: Report, joints: Sequence[Joint]) -> None:
    """What the calls share, each with the calls that it joins."""
    if not joints:
        return
    screen.line()
    screen.line(("What joins these calls", "bold"))
    scopes = {site.whole_row: site.scope for site in report.outcome.sites}
    for joint in joints[:_JOINTS]:
        place = joint.place
        text = report.line_at(place).strip()
        around = f"  in {joint.scope}" if joint.scope else ""
        screen.line(f"  {place.whole_row}  ", (text, "dim"), around)
        calls = dict.fromkeys(call.whole_row for call in joint.calls)
        lines = [f"{row}{_named(scopes.get(row))}" for row in calls]
        more = f" and {len(lines) - _JOINED} more" if len(lines) > _JOINED else ""
        screen.line(f"    {shared(joint)}: {', '.join(lines[:_JOINED])}{more}")
    if len(joints) > _JOINTS:
        screen.line(f"  and {len(joints) - _JOINTS} more")
    if len(joints) == 1 and joints[0].place.code.startswith("MR80"):
        screen.line("  With one of its own for each, they could move apart.")


def _named(scope: str | None) -> str:
    return f" ({scope})" if scope else ""


def _part(screen: Screen, report: Report, title: str, places: list[FlowPlace]) -> None:
    lines = {place.whole_row: place for place in reversed(places)}
    if not lines:
        return
    screen.line()
    screen.line((title, "bold"))
    shown = [*reversed(lines.items())][:_ENOUGH]
    width = max(len(row) for row, _ in shown)
    for row, place in shown:
        text = report.line_at(place).strip()
        room = screen.width - width - 5 if screen.stream.isatty() else len(text)
        cut = text if len(text) <= room else text[: max(room - 1, 1)] + "…"
        screen.line(f"  {row:{width}}  ", (cut, "dim"))
    if len(lines) > len(shown):
        screen.line(f"  and {len(lines) - len(shown)} more")


def _told(screen: Screen, title: str, diagnostics: Iterable[Diagnostic]) -> None:
    listed = list(diagnostics)
    if listed:
        screen.line()
        screen.line((title, "bold"))
    for one in listed:
        screen.line("  ", (one.code, "bold"), f" {one.whole_row}  {one.message}")
        if one.next_step and one.level is not Level.NOTE:
            screen.line(f"    {one.next_step}")


def _distinct(reasons: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    return iter(dict.fromkeys(reasons))

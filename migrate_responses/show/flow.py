"""One flow on a terminal: its calls, where their values come from and go, and what holds it back.

For someone who argues with a TODO: every place is one that the analysis found, so a missing or a
surprising one shows where its knowledge ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from migrate_responses.results import Diagnostic, FlowPlace, Joint, Level, Role, SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.show.formats import Report
from migrate_responses.show.screen import Screen

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
_ENOUGH = 40  # places of one part; what is beyond is counted


def explain(screen: Screen, report: Report, path: str, line: int) -> bool:
    """Write every flow that line ``line`` of ``path`` has to do with; False if there is none."""
    numbers = _flows_at(report, path, line)
    alone = [
        site
        for site in report.outcome.sites
        if not site.flow and not set(site.about).issubset(numbers or [0])
        if (site.path, site.line) == (path, line)
    ]
    for at, number in enumerate(numbers):
        if at:
            screen.line()
        _flow(screen, report, number, (path, line))
    for at, site in enumerate(alone):
        if numbers or at:
            screen.line()
        _calls(screen, [site])
        _told(screen, _HELD, site.reasons)
    return bool(numbers or alone)


def line_of(report: Report, path: str, cell: int, line: int) -> int:
    """The line of the file of a place in a notebook; 0 if nothing is known of it."""
    known: list[SiteResult | FlowPlace] = list(report.outcome.sites)
    known += [place for flow in report.outcome.flows for place in flow.places]
    for item in known:
        if item.path == path and item.cell is not None and (item.cell.number, item.cell.line) == (cell, line):
            return item.line
    return 0


def sites_at(report: Report, path: str, line: int) -> list[SiteResult]:
    """The calls that line ``line`` of ``path`` has to do with."""
    numbers = set(_flows_at(report, path, line))
    return [
        site
        for site in report.outcome.sites
        if (site.flow in numbers if site.flow else (site.path, site.line) == (path, line))
    ]


def nearest(report: Report, path: str, line: int) -> list[int]:
    """The lines of the calls in ``path``, the ones closest to ``line`` first."""
    lines = {site.line for site in report.outcome.sites if site.path == path}
    return sorted(lines, key=lambda other: (abs(other - line), other))


def _flows_at(report: Report, path: str, line: int) -> list[int]:
    """The flows with a call at the line, or else with any place there."""
    here = [site for site in report.outcome.sites if (site.path, site.line) == (path, line)]
    calls = dict.fromkeys(number for site in here for number in (site.flow, *site.about) if number)
    if calls:
        return list(calls)
    return [
        flow.number
        for flow in report.outcome.flows
        if any(place.path == path and place.line <= line <= place.end_line for place in flow.places)
    ]


def _flow(screen: Screen, report: Report, number: int, asked: tuple[str, int]) -> None:
    sites = [site for site in report.outcome.sites if site.flow == number]
    places = report.flows[number].places
    _calls(screen, sites, asked)
    _joints(screen, report, report.flows[number].joints)
    told = {(site.path, site.line) for site in sites}
    for title, role in _PARTS:
        part = [place for place in places if place.role is role]
        if role is Role.EDIT:  # the rest has been told
            part = [place for place in part if (place.path, place.line) not in told]
        _part(screen, report, title, part)
        told.update((place.path, place.line) for place in part)
    _told(screen, _HELD, _distinct(reason for site in sites for reason in site.reasons))
    spoken = {(place.path, place.line, place.code) for place in places if place.role is Role.REASON}
    _told(
        screen,
        "Good to know",
        [note for note in report.outcome.notes if (note.path, note.line, note.code) in spoken],
    )


def _calls(screen: Screen, sites: Sequence[SiteResult], asked: tuple[str, int] = ("", 0)) -> None:
    for site in sites:
        words, style = _VERDICTS[site.verdict]
        mark = "  (asked for)" if len(sites) > 1 and (site.path, site.line) == asked else ""
        screen.line((f"{site.path}:{site.line}", "bold"), f"  {site.text}  ", (words, style), mark)


def _joints(screen: Screen, report: Report, joints: Sequence[Joint]) -> None:
    """What the calls share, each with the calls that it joins."""
    if not joints:
        return
    screen.line()
    screen.line(("What joins these calls", "bold"))
    scopes = {(site.path, site.line): site.scope for site in report.outcome.sites}
    for joint in joints[:_JOINTS]:
        place = joint.place
        text = next((text.strip() for _, text in report.excerpt(place.path, place.line, place.line)), "")
        around = f"  in {joint.scope}" if joint.scope else ""
        screen.line(f"  {place.path}:{place.line}  ", (text, "dim"), around)
        calls = dict.fromkeys((call.path, call.line) for call in joint.calls)
        lines = [f"{path}:{line}{_named(scopes.get((path, line)))}" for path, line in calls]
        more = f" and {len(lines) - _JOINED} more" if len(lines) > _JOINED else ""
        what = f"{rule(place.code).title} ({place.code})" if place.code else "rewritten"
        screen.line(f"    {what}: {', '.join(lines[:_JOINED])}{more}")
    if len(joints) > _JOINTS:
        screen.line(f"  and {len(joints) - _JOINTS} more")
    if len(joints) == 1 and joints[0].place.code.startswith("MR80"):
        screen.line("  With one of its own for each, they could move apart.")


def _named(scope: str | None) -> str:
    return f" ({scope})" if scope else ""


def _part(screen: Screen, report: Report, title: str, places: list[FlowPlace]) -> None:
    lines = list(dict.fromkeys((place.path, place.line) for place in places))
    if not lines:
        return
    screen.line()
    screen.line((title, "bold"))
    shown = lines[:_ENOUGH]
    width = max(len(f"{path}:{line}") for path, line in shown)
    for path, line in shown:
        text = next((text.strip() for _, text in report.excerpt(path, line, line)), "")
        room = screen.width - width - 5 if screen.stream.isatty() else len(text)
        cut = text if len(text) <= room else text[: max(room - 1, 1)] + "…"
        screen.line(f"  {f'{path}:{line}':{width}}  ", (cut, "dim"))
    if len(lines) > len(shown):
        screen.line(f"  and {len(lines) - len(shown)} more")


def _told(screen: Screen, title: str, diagnostics: Iterable[Diagnostic]) -> None:
    listed = list(diagnostics)
    if listed:
        screen.line()
        screen.line((title, "bold"))
    for one in listed:
        place = f"{one.path}:{one.line}" if one.line else one.path
        screen.line("  ", (one.code, "bold"), f" {place}  {one.message}")
        if one.next_step and one.level is not Level.NOTE:
            screen.line(f"    {one.next_step}")


def _distinct(reasons: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    return iter(dict.fromkeys(reasons))

"""How the migration goes: the calls left at each earlier report, and what changed since the last of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from migrate_responses.results import Verdict
from migrate_responses.show.formats import Report
from migrate_responses.show.html_overview import OF_OPENAI
from migrate_responses.show.html_tags import Html, joined, raw, tag
from migrate_responses.show.since import Entry, Since
from migrate_responses.show.summary import many
from migrate_responses.show.words import STATES

_WIDTH, _HEIGHT = 640, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 16, 24, 28


@dataclass(frozen=True)
class Point:
    """The calls on Chat Completions at one time, and those on Responses."""

    label: str
    counts: Mapping[Verdict, int]
    moved: int

    @property
    def left(self) -> int:
        return sum(self.counts.values())


def trend(report: Report, moved: int) -> Html | None:
    """The plot and the changes, if there is an earlier report. ``moved``: the calls on Responses now."""
    if report.since is None:
        return None
    history = report.history or (report.since,)
    days = Counter([*(since.date for since in history), report.date])
    points = [_point(since, days[since.date] == 1) for since in history]
    sites = report.outcome.sites
    now = {verdict: sum(site.verdict is verdict for site in sites) for verdict in OF_OPENAI}
    points.append(Point(report.date or "now", now, moved))
    first, last = points[0], points[-1]
    change = last.left - first.left
    words = "as many as" if not change else f"{abs(change):,} {'fewer' if change < 0 else 'more'} than"
    return tag(
        "section",
        tag("h2", "Calls left", id="trend-title"),
        tag("p", f"{many(last.left, 'call')} on Chat Completions, {words} at {first.label}."),
        tag("figure", _plot(points), _table(points)),
        _changes(report.since),
        class_="trend",
        aria_labelledby="trend-title",
    )


def _point(since: Since, alone: bool) -> Point:
    """``alone`` tells whether no other point is of that day: a date says which one is meant then."""
    before = since.before
    counts = {verdict: before.get(verdict.value, 0) for verdict in OF_OPENAI}
    label = since.label
    if since.date:
        label = since.date if alone else f"{since.date} {since.label}"
    return Point(label, counts, before.get("on_responses", 0))


def _plot(points: Sequence[Point]) -> Html:
    """Areas on top of each other: what is held back at the bottom, since it stays longest."""
    most = max(1, *(point.left for point in points))
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(points) - 1)
    xs = [_LEFT + step * number for number in range(len(points))]

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / most)

    parts: list[Html] = []
    for value in dict.fromkeys((0, most // 2, most)):
        parts.append(_line(_LEFT, y(value), _WIDTH - _RIGHT, y(value)))
        parts.append(_text(_LEFT - 8, y(value) + 4, f"{value:,}", "end"))
    floor = [0] * len(points)
    for verdict in reversed(OF_OPENAI):
        roof = [low + point.counts[verdict] for low, point in zip(floor, points, strict=True)]
        outline = [*zip(xs, map(y, roof), strict=True), *reversed([*zip(xs, map(y, floor), strict=True)])]
        parts.append(
            tag("polygon", points=" ".join(f"{x:.1f},{at:.1f}" for x, at in outline), class_=verdict.value)
        )
        floor = roof
    for number, (x, point) in enumerate(zip(xs, points, strict=True)):
        side = "start" if number == 0 else "end" if number == len(points) - 1 else "middle"
        between = " between" if side == "middle" else ""
        parts.append(tag("circle", cx=f"{x:.1f}", cy=f"{y(point.left):.1f}", r=3))
        parts.append(_text(x, y(point.left) - 8, f"{point.left:,}", side, f"total{between}"))
        if len(points) <= 8 or number in (0, len(points) - 1):
            parts.append(_text(x, _HEIGHT - 8, _short(point.label), side, between.strip() or None))
    told = "; ".join(f"{point.label}: {point.left}" for point in points)
    shape = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}"}
    return tag(
        "svg", parts, **shape, role="img", aria_label=f"Calls on Chat Completions. {told}", class_="plot"
    )


def _line(x1: float, y1: float, x2: float, y2: float) -> Html:
    return tag("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}")


def _text(x: float, y: float, words: str, anchor: str, kind: str | None = None) -> Html:
    return tag("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)


def _short(label: str) -> str:
    """A label that fits under the plot: the end of a path tells more than its beginning."""
    return label if len(label) <= 16 else f"…{label[-15:]}"


def _table(points: Sequence[Point]) -> Html:
    heads = ("", *(STATES[verdict] for verdict in OF_OPENAI), "left", "on Responses")
    rows = (
        tag(
            "tr",
            tag("th", point.label, scope="row"),
            [tag("td", f"{point.counts[verdict]:,}") for verdict in OF_OPENAI],
            tag("td", f"{point.left:,}"),
            tag("td", f"{point.moved:,}"),
        )
        for point in points
    )
    head = tag("thead", tag("tr", (tag("th", head, scope="col") if head else tag("td") for head in heads)))
    return tag(
        "details", tag("summary", "In figures"), tag("table", head, tag("tbody", rows)), class_="figures"
    )


def _changes(since: Since) -> Html:
    """What became of which calls, in groups that open."""
    groups = [
        tag(
            "details",
            tag("summary", tag("b", f"{len(entries):,}"), f" {words}"),
            tag("ul", (tag("li", _entry(entry)) for entry in entries)),
        )
        for words, entries in since.groups
        if entries
    ]
    heading = tag("h3", "Since ", since.date or since.label)
    return tag("div", heading, groups or tag("p", "Nothing has changed."), class_="changes")


def _entry(entry: Entry) -> Html:
    return joined(
        (
            tag("span", f"{entry.path}:{entry.line}", class_="path"),
            tag("span", entry.scope, class_="scope") if entry.scope else None,
            raw(" "),
            tag("span", " ".join(entry.codes), class_="codes") if entry.codes else None,
        )
    )

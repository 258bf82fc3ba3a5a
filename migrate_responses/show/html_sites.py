"""The list of calls, file by file, and the diffs that the page draws when a call is opened."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import quote, urlencode

from migrate_responses.results import Diagnostic, FlowResult, Role, SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.show.formats import Report
from migrate_responses.show.html_diff import FileDiff
from migrate_responses.show.html_tags import Html, joined, prose, raw, tag
from migrate_responses.show.identity import identified
from migrate_responses.show.summary import many
from migrate_responses.show.words import STATES

_LONGEST = 160  # characters of a source line
_MOST = 8  # other files, and other calls, to name for one call


@dataclass(frozen=True)
class Sites:
    """The files of a report that have calls in them or change, and what is to be shown of each."""

    report: Report

    @cached_property
    def by_path(self) -> dict[str, list[SiteResult]]:
        """The calls of each file, in order; none for a file that changes because of calls elsewhere."""
        outcome = self.report.outcome
        paths = {site.path for site in outcome.sites} | {file.path for file in outcome.changed}
        found: dict[str, list[SiteResult]] = {path: [] for path in sorted(paths)}
        for site in sorted(outcome.sites, key=lambda site: (site.line, site.column)):
            found[site.path].append(site)
        return found

    @cached_property
    def _diffs(self) -> dict[str, FileDiff]:
        changed = {file.path: (file.before, file.after) for file in self.report.outcome.changed}
        sources = self.report.sources
        same = {path: (sources[path], sources[path]) for path in self.by_path if path in sources}
        return {path: FileDiff(path, *texts) for path, texts in {**same, **changed}.items()}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self.by_path)}

    @cached_property
    def _keys(self) -> dict[int, str]:
        """A name for each call that it keeps when the code around it changes."""
        return {id(site): identity.key[:12] for site, identity in identified(self.report.outcome.sites)}

    @cached_property
    def _flows(self) -> dict[int, list[SiteResult]]:
        found: dict[int, list[SiteResult]] = {}
        for site in self.report.outcome.sites:
            if site.flow:
                found.setdefault(site.flow, []).append(site)
        return found

    def render(self) -> Html:
        """The list."""
        return joined(self._file(path, sites) for path, sites in self.by_path.items())

    def data(self) -> Html:
        """The diffs, for :meth:`render`'s references to them: call it afterwards."""
        return joined(
            tag(
                "script",
                embedded([hunk.data() for hunk in diff.hunks]),
                type="application/json",
                id=f"f{number}",
            )
            for path, number in self._numbers.items()
            if (diff := self._diffs.get(path)) is not None and diff.hunks
        )

    def _file(self, path: str, sites: Sequence[SiteResult]) -> Html:
        owners = self.report.owners.get(path, ())
        folder, _, name = path.rpartition("/")
        link = tag("a", name, href=f"#{urlencode({'file': path}, errors='surrogateescape')}")
        heading = tag("h3", tag("span", f"{folder}/", class_="folder") if folder else None, link)
        head = tag(
            "header",
            heading,
            [tag("span", owner, class_="owner") for owner in owners],
            tag("span", tally(site.verdict for site in sites), class_="tally"),
        )
        rows = tag("ol", (tag("li", self._site(site)) for site in sites)) if sites else None
        number = self._numbers[path]
        found = joined([head, rows, self._whole(path)])
        return tag(
            "section", found, class_="file", data_path=path, data_owners=" ".join(owners), data_file=number
        )

    def _whole(self, path: str) -> Html | None:
        diff = self._diffs.get(path)
        if diff is None or not diff.added + diff.removed:
            return None
        hunks = ",".join(str(number) for number, hunk in enumerate(diff.hunks) if hunk.changes)
        counts = (
            tag("span", f"+{diff.added}", class_="plus"),
            " ",
            tag("span", f"\u2212{diff.removed}", class_="minus"),
        )
        summary = tag("summary", "Diff of the file ", counts)
        return tag("details", summary, class_="whole", data_diff=f"{self._numbers[path]}:{hunks}")

    def _site(self, site: SiteResult) -> Html:
        codes = list(dict.fromkeys(reason.code for reason in site.reasons))
        summary = tag(
            "summary",
            tag("span", _number(site), class_="line"),
            tag("span", tag("code", self._source(site)), self._scope(site), class_="what"),
            tag("span", " ".join(codes), class_="codes") if codes else None,
            tag("span", STATES[site.verdict], class_=f"badge {site.verdict.value}"),
        )
        return tag(
            "details",
            summary,
            tag("div", self._told(site), class_="body"),
            class_="site",
            data_at=self._keys[id(site)],
            data_verdict=site.verdict.value,
            data_rules=" ".join(codes),
            data_line=site.line,
            data_diff=" ".join(self._parts(site)),
        )

    def _told(self, site: SiteResult) -> Iterator[Html | None]:
        yield self._reasons(site)
        yield self._applied(site)
        yield self._together(site)
        if self.report.links.startswith(("https://", "http://")):
            yield tag(
                "p", tag("a", "In the repository", href=self._address(site), rel="noreferrer"), class_="there"
            )

    def _address(self, site: SiteResult) -> str:
        """Where the line is on the web, if the report is made where that is known."""
        path = quote(os.fsencode(self.report.in_repository(site.path)), safe="/")
        return f"{self.report.links}{path}" + (f"#L{site.line}" if site.cell is None else "")

    def _source(self, site: SiteResult) -> str:
        """The line of the call as written, or the callee if the line is not at hand."""
        if site.cell is not None:  # the line of the file is JSON
            return site.text
        lines = self.report.excerpt(site.path, site.line, site.line)
        text = lines[0][1].strip() if lines else site.text
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    @staticmethod
    def _scope(site: SiteResult) -> Html | None:
        return tag("span", site.scope, class_="scope") if site.scope else None

    def _reasons(self, site: SiteResult) -> Html | None:
        """Why a call is held back. What is said of several places is said once."""
        alike: dict[tuple[str, str, str], list[Diagnostic]] = {}
        for reason in site.reasons:
            alike.setdefault((reason.code, reason.message, reason.next_step), []).append(reason)
        items = (tag("li", diagnosis(group, site.path)) for group in alike.values())
        return tag("ul", items, class_="reasons") if alike else None

    def _applied(self, site: SiteResult) -> Html | None:
        """The rules behind the edits of a call that can be migrated."""
        codes = applied(self.report, site)
        if not codes:
            return None
        links = _enumerated(joined((rule_link(code), " ", rule(code).title)) for code in codes)
        return tag("p", tag("b", "Applies"), " ", links, class_="applied")

    def _together(self, site: SiteResult) -> Html | None:
        """The other calls of the flow; those that a mock or a route is about."""
        numbers = site.about or (site.flow,)
        others = [other for number in numbers for other in self._flows.get(number, ()) if other is not site]
        if not others:
            return None
        links = [self._link(other, site.path) for other in others[:_MOST]]
        more = f" and {many(len(others) - _MOST, 'more call')}" if len(others) > _MOST else ""
        words = "Goes with the call at " if site.about else "Moves together with "
        return tag("p", words, _enumerated(links), more, ".", class_="together")

    def _link(self, site: SiteResult, seen_from: str) -> Html:
        words = f"line {_number(site)}" if site.path == seen_from else f"{site.path}:{_number(site)}"
        return tag("a", words, href="#", class_="at", data_at=self._keys[id(site)])

    def _parts(self, site: SiteResult) -> Iterator[str]:
        """``file:view,view`` for each file that shows the flow of ``site``, its own first."""
        lines: dict[str, set[int]] = {}
        for number in site.about or (site.flow,):
            if number in self.report.flows:
                for path, found in _lines(self.report.flows[number]).items():
                    lines.setdefault(path, set()).update(found)
        here = lines.pop(site.path, set())
        own = self._diffs.get(site.path)
        if own is not None:
            reasons = (reason.line for reason in site.reasons if reason.path == site.path)
            yield f"{self._numbers[site.path]}:{','.join(own.views(here, [site.line, *reasons]))}"
        others = (
            (path, self._diffs[path].views(found)) for path, found in lines.items() if path in self._diffs
        )
        for path, views in islice((one for one in others if one[1]), _MOST):
            yield f"{self._numbers[path]}:{','.join(views)}"


def applied(report: Report, site: SiteResult) -> list[str]:
    """The codes of the rules that change something for ``site`` if it can be migrated."""
    flow = report.flows.get(site.flow)
    if flow is None or site.verdict is not Verdict.MIGRATED:
        return []
    return sorted({place.code for place in flow.places if place.role is Role.EDIT and place.code})


def diagnosis(alike: Sequence[Diagnostic], seen_from: str = "") -> Html:
    """What some diagnostics that differ by place alone say: rule, places, reason, next step."""
    first = alike[0]
    step = first.next_step
    if step.startswith("migrate-responses explain"):  # the code beside it leads there
        step = ""
    places = ", ".join(dict.fromkeys(filter(None, (_place(one, seen_from) for one in alike))))
    return joined(
        (
            rule_link(first.code),
            " ",
            tag("b", rule(first.code).title),
            tag("span", places, class_="place") if places else None,
            tag("span", prose(_sentence(first.message)), class_="message"),
            tag("span", tag("b", "Next"), " ", prose(_sentence(step)), class_="step") if step else None,
        )
    )


def _number(site: SiteResult) -> str:
    """The line of a call; in a notebook, the cell and the line in it."""
    return f"[{site.cell.number}]:{site.cell.line}" if site.cell else str(site.line)


def _place(diagnostic: Diagnostic, seen_from: str) -> str:
    """Where it is: the line alone in the file ``seen_from``."""
    cell = diagnostic.cell
    if cell is not None:
        line = f"cell {cell.number}, line {cell.line}"
    else:
        line = f"line {diagnostic.line}" if diagnostic.line else ""
    if diagnostic.path == seen_from:
        return line
    return (
        f"{diagnostic.path}:{diagnostic.line}" if line and not cell else f"{diagnostic.path} {line}".strip()
    )


def rule_link(code: str) -> Html:
    """A link to the text of a rule on this page."""
    return tag("a", code, href=f"#{code}", class_="rule")


def tally(verdicts: Iterable[Verdict]) -> str:
    """``3 ready, 1 held back``."""
    counts = Counter(verdicts)
    return ", ".join(f"{counts[verdict]:,} {STATES[verdict]}" for verdict in Verdict if counts[verdict])


def embedded(value: object) -> Html:
    """``value`` as JSON that cannot end the script element around it, nor begin a comment in it."""
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":  # they are in strings alone
        written = written.replace(character, f"\\u{ord(character):04x}")
    return raw(written)


def _lines(flow: FlowResult) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for place in flow.places:
        if place.role is not Role.CLIENT:
            found.setdefault(place.path, set()).update(range(place.line, place.end_line + 1))
    return found


def _enumerated(items: Iterable[Html]) -> Html:
    return joined((", " if at else "", item) for at, item in enumerate(items))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."

"""The inventory on a terminal: every site, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping

from migrate_responses.results import FlowResult, SiteResult, Verdict
from migrate_responses.session import Outcome
from migrate_responses.show.screen import Screen
from migrate_responses.show.since import Since
from migrate_responses.show.summary import many
from migrate_responses.show.words import STATES, codes, goes_with

_STYLES = {
    Verdict.MIGRATED: "green",
    Verdict.UNSAFE: "yellow",
    Verdict.MANUAL: "red",
    Verdict.LEFT: "cyan",
    Verdict.SKIPPED: "cyan",
    Verdict.DOUBLE: "cyan",
}


def as_table(screen: Screen, result: Outcome) -> None:
    """Every site on a line, file by file, and below it why it does not move."""
    flows = {flow.number: flow for flow in result.flows}
    path = None
    width = max((len(site.spot) for site in result.sites), default=0)
    room = max((len(STATES[site.verdict]) for site in result.sites), default=0)
    for site in sorted(result.sites, key=lambda site: (site.path, site.line, site.column)):
        if site.path != path:
            path = site.path
            screen.line((path, "bold"))
        verdict = (f"{STATES[site.verdict]:{room}}", _STYLES[site.verdict])
        margin = max(width, 8) + 4
        screen.line(f"  {site.spot:>{max(width, 8)}}  ", verdict, f"  {site.text}", hang=margin)
        why = _why(site, flows)
        if why:
            screen.line(" " * margin, why, hang=margin)


def _why(site: SiteResult, flows: Mapping[int, FlowResult]) -> str:
    """The first of the reasons and the codes of the others; of a mock what it goes with."""
    if not site.reasons:
        return goes_with(site, flows) if site.verdict is Verdict.DOUBLE else ""
    first, *others = codes(site)
    also = f"; also {', '.join(others)}" if others else ""
    reason = site.reasons[0]
    where = f" ({reason.whole_row})" if reason.path not in ("", site.path) else ""
    return f"{first} {reason.message.rstrip('.')}{where}{also}"


def as_comparison(screen: Screen, since: Since) -> None:
    """What changed since an earlier report, in groups."""
    screen.line()
    screen.line((f"Since {since.label}", "bold"))
    if since.options:
        screen.line(f"  Made with other options: {', '.join(since.options)}")
    for words, entries in since.groups:
        if not entries:
            continue
        screen.line("  ", (f"{many(len(entries), 'call')} {words}", _GROUPS[words]))
        for entry in entries:
            within = f" in {entry.scope}" if entry.scope else ""
            codes = f"  {' '.join(entry.codes)}" if entry.codes else ""
            screen.line(f"    {entry.path}:{entry.line}  {entry.text}{within}{codes}")
    if not any(entries for _, entries in since.groups):
        screen.line("  Nothing has changed.")


_GROUPS = {
    "migrated": "green",
    "can be migrated now": "green",
    "newly held back": "red",
    "new": "yellow",
    "gone": "cyan",
}

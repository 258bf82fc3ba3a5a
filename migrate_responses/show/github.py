"""Annotations for GitHub Actions: one workflow command a line.

See https://docs.github.com/actions/reference/workflow-commands-for-github-actions. GitHub shows the
first ten of each level in a step, so what needs a person comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate_responses.results import Diagnostic, SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.show.words import HELD, advice, apply, codes
from migrate_responses.visible import visible

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report


def as_github(report: Report) -> str:
    """Errors, then calls that are held back, then those that can be migrated, then notes."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: Report) -> Iterator[str]:
    outcome = report.outcome
    for error in outcome.errors:
        yield _diagnostic("error", error, report)
    for site in outcome.sites:
        if site.verdict in HELD:
            first, others = site.reasons[0], codes(site)[1:]
            more = f" (also {', '.join(others)})" if others else ""
            title = f"{first.code} {rule(first.code).title}"
            yield _command("warning", site, report, title, f"{site.text} stays: {advice(first)}{more}")
    for site in outcome.sites:
        if site.verdict is Verdict.MIGRATED:
            title = "Can be migrated to the Responses API"
            yield _command("notice", site, report, title, f"{site.text}: run {apply(site)}")
    for note in outcome.notes:
        yield _diagnostic("notice", note, report)


def _diagnostic(level: str, one: Diagnostic, report: Report) -> str:
    return _command(level, one, report, f"{one.code} {rule(one.code).title}", advice(one))


def _command(level: str, place: SiteResult | Diagnostic, report: Report, title: str, text: str) -> str:
    given = {"file": report.in_repository(place.path)} if place.path else {}
    if place.line:
        given |= {"line": str(place.line), "col": str(max(place.column, 1))}
    given["title"] = title
    properties = ",".join(f"{name}={_property(value)}" for name, value in given.items())
    return f"::{level} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

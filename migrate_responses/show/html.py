"""The report as one page that needs nothing else: no network, no server, no other file.

What it shows is escaped by :mod:`html_tags`; its script and style are the only ones that its policy lets
run, known by their hashes, so that nothing could act even if something were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib.resources import files

from migrate_responses.results import Diagnostic
from migrate_responses.rules import rule
from migrate_responses.show import html_overview as overview
from migrate_responses.show.formats import Report
from migrate_responses.show.html_code import code
from migrate_responses.show.html_sites import Sites, applied, diagnosis
from migrate_responses.show.html_tags import Html, prose, raw, tag
from migrate_responses.show.html_trend import trend
from migrate_responses.show.moved import responses_calls
from migrate_responses.show.rules_page import LEVELS
from migrate_responses.show.summary import many

STYLES = ("page.css", "list.css", "diff.css")
SCRIPTS = ("filter.js", "diff.js", "page.js")


def as_html(report: Report) -> str:
    """``report`` as an HTML document."""
    style, script = _packaged(STYLES), _packaged(SCRIPTS)
    sites = Sites(report)
    content = _main(report, sites)
    body = tag(
        "body",
        tag("a", "To the calls", href="#calls", class_="skip"),
        overview.head(report, _part("controls.html")),
        content,
        _part("dialogs.html"),
        sites.data(),
        tag("script", raw(script)),
    )
    document = tag("html", _head(report, style, script), body, lang="en")
    # ASCII alone, so that it can be written to any stream; style and script have nothing else in them.
    return f"<!doctype html>\n{document}\n".encode("ascii", "xmlcharrefreplace").decode()


def _head(report: Report, style: str, script: str) -> Html:
    policy = (
        "default-src 'none'",
        f"script-src '{_hash(script)}'",
        f"style-src '{_hash(style)}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",  # no text becomes markup or code, not even by the own script
        "trusted-types 'none'",
    )
    meta = tag("meta", charset="utf-8")
    secure = tag("meta", http_equiv="Content-Security-Policy", content="; ".join(policy))
    return tag(
        "head",
        meta,
        secure,
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", overview.title(report)),
        tag("style", raw(style)),
    )


def _main(report: Report, sites: Sites) -> Html:
    outcome = report.outcome
    moved = sum(sum(responses_calls(path, report.sources.get(path, b"")).values()) for path in outcome.named)
    calls = None
    if outcome.sites or outcome.changed:
        calls = tag(
            "div",
            tag("aside", overview.filters(report), class_="filters", id="filters", aria_label="Filters"),
            tag(
                "section",
                _part("toolbar.html"),
                tag("div", sites.render(), id="list"),
                class_="calls",
                id="calls",
                aria_label="Calls",
                tabindex=-1,
            ),
            class_="columns",
        )
    return tag(
        "main",
        _listing("errors", "Not processed", outcome.errors, "file", is_open=True),
        overview.progress(report, moved),
        trend(report, moved),
        overview.steps(report),
        calls,
        _listing("notes", "Notes", outcome.notes, "note"),
        _rules(report),
    )


def _listing(
    name: str, heading: str, found: Iterable[Diagnostic], noun: str, *, is_open: bool = False
) -> Html | None:
    """Diagnostics that are about no call."""
    items = [tag("li", diagnosis([diagnostic])) for diagnostic in found]
    if not items:
        return None
    summary = tag("summary", tag("h2", heading, " ", tag("small", many(len(items), noun))))
    return tag(
        "details", summary, tag("ul", items, class_="reasons"), class_="listing", id=name, open=is_open
    )


def _rules(report: Report) -> Html | None:
    """The text of every rule that the page names."""
    outcome = report.outcome
    named = [*outcome.notes, *outcome.errors, *(reason for site in outcome.sites for reason in site.reasons)]
    codes = sorted(
        {diagnostic.code for diagnostic in named}.union(*(applied(report, site) for site in outcome.sites))
    )
    if not codes:
        return None
    return tag(
        "section", tag("h2", "Rules in this report"), map(_rule, codes), class_="rules", aria_label="Rules"
    )


def _rule(name: str) -> Html:
    known = rule(name)
    examples = (
        tag("div", tag("p", heading, class_="label"), code(text))
        for heading, text in (("Before", known.before), ("After", known.after))
        if text
    )
    source = known.source
    link = source.startswith("https://") and " " not in source
    return tag(
        "details",
        tag("summary", tag("h3", tag("b", known.code), " ", known.title)),
        tag("p", LEVELS[known.level], class_="level"),
        tag("p", prose(known.explanation)),
        tag("div", examples, class_="examples"),
        tag(
            "p",
            "Source: ",
            tag("a", source, href=source, rel="noreferrer") if link else source,
            class_="source",
        ),
        class_="rule",
        id=known.code,
    )


def _part(name: str) -> Html:
    return raw(_packaged((name,)).strip())


def _packaged(names: Iterable[str]) -> str:
    folder = files("migrate_responses.show") / "page"
    return "\n".join((folder / name).read_text("utf-8") for name in names)


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"

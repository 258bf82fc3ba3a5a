"""The inventory: every site, what becomes of it and why, as a table or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from migrate_responses import __version__
from migrate_responses.results import Diagnostic, Verdict
from migrate_responses.rules import rule
from migrate_responses.session import Outcome
from migrate_responses.show.screen import Screen

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report

JSON_VERSION = 1
"""Raised when a field is removed or changes its meaning, not when one is added. See docs/json.md."""

_WORDS = {Verdict.MIGRATED: "ready"}  # nothing has been written yet
_STYLES = {
    Verdict.MIGRATED: "green",
    Verdict.UNSAFE: "yellow",
    Verdict.MANUAL: "red",
    Verdict.LEFT: "cyan",
    Verdict.SKIPPED: "cyan",
}


def as_table(screen: Screen, result: Outcome) -> None:
    """Every site on a line, file by file."""
    path = None
    for site in sorted(result.sites, key=lambda site: (site.path, site.line, site.column)):
        if site.path != path:
            path = site.path
            screen.line((path, "bold"))
        codes = " ".join(dict.fromkeys(reason.code for reason in site.reasons))
        where = f"{site.line}:{site.column}"
        verdict = (f"{_WORDS.get(site.verdict, site.verdict.value):8}", _STYLES[site.verdict])
        screen.line(f"  {where:>8}  ", verdict, f"  {site.text}{'  ' if codes else ''}{codes}")


def as_json(report: Report) -> str:
    """The JSON document described in docs/json.md."""
    import json

    result = report.outcome
    document: dict[str, Any] = {
        "version": JSON_VERSION,
        "tool": {"name": "migrate-responses", "version": __version__},
        "summary": {
            "files_seen": result.seen,
            "files_read": result.read,
            "files_changed": len(result.changed),
            "sites": len(result.sites),
            **{verdict.value: sum(site.verdict is verdict for site in result.sites) for verdict in Verdict},
            "errors": len(result.errors),
        },
        "sites": [
            {
                "path": site.path,
                "line": site.line,
                "column": site.column,
                "text": site.text,
                "verdict": site.verdict.value,
                "flow": site.flow,
                "reasons": [_diagnostic(reason) for reason in site.reasons],
            }
            for site in result.sites
        ],
        "changed": [file.path for file in result.changed],
        "notes": [_diagnostic(note) for note in result.notes],
        "errors": [_diagnostic(error) for error in result.errors],
    }
    # ASCII alone, so that a path with odd bytes in it can be written to any stream.
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "title": rule(diagnostic.code).title,
        "level": diagnostic.level.value,
        "path": diagnostic.path,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "message": diagnostic.message,
        "next_step": diagnostic.next_step,
    }

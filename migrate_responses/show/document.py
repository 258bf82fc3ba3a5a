"""The report as JSON: ``schemas/report.json`` is its form, docs/json.md its description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from migrate_responses import __version__
from migrate_responses.results import Diagnostic, FileResult, FlowResult, SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.secrets import masked
from migrate_responses.show.identity import Identity, identified
from migrate_responses.show.links import about
from migrate_responses.show.moved import responses_calls
from migrate_responses.show.patch import line_counts

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report
    from migrate_responses.show.since import Entry, Since

JSON_VERSION = 1
"""Raised when a field is removed or changes its meaning, not when one is added. See docs/json.md."""


def as_json(report: Report) -> str:
    """The JSON document described in docs/json.md."""
    import json

    # ASCII alone, so that a path with odd bytes in it can be written to any stream.
    return json.dumps(document(report), indent=2, ensure_ascii=True) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The same as plain data, for whoever compares or draws it."""
    result = report.outcome
    files = _files(report)
    size = Counter(site.flow for site in result.sites)
    return {
        "version": JSON_VERSION,
        "tool": {"name": "migrate-responses", "version": __version__},
        "project": report.name,
        "date": report.date,
        "options": _options(report),
        "summary": {
            "files_seen": result.seen,
            "files_read": result.read,
            "files_changed": len(result.changed),
            "sites": len(result.sites),
            **_verdicts(result.sites),
            "on_responses": sum(sum(file["on_responses"].values()) for file in files),
            "errors": len(result.errors),
        },
        "files": files,
        "flows": [_flow(flow, size[flow.number]) for flow in result.flows],
        "sites": [_site(site, identity) for site, identity in identified(result.sites)],
        "changed": [file.path for file in result.changed],
        "notes": [_diagnostic(note) for note in result.notes],
        "errors": [_diagnostic(error) for error in result.errors],
        "rules": _rules(report),
        "since": _since(report.since) if report.since else None,
    }


def _files(report: Report) -> list[dict[str, Any]]:
    """The named files that have something to tell, with their figures, in order."""
    result = report.outcome
    sites: dict[str, list[SiteResult]] = {}
    for site in result.sites:
        sites.setdefault(site.path, []).append(site)
    changed = {file.path: file for file in result.changed}
    paths = result.named | sites.keys()
    moved = {path: responses_calls(path, report.sources.get(path, b"")) for path in paths}
    told = {*sites, *changed, *(error.path for error in result.errors if error.path)}
    told.update(path for path, calls in moved.items() if calls)
    return [
        {
            "path": path,
            "owners": list(report.owners.get(path, ())),
            **_verdicts(sites.get(path, ())),
            "on_responses": moved.get(path, {}),
            **_lines(changed.get(path)),
        }
        for path in sorted(told)
    ]


def _lines(file: FileResult | None) -> dict[str, int]:
    added, removed = line_counts(file) if file is not None else (0, 0)
    return {"added": added, "removed": removed}


def _verdicts(sites: Iterable[SiteResult]) -> dict[str, int]:
    found = [site.verdict for site in sites]
    return {verdict.value: found.count(verdict) for verdict in Verdict}


def _flow(flow: FlowResult, size: int) -> dict[str, Any]:
    return {
        "number": flow.number,
        "verdict": flow.verdict.value,
        "sites": size,
        "places": [{**asdict(place), "role": place.role.value} for place in flow.places],
    }


def _site(site: SiteResult, identity: Identity) -> dict[str, Any]:
    return {
        "key": identity.key,
        "path": site.path,
        "line": site.line,
        "column": site.column,
        "cell": asdict(site.cell) if site.cell else None,
        "scope": site.scope,
        "text": site.text,
        "verdict": site.verdict.value,
        "flow": site.flow,
        "about": list(site.about),
        "reasons": [_diagnostic(reason) for reason in site.reasons],
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "title": rule(diagnostic.code).title,
        "level": diagnostic.level.value,
        "path": diagnostic.path,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "cell": asdict(diagnostic.cell) if diagnostic.cell else None,
        "message": diagnostic.message,
        "next_step": diagnostic.next_step,
    }


def _since(since: Since) -> dict[str, Any]:
    groups = {name: getattr(since, name) for name in ("migrated", "gone", "new", "held", "freed")}
    return {
        "label": since.label,
        "before": dict(since.before),
        "options": list(since.options),
        "rules": dict(sorted(since.rules.items())),
        **{name: [_entry(entry) for entry in entries] for name, entries in groups.items()},
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {**asdict(entry), "verdict": entry.verdict.value, "codes": list(entry.codes)}


def _rules(report: Report) -> dict[str, Any]:
    """The rules behind what is reported, so that a reader needs no other source."""
    result = report.outcome
    codes = {reason.code for site in result.sites for reason in site.reasons}
    codes.update(one.code for one in (*result.notes, *result.errors))
    codes.update(place.code for flow in result.flows for place in flow.places if place.code)
    return {code: _rule(code) for code in sorted(codes)}


def _rule(code: str) -> Mapping[str, str]:
    known = rule(code)
    return {
        "title": known.title,
        "level": known.level.value,
        "explanation": known.explanation,
        "before": known.before,
        "after": known.after,
        "source": known.source,
        "url": about(code),
    }


def _options(report: Report) -> dict[str, Any]:
    options = report.options
    given: dict[str, object] = {}
    for holder in (options.settings, options):
        given |= {item.name: getattr(holder, item.name) for item in fields(holder)}
    # Not chosen but worked out, and where the choices stand.
    left = {"settings", "packaged", "file_ignores", "file", "written", "given"}
    return {name: _plain(value) for name, value in given.items() if name not in left}


def _plain(value: object) -> object:
    """``value`` in terms of JSON; sets in order, keys masked."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, frozenset):
        return [_plain(item) for item in sorted(value)]
    return [_plain(item) for item in value] if isinstance(value, tuple) else value

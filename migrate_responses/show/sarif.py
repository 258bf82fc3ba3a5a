"""SARIF 2.1.0, as code scanning services read it.

One result for each call that is still to be migrated, with its fix where there is one, and one for each
note. Calls of other SDKs and suppressed ones are no results: nothing has to be done about them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from migrate_responses import __version__
from migrate_responses.results import Diagnostic, Level, SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.show.fixes import Fix, by_flow, fixes
from migrate_responses.show.identity import Identity, identified
from migrate_responses.show.links import PROJECT, about
from migrate_responses.show.words import HELD, advice, apply, codes
from migrate_responses.visible import visible

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
READY = "MR001"  # the rule of a call that can be migrated

# What GitHub takes: https://docs.github.com/code-security/code-scanning/troubleshooting-sarif-uploads
MOST_RESULTS = 25_000
MOST_LOCATIONS = 100

AROUND = 2  # lines shown before and after a place

_LEVELS = {Level.SAFE: "warning", Level.UNSAFE: "warning", Level.MANUAL: "warning", Level.NOTE: "note"}


def as_sarif(report: Report) -> str:
    """The report as the text of a SARIF log with one run."""
    import json

    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_Run(report).run()]}
    return json.dumps(log, indent=2, ensure_ascii=True) + "\n"


class _Run:
    """One run; it knows the rules in use by their index."""

    def __init__(self, report: Report) -> None:
        self.report = report
        outcome = report.outcome
        self.sites = [
            (site, identity)
            for site, identity in identified(outcome.sites)
            if site.verdict is Verdict.MIGRATED or site.verdict in HELD
        ]
        used = {reason.code for site, _ in self.sites for reason in site.reasons}
        used.update(one.code for one in (*outcome.notes, *outcome.errors))
        used.update(READY for site, _ in self.sites if not site.reasons)
        self.rules = {code: index for index, code in enumerate(sorted(used))}
        self.members: dict[int, list[SiteResult]] = {}
        for site, _ in self.sites:
            self.members.setdefault(site.flow, []).append(site)
        self.fixes = by_flow(fixes(report))
        self.fixed: set[Fix] = set()

    def run(self) -> dict[str, Any]:
        results = [self._site(site, identity) for site, identity in self.sites]
        results += [self._note(note, number) for note, number in _numbered(self.report.outcome.notes)]
        return {
            "tool": {
                "driver": {
                    "name": "migrate-responses",
                    "semanticVersion": __version__,
                    "informationUri": PROJECT,
                    "rules": [_rule(code) for code in self.rules],
                }
            },
            "automationDetails": {"id": "migrate-responses/"},
            "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
            "columnKind": "unicodeCodePoints",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "invocations": [self._invocation(len(results) - MOST_RESULTS)],
            "results": results[:MOST_RESULTS],
        }

    def _invocation(self, left_out: int) -> dict[str, Any]:
        errors = self.report.outcome.errors
        told = [
            {
                "level": "error",
                "message": _message(advice(error)),
                "associatedRule": self._reference(error.code),
                **({"locations": [self._location(error)]} if error.path else {}),
            }
            for error in errors
        ]
        if left_out > 0:
            text = f"{left_out} results were left out: a run holds {MOST_RESULTS} at most."
            told.append({"level": "warning", "message": _message(text)})
        return {
            "executionSuccessful": not errors,
            "exitCode": 2 if errors else 0,
            "toolExecutionNotifications": told,
        }

    # -- results ---------------------------------------------------------------------------

    def _site(self, site: SiteResult, identity: Identity) -> dict[str, Any]:
        first = site.reasons[0] if site.reasons else None
        code = first.code if first else READY
        related = list(self._related(site))[:MOST_LOCATIONS]
        result: dict[str, Any] = {
            "ruleId": code,
            "ruleIndex": self.rules[code],
            "level": "warning",
            "message": _message(_said(site)),
            "locations": [self._location(site, site.scope, site.text)],
            "partialFingerprints": _fingerprints(identity.key),
        }
        if related:
            result["relatedLocations"] = [{"id": number, **one} for number, one in enumerate(related, 1)]
        fix = self.fixes.get(site.flow)
        if fix is not None and fix not in self.fixed:  # once, at the first of its calls
            self.fixed.add(fix)
            result["fixes"] = [self._fix(fix)]
        return result

    def _note(self, note: Diagnostic, number: int) -> dict[str, Any]:
        identity = Identity(note.path, note.code, note.message, number)
        return {
            "ruleId": note.code,
            "ruleIndex": self.rules[note.code],
            "level": "note",
            "message": _message(advice(note)),
            "locations": [self._location(note)] if note.path else [],
            "partialFingerprints": _fingerprints(identity.key),
        }

    def _related(self, site: SiteResult) -> Iterator[dict[str, Any]]:
        """Where the reasons are, if not at the call, and the other calls of the flow."""
        for reason in site.reasons:
            if reason.path and (reason.path, reason.line) != (site.path, site.line):
                yield {**self._location(reason), "message": _message(f"{reason.code} {advice(reason)}")}
        for other in self.members[site.flow] if site.flow else ():
            if other is not site:
                text = "Is migrated together with this call, or not at all."
                yield {**self._location(other, other.scope, other.text), "message": _message(text)}

    def _reference(self, code: str) -> dict[str, Any]:
        return {"id": code, "index": self.rules[code]}

    # -- places ----------------------------------------------------------------------------

    def _location(self, place: SiteResult | Diagnostic, scope: str = "", text: str = "") -> dict[str, Any]:
        physical: dict[str, Any] = {"artifactLocation": self._artifact(place.path)}
        if place.line:
            region: dict[str, Any] = {"startLine": place.line, "startColumn": max(place.column, 1)}
            lines = dict(self.report.excerpt(place.path, place.line - AROUND, place.line + AROUND))
            if text and lines.get(place.line, "").startswith(text, place.column - 1):
                region |= {"endColumn": place.column + len(text), "snippet": {"text": text}}
            physical["region"] = region
            if lines and all(line == visible(line) for line in lines.values()):
                context = {"startLine": min(lines), "endLine": max(lines)}
                physical["contextRegion"] = {**context, "snippet": {"text": "\n".join(lines.values())}}
        location: dict[str, Any] = {"physicalLocation": physical}
        if scope:
            location["logicalLocations"] = [{"fullyQualifiedName": visible(scope), "kind": "function"}]
        return location

    def _artifact(self, path: str) -> dict[str, Any]:
        name = self.report.in_repository(path)
        if name.startswith("../") or os.path.isabs(name):
            return {"uri": Path(os.path.abspath(path)).as_uri()}
        return {"uri": quote(os.fsencode(name), safe="/"), "uriBaseId": ROOT}

    # -- fixes -----------------------------------------------------------------------------

    def _fix(self, fix: Fix) -> dict[str, Any]:
        changes: dict[str, list[dict[str, Any]]] = {}
        for one in fix.replacements:
            region = {
                "startLine": one.line,
                "startColumn": one.column,
                "endLine": one.end_line,
                "endColumn": one.end_column,
            }
            replacement: dict[str, Any] = {"deletedRegion": region}
            if one.text:
                replacement["insertedContent"] = {"text": one.text}
            changes.setdefault(one.path, []).append(replacement)
        calls = sum(len(self.members.get(flow, ())) for flow in fix.flows)
        what = "Migrate" if Verdict.MIGRATED in fix.verdicts else "Write the TODO of"
        return {
            "description": _message(f"{what} {'this call' if calls == 1 else f'{calls} calls'}."),
            "artifactChanges": [
                {"artifactLocation": self._artifact(path), "replacements": replacements}
                for path, replacements in changes.items()
            ],
        }


def _said(site: SiteResult) -> str:
    if not site.reasons:
        return f"{site.text} can be migrated to the Responses API: run {apply(site)}"
    first, others = site.reasons[0], codes(site)[1:]
    more = f" Also {', '.join(others)}." if others else ""
    return f"{site.text} stays on Chat Completions: {advice(first)}.{more}"


# In a message of SARIF `[text](target)` is a link and `{0}` a placeholder.
_ACTIVE = re.compile(r"(?<=\])(?=\()|(?<=\{)(?=\d+\})")


def _message(text: str) -> dict[str, str]:
    """Text in which nothing acts: no controls, links or placeholders."""
    return {"text": _ACTIVE.sub(" ", visible(text))}


def _fingerprints(key: str) -> dict[str, str]:
    # GitHub looks at the first alone, and works it out from the line of the result where it is missing.
    return {"primaryLocationLineHash": f"{key}:1", "migrateResponses/v1": key}


def _numbered(notes: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, int]]:
    seen: Counter[tuple[str, str, str]] = Counter()
    for note in notes:
        one = (note.path, note.code, note.message)
        yield note, seen[one]
        seen[one] += 1


def _rule(code: str) -> dict[str, Any]:
    known = rule(code)
    level = _LEVELS[known.level]
    examples = [(word, text) for word, text in (("Before", known.before), ("After", known.after)) if text]
    return {
        "id": code,
        "name": "".join(_capital(word) for word in _words(known.title)),
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": known.explanation},
        "help": {
            "text": "\n\n".join([known.explanation, *(f"{word}:\n\n{text}" for word, text in examples)]),
            "markdown": "\n\n".join(
                [known.explanation, *(f"{word}:\n\n```python\n{text}\n```" for word, text in examples)]
            ),
        },
        "helpUri": about(code),
        "defaultConfiguration": {"level": level},
        "properties": {
            "precision": "very-high",
            "problem.severity": "recommendation" if level == "note" else "warning",
            "tags": ["maintainability", "openai"],
        },
    }


def _words(title: str) -> Sequence[str]:
    return "".join(character if character.isalnum() else " " for character in title).split()


def _capital(word: str) -> str:
    return word.capitalize() if word.isupper() else word[:1].upper() + word[1:]

"""A stand-in for the engine, so that the command line is tested on its own.

It reads calls line by line: words on the line say what becomes of the call. ``flow-with NAME`` ties a call to
another file, as a flow that crosses files would.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping

from migrate_responses.config import Settings
from migrate_responses.results import Diagnostic, FileResult, Level, Results, SiteResult, Verdict

CALL = "client.chat.completions.create"
DONE = "client.responses.create"
_WORDS = {
    "stop=": ("MR112", Level.MANUAL, Verdict.MANUAL),
    "seed=": ("MR110", Level.UNSAFE, Verdict.UNSAFE),
    "groq": ("MR011", Level.NOTE, Verdict.LEFT),
    "dynamic": ("MR021", Level.MANUAL, Verdict.MANUAL),
    "migrate-responses: skip": ("MR908", Level.NOTE, Verdict.SKIPPED),
}


def migrate(
    sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None = None
) -> Results:
    files: list[FileResult] = []
    sites: list[SiteResult] = []
    errors: list[Diagnostic] = []
    for path, before in sources.items():
        if b"def broken(" in before:
            error = Diagnostic("MR901", path, 1, 12, Level.MANUAL, "is not valid Python", "mend it")
            files.append(FileResult(path, before, before, error))
            continue
        lines: list[str] = []
        for number, line in enumerate(before.decode("latin-1").split("\n"), 1):
            if CALL in line:
                site = _site(path, number, line, settings, writable)
                sites.append(site)
                if site.verdict is Verdict.MIGRATED:
                    line = line.replace(CALL, DONE).replace("messages=", "input=")
            lines.append(line)
        free = writable is None or path in writable
        files.append(FileResult(path, before, "\n".join(lines).encode("latin-1") if free else before))
    return Results(tuple(files), tuple(sites), errors=tuple(errors))


def _site(
    path: str, number: int, line: str, settings: Settings, writable: Container[str] | None
) -> SiteResult:
    verdict, reasons = Verdict.MIGRATED, list[Diagnostic]()
    column = line.index(CALL) + 1
    for word, (code, level, held) in _WORDS.items():
        if word in line and not (level is Level.UNSAFE and settings.unsafe_fixes):
            verdict = held
            reasons.append(Diagnostic(code, path, number, column, level, f"`{word}` is there.", "see to it"))
    tied = re.search(r"flow-with (\S+)", line)
    if tied and writable is not None and tied.group(1) not in writable:
        verdict = Verdict.MANUAL
        message = f"{tied.group(1)} would have to change too, and was not named"
        reasons.append(Diagnostic("MR907", tied.group(1), 1, 1, Level.MANUAL, message, "name it too"))
    return SiteResult(path, number, column, CALL, verdict, number, tuple(reasons))

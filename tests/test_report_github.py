"""Annotations for GitHub Actions, read back as the runner reads them."""

from __future__ import annotations

import os
import re

from migrate_responses.config import Options
from migrate_responses.results import Diagnostic, Level, SiteResult, Verdict
from migrate_responses.session import Outcome
from migrate_responses.show.formats import Report
from migrate_responses.show.github import as_github
from tests.reports import EVERYTHING, READY, report

_COMMAND = re.compile(r"::(?P<level>\w+) (?P<properties>[^:]*)::(?P<text>.*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner takes it apart: level, properties, text."""
    found = _COMMAND.fullmatch(line)
    assert found is not None, line
    properties = dict(pair.split("=", 1) for pair in found["properties"].split(","))
    return (
        found["level"],
        {name: unescaped(value) for name, value in properties.items()},
        unescaped(found["text"]),
    )


def unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_what_needs_a_person_comes_first() -> None:
    told = [read(line) for line in as_github(report(EVERYTHING)).splitlines()]
    assert [(level, given["file"]) for level, given, _ in told] == [
        ("error", "broken.py"),
        ("warning", "app/seeded.py"),
        ("warning", "app/stopped.py"),
        ("notice", "app/ready.py"),
        ("notice", "app/ready.py"),
    ]
    _, given, text = told[2]
    assert given == {"file": "app/stopped.py", "line": "7", "col": "14", "title": "MR112 stop"}
    assert text.startswith("client.chat.completions.create stays: ")
    assert "; " in text
    assert told[3][2] == "client.chat.completions.create: run migrate-responses apply app/ready.py"


def test_paths_are_from_the_root_of_the_repository() -> None:
    (line, _) = as_github(report({"a.py": READY}, {"prefix": "sub"})).splitlines()
    assert read(line)[1]["file"] == "sub/a.py"


HOSTILE = "100%0A::error::x\r\n::set-output name=a,b::c: d, \x1b[31m \u202e"


def test_hostile_text_stays_in_its_place() -> None:
    reason = Diagnostic("MR112", HOSTILE, 2, 1, Level.MANUAL, HOSTILE, HOSTILE)
    site = SiteResult(f"a:b,c%/{os.fsdecode(b'%ff')}\n.py", 2, 1, HOSTILE, Verdict.MANUAL, 1, (reason,))
    ready = SiteResult("a.py", 0, 0, HOSTILE, Verdict.MIGRATED, 2)
    outcome = Outcome((site, ready), (reason,), (reason,), (), 1, 1)
    lines = as_github(Report(outcome, Options(), {})).split("\n")
    assert lines.pop() == ""
    assert len(lines) == 4
    for line in lines:
        assert re.search("[\x00-\x1f\u202e]", line) is None
        _, given, text = read(line)
        assert set(given) <= {"file", "line", "col", "title"}
        assert "\\r\\n::set-output name=a,b::c: d, \\x1b[31m \\u202e" in text
        assert "100%0A::error::x" in text
    assert read(lines[1])[1]["file"].startswith("a:b,c%/")

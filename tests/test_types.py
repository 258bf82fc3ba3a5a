"""Migrated code type-checks: pyright finds nothing in it that it did not find in the code before."""

from __future__ import annotations

import collections
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.wire import documents
from tests.wire.fixture import Fixture, fixtures, python_only

# What a migration could break. Left out are rules that see style, or imports of packages not installed here.
RULES = {
    "reportArgumentType",
    "reportAttributeAccessIssue",
    "reportAssignmentType",
    "reportCallIssue",
    "reportGeneralTypeIssues",
    "reportIndexIssue",
    "reportOperatorIssue",
    "reportOptionalIterable",
    "reportOptionalMemberAccess",
    "reportOptionalSubscript",
    "reportReturnType",
    "reportTypedDictNotRequiredAccess",
    "reportUndefinedVariable",
}
# Programs that had no types where they have some now: a dumped answer read by key, `getattr`, and lists of
# plain dicts or dicts of arguments, which pyright did not compare with the many forms of the old `create`; or
# an event is asked twice for what a chunk was asked once.
UNTYPED_BEFORE = {
    "answers/dumped_and_read": {"reportOptionalMemberAccess"},
    "answers/usage_by_getattr": {"reportOptionalMemberAccess"},
    "parts/suppressed": {"reportArgumentType"},
    "projects/suite_stream_stop_with_tools": {"reportArgumentType", "reportCallIssue"},
    "streams/callback_gets_either": {"reportAttributeAccessIssue"},
    "streams/flag_handed_on": {"reportAttributeAccessIssue"},
    "toolloops/async_gather": {"reportArgumentType", "reportOptionalMemberAccess"},
    "toolloops/example_turns": {"reportArgumentType"},
    "toolloops/last_entry_is_the_answer": {"reportArgumentType"},
    "toolloops/history_logged": {"reportArgumentType"},
    "toolloops/rebuilt_from_branches": {"reportArgumentType"},
    "toolloops/text_beside_calls": {"reportArgumentType"},
    "tools/maybe_none_tested": {"reportArgumentType", "reportCallIssue"},
    "tools/none_in_dicts": {"reportArgumentType", "reportCallIssue"},
}
CHANGING = [fixture for fixture in fixtures() if fixture.changes]

Found = dict[str, collections.Counter[str]]


@pytest.mark.timeout(600)
def test_no_new_type_errors(tmp_path: Path) -> None:
    after, told = check(CHANGING, "after", tmp_path / "after")
    suspects = [fixture for fixture in CHANGING if after[fixture.name]]
    before, _ = check(suspects, "before", tmp_path / "before")
    new = {name: set(found - before[name]) - UNTYPED_BEFORE.get(name, set()) for name, found in after.items()}
    lines = [f"{name}:\n  " + "\n  ".join(told[name]) for name, found in new.items() if found]
    assert not lines, "\n" + "\n".join(lines)


def test_the_checker_sees_an_error(tmp_path: Path) -> None:
    """Proof that a wrong attribute would be found, with the SDK resolved."""
    code = "from openai import OpenAI\n\nresponse = OpenAI().responses.create(model='m', input='x')\n"
    (tmp_path / "right.py").write_text(code + "print(response.output_text)\n")
    (tmp_path / "wrong.py").write_text(code + "print(response.choices)\n")
    errors = pyright(tmp_path)
    assert [(Path(error["file"]).name, error.get("rule")) for error in errors] == [
        ("wrong.py", "reportAttributeAccessIssue")
    ]


def check(chosen: Iterable[Fixture], state: str, folder: Path) -> tuple[Found, dict[str, list[str]]]:
    """Errors by fixture: how many of each rule, and what pyright said."""
    counts: Found = collections.defaultdict(collections.Counter)
    told: dict[str, list[str]] = collections.defaultdict(list)
    for fixture in chosen:
        for name, data in python_only(getattr(fixture, state)).items():
            if name.endswith(documents.SUFFIXES):
                continue  # pyright does not look into them
            path = folder / fixture.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    for error in pyright(folder) if folder.exists() else ():
        path = Path(error["file"]).relative_to(folder.resolve())
        name = "/".join(path.parts[:2])
        counts[name][error.get("rule", "")] += 1
        line = error["range"]["start"]["line"] + 1
        told[name].append(f"{'/'.join(path.parts[2:])}:{line} {error.get('rule')}: {error['message']}")
    return counts, told


def pyright(folder: Path) -> list[dict[str, Any]]:
    """The errors of the rules in question, for all files of a folder."""
    config = {"include": ["."], "typeCheckingMode": "standard", "reportMissingImports": "none"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    result = subprocess.run([*command, "-p", str(folder)], capture_output=True, text=True, check=False)
    assert result.stdout, f"pyright ended with {result.returncode} and said nothing but:\n{result.stderr}"
    report = json.loads(result.stdout)
    assert report["summary"]["filesAnalyzed"] > 0, result.stderr
    return [error for error in report["generalDiagnostics"] if error.get("rule") in RULES]

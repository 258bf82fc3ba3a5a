"""What the engine makes of each fixture: the expected code and verdicts, and nothing on a second run."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import replace

import pytest

from migrate_responses.config import Settings
from migrate_responses.results import Results
from migrate_responses.run import migrate
from tests.wire.fixture import Fixture, codes, fixtures, outcome, python_only, verdicts

FIXTURES = [pytest.param(fixture, id=fixture.name) for fixture in fixtures()]
ADOPTING = [pytest.param(fixture, id=fixture.name) for fixture in fixtures() if fixture.adopt is not None]


@functools.lru_cache(maxsize=1)
def first_run(fixture: Fixture) -> Results:
    return migrate(python_only(fixture.before), fixture.settings)


@pytest.mark.parametrize("fixture", FIXTURES)
def test_result(fixture: Fixture) -> None:
    check_result(fixture.before, fixture.after, fixture.settings)


@pytest.mark.parametrize("fixture", FIXTURES)
def test_verdicts(fixture: Fixture) -> None:
    results = first_run(fixture)
    assert verdicts(results) == fixture.notes["verdicts"]
    assert codes(results) == fixture.notes["codes"]


@pytest.mark.parametrize("fixture", ADOPTING)
def test_adopted_defaults(fixture: Fixture) -> None:
    assert fixture.adopt is not None
    check_result(fixture.before, fixture.adopt, replace(fixture.settings, api_defaults="adopt"))


def check_result(before: Mapping[str, bytes], expected: Mapping[str, bytes], settings: Settings) -> None:
    """The engine turns ``before`` into ``expected``, which is Python, and which it then leaves alone."""
    result = outcome(before, migrate(python_only(before), settings))
    for name in sorted(before.keys() | expected.keys()):
        assert text(result.get(name)) == text(expected.get(name)), name
    for name, data in python_only(before).items():
        if name.endswith(".py") and is_python(data):
            assert is_python(result[name]), name
    again = outcome(result, migrate(python_only(result), settings))
    for name, data in result.items():
        assert text(again[name]) == text(data), f"{name} changes on a second run"


def text(data: bytes | None) -> str | None:
    """Bytes in a form that pytest shows line by line; equal if and only if the bytes are."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"not UTF-8: {data.decode('latin-1')}"


def is_python(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


def test_every_fixture_says_what_it_shows() -> None:
    assert len(FIXTURES) > 300
    assert len(ADOPTING) >= 8
    for fixture in fixtures():
        missing = {"verdicts", "codes", "why"} - fixture.notes.keys()
        assert not missing, f"{fixture.name}: {missing}"
        assert fixture.notes["codes"] == sorted(set(fixture.notes["codes"])), fixture.name


@pytest.mark.parametrize("fixture", FIXTURES)
def test_what_is_migrated_changes(fixture: Fixture) -> None:
    assert fixture.changes == ("migrated" in fixture.notes["verdicts"])


def test_every_folder_is_a_fixture() -> None:
    from tests.wire.fixture import FIXTURES as folder

    for path in folder.glob("*/*/"):
        assert (path / "notes.toml").exists(), f"{path} has no notes.toml"
        single = list(path.glob("before.*"))
        assert len(single) + (path / "before").is_dir() == 1, f"{path}: one file `before`, or a folder"

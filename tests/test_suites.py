"""The test-suites of projects: green before, green after, without the network, and still testing.

A fixture ``projects/suite_*`` with ``test_*.py`` and no ``script.json`` is a project whose own tests are run
by pytest. ``breaks`` in its notes names changes to the test files, ``[old, new]``, each of which must make
the migrated suite fail: so it was not made green by looking at nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.wire.fixture import Fixture, fixtures
from tests.wire.harness import Run, run_program

RUNNER = b"""\
import sys

import pytest

sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--rootdir=.", "-c", "suite.ini", "--no-header"]))
"""
INI = b"[pytest]\npythonpath = .\n"
ALL_PASSED, SOME_FAILED = 0, 1  # exit codes of pytest; a file that cannot be loaded has another


def is_suite(fixture: Fixture) -> bool:
    return (
        fixture.path.name.startswith("suite_")
        and fixture.script is None
        and any(_is_test(name) for name in fixture.before)
    )


def _is_test(name: str) -> bool:
    return name.rpartition("/")[2].startswith("test_")


SUITES = [fixture for fixture in fixtures() if is_suite(fixture)]
RUNNABLE = [pytest.param(suite, id=suite.path.name) for suite in SUITES if suite.notes.get("runs", True)]


def run_suite(files: Mapping[str, bytes]) -> Run:
    """Run the tests of a project against a server that answers nothing, and counts what it is asked."""
    return run_program({**files, "main.py": RUNNER, "suite.ini": INI}, {"turns": []})


def assert_green(files: Mapping[str, bytes]) -> None:
    run = run_suite(files)
    assert run.exit_code == ALL_PASSED, run.stdout
    assert not run.requests, "the suite asks the network"
    assert not run.refused, "the suite asks the network"


@pytest.mark.parametrize("suite", RUNNABLE)
def test_green_before_and_after(suite: Fixture) -> None:
    assert_green(suite.before)
    if suite.after != suite.before:
        assert_green(suite.after)


@pytest.mark.parametrize("suite", [param for param in RUNNABLE if param.values[0].notes.get("breaks")])
def test_still_tests(suite: Fixture) -> None:
    for old, new in suite.notes["breaks"]:
        run = run_suite(broken(suite.after, old.encode(), new.encode()))
        assert run.exit_code == SOME_FAILED, f"{old!r} -> {new!r} makes no test fail\n{run.stdout}"


def broken(files: Mapping[str, bytes], old: bytes, new: bytes) -> dict[str, bytes]:
    """``files`` with another text in the one test file that holds it, where it stands first."""
    holders = [name for name, data in files.items() if old in data and ("test" in name)]
    assert len(holders) == 1, f"{old!r} stands in {holders}"
    data = files[holders[0]]
    return {**files, holders[0]: data.replace(old, new, 1)}


def test_every_changed_suite_is_tried() -> None:
    assert len(SUITES) > 30
    for suite in SUITES:
        if suite.changes and suite.notes.get("runs", True):
            assert suite.notes.get("breaks"), f"{suite.name}: nothing shows that its tests test"


def test_a_red_suite_is_seen() -> None:
    red = {"test_it.py": b"def test_it():\n    assert 1 == 2\n"}
    with pytest.raises(AssertionError, match="1 == 2"):
        assert_green(red)
    asking = b"import openai\n\n\ndef test_it():\n    try:\n        openai.OpenAI().models.list()\n"
    asking += b"    except openai.APIError:\n        pass\n"
    with pytest.raises(AssertionError, match="network"):
        assert_green({"test_it.py": asking})

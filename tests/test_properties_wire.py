"""Programs put together at random: what is migrated does the same, and what is not stays as it was.

A small fixed sample runs with the suite. ``PROPERTY_EXAMPLES=5000 pytest tests/test_properties_wire.py``
tries as many others, new ones each time; Hypothesis shrinks what fails, and prints the program.
"""

from __future__ import annotations

import ast
import gc
import os
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, note, settings

from migrate_responses.config import Settings
from migrate_responses.results import Results, Verdict
from migrate_responses.run import migrate
from tests.generated.programs import programs
from tests.generated.writer import Program
from tests.wire.fixture import outcome
from tests.wire.harness import differences
from tests.wire.inline import run_inline

EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "0"))
HELD_BACK = (Verdict.MANUAL, Verdict.UNSAFE)
sample = settings(
    max_examples=EXAMPLES or 60,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def _left_open() -> Iterator[None]:
    """Clients that a program left open are closed here, and not in the midst of another test."""
    yield
    gc.collect()


@pytest.mark.timeout(0 if EXAMPLES else 300)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@sample
@given(programs())
def test_migrated_programs_do_the_same(program: Program) -> None:
    note(str(program))
    before = run_inline(program.files, {"turns": program.turns})
    assert before.exit_code == 0, before.stderr
    assert not before.refused
    results = migrate(program.files, Settings())
    after = outcome(program.files, results)
    note("".join(f"## {name} after\n{data.decode()}" for name, data in after.items()))
    check_account(program, results, after)
    again = migrate(after, Settings())
    assert outcome(after, again) == after, "a second run changes something"
    if any(tree(after[name]) != tree(data) for name, data in program.files.items()):
        assert results.count(Verdict.MIGRATED), "something changes though nothing is migrated"
        run = run_inline(after, {"turns": program.turns})
        # What is left open when an event loop ends is told on stderr, now or then.
        assert not differences(before, run, ["stderr"]), differences(before, run, ["stderr"])


def check_account(program: Program, results: Results, after: Mapping[str, bytes]) -> None:
    """Every call has a verdict, and what is held back is told in the file."""
    assert not results.errors
    assert len(results.sites) == program.sites
    assert all(site.verdict in (Verdict.MIGRATED, *HELD_BACK) for site in results.sites)
    for site in results.sites:
        if site.verdict in HELD_BACK:
            assert site.reasons
            assert b"TODO(migrate-responses)" in after[site.path]


def tree(data: bytes) -> str:
    """What Python sees of a file; raises SyntaxError if that is nothing."""
    compile(data, "after.py", "exec", dont_inherit=True)
    return ast.dump(ast.parse(data))

"""The test that counts: a program and its migration show the same, and ask for the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.wire.fixture import Fixture, fixtures
from tests.wire.harness import Run, differences, kept_after_all, run_program

PROGRAMS = [fixture for fixture in fixtures() if fixture.script is not None]
CHANGING = [pytest.param(fixture, id=fixture.name) for fixture in PROGRAMS if fixture.changes]
STAYING = [pytest.param(fixture, id=fixture.name) for fixture in PROGRAMS if not fixture.changes]
ADOPTING = [pytest.param(fixture, id=fixture.name) for fixture in PROGRAMS if fixture.adopt is not None]

# What the API's own defaults decide, if the person who runs the migration asks for them.
LEFT_TO_DEFAULTS = ("store", "strict")


@pytest.mark.parametrize("fixture", CHANGING)
def test_migration_does_the_same(fixture: Fixture) -> None:
    before = run_before(fixture)
    after = run(fixture, fixture.after)
    found = differences(before, after, fixture.gives_up)
    assert not found, f"\n{found}"
    assert not kept_after_all(before, after, fixture.gives_up), "gives_up names what is kept after all"


@pytest.mark.parametrize("fixture", STAYING)
def test_program_that_stays_is_a_program(fixture: Fixture) -> None:
    run_before(fixture)


@pytest.mark.parametrize("fixture", ADOPTING)
def test_adopted_defaults_do_the_same(fixture: Fixture) -> None:
    assert fixture.adopt is not None
    before = run_before(fixture)
    found = differences(before, run(fixture, fixture.adopt), [*fixture.gives_up, *LEFT_TO_DEFAULTS])
    assert not found, f"\n{found}"


def run(fixture: Fixture, sources: dict[str, bytes]) -> Run:
    assert fixture.script is not None
    return run_program(sources, fixture.script, fixture.extra)


def run_before(fixture: Fixture) -> Run:
    """Run the program as it was; it must be one that works, and plays its script to the end."""
    before = run(fixture, fixture.before)
    assert before.exit_code == fixture.notes.get("exit", 0), before.stderr
    assert not before.refused
    assert before.unplayed == 0, "the program does not ask for all turns of its script"
    return before


def test_programs_exist_on_both_sides() -> None:
    assert len(CHANGING) > 200
    assert len(STAYING) > 30


def test_a_difference_is_seen() -> None:
    """The comparison itself: each part of a run counts."""
    request = {"turns": [{"role": "user", "parts": [{"text": "Hi"}]}], "model": "m", "store": False}
    run = Run("out\n", "", 0, [request])
    assert not differences(run, run)
    for other in (
        replace(run, stdout="out"),
        replace(run, stderr="warning\n"),
        replace(run, exit_code=1),
        replace(run, requests=[]),
        replace(run, requests=[{**request, "store": True}]),
        replace(run, refused=["POST /v1/responses: 400"]),
        replace(run, files={"log.txt": "x"}),
    ):
        assert differences(run, other)
    assert not differences(run, replace(run, requests=[{**request, "store": True}]), ["store"])
    assert kept_after_all(run, run, ["seed"]) == ["seed"]


def test_the_order_of_requests_does_not_count() -> None:
    first, second, third = ({"turns": [], "model": name} for name in "abc")
    run = Run("", "", 0, [first, second, second])
    assert not differences(run, replace(run, requests=[second, first, second]))
    assert differences(run, replace(run, requests=[first, first, second]))
    assert '"model": "c"' in differences(run, replace(run, requests=[second, third, second]))


def test_instructions_are_worth_the_first_system_message() -> None:
    def request(role: str) -> Run:
        turns = [{"role": role, "parts": [{"text": "Be brief."}]}, {"role": "user", "parts": []}]
        return Run("", "", 0, [{"turns": turns}])

    assert not differences(request("system"), request("instructions"))
    assert not differences(request("developer"), request("instructions"))
    assert differences(request("system"), request("developer"))
    assert differences(request("user"), request("instructions"))

"""Many fixtures at once: one line each for what the engine makes of them now."""

from __future__ import annotations

import traceback
from collections.abc import Iterable

from .fixture import Fixture, codes, outcome, python_only, verdicts
from .harness import differences, run_program


def survey(chosen: Iterable[Fixture], bless: bool) -> int:
    """Print a line for each fixture, write expectations if asked, and give 1 if any fixture has a fault.

    An expectation is written only for a fixture whose verdicts and codes are as its notes say, and whose
    program, if it is one, does the same as before. It still wants reading.
    """
    faults = count = 0
    for fixture in chosen:
        try:
            after, found = _examine(fixture)
        except Exception:
            after, found = {}, [traceback.format_exc().splitlines()[-1]]
        if not found and bless:
            fixture.bless(after)
        if not found and not bless and after != fixture.after:
            found = ["not the expected code"]
        print(f"{'FAULT' if found else 'ok':6}{fixture.name}", *found, sep="\n        " if found else "")
        faults += bool(found)
        count += 1
    print(f"{count} fixtures, {faults} with faults")
    return int(bool(faults))


def _examine(fixture: Fixture) -> tuple[dict[str, bytes], list[str]]:
    """What the engine makes of a fixture, and what is wrong with that."""
    from migrate_responses.run import migrate

    results = migrate(python_only(fixture.before), fixture.settings)
    after = outcome(fixture.before, results)
    found = [f"error {error.code}: {error.message}" for error in results.errors]
    for what, is_now in (("verdicts", verdicts(results)), ("codes", codes(results))):
        if is_now != fixture.notes[what]:
            found.append(f"{what} {is_now}, expected {fixture.notes[what]}")
    again = migrate(python_only(after), fixture.settings)
    if outcome(after, again) != after:
        found.append("a second run changes it")
    if fixture.script is not None and after != fixture.before:
        before = run_program(fixture.before, fixture.script, fixture.extra)
        run = run_program(after, fixture.script, fixture.extra)
        seen = differences(before, run, fixture.gives_up).splitlines()
        if seen:
            changed = [line for line in seen if line[:1] in "+-" and line[:3] not in ("+++", "---")]
            found.append("runs differ: " + (" | ".join(changed[:6]) or seen[0])[:300])
    return after, found

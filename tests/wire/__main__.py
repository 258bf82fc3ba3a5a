"""Run one fixture, or any two programs, and show what they print and ask for.

    python -m tests.wire text/shortest             # before and after, as they stand in the fixture
    python -m tests.wire text/shortest --engine    # before, and what the engine makes of it now
    python -m tests.wire text/shortest --bless     # write what the engine makes of it as the expected result
    python -m tests.wire before.py after.py --script script.json
    python -m tests.wire toolloops                 # a line for each fixture of a concern: the engine's state
    python -m tests.wire all --bless               # write those that have the right verdicts and run the same

Exit code 0 if both runs are the same, 1 if not.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from .fixture import FIXTURES, Fixture, codes, fixtures, outcome, python_only, verdicts
from .harness import Run, differences, read_sources, run_program
from .survey import survey


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.wire", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "what", nargs="+", type=Path, help="a fixture, a concern, all, or two programs (files or folders)"
    )
    parser.add_argument("--script", type=Path, help="the script.json for two programs")
    parser.add_argument("--engine", action="store_true", help="take what the engine makes of the fixture now")
    parser.add_argument("--bless", action="store_true", help="write that as the expected result")
    parser.add_argument("--log", action="store_true", help="show every request in full")
    options = parser.parse_args()
    if len(options.what) == 2:
        if options.script is None:
            parser.error("two programs need --script")
        script = json.loads(options.script.read_text(encoding="utf-8"))
        before, after = (read_sources(path) for path in options.what)
        return _compare(before, after, script, log=options.log)
    folder = _folder(options.what[0])
    if not (folder / "notes.toml").exists():
        chosen = [fixture for fixture in fixtures() if folder in (FIXTURES / "all", fixture.path.parent)]
        return survey(chosen, options.bless)
    fixture = Fixture(folder)
    after = _engine(fixture) if options.engine or options.bless else fixture.after
    if options.bless:
        fixture.bless(after)
    if fixture.script is None:
        print("no script.json: nothing to run")
        return 0
    return _compare(fixture.before, after, fixture.script, fixture, options.log)


def _folder(path: Path) -> Path:
    return path.resolve() if path.exists() else FIXTURES / path


def _engine(fixture: Fixture) -> dict[str, bytes]:
    """Run the engine; show its verdicts, and how its result differs from what the fixture expects."""
    from migrate_responses.run import migrate

    results = migrate(python_only(fixture.before), fixture.settings)
    after = outcome(fixture.before, results)
    print(f"verdicts = {json.dumps(verdicts(results))}\ncodes = {json.dumps(codes(results))}")
    for site in results.sites:
        for reason in site.reasons:
            print(f"  {reason.path}:{reason.line} {reason.code} {reason.level.value}: {reason.message}")
    for error in results.errors:
        print(f"  {error.path}:{error.line} {error.code} error: {error.message}")
    for name, data in after.items():
        old = fixture.after.get(name, b"").decode("utf-8", "replace").splitlines()
        new = data.decode("utf-8", "replace").splitlines()
        print(*difflib.unified_diff(old, new, f"{name} expected", f"{name} engine", lineterm=""), sep="\n")
    return after


def _compare(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    script: Mapping[str, object],
    fixture: Fixture | None = None,
    log: bool = False,
) -> int:
    extra = fixture.extra if fixture else None
    old = run_program(before, script, extra)
    _show("before", old, log)
    if before == after:
        print("nothing changes: run once")
        return int(bool(old.refused))
    new = run_program(after, script, extra)
    _show("after", new, log)
    found = differences(old, new, fixture.gives_up if fixture else ())
    print(found or "same output, same requests")
    return int(bool(found or old.refused))


def _show(title: str, run: Run, log: bool) -> None:
    notes = [f"exit {run.exit_code}", f"{len(run.requests)} requests"]
    if run.unplayed:
        notes.append(f"{run.unplayed} turns not asked for")
    print(f"--- {title} ({', '.join(notes)})\n{run.stdout}", end="")
    print(run.stderr, end="", file=sys.stderr)
    for line in run.refused:
        print(f"refused: {line}")
    if log:
        print(json.dumps(run.requests, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())

"""Reading fixtures, and the command that runs one."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate_responses.config import Settings
from migrate_responses.results import Diagnostic, FileResult, Level, Results, SiteResult, Verdict
from tests.wire import __main__ as command
from tests.wire.fixture import Fixture, codes, outcome, settings, verdicts
from tests.wire.survey import survey

BEFORE = b"""\
from openai import OpenAI

response = OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
print(response.choices[0].message.content)
"""
AFTER = b"""\
from openai import OpenAI

response = OpenAI().responses.create(model="m", input="Hi", store=False)
print(response.output_text)
"""


@pytest.fixture
def case(tmp_path: Path) -> Fixture:
    folder = tmp_path / "text" / "hello"
    folder.mkdir(parents=True)
    (folder / "before.py").write_bytes(BEFORE)
    (folder / "notes.toml").write_text('verdicts = ["migrated"]\ncodes = []\nwhy = "hello"\n')
    (folder / "script.json").write_text('{"turns": [{"text": "Hello."}]}')
    return Fixture(folder)


def fresh(fixture: Fixture) -> Fixture:
    """The same fixture, read again."""
    return Fixture(fixture.path)


def test_without_an_after_nothing_changes(case: Fixture) -> None:
    assert case.name == "text/hello"
    assert case.after == case.before == {"main.py": BEFORE}
    assert not case.changes
    assert case.adopt is None


def test_a_todo_is_no_change_of_the_program(case: Fixture) -> None:
    (case.path / "after.py").write_bytes(b"# TODO(migrate-responses): MR112\n" + BEFORE)
    assert case.after != case.before
    assert not case.changes


def test_blessing(case: Fixture) -> None:
    case.bless({"main.py": AFTER})
    assert (case.path / "after.py").read_bytes() == AFTER
    assert fresh(case).changes
    case.bless({"main.py": BEFORE})
    assert not (case.path / "after.py").exists()


def test_blessing_a_folder(tmp_path: Path) -> None:
    (tmp_path / "before" / "pkg").mkdir(parents=True)
    (tmp_path / "before" / "main.py").write_bytes(b"import pkg.a\n")
    (tmp_path / "before" / "pkg" / "a.py").write_bytes(BEFORE)
    case = Fixture(tmp_path)
    case.bless({**case.before, "pkg/a.py": AFTER})
    assert not (tmp_path / "after" / "main.py").exists(), "what stays as it is needs no second copy"
    assert fresh(case).after == {"main.py": b"import pkg.a\n", "pkg/a.py": AFTER}
    case.bless(case.before)
    assert not fresh(case).changes


def test_an_unknown_note_is_a_slip(case: Fixture) -> None:
    (case.path / "notes.toml").write_text('verdict = ["migrated"]\n')
    with pytest.raises(ValueError, match="verdict"):
        _ = fresh(case).notes


def test_options_become_settings() -> None:
    assert settings([]) == Settings()
    args = "--unsafe-fixes --api-defaults adopt --select MR1,MR2"
    args += " --assume-responses azure --assume-responses http://x"
    assert settings(args.split()) == Settings(
        unsafe_fixes=True,
        api_defaults="adopt",
        assume_responses=frozenset({"azure", "http://x"}),
        select=frozenset({"MR1", "MR2"}),
    )


def test_verdicts_and_codes_come_in_order() -> None:
    def site(line: int, verdict: Verdict, *reasons: tuple[str, Level]) -> SiteResult:
        found = tuple(Diagnostic(code, "main.py", line, 1, level, "") for code, level in reasons)
        return SiteResult("main.py", line, 1, "create", verdict, line, found)

    results = Results(
        files=(FileResult("main.py", BEFORE, AFTER),),
        sites=(
            site(9, Verdict.MANUAL, ("MR112", Level.MANUAL), ("MR101", Level.SAFE)),
            site(3, Verdict.MIGRATED, ("MR314", Level.NOTE)),
            site(5, Verdict.UNSAFE, ("MR110", Level.UNSAFE), ("MR112", Level.MANUAL)),
        ),
    )
    assert verdicts(results) == ["migrated", "unsafe", "manual"]
    assert codes(results) == ["MR110", "MR112"]
    assert outcome({"main.py": BEFORE, "b.py": b""}, results) == {"main.py": AFTER, "b.py": b""}


def test_a_survey_blesses_only_what_is_right(
    case: Fixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def engine(after: bytes, verdict: Verdict) -> None:
        site = SiteResult("main.py", 3, 1, "create", verdict, 1)
        results = Results(files=(FileResult("main.py", BEFORE, after),), sites=(site,))

        def migrate(sources: dict[str, bytes], _: Settings) -> Results:
            return results if sources == {"main.py": BEFORE} else Results()

        monkeypatch.setattr("migrate_responses.run.migrate", migrate)

    engine(AFTER.replace(b", store=False", b""), Verdict.MIGRATED)
    assert survey([case], bless=True) == 1
    assert '-  "store": false,' in capsys.readouterr().out
    engine(AFTER, Verdict.MANUAL)
    assert survey([case], bless=True) == 1
    assert "verdicts ['manual'], expected ['migrated']" in capsys.readouterr().out
    assert fresh(case).after == case.before
    engine(AFTER, Verdict.MIGRATED)
    assert survey([fresh(case)], bless=False) == 1
    assert "not the expected code" in capsys.readouterr().out
    assert survey([case], bless=True) == 0
    assert survey([fresh(case)], bless=False) == 0


def test_the_command_tells_same_from_different(
    case: Fixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*args: str) -> int:
        monkeypatch.setattr("sys.argv", ["tests.wire", *args])
        return command.main()

    assert run(str(case.path)) == 0
    assert "nothing changes: run once" in capsys.readouterr().out
    (case.path / "after.py").write_bytes(AFTER)
    assert run(str(case.path), "--log") == 0
    shown = capsys.readouterr().out
    assert "same output, same requests" in shown
    assert '"store": false' in shown
    (case.path / "after.py").write_bytes(AFTER.replace(b", store=False", b""))
    pair = [str(case.path / name) for name in ("before.py", "after.py")]
    assert run(*pair, "--script", str(case.path / "script.json")) == 1
    assert '-  "store": false,' in capsys.readouterr().out

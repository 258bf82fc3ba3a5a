"""What people see: colour when wanted, lines that fit, and text that any stream can carry."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from migrate_responses.progress import Step
from migrate_responses.show.progress import told
from tests.terminal import PROGRAM, Terminal

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")

SOURCE = """\
import os

from openai import OpenAI

client = OpenAI()
other = OpenAI(base_url=os.environ["BASE"])
GREETING = "\u00e9\u4e2d\U0001f600"


def greet(question: str) -> str | None:
    # \u00e9\u4e2d\U0001f600
    answer = client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": GREETING}])
    return answer.choices[0].message.content


def stopped(question: str) -> str | None:
    answer = client.chat.completions.create(
        model="gpt-4.1", messages=[{"role": "user", "content": question}], stop=["\u4e2d"]
    )
    return answer.choices[0].message.content


def elsewhere(question: str) -> str | None:
    answer = other.chat.completions.create(
        model="gpt-4.1", messages=[{"role": "user", "content": question}], seed=1
    )
    return answer.choices[0].message.content
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "app.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def piped(here: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [*PROGRAM, *arguments], cwd=here, env={**kept, **environment}, capture_output=True, check=False
    )


def on_terminal(here: Path, *arguments: str, columns: int = 80, **environment: str) -> Terminal:
    terminal = Terminal(*arguments, cwd=here, columns=columns, **environment)
    assert terminal.end() in (0, 1)
    return terminal


# -- colour


def test_a_pipe_gets_the_same_text_whatever_the_terminal(here: Path) -> None:
    first = piped(here, "diff", "-v")
    assert b"\x1b" not in first.stdout + first.stderr
    for environment in ({"COLUMNS": "40"}, {"COLUMNS": "200"}, {"TERM": "dumb"}, {"NO_COLOR": "1"}):
        again = piped(here, "diff", "-v", **environment)
        assert (again.stdout, again.stderr) == (first.stdout, first.stderr)


def test_forced_colour_spares_the_patch(here: Path) -> None:
    plain, forced = piped(here, "diff"), piped(here, "diff", FORCE_COLOR="1")
    assert forced.stdout == plain.stdout
    assert b"\x1b[1m3 Chat Completions calls" in forced.stderr
    assert b"\x1b" not in piped(here, "diff", FORCE_COLOR="0").stderr
    assert b"\x1b" not in piped(here, "diff", FORCE_COLOR="1", NO_COLOR="1").stderr


@POSIX
def test_a_diff_on_a_terminal_goes_file_by_file(here: Path) -> None:
    (here / "plain.py").write_text(SOURCE.replace("GREETING", "NAME"), encoding="utf-8")
    terminal = on_terminal(here, "diff")
    lines = terminal.plain.splitlines()
    assert "app.py  1 ready, 2 held back" in lines
    assert "plain.py  1 ready, 2 held back" in lines
    assert "+++ b/app.py" not in lines
    assert "\x1b[31m-    return answer.choices[0].message.content\x1b[0m" in terminal.seen
    assert "\x1b[1;33mMR112\x1b[0m" in terminal.seen
    assert "\x1b[1;32mreturn\x1b[0m\x1b[32m answer.output_text" in terminal.seen


# -- width


@POSIX
@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("colour", [{}, {"NO_COLOR": "1"}])
def test_prose_fits_the_terminal(here: Path, columns: int, colour: dict[str, str]) -> None:
    seen = on_terminal(here, "check", "-v", columns=columns, **colour).plain
    lines = seen[seen.index("app.py:") :].splitlines()
    assert all(len(line) < columns for line in lines), max(lines, key=len)
    told = " ".join(" ".join(lines).split())
    assert "MR112 `stop` has no Responses equivalent; trim the text yourself, then remove it" in told
    assert ("for these reasons (a call can have several):" in seen) == (columns > 60)


@POSIX
def test_explain_fits_the_terminal(here: Path) -> None:
    lines = on_terminal(here, "explain", "MR020", columns=40).plain.splitlines()
    prose = [line for line in lines if not line.startswith(("    ", "Source: "))]
    assert all(len(line) < 40 for line in prose), max(prose, key=len)


# -- encodings

ENCODINGS = ["ascii", "cp1252", "cp437", "utf-8"]
COMMANDS = [["diff", "-v"], ["check"], ["report"], ["config", "app.py"], ["explain", "MR112"]]


@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_stream_can_carry_it(here: Path, encoding: str, arguments: list[str]) -> None:
    done = piped(here, *arguments, PYTHONIOENCODING=encoding)
    assert done.returncode == (1 if arguments == ["check"] else 0), done.stderr
    assert b"Traceback" not in done.stderr
    done.stderr.decode(encoding)
    if arguments[0] == "diff":
        assert "\u4e2d" in done.stdout.decode("utf-8")
    else:
        done.stdout.decode(encoding)
    assert "\ufffd" not in done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")


@POSIX
@pytest.mark.parametrize(
    ("encoding", "colour"), [*((encoding, {}) for encoding in ENCODINGS), ("ascii", {"NO_COLOR": "1"})]
)
def test_every_console_can_show_it(here: Path, encoding: str, colour: dict[str, str]) -> None:
    seen = on_terminal(here, "diff", PYTHONIOENCODING=encoding, **colour).plain
    assert "Traceback" not in seen
    assert ("\u4e2d" in seen) == (encoding == "utf-8")
    assert ("\\u4e2d" in seen) == (encoding != "utf-8")
    assert "\ufffd" not in seen or encoding in ("cp1252", "cp437")  # one byte for a letter like \u00e9


# -- what is shown while it takes long


def test_progress_tells_how_far_and_how_long() -> None:
    assert told(Step("reading", 120, 3000), 4.2) == "reading 120 of 3,000 files (4 s so far)"
    assert told(Step("following the calls"), 61) == "following the calls (61 s so far)"
    assert told(Step(), 0.8) == "starting (1 s so far)"


@POSIX
def test_progress_is_taken_away_again(here: Path) -> None:
    for number in range(40):
        (here / f"more{number}.py").write_text(SOURCE, encoding="utf-8")
    seen = on_terminal(here, "check", columns=40).seen
    assert " s so far)" in seen
    before, _, after = seen.partition("\x1b[1mapp.py:")
    assert before.endswith("\r")
    assert " so far" not in after
    assert max(len(line) for line in before.split("\r")) < 40

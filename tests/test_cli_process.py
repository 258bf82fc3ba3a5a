"""The program as a process: what it loads, how it ends, what a terminal shows, and git and pre-commit."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.one_call import AFTER, BEFORE
from tests.terminal import Terminal

PROGRAM = [sys.executable, "-m", "migrate_responses"]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and terminals")

HELD = BEFORE.replace('"Hi"}]', '"[red]\\x1b[31m"}], stop=["\x1b[2J"]')


def run(*arguments: str, cwd: Path, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*PROGRAM, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


# -- what is loaded


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["diff", "--help"], ["explain", "MR112"], ["check", "-q"]]
)
def test_nothing_heavy_is_loaded_for_light_work(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n", encoding="utf-8")
    script = (
        "import sys\n"
        "from migrate_responses.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    print(sorted({'libcst', 'rich', 'pathspec'} & sys.modules.keys()), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.startswith("migrate-responses, version ")


# -- from end to end


def variants(text: str) -> dict[str, bytes]:
    data = text.encode()
    return {"app.py": data, "windows.py": data.replace(b"\n", b"\r\n"), "bom.py": b"\xef\xbb\xbf" + data}


def test_apply_and_the_piped_diff_agree_and_are_stable(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    before, after = variants(BEFORE), variants(AFTER)
    for name, data in before.items():
        (tmp_path / name).write_bytes(data)
    git(tmp_path, "add", "-A")
    shutil.copytree(tmp_path, tmp_path / "copy" / "x", ignore=shutil.ignore_patterns("copy"))
    patched = tmp_path / "copy" / "x"
    diff = subprocess.run([*PROGRAM, "diff", "-q"], cwd=patched, capture_output=True, check=True).stdout
    subprocess.run(["git", "apply", "-"], cwd=patched, input=diff, check=True)
    shutil.move(patched, tmp_path.parent / f"{tmp_path.name}-patched")
    run("apply", cwd=tmp_path)
    for name, data in after.items():
        assert (tmp_path / name).read_bytes() == data
        assert (tmp_path.parent / f"{tmp_path.name}-patched" / name).read_bytes() == data
    assert run("diff", cwd=tmp_path).stdout == ""
    run("check", cwd=tmp_path)


def test_held_back_then_accepted(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BEFORE.replace('"Hi"}]', '"Hi"}], stop=["x"]'), encoding="utf-8")
    assert "MR112" in run("check", cwd=tmp_path, status=1).stdout
    assert "its TODO is missing" in run("check", "--allow-todo", cwd=tmp_path, status=1).stdout
    run("apply", cwd=tmp_path)
    assert "# TODO(migrate-responses): MR112" in (tmp_path / "app.py").read_text(encoding="utf-8")
    run("check", "--allow-todo", cwd=tmp_path)
    run("check", cwd=tmp_path, status=1)
    with (tmp_path / "app.py").open("a", encoding="utf-8") as file:  # a call that is ready changes no other
        file.write(BEFORE)
    told = run("check", "--allow-todo", cwd=tmp_path, status=1).stdout
    assert "can be migrated" in told
    assert "MR112" not in told


def test_a_bad_file_beside_good_ones(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(BEFORE, encoding="utf-8")
    (tmp_path / "python2.py").write_text("import openai\nprint 'hello'\n", encoding="utf-8")
    (tmp_path / "latin.py").write_bytes(b"import openai\nx = '\xe9'\n")
    (tmp_path / "deep.py").write_text("import openai\nx = " + "+".join(["1"] * 3000) + "\n", encoding="utf-8")
    done = run("apply", cwd=tmp_path, status=2)
    assert (tmp_path / "good.py").read_text(encoding="utf-8") == AFTER
    assert "python2.py:2:" in done.stderr
    assert "MR901" in done.stderr
    assert "latin.py: MR902" in done.stderr
    assert "Traceback" not in done.stderr


def test_per_file_ignores(tmp_path: Path) -> None:
    held = BEFORE.replace('"Hi"}]', '"Hi"}], stop=["x"]')
    for name in ("legacy", "app"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(held, encoding="utf-8")
    table = '[tool.migrate-responses.per-file-ignores]\n"legacy/" = ["MR112"]\n'
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    listed = run("check", cwd=tmp_path, status=1).stdout
    assert "app/a.py:4:" in listed
    assert "legacy" not in listed
    assert "legacy/a.py:4:10: MR911 it needs MR112, which per-file-ignores leaves out" in (
        run("diff", "-v", cwd=tmp_path).stderr
    )


def test_a_misspelt_comment_is_told_about(tmp_path: Path) -> None:
    text = BEFORE.replace("}])\n", "}])  # migrate-responses: skpi\n")
    (tmp_path / "app.py").write_text(text, encoding="utf-8")
    told = run("diff", cwd=tmp_path).stderr
    assert "app.py:4:105: MR912 `skpi` asks for nothing; did you mean `skip`?" in told
    assert "MR912" not in run("diff", "-q", cwd=tmp_path).stderr


# -- how it ends


@POSIX
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"app{number}.py").write_text(BEFORE, encoding="utf-8")
    command = f"{' '.join(PROGRAM)} diff -q | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "--- a/app0.py\n"
    assert done.stderr == ""


@POSIX
def test_ctrl_c_is_quiet_and_leaves_files_whole(tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"app{number}.py").write_text(BEFORE * 4, encoding="utf-8")
    process = subprocess.Popen(
        [*PROGRAM, "apply"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(0.8)
    assert process.poll() is None, "it was too fast to be interrupted"
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "Interrupted; nothing was written.")
    assert time.monotonic() - started < 3
    assert {path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {BEFORE * 4}
    assert len(list(tmp_path.iterdir())) == 150


# -- on a terminal


def on_terminal(*arguments: str, cwd: Path, columns: int = 80, **environment: str) -> Terminal:
    """The program on a terminal, after its end."""
    terminal = Terminal(*arguments, cwd=cwd, columns=columns, **environment)
    terminal.end()
    return terminal


@POSIX
def test_terminal_shows_colour_and_disarms_the_source(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BEFORE + HELD, encoding="utf-8")
    terminal = on_terminal("diff", cwd=tmp_path)
    seen = terminal.seen
    assert "\x1b[1;32m+" in seen
    assert "+answer = client.responses.create(" in terminal.plain
    assert "\x1b[2J" not in seen
    assert "\\x1b[2J" in seen
    assert "[red]" in seen


@POSIX
@pytest.mark.parametrize(
    ("arguments", "environment"), [(["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})]
)
def test_terminal_without_colour(tmp_path: Path, arguments: list[str], environment: dict[str, str]) -> None:
    (tmp_path / "app.py").write_text(BEFORE, encoding="utf-8")
    seen = on_terminal("diff", *arguments, cwd=tmp_path, **environment).seen
    assert "+answer = client.responses.create(" in seen
    assert "\x1b[3" not in seen


# -- the same every time -----------------------------------------------------------------


def test_the_same_reasons_in_the_same_order(tmp_path: Path) -> None:
    """Of many reasons the first is told in a comment, which a later run must not change."""
    (tmp_path / "llm.py").write_text(BEFORE)
    for number in range(6):
        shown = f"def show(given_{number}):\n    print(answer, given_{number}.choices[0].message.content)\n"
        shown += "\n\nSHOWS = [show]\n"
        (tmp_path / f"use_{number}.py").write_text(f"from llm import answer\n\n\n{shown}")
    reports = {run("diff", cwd=tmp_path, PYTHONHASHSEED=str(seed)).stdout for seed in (1, 2, 3)}
    assert len(reports) == 1
    assert "`given_0.choices`" in reports.pop()

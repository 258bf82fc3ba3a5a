"""A project that means harm: none of its code runs, and none of its text acts, whatever it is called."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from migrate_responses.config import Settings
from migrate_responses.run import migrate
from migrate_responses.show.formats import NAMES
from tests.one_call import AFTER, BEFORE, project, run

# What the tool and all that it loads could import from the current directory.
_TRAPS = """
    __future__ abc argparse ast attr attrs bisect click codecs collections concurrent contextlib
    copy copyreg dataclasses difflib encodings enum errno fnmatch functools heapq hashlib html
    importlib io IPython json keyword libcst linecache locale logging markdown_it multiprocessing
    numbers openai operator os pathlib pathspec pickle pygments queue random re resource rich
    secrets select selectors shlex shutil signal site sitecustomize socket stat string struct
    subprocess tempfile textwrap threading token tokenize tomli tomllib traceback types typing
    typing_extensions unicodedata usercustomize warnings weakref yaml zipfile conftest setup
""".split()


def trapped(folder: Path) -> Path:
    """A project in which every module leaves a trace if it is run; the folder of the traces."""
    traces = folder / "traces"
    traces.mkdir()
    for name in _TRAPS:
        trap = f"import openai\nopen({str(traces / name)!r}, 'w').close()\nraise SystemExit('trapped')\n"
        (folder / f"{name}.py").write_text(trap, encoding="utf-8")
    for name in ("rich", "libcst", "yaml", "click", "multiprocessing"):
        (folder / f"{name}.py").unlink()
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"open({str(traces / name)!r}, 'w')\n", encoding="utf-8")
    return traces


@pytest.mark.parametrize(
    "words", [["apply"], ["report", "--format", "html"], ["check", "--no-color"]], ids=str
)
def test_no_module_of_the_current_directory_is_imported(tmp_path: Path, words: list[str]) -> None:
    traces = trapped(project(tmp_path))
    run(*words, cwd=tmp_path, status=1 if words[0] == "check" else 0)
    assert list(traces.iterdir()) == []


def test_nor_by_the_other_processes(tmp_path: Path) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("new processes of Python 3.10 look into the current directory")
    traces = trapped(project(tmp_path))
    filler = "# " + "x" * 100_000 + "\n"
    for number in range(8):
        (tmp_path / f"part{number}.py").write_text(BEFORE + filler, encoding="utf-8")
    run("apply", "--jobs", "2", cwd=tmp_path)
    assert list(traces.iterdir()) == []
    assert (tmp_path / "part7.py").read_text(encoding="utf-8") == AFTER + filler


def test_nothing_that_a_pyproject_names_is_loaded(tmp_path: Path) -> None:
    traces = trapped(project(tmp_path))
    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'setup'\nbackend-path = ['.']\n"
        "[project]\nname = 'x'\nversion = '1'\n[project.entry-points.'migrate_responses']\nx = 'setup:x'\n"
        "[project.entry-points.'pygments.lexers']\nx = 'setup:x'\n"
        "[tool.pytest.ini_options]\naddopts = '-p setup'\n",
        encoding="utf-8",
    )
    run("apply", cwd=tmp_path)
    assert list(traces.iterdir()) == []


def test_no_signature_is_checked_by_a_program_of_the_repository(tmp_path: Path) -> None:
    spy, trace = tmp_path / "spy.sh", tmp_path / "ran"
    spy.write_text(f"#!/bin/sh\ntouch {trace}\n", encoding="utf-8")
    spy.chmod(0o755)
    root = tmp_path / "root"
    root.mkdir()
    project(root)

    def git(*words: str) -> str:
        identity = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t", "GIT_COMMITTER_NAME": "t"}
        environment = {**os.environ, **identity, "GIT_COMMITTER_EMAIL": "t"}
        done = subprocess.run(["git", *words], cwd=root, env=environment, check=True, capture_output=True)
        return done.stdout.decode()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "x")
    signed = git("cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    (root / "commit").write_text(signed, encoding="utf-8")
    git("reset", "-q", "--soft", git("hash-object", "-t", "commit", "-w", "commit").strip())
    git("config", "log.showSignature", "true")
    git("config", "gpg.program", str(spy))
    git("config", "core.pager", str(spy))
    git("config", "core.hooksPath", str(tmp_path))
    git("log", "-1")
    assert trace.exists(), "the trap does not work"
    trace.unlink()
    run("report", "--since", "HEAD", cwd=root)
    assert not trace.exists()


# -- text that would act

ACTS = "\x1b[31m\x1b]8;;http://evil.example\x07x\x1b]8;;\x07\u202e\u2066"
MARKUP = (
    "[red]x[/red] <script>alert(1)</script> ::error::x %0A ##[error]x [y](javascript:1) ![z](http://evil/z.png)"
    " =cmd|' /C calc'!A0 ${{ github.token }} | `c` </details> --> @everyone"
)
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]")
HOSTILE = (
    "from openai import OpenAI\nclient = OpenAI()\n\n\ndef ask():\n"
    f"    r = client.chat.completions.create(model={ACTS + MARKUP!r}, messages=[], stop=[{ACTS + MARKUP!r}])"
    f"  # {ACTS}{MARKUP}\n    return r.choices[0].message.content\n"
)
NAMES_OF_FILES = [
    "::error::x.py",
    "a\x1b[31m\x1b]8;;http:\u2215\u2215evil\x07.py",
    "b\nimport os\n.py",
    "c\rimport os\rd.py",
    "[red]<script>alert(1)<\u2215script>`x`.py",
    "=1,2;\u202ecod.py",
    os.fsdecode(b"\xff\xfe.py"),
    "-rf.py",
    "%0A%0D.py",
]


def hostile(folder: Path) -> None:
    for name in NAMES_OF_FILES:
        (folder / name).write_text(HOSTILE, encoding="utf-8")
    odd = folder / "\x1b[2J::add-mask::"
    odd.mkdir()
    (odd / "broken.py").write_text(f"# openai {ACTS}\nx = '{MARKUP}\n", encoding="utf-8")


COMMANDS = [
    ["check"],
    ["diff", "--quiet"],
    ["report", "--verbose"],
    ["config"],
    *(["report", "--format", form] for form in NAMES),
    ["report", "--explain-flow", "-rf.py:6"],
    ["apply"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_output_acts(tmp_path: Path, words: list[str]) -> None:
    hostile(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "migrate_responses", *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == (0 if words == ["config"] else 2)
    texts = [done.stderr] if words[0] == "diff" else [done.stdout, done.stderr]  # a diff is exact
    for text in texts:
        shown = text.decode()
        assert ACTIVE.findall(shown) == []
        if "github" not in words:
            assert not re.search(r"^\s*::", shown, re.MULTILINE)
        if "html" in words:
            assert not re.search(r"<script>alert|<img|javascript:1\"", shown)
    if words == ["apply"]:
        for name in NAMES_OF_FILES:
            text = (tmp_path / name).read_text(encoding="utf-8")
            assert text.count("# TODO(migrate-responses): MR112") == 1
            assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(HOSTILE))


def test_no_usage_error_acts(tmp_path: Path) -> None:
    folder = tmp_path / "e\x1b]8;;evil\x1b\\\n::error::pwned\u202e"
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text("x = ", encoding="utf-8")
    key = "sk-proj-" + "Ab1" * 10
    for words in (["diff", str(folder)], ["diff", "--config", f"no\x1b\n::error::{key}.toml"]):
        said = run(*words, cwd=tmp_path, status=2).stderr
        assert not any(line.startswith("::") for line in said.splitlines())
        assert not set("\x1b\u202e") & set(said)
        assert key not in said


def test_a_name_of_a_file_is_no_code_in_a_comment() -> None:
    """A carriage return ends a comment, and what follows would be code."""
    helper = "def ask(client, **more):\n    return client.chat.completions.create(messages=[], **more)\n"
    caller = (
        "from openai import OpenAI\nfrom helper import ask\nanswer = ask(OpenAI(), model='m', stop=['x'])\n"
        "raw = OpenAI().chat.completions.create(model='m', messages=[], n=2)\nprint(answer, raw)\n"
    )
    for mark in ("\r", "\n", "\x0c", "\u2028", "\x00"):
        sources = {"helper.py": helper.encode(), f"x{mark}import os{mark}.py": caller.encode()}
        for file in migrate(sources, Settings()).files:
            assert ast.dump(ast.parse(file.after)) == ast.dump(ast.parse(file.before))
            assert not ACTIVE.search(file.after.decode())

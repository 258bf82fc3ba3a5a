"""Whatever the program is started in, it works or says why: streams, environment, folders, repositories."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults import (
    CALL,
    DONE,
    NOBODY,
    POSIX,
    ROOT,
    committed,
    git,
    litter,
    put,
    run,
    script,
    texts,
)
from tests.faults import shared as shared  # a fixture

EMOJI = f"# \U0001f600 caf\u00e9\n{CALL}"
NO_COPY = "There is no git work tree here"

# -- streams


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """``command``, in which ``$RUN`` is the program."""
    start = cwd.parent / f"{cwd.name}-run.sh"
    start.write_text(f'exec {shlex.join(script())} "$@"\n', encoding="utf-8")
    environment = {**os.environ, "RUN": f"sh {start}"}
    return subprocess.run(["sh", "-c", command], cwd=cwd, env=environment, capture_output=True, check=False)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with two files to migrate."""
    return put(tmp_path / "here", "a.py", "b.py")


@POSIX
def test_a_closed_standard_output(here: Path) -> None:
    for command, status in (
        ("diff", 0),
        ("check", 1),
        ("report", 0),
        ("report --format json", 0),
        ("apply", 0),
    ):
        done = shell(f"$RUN {command} >&-", here)
        assert (done.returncode, done.stdout) == (status, b""), done.stderr
        assert b"Traceback" not in done.stderr
    assert set(texts(here).values()) == {DONE}


@POSIX
def test_all_streams_closed(here: Path) -> None:
    assert shell("$RUN apply <&- >&- 2>&-", here).returncode == 0
    assert set(texts(here).values()) == {DONE}
    assert litter(here) == []


@POSIX
@pytest.mark.parametrize(
    ("command", "why"), [("diff -", "'-' asks for"), ("apply -i", "--interactive reads")]
)
def test_a_closed_standard_input(here: Path, command: str, why: str) -> None:
    done = shell(f"$RUN {command} <&-", here)
    assert done.returncode == 2
    assert why in done.stderr.decode()
    assert "standard input, which is closed." in done.stderr.decode()
    assert set(texts(here).values()) == {CALL}


@POSIX
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_an_output_that_is_full(here: Path) -> None:
    for command in ("diff", "check", "report", "report --format sarif", "explain"):
        done = shell(f"$RUN {command} > /dev/full", here)
        told = "Error: the output cannot be written: No space left on device; nothing was written.\n"
        assert (done.returncode, done.stderr.decode()[-len(told) :]) == (2, told), command
    done = shell("$RUN apply > /dev/full", here)
    assert done.returncode == 2
    assert done.stderr.endswith(b"No space left on device; all files are written.\n")
    assert set(texts(here).values()) == {DONE}
    assert shell("$RUN check . nowhere 2> /dev/full", here).returncode == 2


@POSIX
@pytest.mark.parametrize("command", ["diff -q", "report --format json", "check -q", "explain"])
def test_head_closes_the_pipe(tmp_path: Path, command: str) -> None:
    put(tmp_path / "here", *(f"a{number}.py" for number in range(40)), text=CALL * 100)
    done = shell(f"$RUN {command} | head -n 1", tmp_path / "here")
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


@POSIX
@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"TERM": "dumb"},
    ],
)
def test_streams_that_cannot_show_everything(tmp_path: Path, environment: dict[str, str]) -> None:
    put(tmp_path, "caf\u00e9\u2026.py", text=EMOJI)
    for arguments in (
        ("report",),
        ("report", "--format", "markdown"),
        ("report", "--format", "html"),
        ("diff",),
    ):
        run(*arguments, cwd=tmp_path, **environment)
    run("check", "-v", cwd=tmp_path, status=1, **environment)
    patch = run("diff", "-q", cwd=tmp_path, **environment).stdout
    assert (
        " # \U0001f600 caf\u00e9\n" in patch
    )  # a patch has the bytes of the file, whatever a stream can show
    run("apply", cwd=tmp_path, **environment)
    assert set(texts(tmp_path).values()) == {EMOJI.replace(CALL, DONE)}


@POSIX
def test_no_terminal_no_home_and_hardly_an_environment(here: Path) -> None:
    done = subprocess.run(
        [*script(), "apply"], cwd=here, env={}, capture_output=True, start_new_session=True, check=False
    )
    assert (done.returncode, done.stderr) == (2 if b"MR906" in done.stderr else 0, b"")
    assert set(texts(here).values()) == {DONE}


# -- folders


@POSIX
def test_a_current_directory_that_is_gone(tmp_path: Path) -> None:
    put(tmp_path, "here/a.py")
    (tmp_path / "gone").mkdir()
    gone = "os.rmdir(os.getcwd())\n"
    for arguments in (["diff"], ["apply", str(tmp_path / "here")], ["report"], ["config"]):
        (tmp_path / "gone").mkdir(exist_ok=True)
        done = run(*arguments, cwd=tmp_path / "gone", status=2, before=gone)
        assert done.stderr == "Error: The current directory is gone: No such file or directory.\n"
    (tmp_path / "gone").mkdir()
    assert "migrate-responses" in run("--version", cwd=tmp_path / "gone", before=gone).stdout
    assert texts(tmp_path) == {"here/a.py": CALL}


@ROOT
def test_a_current_directory_that_is_read_only(shared: Path) -> None:
    put(shared, "elsewhere/a.py")
    os.chown(shared / "elsewhere", NOBODY, NOBODY)
    os.chown(shared / "elsewhere" / "a.py", NOBODY, NOBODY)
    (shared / "here").mkdir()
    done = run("report", "../elsewhere", "--output", "x.txt", cwd=shared / "here", status=2, groups=())
    assert done.stderr == "Error: x.txt cannot be written: Permission denied.\n"
    run("apply", "../elsewhere", cwd=shared / "here", groups=())
    assert texts(shared) == {"elsewhere/a.py": DONE}
    assert list((shared / "here").iterdir()) == []


@ROOT
@pytest.mark.parametrize("in_git", [True, False])
def test_folders_that_cannot_be_looked_into(shared: Path, in_git: bool) -> None:
    put(shared, "pyproject.toml", text="")
    put(shared, "a.py", "closed/b.py", "open/c.py")
    if in_git:
        git(shared, "init", "-q")
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(shared)], check=True)
    os.chown(shared / "closed", 0, 0)
    (shared / "closed").chmod(0o700)
    found = run("check", cwd=shared, status=2, groups=())
    reason = (
        "closed: MR903 is a folder that could not be looked into: Permission denied; check its permissions"
    )
    assert f"{reason}, or leave it out with --exclude\n" in found.stderr
    assert [line.split(":")[0] for line in found.stdout.splitlines()] == ["a.py", "open/c.py"]
    run("check", "--exclude", "closed", cwd=shared, status=1, groups=())
    run("check", "open", cwd=shared, status=1, groups=())


def test_names_that_differ_in_case_alone(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "pkg/b.py")
    put(tmp_path, "A.py", "Pkg/b.py", text=EMOJI)
    if len(texts(tmp_path)) < 4:
        pytest.skip("this file system takes them for the same")
    committed(tmp_path)
    run("apply", cwd=tmp_path)
    new = EMOJI.replace(CALL, DONE)
    assert texts(tmp_path) == {"A.py": new, "Pkg/b.py": new, "a.py": DONE, "pkg/b.py": DONE}


# -- repositories: where git is at home


def applied(root: Path, *arguments: str, **environment: str) -> None:
    """All below ``root`` is migrated, and git is believed to have the old text."""
    done = run("apply", *arguments, cwd=root, **environment)
    assert NO_COPY not in done.stdout
    assert set(texts(root).values()) == {DONE}
    assert litter(root) == []


def test_a_repository_without_commits(here: Path) -> None:
    git(here, "init", "-q")
    git(here, "add", "-A")
    applied(here)
    git(here, "checkout", "-q", ".")
    assert set(texts(here).values()) == {CALL}


def test_a_detached_head(here: Path) -> None:
    git(committed(here), "checkout", "-q", "--detach")
    applied(here)


def test_a_worktree(here: Path, tmp_path: Path) -> None:
    git(committed(here), "worktree", "add", "-q", str(tmp_path / "other"))
    applied(tmp_path / "other")
    assert set(texts(here).values()) == {CALL}


def test_a_worktree_whose_repository_is_gone(here: Path, tmp_path: Path) -> None:
    """As where a container has the work tree and not the repository."""
    git(committed(here), "worktree", "add", "-q", str(tmp_path / "other"))
    shutil.rmtree(here)
    done = run("apply", cwd=tmp_path / "other", status=2)
    assert (
        "a.py: MR906 may have changes that git does not hold, and that cannot be told: not a git"
        in done.stderr
    )
    assert set(texts(tmp_path / "other").values()) == {CALL}
    applied(tmp_path / "other", "--allow-dirty")


def test_a_submodule_and_what_is_around_it(tmp_path: Path) -> None:
    committed(put(tmp_path / "part", "a.py"))
    whole = committed(put(tmp_path / "whole", "b.py"))
    git(whole, "submodule", "add", "-q", str(tmp_path / "part"), "part")
    git(whole, "commit", "-qm", "x")
    assert "a.py" not in run("check", cwd=whole, status=1).stdout  # it is a project of its own
    applied(whole / "part")
    assert texts(whole)["b.py"] == CALL
    git(whole / "part", "restore", ".")
    run("apply", "b.py", "part", cwd=whole)
    assert set(texts(whole).values()) == {DONE}


def test_a_repository_that_is_elsewhere(here: Path, tmp_path: Path) -> None:
    git(here, "init", "-q", "--separate-git-dir", str(tmp_path / "repository"))
    git(here, "add", "-A")
    applied(here)


def test_a_bare_repository_with_a_work_tree_of_its_own(here: Path, tmp_path: Path) -> None:
    """Nothing here tells that it is a work tree, and so it is not taken for one."""
    git(tmp_path, "init", "-q", "--bare", "bare")
    environment = {"GIT_DIR": str(tmp_path / "bare"), "GIT_WORK_TREE": str(here)}
    assert NO_COPY in run("apply", cwd=here, **environment).stdout
    assert set(texts(here).values()) == {DONE}
    assert "No Python files there." in run("apply", cwd=tmp_path / "bare").stdout


def test_a_shallow_clone(tmp_path: Path) -> None:
    origin = committed(put(tmp_path / "origin", "a.py"))
    git(origin, "commit", "-q", "--allow-empty", "-m", "y")
    git(tmp_path, "clone", "-q", "--depth", "1", origin.as_uri(), "clone")
    done = run("report", "--since", "HEAD~1", cwd=tmp_path / "clone", status=2)
    assert "--since: HEAD~1 is neither a file nor a git revision of" in done.stderr
    assert "No difference" not in run("report", "--since", "HEAD", cwd=tmp_path / "clone").stderr
    applied(tmp_path / "clone")


def test_a_sparse_checkout(tmp_path: Path) -> None:
    root = committed(put(tmp_path / "root", "in/a.py", "out/b.py"))
    git(root, "sparse-checkout", "set", "in")
    assert list(texts(root)) == ["in/a.py"]
    applied(root)


@POSIX
@pytest.mark.parametrize("all_of_it", [True, False])
def test_in_a_hook_of_git(here: Path, all_of_it: bool) -> None:
    """Git names its repository and an index in a hook's environment; ``commit -a`` has one of its own."""
    put(here, "other.py", text="x = 1\n")
    committed(here)
    put(here, "other.py", text="x = 2\n")
    hook = here / ".git" / "hooks" / "pre-commit"
    program = f"env | grep -q GIT_INDEX_FILE && {shlex.join(script())} apply -q a.py\n"
    hook.write_text(f"#!/bin/sh\n{program}", encoding="utf-8")
    hook.chmod(0o755)
    git(here, "add", "other.py")
    git(here, "commit", "-q", *(["-a"] if all_of_it else []), "-m", "y")
    assert texts(here) == {"a.py": DONE, "b.py": CALL, "other.py": "x = 2\n"}
    assert git(here, "status", "--porcelain").strip() == "M a.py"


def test_another_process_of_git_at_work(here: Path) -> None:
    committed(here)
    (here / ".git" / "index.lock").write_bytes(b"")
    applied(here)


# -- repositories: what git could not give back


def test_no_git_work_tree_at_all(here: Path) -> None:
    assert f"{NO_COPY} to undo it with: keep a copy before you apply it." in run("diff", cwd=here).stderr
    assert f"{NO_COPY}: nothing has kept the old text." in run("apply", cwd=here).stdout
    assert NO_COPY not in run("apply", cwd=here).stdout


def test_a_folder_that_has_the_name_of_a_repository(here: Path) -> None:
    (here / ".git").mkdir()
    assert NO_COPY in run("apply", cwd=here).stdout
    assert set(texts(here).values()) == {DONE}


def refused(root: Path, reason: str, before: str = "", **environment: str) -> None:
    """``a.py`` is refused for ``reason`` and nothing is written, unless that is insisted on."""
    old = texts(root)
    done = run("apply", cwd=root, status=2, before=before, **environment)
    assert f"a.py: MR906 {reason}" in done.stderr
    assert "or use --allow-dirty\n" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Nothing was written, because of a.py")
    assert texts(root) == old
    run("apply", "--allow-dirty", cwd=root, before=before, **environment)
    assert DONE in texts(root)["a.py"]


CANNOT_TELL = "may have changes that git does not hold, and that cannot be told: "


def test_a_repository_without_git(here: Path) -> None:
    refused(committed(here), f"{CANNOT_TELL}there is no git to ask; see to that", PATH=str(here))


def test_a_git_that_fails(here: Path) -> None:
    (committed(here) / ".git" / "config").write_text(
        "[core]\nrepositoryformatversion = 99\n", encoding="utf-8"
    )
    refused(here, f"{CANNOT_TELL}")


@ROOT
def test_a_repository_of_somebody_else(here: Path) -> None:
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(committed(here))], check=True)
    refused(here, f"{CANNOT_TELL}detected dubious ownership in repository at")


def test_files_that_are_not_in_git(here: Path) -> None:
    git(here, "init", "-q")
    refused(here, "is not in git, which could not give it back; add it to git, or")


def test_named_files_that_git_ignores(here: Path) -> None:
    put(here, ".gitignore", text="a.py\n")
    committed(here)
    done = run("apply", "a.py", cwd=here, status=2)
    assert "a.py: MR906 is not in git" in done.stderr
    assert set(texts(here).values()) == {CALL}


@pytest.mark.parametrize("how", ["edited", "intended", "unmerged"])
def test_files_with_changes_that_git_does_not_hold(here: Path, how: str) -> None:
    git(here, "init", "-q")
    if how == "intended":
        git(here, "add", "-N", "a.py")
        git(here, "add", "b.py")
    else:
        git(here, "add", "-A")
        git(here, "commit", "-qm", "x")
    if how == "edited":
        put(here, "a.py", text=EMOJI)
    if how == "unmerged":
        blob = git(here, "rev-parse", ":a.py").strip()
        stages = "".join(f"100644 {blob} {stage}\ta.py\n" for stage in (1, 2, 3))
        subprocess.run(["git", "update-index", "--force-remove", "a.py"], cwd=here, check=True)
        subprocess.run(["git", "update-index", "--index-info"], cwd=here, input=stages, text=True, check=True)
    refused(
        here,
        "has unstaged changes, which the migration would be mixed with; commit or stage these changes, or",
    )


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_is_told_not_to_look_at(here: Path, flag: str) -> None:
    git(committed(here), "update-index", flag, "a.py")
    put(here, "a.py", text=EMOJI)
    done = run("apply", cwd=here, status=2)
    assert "a.py: MR906 is kept from git's eyes (assume-unchanged or skip-worktree), which may" in done.stderr
    assert texts(here) == {"a.py": EMOJI, "b.py": CALL}


@POSIX
def test_no_program_of_the_repository_is_run(here: Path) -> None:
    """A filter would see each file that looks changed; what only passes through one counts as changed."""
    put(here, ".gitattributes", text="a.py filter=own\n")
    committed(here)
    git(here, "config", "filter.own.clean", f"touch {here}/ran; sed s/m/n/")
    git(here, "config", "diff.external", f"touch {here}/ran")
    time.sleep(0.01)
    put(here, "a.py", text=CALL.replace("m)", "n)"))
    reason = (
        "differs from what git has, as it goes through a filter of this repository's own, which is not run"
    )
    done = run("apply", cwd=here, status=2)
    assert f"a.py: MR906 {reason}; commit it and use --allow-dirty\n" in done.stderr
    assert not (here / "ran").exists()


@POSIX
def test_a_git_that_hangs_up(tmp_path: Path) -> None:
    """A closed pipe ends the program quietly, but only that of its own output."""
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\nexec <&-\nexit 3\n", encoding="utf-8")
    fake.chmod(0o755)
    ask = (
        "from migrate_responses.find.listing import run_git\n"
        "cli._prepare()\n"
        "print(run_git('.', 'cat-file', stdin=b'x' * 10_000_000))\n"
        "sys.exit()"
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    assert run(cwd=tmp_path, before=ask, PATH=path).stdout == "None\n"


# -- several processes

SPREAD = """\
import time
from migrate_responses import cli, jobs

def work(part):
    time.sleep(30)

def run():
    print("ready", flush=True)
    return jobs.spread(work, [{"a": b"x" * 500_000}, {"b": b"x" * 500_000}], 2, lambda done: None)

if __name__ == "__main__":
    cli._run = run
    cli.main()
"""


@POSIX
@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "Interrupted"), (signal.SIGTERM, "Terminated")])
def test_several_processes_end_together_and_quietly(tmp_path: Path, number: int, word: str) -> None:
    """A terminal sends Ctrl-C to all of them, and at first they are busy with being started."""
    program = tmp_path / "program.py"
    program.write_text(SPREAD, encoding="utf-8")
    top = str(Path(__file__).resolve().parent.parent)
    for seconds in (0.05, 0.2, 0.6):
        process = subprocess.Popen(
            [sys.executable, str(program)],
            env={**os.environ, "PYTHONPATH": top},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (128 + number, "", f"{word}; nothing was written.\n")

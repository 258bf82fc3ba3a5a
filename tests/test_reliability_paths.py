"""What is called like a Python file and cannot be read: told of if it is named, and waited for never."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from migrate_responses.find import listing
from migrate_responses.find.project import find
from tests.one_call import BEFORE, is_migrated, project, run

POSIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")


def odd(folder: Path, kind: str) -> Path:
    """Something that is called like a Python file and is none."""
    path = folder / "odd.py"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            here = os.getcwd()
            os.chdir(folder)  # the path of a socket must be short
            server.bind(path.name)
            os.chdir(here)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "broken link":
        path.symlink_to("nowhere.py")
    elif kind == "cycle":
        path.symlink_to(path.name)
    elif kind == "cycle of folders":
        path.symlink_to(".")
    return path


@POSIX
@pytest.mark.parametrize("git", [False, True], ids=["alone", "in git"])
@pytest.mark.parametrize(
    "kind", ["pipe", "socket", "device", "broken link", "cycle", "cycle of folders"], ids=str
)
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str, git: bool) -> None:
    if git:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    odd(project(tmp_path), kind)
    run("apply", "--allow-dirty", cwd=tmp_path)
    assert is_migrated(tmp_path)


@POSIX
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("pipe", "odd.py: MR903 is no file but a pipe, a socket or a device; name a file"),
        ("socket", "odd.py: MR903 is no file but a pipe, a socket or a device; name a file"),
        (
            "device",
            "odd.py: MR903 is a link that leads out of the project",
        ),
        ("broken link", "Path 'odd.py' does not exist"),
        ("cycle", "Path 'odd.py' does not exist"),
    ],
)
def test_what_is_no_file_and_is_named_is_told_of(tmp_path: Path, kind: str, said: str) -> None:
    odd(project(tmp_path), kind)
    assert said in run("check", "odd.py", cwd=tmp_path, status=2).stderr


@POSIX
def test_a_pipe_for_gitignore_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    os.mkfifo(project(tmp_path) / ".gitignore")
    run("apply", "--allow-dirty", cwd=tmp_path)
    assert is_migrated(tmp_path)
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / ".gitignore").rename(inner / ".gitignore")  # where only git finds it
    monkeypatch.setattr(listing, "_PATIENCE", 0.5)
    assert listing.list_git(str(tmp_path)) is None


def test_a_folder_called_like_a_file_is_a_folder(tmp_path: Path) -> None:
    inner = project(tmp_path) / "odd.py"
    inner.mkdir()
    shutil.move(tmp_path / "good.py", inner)
    run("apply", "odd.py", cwd=tmp_path)
    assert is_migrated(inner)


def test_a_file_that_vanishes_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path)
    monkeypatch.setattr(listing, "walk", lambda *_: ["gone.py", "good.py"])
    (found,) = find([str(tmp_path)])
    assert list(found.sources) == ["good.py"]
    (error,) = found.errors
    assert (error.code, error.path, error.message) == ("MR903", "gone.py", "has gone meanwhile")
    (found,) = find([str(tmp_path / "gone.py")])
    assert [one.message for one in found.errors] == ["has gone meanwhile"]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    project(tmp_path)
    with open(tmp_path / "huge.py", "wb") as file:
        file.truncate(50_000_000_000)  # of which nothing is on the disk
    assert "huge.py: MR914 50,000 MB" in run("apply", cwd=tmp_path, status=2).stderr
    assert is_migrated(tmp_path)


@POSIX
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_read_is_told_of(tmp_path: Path, what: str) -> None:
    """Root reads everything, unless it gives that right away."""
    first: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv here")
        first = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    secret = project(tmp_path) / "secret"
    secret.mkdir()
    closed = secret if what == "folder" else secret / "odd.py"
    (secret / "odd.py").write_text(BEFORE, encoding="utf-8")
    closed.chmod(0)
    try:
        done = run("apply", cwd=tmp_path, status=2, first=first)
    finally:
        closed.chmod(0o700)
    assert f"{closed.relative_to(tmp_path)}: MR903" in done.stderr
    assert "ermission" in done.stderr
    assert is_migrated(tmp_path)


@pytest.mark.parametrize(
    "text", ["[", "\ufeff\ufeff", "[tool]\nmigrate-responses = 1\n", f"a = {'[' * 5000}"]
)
def test_a_broken_pyproject_is_told_of(tmp_path: Path, text: str) -> None:
    (project(tmp_path) / "pyproject.toml").write_text(text, encoding="utf-8")
    assert "pyproject.toml" in run("check", cwd=tmp_path, status=2).stderr


def test_a_broken_pyproject_further_down_is_in_nobody_s_way(tmp_path: Path) -> None:
    inner = project(tmp_path) / "inner"
    inner.mkdir()
    shutil.move(project(tmp_path) / "good.py", inner)
    (inner / "pyproject.toml").write_text(f"a = {'[' * 5000}", encoding="utf-8")
    run("apply", cwd=tmp_path)
    assert is_migrated(inner)

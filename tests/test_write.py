"""Files are replaced whole or not at all, and only where that is right."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from migrate_responses import replace
from migrate_responses.find.project import Project
from migrate_responses.guard import unstaged
from migrate_responses.results import Diagnostic, FileResult
from migrate_responses.write import write as write_all


def write(here: Project, files: list[FileResult]) -> list[Diagnostic]:
    return [problem for _, problem in write_all((here, file) for file in files)]


def project(root: Path, **files: bytes) -> Project:
    sources = {f"{name}.py": data for name, data in files.items()}
    for name, data in sources.items():
        (root / name).write_bytes(data)
    return Project(str(root), sources, frozenset(sources))


def change(name: str, before: bytes = b"old\n", after: bytes = b"new\n") -> FileResult:
    return FileResult(f"{name}.py", before, after)


def contents(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(root.iterdir()) if path.is_file()}


def test_all_are_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    assert write(project(tmp_path, a=b"old\n", b=b"old\n", c=b"old\n"), [change("a"), change("b")]) == []
    assert contents(tmp_path) == {"a.py": b"new\n", "b.py": b"new\n", "c.py": b"old\n"}


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
@pytest.mark.parametrize("mode", [0o755, 0o640, 0o600, 0o4755])
def test_mode_is_kept(tmp_path: Path, mode: int) -> None:
    here = project(tmp_path, a=b"old\n")
    (tmp_path / "a.py").chmod(mode)
    write(here, [change("a")])
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_owner_is_kept(tmp_path: Path) -> None:
    here = project(tmp_path, a=b"old\n")
    os.chown(tmp_path / "a.py", 12345, 23456)
    write(here, [change("a")])
    status = (tmp_path / "a.py").stat()
    assert (status.st_uid, status.st_gid) == (12345, 23456)


def refused(root: Path, here: Project) -> tuple[str, str]:
    """The code and reason for a.py; b.py must then stay as it was too."""
    errors = write(here, [change("a"), change("b")])
    assert (root / "b.py").read_bytes() == b"old\n"
    assert not list(root.glob(".*"))
    (error,) = errors
    assert error.path == "a.py"
    assert error.next_step
    return error.code, error.message


def test_a_file_that_changed_meanwhile(tmp_path: Path) -> None:
    here = project(tmp_path, a=b"old\n", b=b"old\n")
    (tmp_path / "a.py").write_bytes(b"edited\n")
    assert refused(tmp_path, here)[0] == "MR905"
    assert (tmp_path / "a.py").read_bytes() == b"edited\n"


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    here = project(tmp_path, a=b"old\n", b=b"old\n")
    (tmp_path / "a.py").unlink()
    assert refused(tmp_path, here)[0] == "MR903"
    assert not (tmp_path / "a.py").exists()


def test_a_read_only_file(tmp_path: Path) -> None:
    here = project(tmp_path, a=b"old\n", b=b"old\n")
    (tmp_path / "a.py").chmod(0o444)
    assert refused(tmp_path, here) == ("MR903", "is read-only")


def test_a_link_that_took_the_place(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target.py").write_bytes(b"old\n")
    here = project(tmp_path, a=b"old\n", b=b"old\n")
    (tmp_path / "a.py").unlink()
    (tmp_path / "a.py").symlink_to(outside / "target.py")
    assert refused(tmp_path, here) == ("MR903", "is reached through a link")
    assert (outside / "target.py").read_bytes() == b"old\n"


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = project(tmp_path, a=b"old\n", b=b"old\n")
    real = replace.stage

    def refuse(target: str, *arguments: Any) -> replace.Staged:
        if target.endswith("a.py"):
            raise PermissionError(13, "Permission denied", target)
        return real(target, *arguments)

    monkeypatch.setattr("migrate_responses.write.stage", refuse)
    assert refused(tmp_path, here) == ("MR903", "could not be written: Permission denied")


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_full_disk_and_ctrl_c_leave_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    here = project(tmp_path, a=b"old\n", b=b"old\n")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, moment, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(here, [change("a"), change("b")])
    assert contents(tmp_path) == {"a.py": b"old\n", "b.py": b"old\n"}


def test_changed_between_staging_and_renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = project(tmp_path, a=b"old\n", b=b"old\n")
    real = os.replace

    def racing(source: str, target: str) -> None:
        real(source, target)
        if Path(target).read_bytes() == b"new\n":
            (tmp_path / "b.py").write_bytes(b"edited meanwhile\n")

    monkeypatch.setattr(os, "replace", racing)
    errors = write(here, [change("a"), change("b")])
    assert [(error.code, error.path) for error in errors] == [("MR905", "b.py")]
    assert contents(tmp_path) == {"a.py": b"old\n", "b.py": b"edited meanwhile\n"}


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from migrate_responses.find.project import Project
from migrate_responses.results import FileResult
from migrate_responses.write import write

root = sys.argv[1]
names = [f"f{n}.py" for n in range(20)]
for name in names:
    Path(root, name).write_bytes(b"old")
real = os.replace
def slow(source, target):
    real(source, target)
    os.kill(os.getpid(), getattr(signal, sys.argv[2]))
os.replace = slow
here = Project(root, {}, frozenset())
write((here, FileResult(name, b"old", b"new")) for name in names)
print("not reached")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_amid_the_renames_waits_for_the_last(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path), name], capture_output=True, text=True, check=False
    )
    assert done.returncode in (-getattr(signal, name), 1)
    assert done.stdout == ""
    assert set(contents(tmp_path).values()) == {b"new"}
    assert len(contents(tmp_path)) == 20


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def test_unstaged_changes(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    sub = tmp_path / "sub [x]"
    sub.mkdir()
    here = project(tmp_path, clean=b"old\n", dirty=b"old\n", staged=b"old\n")
    (sub / "dirty.py").write_bytes(b"old\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    time.sleep(0.01)
    for path in (tmp_path / "dirty.py", tmp_path / "staged.py", sub / "dirty.py"):
        path.write_bytes(b"edited\n")
    git(tmp_path, "add", "staged.py")
    (tmp_path / "untracked.py").write_bytes(b"old\n")
    names = ["clean", "dirty", "staged", "untracked", "sub [x]/dirty"]
    found = unstaged(here, [change(name) for name in names])
    assert [(one.code, one.path) for one in found] == [
        ("MR906", name) for name in ("dirty.py", "untracked.py", "sub [x]/dirty.py")
    ]
    assert "is not in git" in found[1].message
    assert "unstaged changes" in found[2].message
    below = Project(str(sub), {}, frozenset())
    assert [one.path for one in unstaged(below, [change("dirty")])] == ["dirty.py"]


def test_no_git_no_guard(tmp_path: Path) -> None:
    assert unstaged(project(tmp_path, a=b"old\n"), [change("a")]) == ()

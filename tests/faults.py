"""The program in trouble: a process of its own, with a stand-in for the engine, as the trouble counts."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

CALL = "client.chat.completions.create(messages=m)\n"
DONE = "client.responses.create(input=m)\n"
LINUX = pytest.mark.skipif(
    sys.platform != "linux", reason="files without a name, /proc and mounts are Linux's"
)
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and permissions")
ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may do this")
NOBODY = 65534

_START = """\
import os, sys
sys.path.insert(0, {top!r})
from migrate_responses import cli, request
from tests import engine_double
request.engine = lambda jobs: engine_double.migrate
"""
# Python itself may be where only root gets to: so what the program loads is loaded before root is given up.
_NOBODY = """\
try:
    cli.cli.main(["apply", "-q", {warm!r}], standalone_mode=False)
except SystemExit:
    pass
import shutil, subprocess, traceback
shutil.rmtree({warm!r})
from migrate_responses import write
from migrate_responses.show import next_steps
write.done = False
os.setgroups({groups})
os.setgid({nobody})
os.setuid({nobody})
"""


def script(before: str = "", groups: tuple[int, ...] | None = None) -> list[str]:
    """The command for the program; ``before`` it runs other code, and with ``groups`` it is nobody's."""
    text = _START.format(top=str(Path(__file__).resolve().parent.parent))
    if groups is not None:
        warm = tempfile.mkdtemp()
        Path(warm, "a.py").write_text(CALL, encoding="utf-8")
        Path(warm, "pyproject.toml").write_text(
            '[tool.migrate-responses]\nexclude = ["x"]\n', encoding="utf-8"
        )
        text += _NOBODY.format(warm=warm, groups=list(groups), nobody=NOBODY)
    return [sys.executable, "-c", f"{text}{before}\ncli.main()\n"]


def run(
    *arguments: str,
    cwd: Path,
    status: int = 0,
    before: str = "",
    groups: tuple[int, ...] | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """The program, after its end with ``status``."""
    done = subprocess.run(
        [*script(before, groups), *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
        timeout=100,
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"]
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def committed(root: Path) -> Path:
    """``root`` as a git repository that holds all that is there."""
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    return root


def put(root: Path, *names: str, text: str = CALL) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def texts(root: Path) -> dict[str, str]:
    """The Python files below ``root``."""
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in sorted(root.rglob("*.py"))}


def litter(root: Path) -> list[str]:
    """What a run may have left below ``root``."""
    return [str(path) for path in root.rglob(".migrate-responses*")]


def needs_nameless(folder: Path) -> None:
    """Skip the test where the file system has no files without a name."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"this file system has no files without a name: {error}")


@contextlib.contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    """A file system mounted on ``folder``; the test is skipped where that is not allowed."""
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def attribute(path: Path, letter: str) -> Iterator[None]:
    """``path`` with an attribute of ``chattr``; the test is skipped where there is none."""
    command = shutil.which("chattr")
    done = command and subprocess.run([command, f"+{letter}", str(path)], capture_output=True, check=False)
    if not done or done.returncode != 0:
        pytest.skip("this file system or this user sets no attributes")
    try:
        yield
    finally:
        subprocess.run(["chattr", f"-{letter}", str(path)], check=True)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that others get to; ``tmp_path`` is for its user alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)

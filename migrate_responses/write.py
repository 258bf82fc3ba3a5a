"""Writing results back, so that whatever happens every file is either the old one or the new one.

All new files are first written in full beside their targets; only when every one of them stands are they
renamed into place. A flow spread over several files is therefore not left half written by a full disk, a
read-only folder or an interruption.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from migrate_responses.find import candidates
from migrate_responses.find.listing import run_git
from migrate_responses.find.project import Project
from migrate_responses.find.roots import git_root
from migrate_responses.results import Diagnostic, FileResult, Level

done = False  # whether this process has begun to put new files in place, which then runs to its end
_STAGE = "commit or stage them, or use --allow-dirty"


@dataclass(frozen=True)
class _Staged:
    """A new file that waits beside its target."""

    name: str
    target: str
    temporary: str
    identity: tuple[int, ...]  # what the target was when it was compared


def write(project: Project, files: Sequence[FileResult]) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Write the changed ``files``: all of them, or none if one cannot be.

    Returns the names written, and a diagnostic for each file that could not be written.
    """
    staged: list[_Staged] = []
    errors: list[Diagnostic] = []
    try:
        for file in files:
            try:
                staged.append(_stage(project, file))
            except _RefusedError as refused:
                errors.append(refused.diagnostic(file.path))
            except OSError as error:
                errors.append(_unwritable(file.path, error))
        if errors:
            return (), tuple(errors)
        with _undisturbed():
            global done
            done = done or bool(staged)
            return _commit(staged)
    finally:
        for one in staged:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(one.temporary)


def unstaged(project: Project, files: Iterable[FileResult]) -> tuple[Diagnostic, ...]:
    """A diagnostic for each of ``files`` that git could not give back as it is: changed, or not in git.

    Outside of a git work tree there are none.
    """
    names = [file.path for file in files]
    top = git_root(project.root)
    if top is None or not names:
        return ()
    prefix = os.path.relpath(project.root, top).replace(os.sep, "/")
    prefix = "" if prefix == "." else prefix + "/"
    changed = run_git(top, "diff", "--name-only", "--no-ext-diff", "-z", "--no-renames")
    held = run_git(top, "ls-files", "-z")
    if changed is None or held is None:  # no git here to ask, and none to recover anything with
        return ()
    tracked, edited = _names(held), _names(changed)
    reasons = {
        name: ("is not in git, which could not give it back", "add it to git, or use --allow-dirty")
        for name in names
        if prefix + name not in tracked
    }
    mixed = ("has unstaged changes, which the migration would be mixed with", _STAGE)
    reasons.update((name, mixed) for name in names if prefix + name in edited)
    return tuple(
        Diagnostic("MR906", name, 0, 0, Level.MANUAL, *reasons[name]) for name in names if name in reasons
    )


def _names(listed: bytes) -> frozenset[str]:
    return frozenset(os.fsdecode(name) for name in listed.split(b"\0") if name)


class _RefusedError(Exception):
    def __init__(self, code: str, reason: str, next_step: str) -> None:
        super().__init__(reason)
        self.code, self.reason, self.next_step = code, reason, next_step

    def diagnostic(self, name: str) -> Diagnostic:
        return Diagnostic(self.code, name, 0, 0, Level.MANUAL, self.reason, self.next_step)


def _stage(project: Project, file: FileResult) -> _Staged:
    """Write the new bytes of ``file`` beside it, with its mode and, where allowed, its owner."""
    target = project.path(file.path)
    if os.path.realpath(target) != os.path.abspath(target):
        raise _RefusedError("MR903", "is reached through a link", "name the file it points to instead")
    status = os.lstat(target)
    if candidates.read(target) != file.before:
        raise _RefusedError("MR905", "was changed while the run was reading it", "run again")
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise _RefusedError("MR903", "is read-only", "make it writable, or leave it out with --exclude")
    folder, base = os.path.split(target)
    handle, temporary = tempfile.mkstemp(prefix=f".{base}.", suffix=".new", dir=folder)
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(file.after)
            new.flush()
            _copy_owner_and_mode(new.fileno(), temporary, status)
            os.fsync(new.fileno())
    except BaseException:
        os.unlink(temporary)
        raise
    return _Staged(file.path, target, temporary, _identity(status))


def _copy_owner_and_mode(handle: int, path: str, status: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        # Only root may give files away; for anyone else the new file is their own, as any they write.
        with contextlib.suppress(PermissionError):
            os.fchown(handle, status.st_uid, status.st_gid)
    os.chmod(path, stat.S_IMODE(status.st_mode))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _commit(staged: Sequence[_Staged]) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    written: list[str] = []
    errors: list[Diagnostic] = []
    for one in staged:
        try:
            if _identity(os.lstat(one.target)) != one.identity:
                changed = _RefusedError("MR905", "was changed while the run was writing", "run again")
                errors.append(changed.diagnostic(one.name))
                continue
            os.replace(one.temporary, one.target)
            written.append(one.name)
        except OSError as error:
            errors.append(_unwritable(one.name, error))
    return tuple(written), tuple(errors)


def _unwritable(name: str, error: OSError) -> Diagnostic:
    reason = f"could not be written: {error.strerror or error}"
    return Diagnostic(
        "MR903", name, 0, 0, Level.MANUAL, reason, "check the permissions of the file and its folder"
    )


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C and a polite kill back until the renames are through, which takes no time."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {
        number: signal.signal(number, lambda received, _: arrived.append(received)) for number in signals
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])

"""Writing results back, so that whatever happens every file is either the old one or the new one.

All new files are first written in full (``replace``); only when every one of them stands do they take the
places of the old ones, and if one cannot, those that did are put back. A flow spread over several files is
therefore not left half written by a full disk, a read-only folder or an interruption.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from migrate_responses.find import candidates
from migrate_responses.find.project import Project
from migrate_responses.replace import Staged, handles, identity, spare_folder, stage, sweep
from migrate_responses.results import Diagnostic, FileResult, Level
from migrate_responses.signals import undisturbed

Change = tuple[Project, FileResult]
Problem = tuple[Project, Diagnostic]

done = False  # whether this process has put new files in place; it is then through with writing
_WAIT = 10.0  # seconds, for another run
_DAY = 86_400.0
_STEPS = {
    errno.ENOSPC: "make room on the disk, then run again",
    errno.EDQUOT: "make room on the disk, then run again",
    errno.EFBIG: "raise the limit on the size of files, then run again",
    errno.ENOENT: "it has gone meanwhile; run again",
    errno.ENOTDIR: "its folder has gone meanwhile; run again",
    errno.EBUSY: "it is mounted by itself; run where it is kept",
    errno.EROFS: "it is on a disk that cannot be written to",
}
_FLAGS = os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_STEP = "check the permissions of the file and its folder"


def write(changes: Iterable[Change]) -> tuple[Problem, ...]:
    """Write all ``changes``, or none if one cannot be written: then a problem for each such file.

    A file that holds its new bytes already, as after another run at the same time, counts as written.
    """
    wanted = [(project, file) for project, file in changes if file.changed]
    if not wanted:
        return ()
    with contextlib.ExitStack() as held:
        for root in sorted({project.root for project, _ in wanted}):
            held.enter_context(_alone(root, {project.path(file.path) for project, file in wanted}))
        return _write(wanted)


def _write(changes: Sequence[Change]) -> tuple[Problem, ...]:
    staged: list[tuple[Change, Staged]] = []
    problems: list[Problem] = []
    unnamed = handles(len(changes))
    try:
        for change in changes:
            project, file = change
            try:
                new = _stage(project.path(file.path), file, anonymous=len(staged) < unnamed)
                if new is not None:
                    staged.append((change, new))
            except (_RefusedError, OSError) as error:
                problems.append((project, _diagnostic(file.path, error)))
        if problems:
            return tuple(problems)
        with undisturbed():
            problems = _put(staged)
            global done
            done = done or not problems
            return tuple(problems)
    finally:
        with undisturbed():
            for _, new in staged:
                new.discard()


class _RefusedError(Exception):
    def __init__(self, code: str, reason: str, step: str) -> None:
        super().__init__(reason)
        self.code, self.reason, self.step = code, reason, step


def _diagnostic(name: str, error: _RefusedError | OSError) -> Diagnostic:
    if isinstance(error, OSError):
        reason = f"could not be written: {error.strerror or error}"
        error = _RefusedError("MR903", reason, _STEPS.get(error.errno or 0, _STEP))
    return Diagnostic(error.code, name, 0, 0, Level.MANUAL, error.reason, error.step)


def _stage(target: str, file: FileResult, anonymous: bool) -> Staged | None:
    """The new bytes of ``file``, ready to take the place of ``target``; None if they are there already."""
    if os.path.realpath(target) != os.path.abspath(target):
        raise _RefusedError("MR903", "is reached through a link", "name the file it points to instead")
    status = os.lstat(target)
    there = candidates.read(target)
    if there == file.after:
        return None
    if there != file.before:
        raise _RefusedError("MR905", "was changed while the run was reading it", "run again")
    _check_permission(target, status)
    return stage(target, file.after, status, anonymous)


def _check_permission(target: str, status: os.stat_result) -> None:
    """Raise if a person could not write to the file: replacing it needs the right to its folder alone."""
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise _RefusedError("MR903", "is read-only", "make it writable, or leave it out with --exclude")
    try:
        os.close(os.open(target, _FLAGS))
    except PermissionError as error:
        why = error.strerror or "no permission"
        step = "check its permissions and its attributes (lsattr), or leave it out with --exclude"
        raise _RefusedError("MR903", f"may not be written to: {why}", step) from error


def _put(staged: Sequence[tuple[Change, Staged]]) -> list[Problem]:
    """Put all files in place, or none."""
    problems: list[Problem] = []
    for (project, file), new in staged:
        try:
            _check_identity(new)
        except (_RefusedError, OSError) as error:
            problems.append((project, _diagnostic(file.path, error)))
    if problems:
        return problems
    with contextlib.ExitStack() as held:
        roots = {project.root: new.has_name for (project, _), new in staged}
        spare = {
            root: () if named else held.enter_context(spare_folder(root)) for root, named in roots.items()
        }
        through: list[Change] = []
        for (project, file), new in staged:
            try:
                _check_identity(new)
                new.put(spare[project.root])
            except (_RefusedError, OSError) as error:
                return [(project, _diagnostic(file.path, error)), *_put_back(through, spare)]
            through.append((project, file))
    return []


def _check_identity(new: Staged) -> None:
    if identity(os.lstat(new.target)) != new.identity:
        raise _RefusedError("MR905", "was changed while the run was writing", "run again")


def _put_back(through: Sequence[Change], spare: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    """Give files their old bytes again; a problem for each that is not as it was."""
    for project, file in through:
        back = FileResult(file.path, file.after, file.before)
        try:
            old = _stage(project.path(file.path), back, anonymous=True)
            if old is not None:
                try:
                    old.put(spare[project.root])
                finally:
                    old.discard()
        except (_RefusedError, OSError) as error:
            found = _diagnostic(file.path, error)
            reason = f"is migrated, and could not be put back ({found.message})"
            step = "compare it with what git has of it"
            yield project, Diagnostic("MR903", file.path, 0, 0, Level.MANUAL, reason, step)


@contextlib.contextmanager
def _alone(root: str, targets: Iterable[str]) -> Iterator[None]:
    """Wait until no other run writes in ``root``, and keep others waiting.

    Where that cannot be had, runs may cross: each still sees what the other has written.
    """
    handle = _locked(root)
    try:
        # If nobody else is at work here, what lies about is left over.
        sweep(root, {os.path.dirname(target) for target in targets}, _DAY if handle is None else 0)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _locked(folder: str) -> int | None:
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    end = time.monotonic() + _WAIT
    try:
        while True:
            try:
                flock(handle, LOCK_EX | LOCK_NB)
                return handle
            except BlockingIOError:
                if time.monotonic() > end:
                    break
                time.sleep(0.05)
    except OSError:
        pass  # some network file systems lock no folders
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None

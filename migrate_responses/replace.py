"""One file's new bytes, first complete on disk, then in the place of the old ones in one step.

Where the system can (Linux), new bytes wait in a file without a name, which vanishes with the process:
whatever kills a run, it leaves nothing behind. Such a file needs a name for the blink in which it takes its
place; that name is not in the project if there is a better folder on the same disk. Elsewhere new bytes wait
beside their target, and what a killed run leaves there is removed by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from migrate_responses.signals import undisturbed

_LEFTOVER = ".migrate-responses-"
_SUFFIX = ".new"
_HANDLES = "/proc/self/fd"
_FREE = 128  # handles that everything else may need
# What belongs to a file beyond mode and owner, and does not depend on its bytes as a signature would.
_ACL = "system.posix_acl_access"
_ATTRIBUTES = ("user.", _ACL, "security.selinux")


@dataclass
class Staged:
    """New bytes for the file at ``target``, complete on disk. ``put`` or ``discard`` ends it."""

    target: str
    identity: tuple[int, ...]  # of what it replaces
    _handle: int | None  # of a file without a name
    _temporary: str | None  # the name, once there is one

    def put(self, spare: Sequence[str]) -> None:
        """Take the place of the target. ``spare`` are folders in which a name may stand for a moment."""
        if self._temporary is None:
            self._temporary = self._named((*spare, os.path.dirname(self.target)))
        os.replace(self._temporary, self.target)
        self._temporary = None
        self._close()

    def discard(self) -> None:
        """Leave nothing behind; nothing happens after ``put``."""
        if self._temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._temporary)
            self._temporary = None
        self._close()

    def _named(self, folders: Sequence[str]) -> str:
        """Give the file a name in the first of ``folders`` that is on its disk and takes it."""
        source = f"{_HANDLES}/{self._handle}"
        for number, folder in enumerate(folders, 1):
            name = _fresh(folder)
            try:
                # Without a folder's handle, Python would link the link and not the file it stands for.
                os.link(source, name, src_dir_fd=self._handle, follow_symlinks=True)
            except OSError:
                if number == len(folders):
                    raise
            else:
                return name
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.target)

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def stage(target: str, data: bytes, status: os.stat_result | None, anonymous: bool = True) -> Staged:
    """Write ``data`` to a new file on the disk of ``target``, with what ``status`` says of that.

    Without a ``status`` there is no file there yet. With ``anonymous`` the new file has no name yet if the system can do that, and takes a handle while it
    waits. Raises ``OSError`` if there is no room or no permission; then nothing is left.
    """
    with undisturbed():
        folder, temporary = os.path.dirname(target), None
        handle = _without_name(folder) if anonymous else None
        if handle is None:
            temporary = _fresh(folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            handle = os.open(temporary, flags, 0o600)
        staged = Staged(target, identity(status), None if temporary else handle, temporary)
    try:
        with os.fdopen(handle, "wb", closefd=temporary is not None) as new:
            new.write(data)
            new.flush()
            _dress(new.fileno(), target, status)
            os.fsync(new.fileno())
    except BaseException:
        with undisturbed():
            staged.discard()
        raise
    return staged


def identity(status: os.stat_result | None) -> tuple[int, ...]:
    """What changes if a file is replaced or written to; empty for one that does not exist."""
    if status is None:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _fresh(folder: str) -> str:
    return os.path.join(folder, f"{_LEFTOVER}{secrets.token_hex(8)}{_SUFFIX}")


def _without_name(folder: str) -> int | None:
    """The handle of a new file without a name on the disk of ``folder``; None if there is no such thing."""
    kind = getattr(os, "O_TMPFILE", None)
    if kind is None or not os.path.isdir(_HANDLES):
        return None
    try:
        return os.open(folder, kind | os.O_WRONLY, 0o600)
    except OSError:
        return None  # a file system without them, or an error that the other way will meet too


def _dress(handle: int, target: str, status: os.stat_result | None) -> None:
    """Give the new file the owner, the mode and the attributes of the old one, as far as that is allowed."""
    if sys.platform == "win32":
        return
    if status is None:
        mask = os.umask(0o077)
        os.umask(mask)
        os.fchmod(handle, 0o666 & ~mask)
        return
    mode = stat.S_IMODE(status.st_mode)
    if not _give(handle, status.st_uid, status.st_gid):
        mode &= ~(stat.S_ISUID | stat.S_ISGID)  # they would lend somebody else's rights
    if sys.platform != "linux":
        os.fchmod(handle, mode)
        return
    with contextlib.suppress(OSError):  # what the folder gives to new files
        os.removexattr(handle, _ACL)
    os.fchmod(handle, mode)
    for name in _attributes(target):
        with contextlib.suppress(OSError):  # as with the owner: not all may be given by everybody
            os.setxattr(handle, name, os.getxattr(target, name, follow_symlinks=False))


def _give(handle: int, owner: int, group: int) -> bool:
    """Whether the file now belongs to both. Only root gives files away, but a group may be shared."""
    for one in (owner, -1):
        with contextlib.suppress(OSError):
            os.fchown(handle, one, group)
            return one == owner
    return False


def _attributes(path: str) -> list[str]:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            names = os.listxattr(path, follow_symlinks=False)
            return [name for name in names if name.startswith(_ATTRIBUTES)]
    return []


def spare_folders(root: str) -> list[str]:
    """Folders outside of the project that may be on its disk, for names that last a moment."""
    return [folder for folder in (os.path.join(root, ".git"), tempfile.gettempdir()) if os.path.isdir(folder)]


def handles(wanted: int) -> int:
    """How many of ``wanted`` handles this process may keep open, after asking for that many."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _FREE
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS has a bound of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return wanted if soft == resource.RLIM_INFINITY else max(0, min(wanted, soft - _FREE))


def sweep(folders: Iterable[str], age: float = 0) -> None:
    """Remove what runs that were killed left in ``folders``, if it is ``age`` seconds old.

    No run may be at work there, unless it is younger than that.
    """
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as scan:
            for entry in list(scan):
                is_ours = entry.name.startswith(_LEFTOVER) and entry.name.endswith(_SUFFIX)
                if is_ours and time.time() - entry.stat(follow_symlinks=False).st_mtime >= age:
                    os.unlink(entry.path)

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
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from migrate_responses.signals import undisturbed

_LEFTOVER = ".migrate-responses-"
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

    @property
    def has_name(self) -> bool:
        return self._temporary is not None

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

    Without a ``status`` there is no file there yet. With ``anonymous`` the new file has no name yet if
    the system can do that, and takes a handle while it waits. Raises ``OSError`` if there is no room or no
    permission; then nothing is left.
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
            _flush(new.fileno())
    except BaseException:
        with undisturbed():
            staged.discard()
        raise
    return staged


def _flush(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # it knows no such thing
            raise


def identity(status: os.stat_result | None) -> tuple[int, ...]:
    """What changes if a file is replaced or written to; empty for one that does not exist."""
    if status is None:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _fresh(folder: str) -> str:
    return os.path.join(folder, f"{_LEFTOVER}{secrets.token_hex(8)}.new")


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
    if stat.S_IMODE(os.fstat(handle).st_mode) != mode:  # some file systems have one mode and no other
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


@contextlib.contextmanager
def spare_folder(root: str) -> Iterator[tuple[str, ...]]:
    """A folder on the disk of ``root``, apart from the code, for names that last a moment; maybe none."""
    git = os.path.join(root, ".git")
    if os.path.isdir(git):
        yield (git,)
        return
    try:
        same = os.stat(tempfile.gettempdir()).st_dev == os.stat(root).st_dev
        folder = tempfile.mkdtemp(prefix=_mark(root)) if same else None  # nobody else looks into it
    except OSError:
        folder = None
    try:
        yield (folder,) if folder else ()
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _mark(root: str) -> str:
    return f"{_LEFTOVER}{zlib.crc32(os.fsencode(root)):08x}-"


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


def sweep(root: str, folders: Iterable[str], age: float = 0) -> None:
    """Remove what runs in ``root`` that were killed left in ``folders`` and elsewhere.

    Only what is ``age`` seconds old goes; no run may be at work there that is older.
    """
    with contextlib.suppress(OSError):  # there is no place for temporary files
        for path in _older(tempfile.gettempdir(), re.escape(_mark(root)) + ".+", age):
            shutil.rmtree(path, ignore_errors=True)
    for folder in (*folders, os.path.join(root, ".git")):
        for path in _older(folder, re.escape(_LEFTOVER) + r"[0-9a-f]{16}\.new", age):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _older(folder: str, pattern: str, age: float) -> list[str]:
    """What there is in ``folder`` with a name like ``pattern``, if it is ``age`` seconds old."""
    try:
        with os.scandir(folder) as scan:
            found = [entry for entry in scan if re.fullmatch(pattern, entry.name)]
            return [
                one.path for one in found if time.time() - one.stat(follow_symlinks=False).st_mtime >= age
            ]
    except OSError:
        return []

"""Which files with Python a directory holds, leaving out what git would leave out."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from migrate_responses.documents.names import NOTEBOOKS
from migrate_responses.find.candidates import read
from migrate_responses.signals import with_other_processes

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyw", *NOTEBOOKS)

SKIPPED_DIRECTORIES = frozenset(
    {
        ".eggs",
        ".git",
        ".hg",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "__pypackages__",
        "node_modules",
        "site-packages",
    }
)
VENV_MARKER = "pyvenv.cfg"
_WARNING = re.compile(rb"^warning: could not open directory '(.*?)(?:/?': (.*))?$", re.MULTILINE)

# A hook inherits these from git, and they would point every question at the hook's own repository.
_GIT_LOCATION = {
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
}


_HARMLESS = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
_PATIENCE = 60.0  # seconds for a listing; git waits for ever for a `.gitignore` that is a pipe


class GitError(Exception):
    """Git is missing, or refuses; the message is what it says."""


def run_git(root: str, *arguments: str, stdin: bytes | None = None) -> bytes | None:
    """As ``ask_git``, but None if git is missing or refuses."""
    try:
        return ask_git(root, *arguments, stdin=stdin)
    except GitError:
        return None


def ask_git(root: str, *arguments: str, stdin: bytes | None = None) -> bytes:
    """What git prints when asked in ``root`` and given ``stdin``. Raises ``GitError``."""
    return _git(root, arguments, stdin)[0]


def _git(
    root: str, arguments: Iterable[str], stdin: bytes | None = None, patience: float | None = None
) -> tuple[bytes, bytes]:
    """What git prints, and what it warns of.

    Programs that the repository's own configuration names are not run: the monitor of files is switched off,
    and so are hooks, signatures and ways to fetch what is missing.
    """
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name not in _GIT_LOCATION}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    environment["GIT_NO_LAZY_FETCH"] = "1"  # nothing goes over the network
    environment["GIT_ALLOW_PROTOCOL"] = "none"  # for a git that does not know the other
    environment["LC_ALL"] = "C"  # what git says becomes part of an English sentence
    command = ["git", *_HARMLESS, "-C", root, *arguments]
    try:
        with with_other_processes():
            done = subprocess.run(
                command, env=environment, input=stdin, capture_output=True, check=False, timeout=patience
            )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git gives no answer within {patience} seconds") from error
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise GitError("there is no git to ask" if missing else f"git cannot be run: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "backslashreplace").strip().partition("\n")[0]
        raise GitError(said.removeprefix("fatal: ") or f"git ends with status {done.returncode}")
    return done.stdout, done.stderr


Closed = dict[str, str]
"""Directories that could not be looked into, each with what the system said."""


def list_git(
    root: str, suffixes: tuple[str, ...] = SUFFIXES, closed: Closed | None = None
) -> list[str] | None:
    """The files that git tracks or would track below ``root``, relative to it; None without git.

    Directories that it cannot look into are added to ``closed``.
    """
    if not _is_plain(os.path.join(root, ".gitignore")):
        return None  # git would wait for what comes out of it
    patterns = [f"*{suffix}" for suffix in suffixes]
    options = ("-z", "-co", "--exclude-standard", "--", *patterns, f"*{VENV_MARKER}")
    try:
        listed, warned = _git(root, ["ls-files", *options], patience=_PATIENCE)
    except GitError:
        return None
    if closed is not None and warned:
        closed.update(map(_closed, _WARNING.findall(warned)))
    names = sorted({os.fsdecode(name) for name in listed.split(b"\0") if name})
    environments = tuple(
        name[: -len(VENV_MARKER)]
        for name in names
        if os.path.basename(name) == VENV_MARKER and name != VENV_MARKER
    )
    usual = _Usual(root)
    return [
        name
        for name in names
        if name.endswith(suffixes)
        and not name.startswith(environments or ("\0",))
        and usual(os.path.dirname(name))
    ]


def _closed(warning: tuple[bytes, bytes]) -> tuple[str, str]:
    """A directory and what git says of it; of one with a very long path it says the beginning alone."""
    name, why = map(os.fsdecode, warning)
    return (name, why) if why else (name.rpartition("/")[0], "File name too long")


def _is_plain(path: str) -> bool:
    """Whether ``path`` is a file or a folder, leads to one, or is not there."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


class _Usual:
    """Whether a directory of the listing is an ordinary one: not skipped, and no link leads to it."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known = {"": True}

    def __call__(self, directory: str) -> bool:
        known = self._known.get(directory)
        if known is None:
            parent, name = os.path.split(directory)
            known = (
                name not in SKIPPED_DIRECTORIES
                and self(parent)
                and not os.path.islink(os.path.join(self._root, directory))
            )
            self._known[directory] = known
        return known


def walk(root: str, suffixes: tuple[str, ...] = SUFFIXES, closed: Closed | None = None) -> list[str]:
    """The files below ``root``, relative to it, honouring each ``.gitignore`` on the way.

    Links are not followed, and virtual environments are passed over. Directories that cannot be looked into
    are added to ``closed``.
    """
    return sorted(_walk(root, "", suffixes, (), {} if closed is None else closed))


def _walk(
    root: str,
    prefix: str,
    suffixes: tuple[str, ...],
    ignores: tuple[tuple[str, GitIgnoreSpec], ...],
    closed: Closed,
) -> Iterator[str]:
    try:
        with os.scandir(os.path.join(root, prefix)) as scan:
            entries = list(scan)
    except FileNotFoundError:  # it has gone meanwhile, and nothing is in it
        return
    except OSError as error:
        closed[prefix.rstrip("/")] = error.strerror or str(error)
        return
    names = {entry.name for entry in entries}
    if prefix and VENV_MARKER in names:
        return
    if ".gitignore" in names and (spec := _read_gitignore(os.path.join(root, prefix, ".gitignore"))):
        ignores = (*ignores, (prefix, spec))
    for entry in entries:
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in SKIPPED_DIRECTORIES and not _ignored(name + "/", ignores):
                yield from _walk(root, name + "/", suffixes, ignores, closed)
        elif (
            entry.name.endswith(suffixes)
            and entry.is_file(follow_symlinks=False)
            and not _ignored(name, ignores)
        ):
            yield name


def _read_gitignore(path: str) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    try:
        data = read(path)  # which takes no pipe for a file
        return GitIgnoreSpec.from_lines((data or b"").decode("utf-8", "surrogateescape").splitlines())
    except (OSError, ValueError):
        return None


def _ignored(name: str, ignores: tuple[tuple[str, GitIgnoreSpec], ...]) -> bool:
    """The deepest ``.gitignore`` that has an opinion decides."""
    for prefix, spec in reversed(ignores):
        verdict = spec.check_file(name[len(prefix) :]).include
        if verdict is not None:
            return verdict
    return False

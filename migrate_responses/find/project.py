"""From the paths a person names to the sources of a run."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from migrate_responses.config import matching
from migrate_responses.documents.names import TEXTS
from migrate_responses.find import candidates, listing, roots
from migrate_responses.results import Diagnostic, Level


@dataclass(frozen=True)
class Project:
    """The sources of one run. Names are relative to ``root``, with forward slashes.

    ``sources`` holds every file that can matter, in order of names, and ``writable`` those of them
    that the named paths cover. ``seen`` counts the files looked at, ``asked`` those that were named.
    ``excluded`` are files with calls that the named paths would cover, were they not left out.
    """

    root: str
    sources: dict[str, bytes]
    writable: frozenset[str]
    errors: tuple[Diagnostic, ...] = ()
    seen: int = 0
    asked: int = 1
    excluded: frozenset[str] = frozenset()

    def path(self, name: str) -> str:
        """Where the file called ``name`` is."""
        return os.path.join(self.root, *name.split("/"))


def find(
    paths: Sequence[str],
    exclude: Iterable[str] = (),
    replaced: Mapping[str, bytes] | None = None,
    include_docs: bool = False,
) -> list[Project]:
    """The projects that hold ``paths``, in the order in which they are first named.

    Named files count even where git ignores them; what ``exclude`` matches is read and never written.
    Folders are searched for texts with code blocks only with ``include_docs``.
    ``replaced`` gives the bytes of some named files, in place of what the disk holds if it holds them.
    """
    by_root: dict[tuple[str, bool], list[str]] = {}
    for path in paths:
        absolute = os.path.abspath(path)
        root = roots.project_root(absolute)
        lone = root is None and not os.path.isdir(absolute)
        root = root or (os.path.dirname(absolute) if lone else absolute)
        by_root.setdefault((root, lone), []).append(absolute)
    texts = {os.path.abspath(path): data for path, data in (replaced or {}).items()}
    suffixes = (*listing.SUFFIXES, *(TEXTS if include_docs else ()))
    return [
        _read_project(root, named, tuple(exclude), lone, texts, suffixes)
        for (root, lone), named in by_root.items()
    ]


def _read_project(
    root: str,
    named: list[str],
    exclude: tuple[str, ...],
    lone: bool,
    texts: Mapping[str, bytes],
    suffixes: tuple[str, ...],
) -> Project:
    reading = _Reading(os.path.realpath(root))
    closed: listing.Closed = {}
    siblings = partial(_siblings, reading.root, suffixes)
    listed = siblings if lone else partial(_listed, reading, suffixes, closed)
    folders = any(map(os.path.isdir, named))
    names = listed() if folders else []
    covered: set[str] = set()
    others: set[str] = set()  # links, and folders
    files: set[str] = set()
    for path in named:
        name = reading.name_of(path)
        if name is None:
            others.add(reading.lexical(path))
            continue
        if os.path.isdir(path):
            below = _below(names, name)
            if not below:  # a directory that git ignores, named all the same
                prefix = "" if name == "." else name + "/"
                inside: listing.Closed = {}
                walked = listing.walk(os.path.join(reading.root, name), suffixes, inside)
                below = [prefix + inner for inner in walked]
                closed.update(((prefix + inner).rstrip("/"), why) for inner, why in inside.items())
                names = [*names, *below]
            covered.update(below)
            others.update(reading.closed(name, closed, exclude))
        else:
            covered.add(name)
            files.add(name)
            if path in texts:
                reading.texts[name] = texts[path]
    excluded = matching(covered, exclude)
    covered -= excluded
    reading.read(sorted(covered))
    reading.miss(sorted(files & covered))
    if reading.sources and not folders:  # else there is nothing that the others could matter to
        names = listed()
    everything = sorted({*names, *covered})
    if reading.sources:
        reading.read(name for name in everything if name not in covered)
    sources = _with_context(reading, covered, everything)
    return Project(
        reading.root,
        sources,
        frozenset(covered & sources.keys()),
        tuple(error for error in reading.errors if error.path in covered | others),
        len({*everything, *sources}),
        len(covered),
        frozenset(name for name in excluded if _CALLS.search(reading.sources.get(name, b""))),
    )


_CALLS = re.compile(rb"\bchat\.completions\.\w|\bChatCompletion\.")


def _with_context(reading: _Reading, covered: set[str], everything: list[str]) -> dict[str, bytes]:
    """The covered files that matter, and of all others those that their calls can reach."""
    own = {name: data for name, data in reading.sources.items() if name in covered}
    if not own:
        return {}
    from migrate_responses.find.reach import beside, reach

    own.update(beside(own, reading.sources))
    code = {name: candidates.searchable(name, data) for name, data in own.items()}
    reached = {name: reading.quietly(name) for name in reach(code, everything, reading.code)}
    own.update((name, data) for name, data in reached.items() if data is not None)
    own.update(_packages(own, everything, reading))
    own.update(_stubs(own, reading))
    return dict(sorted(own.items()))


def _packages(sources: Mapping[str, bytes], everything: Iterable[str], reading: _Reading) -> dict[str, bytes]:
    """The ``__init__.py`` of the folders around ``sources``: they tell what an import can mean."""
    folders = {os.path.dirname(name) for name in sources}
    for folder in list(folders):
        while folder := os.path.dirname(folder):
            folders.add(folder)
    wanted = {f"{folder}/__init__.py" for folder in folders if folder} - sources.keys()
    read = {name: reading.quietly(name) for name in sorted(wanted.intersection(everything))}
    return {name: data for name, data in read.items() if data is not None}


def _stubs(sources: Iterable[str], reading: _Reading) -> dict[str, bytes]:
    """The stubs beside ``sources`` that name the SDK."""
    read = {f"{name}i": reading.quietly(f"{name}i") for name in sources if name.endswith(".py")}
    return {name: data for name, data in read.items() if data is not None and candidates.matters(data)}


def _listed(reading: _Reading, suffixes: tuple[str, ...], closed: listing.Closed) -> list[str]:
    names = listing.list_git(reading.root, suffixes, closed) if roots.git_root(reading.root) else None
    if names is None:
        names = listing.walk(reading.root, suffixes, closed)
        reading.seen = frozenset(names)  # git lists what it tracks, there or not
    return names


def _siblings(directory: str, suffixes: tuple[str, ...]) -> list[str]:
    """The files beside a lone file. Nothing says how far its project reaches, so not below."""
    try:
        return sorted(name for name in os.listdir(directory) if name.endswith(suffixes))
    except OSError:
        return []


def _below(names: Iterable[str], directory: str) -> list[str]:
    return [name for name in names if directory == "." or name.startswith(directory + "/")]


class _Reading:
    """The sources and the errors of one project, as they are read."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._prefix = os.path.join(root, "")
        self.sources: dict[str, bytes] = {}
        self.texts: dict[str, bytes] = {}
        self.errors: list[Diagnostic] = []
        self.seen: frozenset[str] = frozenset()  # what was there a moment ago

    def name_of(self, path: str) -> str | None:
        """The name of ``path`` in the project; None, and an error, if a link leads out of it."""
        real = os.path.realpath(path)
        name = os.path.relpath(real, self.root).replace(os.sep, "/")
        if name.startswith("../") or name == "..":
            reason = "is a link that leads out of the project"
            self._error(self.lexical(path), reason, "name the file it points to instead")
            return None
        return name

    def closed(self, directory: str, closed: listing.Closed, exclude: Iterable[str]) -> Iterator[str]:
        """What could not be looked into below ``directory``: an error each, unless it is left out."""
        for name, why in closed.items():
            inside = f"{name}/x" if name else "x"
            usual = listing.SKIPPED_DIRECTORIES.isdisjoint(name.split("/"))
            if usual and _below([inside], directory) and not matching([inside], exclude):
                step = "check its permissions, or leave it out with --exclude"
                self._error(name or ".", f"is a folder that could not be looked into: {why}", step)
                yield name or "."

    def lexical(self, path: str) -> str:
        """The name of ``path`` as it is spelled, wherever links lead."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def read(self, names: Iterable[str]) -> None:
        """Keep the files among ``names`` that matter."""
        for name in names:
            try:
                data = self._bytes(name)
            except OSError as error:
                if error.errno == errno.EFBIG:
                    self._error(name, str(error.strerror), "leave it out with --exclude", "MR914")
                else:
                    self._error(
                        name, f"could not be read: {error.strerror or error}", "check its permissions"
                    )
                continue
            if data is None and name in self.seen:
                self.miss([name])
            elif data is not None and candidates.matters(data):
                if len(data) > candidates.LARGEST_CODE and name.endswith((".py", ".pyw")):
                    reason = f"{len(data) / 1e6:,.0f} MB of Python are too much to follow"
                    self._error(name, reason, "leave it out with --exclude", "MR914")
                else:
                    self.sources[name] = data

    def miss(self, names: Iterable[str]) -> None:
        """Tell of those of ``names`` that are no files to read, though somebody asked for them."""
        for name in names:
            if name in self.texts:
                continue
            try:
                mode = os.lstat(self._prefix + name).st_mode
            except FileNotFoundError:
                self._error(name, "has gone meanwhile", "run again")
            except OSError:
                pass  # `read` has told of it
            else:
                if not stat.S_ISREG(mode):
                    self._error(name, "is no file but a pipe, a socket or a device", "name a file")

    def quietly(self, name: str) -> bytes | None:
        """The bytes of a file; None if it cannot be read."""
        try:
            return self._bytes(name)
        except OSError:
            return None

    def code(self, name: str) -> bytes | None:
        """What is to be searched in a file in place of its bytes; None if it cannot be read."""
        data = self.quietly(name)
        return None if data is None else candidates.searchable(name, data)

    def _bytes(self, name: str) -> bytes | None:
        text = self.texts.get(name)
        return text if text is not None else candidates.read(self._prefix + name)

    def _error(self, name: str, reason: str, next_step: str, code: str = "MR903") -> None:
        self.errors.append(Diagnostic(code, name, 0, 0, Level.MANUAL, reason, next_step))

"""Parts of a project that have nothing to do with each other, and can be looked at one by one, or at once.

Files belong together if one imports the other, by whatever way round, or names it in a string (as tests do
that patch it); and with the ``__init__.py`` and ``conftest.py`` of the folders above them. Judged on bytes,
which only keeps together more than need be.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from .find.imports import Files
from .programs import imported

_DOTTED = re.compile(rb"[\"']([A-Za-z_]\w*(?:[.:]\w+)+)(?=[\"':])")
_PATCHES = re.compile(rb"mock|(?:patch\w*|setattr)(?:\.\w+)*\(\s*[rRuU]?[\"'][A-Za-z_]\w*\.")
_OF_FOLDER = ("__init__.py", "conftest.py")


def components(sources: Mapping[str, bytes]) -> list[dict[str, bytes]]:
    """``sources`` in parts, in the order of their first paths."""
    groups = _Groups(sources)
    files = Files(sources)
    named: dict[bytes, list[str]] = {}  # a word -> the files with it in their paths
    for path in sources:
        for word in set(path.removesuffix(".py").split("/")):
            named.setdefault(word.encode("utf-8", "surrogateescape"), []).append(path)
    for path, data in sources.items():
        for other in (*imported(path, data, files), *_of_folders(path, sources)):
            groups.join(path, other)
        patches = _PATCHES.search(data) is not None
        for dotted in set(_DOTTED.findall(data)):
            parts = dotted.replace(b":", b".").split(b".")
            for end in range(1, len(parts) + 1):
                for other in files.targets(path, b".".join(parts[:end]).decode("utf-8", "replace")):
                    groups.join(path, other)
            if patches:  # what a patch names counts as the project's if any module is called so
                for other in named.get(parts[0], ()):
                    groups.join(path, other)
    return groups.parts(sources)


def _of_folders(path: str, sources: Mapping[str, bytes]) -> Iterator[str]:
    """The files that speak for the folders around ``path``."""
    folder = posixpath.dirname(path)
    while True:
        for name in _OF_FOLDER:
            other = f"{folder}/{name}" if folder else name
            if other in sources:
                yield other
        if not folder:
            return
        folder = posixpath.dirname(folder)


class _Groups:
    """Union-find over paths."""

    def __init__(self, paths: Mapping[str, object]) -> None:
        self._parent = {path: path for path in paths}

    def _find(self, path: str) -> str:
        root = path
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[path] != root:
            self._parent[path], path = root, self._parent[path]
        return root

    def join(self, one: str, other: str) -> None:
        self._parent[self._find(one)] = self._find(other)

    def parts(self, sources: Mapping[str, bytes]) -> list[dict[str, bytes]]:
        found: dict[str, dict[str, bytes]] = {}
        for path in sorted(sources):
            found.setdefault(self._find(path), {})[path] = sources[path]
        return list(found.values())

"""Imports, read off the bytes of a file, and the files of a project they mean.

A parser would be exact and a hundred times slower. Here an import in a comment or a string counts too, which
only widens the net a little.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..import_path import GIVEN_BY_FRAMEWORKS, on_path, shared

_IMPORT = re.compile(rb"import(?=[ \t(\\*])")
_FROM = re.compile(rb"(?:^|[;:\s])from[ \t]+(\.*[ \t]*[\w.]*)[ \t]*$")
_CALLED = re.compile(rb"\b(import_module|__import__)\(\s*[\"']([\w.]+)[\"']")
# An import by a name that is put together: what begins a name in strings, and what may be one as it stands.
_COMPUTED = re.compile(rb"\b(import_module|__import__)\(\s*(?![\"'][\w.]*\w[\"']\s*[,)])")
_PREFIX = re.compile(
    rb"[\"'](\.*(?:\w+\.)*)(?=[\"'{]|%s)|\{__(?:name|package)__\}(\.)|__(?:name|package)__ *\+ *[\"'](\.)"
)
_WHOLE = re.compile(rb"[\"'](\.*\w+(?:\.\w+)*)(?::\w+)?[\"']")
_PLUGINS = re.compile(rb"^(pytest_plugins)\b[^=\n]*\+?=\s*([\[(]?(?:[\s,]*[\"'][\w.]+[\"'])*)", re.MULTILINE)
_NAMED = re.compile(rb"[\"']([\w.]+)[\"']")
_OF_FRAMEWORKS = {tuple(module.split(".")): called for (module, _), called in GIVEN_BY_FRAMEWORKS.items()}
_NOISE = re.compile(rb"#[^\n]*|\\\r?\n|[()\r\n]")


@dataclass(frozen=True)
class Import:
    """``from module import names`` (each with its alias) or, with no names, ``import module``."""

    module: str
    names: tuple[tuple[bytes, bytes], ...] = ()
    alias: bytes = b""
    computed: bool = False  # it is one of those that a call may mean


def imports(data: bytes) -> Iterator[Import]:
    """Every import statement in ``data``, and every import by a call or for pytest.

    Of a call with a name that is put together (``import_module(f"plugins.{name}")``) it is all that may be
    meant: ``plugins.*``, and every name in quotes.
    """
    for called in _CALLED.finditer(data):
        yield Import(called.group(2).decode("utf-8", "replace"), alias=called.group(1))
    computed = _COMPUTED.search(data)
    if computed is not None:
        prefixes = {b"".join(found) for found in _PREFIX.findall(data)} - {b""}
        for name in dict.fromkeys([*_WHOLE.findall(data), *(prefix + b"*" for prefix in sorted(prefixes))]):
            yield Import(name.decode("utf-8", "replace"), alias=computed.group(1), computed=True)
    for plugins in _PLUGINS.finditer(data) if b"pytest_plugins" in data else ():
        for name in _NAMED.findall(plugins.group(2)):
            yield Import(name.decode("utf-8", "replace"), alias=plugins.group(1))
    for found in _IMPORT.finditer(data):
        head = data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()].strip()
        if source := _FROM.search(head):
            module = source.group(1).replace(b" ", b"").decode("utf-8", "replace")
            names = tuple(_aliased(part) for part in _parts(data, found.end()))
            yield Import(module, tuple(pair for pair in names if pair[0]))
        elif not head or head[-1:] in b";:":
            for part in _parts(data, found.end()):
                name, alias = _aliased(part)
                first = name.split(b".")[0]
                yield Import(name.decode("utf-8", "replace"), alias=alias if alias != name else first)


def _parts(data: bytes, start: int) -> list[bytes]:
    """What is listed after the word ``import``: to the closing parenthesis, or to the end of the line."""
    if data[start : start + 80].lstrip(b" \t").startswith(b"("):
        end = data.find(b")", start)
    else:
        end = data.find(b"\n", start)
        while end > start and data[start:end].rstrip(b"\r").endswith(b"\\"):
            end = data.find(b"\n", end + 1)
    text = _NOISE.sub(b" ", data[start : end if end >= 0 else None])
    return text.split(b";")[0].split(b",")


def _aliased(part: bytes) -> tuple[bytes, bytes]:
    words = part.split()
    return (words[0], words[-1]) if words else (b"", b"")


class Files:
    """The files of a project as targets of imports. Paths are relative, with forward slashes.

    A last part ``*`` means all modules of a package.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._by_last: dict[str, list[tuple[str, ...]]] = {}
        self._in_folder: dict[str, list[tuple[str, ...]]] = {}
        self._packages = {os.path.dirname(path) for path in self._paths if path.endswith("__init__.py")}
        for path in sorted(self._paths):
            parts = _module(path)
            if parts:
                self._by_last.setdefault(parts[-1], []).append(parts)
                self._in_folder.setdefault("/".join(parts[:-1]), []).append(parts)

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def targets(self, importer: str, module: str) -> list[str]:
        """The files that ``module`` (dotted, perhaps with leading dots) may mean in ``importer``."""
        name = module.lstrip(".")
        parts = tuple(name.split(".")) if name else ()
        folder = os.path.dirname(importer)
        if level := len(module) - len(name):
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._existing((*folder.split("/"), *parts) if folder else parts)
        return self._absolute(folder, parts)

    def _absolute(self, folder: str, parts: tuple[str, ...]) -> list[str]:
        """Of all files whose path ends with ``parts``, those closest to ``folder`` that Python could mean."""
        if not parts or parts[0] in sys.stdlib_module_names:
            return []
        if parts[-1] == "*":
            return self._of_package(folder, parts[:-1])
        if parts in _OF_FRAMEWORKS:
            return self._called(_OF_FRAMEWORKS[parts])
        best: list[str] = []
        nearest = -1
        for path in self._by_last.get(parts[-1], ()):
            root = "/".join(path[: -len(parts)])
            if path[-len(parts) :] != parts or not on_path(root, folder, self._packages):
                continue
            close = shared(root, folder)
            if close > nearest:
                best, nearest = [], close
            if close == nearest:
                best.extend(self._existing(path))
        return best

    def _called(self, name: str) -> list[str]:
        """All modules of that name, and those right in folders of that name."""
        inside = [
            module
            for folder, modules in self._in_folder.items()
            if folder.split("/")[-1] == name
            for module in modules
        ]
        return [path for one in (*self._by_last.get(name, ()), *inside) for path in self._existing(one)]

    def _of_package(self, folder: str, parts: tuple[str, ...]) -> list[str]:
        """All modules of the nearest package ``parts``, which need have no ``__init__.py``."""
        best: list[str] = []
        nearest = -1
        for where in self._in_folder:
            package = tuple(where.split("/"))
            root = "/".join(package[: -len(parts)])
            if parts and package[-len(parts) :] == parts and on_path(root, folder, self._packages):
                close = shared(root, folder)
                if close > nearest:
                    best, nearest = self._existing((*package, "*")), close
        return best

    def _existing(self, parts: tuple[str, ...]) -> list[str]:
        if parts[-1:] == ("*",):
            inner = self._in_folder.get("/".join(parts[:-1]), ())
            return [path for module in inner for path in self._existing(module)]
        stem = "/".join(parts)
        inits = "__init__.py" if not stem else f"{stem}/__init__.py"
        return [path for path in (f"{stem}.py", inits) if path in self._paths]


def _module(path: str) -> tuple[str, ...]:
    stem = path.rsplit(".", 1)[0]
    parts = tuple(stem.split("/"))
    return parts[:-1] if parts[-1] == "__init__" else parts

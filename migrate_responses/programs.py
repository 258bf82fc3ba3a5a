"""Programs of one project that have nothing in common but a framework which knows nothing of OpenAI.

A repository of examples beside the framework that they use is many programs. Taken as one, whatever any of
them hands to the framework seems to come out in all others. So each is looked at with a framework of its own.
Judged on bytes: an import in a string counts too, which only keeps programs together.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .documents.names import is_notebook, is_snippet
from .find.imports import Files, imports

_MAIN = b"__main__"
_ENGAGED = (b"openai", b"completions")


@dataclass(frozen=True)
class Programs:
    """The parts to look at one by one, and the files that are in more than one of them."""

    parts: tuple[Mapping[str, bytes], ...]
    common: frozenset[str] = frozenset()


def split(sources: Mapping[str, bytes]) -> Programs:
    """Take apart what runs apart: documents, and programs in folders of their own that a framework joins.

    Whatever is not certain to be such a program stays together, in the last part.
    """
    files = Files(sources)
    graph = {path: set(imported(path, data, files)) for path, data in sources.items()}
    engaged = [path for path, data in sources.items() if any(word in data for word in _ENGAGED)]
    importers: dict[str, set[str]] = {}
    for path, targets in graph.items():
        for target in targets:
            importers.setdefault(target, set()).add(path)
    active = _reachable(engaged, importers)
    groups = _groups(active, graph, importers)
    used = [_reachable(group, graph) - active for group in groups]
    users: dict[str, int] = {}
    for needs in used:
        for path in needs:
            users[path] = users.get(path, 0) + 1
    common = frozenset(path for path, count in users.items() if count > 1)
    apart = [
        group | needs
        for group, needs, alone in zip(groups, used, _alone(groups), strict=True)
        if alone and not common.isdisjoint(needs) and any(_MAIN in sources[path] for path in group)
    ]
    documents = [
        group | needs for group, needs in zip(groups, used, strict=True) if all(map(_is_document, group))
    ]
    members = {path for files in (*apart, *documents) for path in files}
    others = {path: data for path, data in sources.items() if path not in members}
    parts = [{path: sources[path] for path in sorted(files)} for files in apart]
    parts = [part for part in parts if not _is_named(part, others)]
    parts += [{path: sources[path] for path in sorted(files)} for files in documents]
    if not parts or len(parts) == 1 == len(groups):
        return Programs((sources,))
    taken = {path for part in parts for path in part} - common
    rest = {path: data for path, data in sources.items() if path not in taken}
    return Programs((*parts, *([rest] if rest else ())), common)


def imported(path: str, data: bytes, files: Files) -> Iterator[str]:
    """The files that ``data``, standing at ``path``, imports, and the stub beside it."""
    if f"{path}i" in files:
        yield f"{path}i"
    for one in imports(data):
        found = files.targets(path, one.module)
        yield from found
        joint = "" if one.module.endswith(".") else "."
        packages = {posixpath.dirname(target) for target in found if target.endswith("__init__.py")}
        for name, _ in one.names:
            for target in files.targets(path, f"{one.module}{joint}{name.decode('utf-8', 'replace')}"):
                # A name of a module that is found is no module somewhere else.
                if not found or _package(target) in packages:
                    yield target


def _package(path: str) -> str:
    """The folder of the package that a module or package is in."""
    folder = posixpath.dirname(path)
    return posixpath.dirname(folder) if path.endswith("__init__.py") else folder


def _reachable(starts: Iterable[str], links: Mapping[str, set[str]]) -> set[str]:
    found = set(starts)
    stack = list(found)
    while stack:
        for other in links.get(stack.pop(), ()):
            if other not in found:
                found.add(other)
                stack.append(other)
    return found


def _groups(
    active: set[str], graph: Mapping[str, set[str]], importers: Mapping[str, set[str]]
) -> list[set[str]]:
    """The files of ``active`` that imports join, either way, without going through other files."""
    links = {path: (graph[path] | importers.get(path, set())) & active for path in active}
    groups: list[set[str]] = []
    seen: set[str] = set()
    for path in sorted(active):
        if path not in seen:
            group = _reachable([path], links)
            seen |= group
            groups.append(group)
    return groups


def _alone(groups: list[set[str]]) -> list[bool]:
    """Which of the groups have their folders, and what is above and below these, to themselves."""
    inside: dict[str, set[int]] = {}  # folder -> the groups with files in it
    below: dict[str, set[int]] = {}  # folder -> the groups with files in it or further down
    folders = [{posixpath.dirname(path) for path in group if not _is_document(path)} for group in groups]
    for number, own in enumerate(folders):
        for folder in own:
            inside.setdefault(folder, set()).add(number)
            for above in (folder, *_above(folder)):
                below.setdefault(above, set()).add(number)
    return [
        all(
            below[folder] == {number}
            and all(inside.get(above, {number}) == {number} for above in _above(folder))
            for folder in own
        )
        for number, own in enumerate(folders)
    ]


def _is_document(path: str) -> bool:
    """Whether ``path`` is a notebook or in a text: nothing imports it, so it is in nobody's way."""
    return is_notebook(path) or is_snippet(path)


def _above(folder: str) -> Iterator[str]:
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _is_named(part: Mapping[str, bytes], others: Mapping[str, bytes]) -> bool:
    """Whether one of ``others`` names a module in a string (``patch("app.llm.run")``), or is a conftest."""
    folders = {
        above for path in part for above in (posixpath.dirname(path), *_above(posixpath.dirname(path)))
    }
    stems = {posixpath.basename(path.removesuffix("/__init__.py")).removesuffix(".py") for path in part}
    words = b"|".join(re.escape(os.fsencode(stem)) for stem in sorted(stems))
    mention = re.compile(rb"[\"'](?:\w+\.)*(?:" + words + rb")\.\w")
    return any(
        mention.search(data)
        or (posixpath.basename(path) == "conftest.py" and posixpath.dirname(path) in folders)
        for path, data in others.items()
    )


__all__ = ["Programs", "imported", "split"]

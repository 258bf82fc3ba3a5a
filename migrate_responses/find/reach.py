"""Which other files the values of the calls can reach, judged on bytes.

A response made in one file may be read in another that never mentions OpenAI, and the tools a call sends may
be written in a third. Starting from the files that make calls, this follows names: a top-level statement that
mentions a name that matters makes the names it binds matter, and files are joined to each other by imports of
such names. Taking a file too many costs the time to parse it; missing one could tear a flow apart.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

from migrate_responses.find.imports import Files, Import, imports

Read = Callable[[str], bytes | None]

_STARTS = re.compile(rb"(?:from|import)[ \t]+openai\b|chat\W{1,200}completions\b")
# What a file that shares a constant with a call must hold for the constant's shape to matter to it.
_SHAPES = re.compile(
    rb"choices|tool_call|finish_reason|messages|completion|prompt_tokens"
    rb"|[\"'](?:role|content|function|parameters)[\"']|\.(?:content|delta|usage)\b"
)
# What fixtures may hand to a test of a call: an answer, or a part of one, by whatever it is set.
_DOUBLES = re.compile(rb"\b(?:choices|message|content|delta|usage|tool_calls)\b")
_CONFTEST = "conftest.py"
_STATEMENT = re.compile(rb"^(?=[^\s#)\]}\"'])", re.MULTILINE)
_BOUND = re.compile(rb"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?[+|]?=(?!=)")
_INNER = re.compile(rb"^[ \t]+(?:async[ \t]+def|def|class)[ \t]+(\w+)|^[ \t]+(\w+)[ \t]*=(?!=)", re.MULTILINE)
_DECORATORS = re.compile(rb"\A(?:@[^\n]*\n(?:[ \t)][^\n]*\n)*)+")
_WORD = re.compile(rb"[^\W\d]\w*")


def reach(candidates: Mapping[str, bytes], paths: Iterable[str], read: Read) -> dict[str, bytes]:
    """The files among ``paths``, beyond the ``candidates``, that the candidates' calls can reach.

    ``read`` gives the bytes of a path, or None if it cannot be read.
    """
    starts = [path for path, data in candidates.items() if _STARTS.search(data)]
    if not starts:
        return {}
    search = _Search(candidates, paths, read)
    for path in starts:
        search.start(path)
    search.run()
    while search.fixtures():
        search.run()
    return search.found


def beside(own: Mapping[str, bytes], candidates: Mapping[str, bytes]) -> dict[str, bytes]:
    """The ``candidates`` tied to ``own`` by other means than imports.

    These are files that spell a module's name (a test that patches ``"app.llm.client"``), and the
    ``conftest.py`` of the folders above.
    """
    stems = sorted({_stem(path) for path, data in own.items() if _STARTS.search(data)})
    if not stems:
        return {}
    mention = re.compile(rb"\b(?:" + b"|".join(re.escape(os.fsencode(stem)) for stem in stems) + rb")\.\w")
    folders = _folders(own)
    return {
        path: data
        for path, data in candidates.items()
        if path not in own and (mention.search(data) or _folder_of_conftest(path) in folders)
    }


def _folders(paths: Iterable[str]) -> set[str]:
    """The folders around ``paths``, each with its slash."""
    return {
        path[: index + 1]
        for path in paths
        for index in range(-1, len(path))
        if index < 0 or path[index] == "/"
    }


def _folder_of_conftest(path: str) -> str | None:
    """The folder (with its slash) whose tests get what ``path`` makes, without importing it."""
    folder, slash, name = path.rpartition("/")
    return folder + slash if name == _CONFTEST else None


def _stem(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[2] if name == "__init__.py" else name.rpartition(".")[0]


class _File:
    """The top-level statements of a file (what each binds, and which words it holds) and its links.

    A link is an import together with a file of the project that it means.
    """

    def __init__(self, data: bytes, links: Iterable[tuple[Import, str]]) -> None:
        self.links = tuple(links)
        self.words = frozenset(_WORD.findall(data))
        self.statements: list[tuple[frozenset[bytes], frozenset[bytes]]] = []
        for text in _statements(data):
            words = frozenset(_WORD.findall(text))
            names = _names(text)
            if names is None and self.statements:
                # Not a definition, or a line of a string that only looks like a statement: then
                # it belongs to the definition before it.
                bound, before = self.statements.pop()
                self.statements.append((bound, before | words))
            self.statements.append((names if names is not None else _inner_names(text, words), words))

    def spread(self, names: set[bytes]) -> tuple[set[bytes], set[bytes]]:
        """All names that ``names`` make matter in this file, and the words of the statements concerned."""
        matter, words = set(names), set[bytes]()
        waiting = list(self.statements)
        while True:
            touched = [one for one in waiting if not matter.isdisjoint(one[1])]
            if not touched:
                return matter, words
            waiting = [one for one in waiting if matter.isdisjoint(one[1])]
            for bound, mentioned in touched:
                matter |= bound
                words |= mentioned

    def behind(self, words: set[bytes]) -> set[bytes]:
        """The words of the definitions that statements with ``words`` use, and of what those use."""
        found = set[bytes]()
        used = words
        waiting = list(self.statements)
        while used:
            touched = [one for one in waiting if not used.isdisjoint(one[0])]
            waiting = [one for one in waiting if used.isdisjoint(one[0])]
            used = set().union(*(mentioned for _, mentioned in touched)) - found
            found |= used
        return found


def _statements(data: bytes) -> Iterator[bytes]:
    """``data`` cut before each line that begins a top-level statement; decorators stay with their targets."""
    held = b""
    starts = [found.start() for found in _STATEMENT.finditer(data)]
    for start, end in pairwise([*starts, len(data)]):
        text = held + data[start:end]
        held = text if data[start : start + 1] == b"@" else b""
        if not held:
            yield text


def _names(text: bytes) -> frozenset[bytes] | None:
    """What a definition, an assignment or an import binds; None for any other statement."""
    plain = _DECORATORS.sub(b"", text)
    if bound := _BOUND.match(plain):
        return frozenset(name for name in bound.groups() if name)
    # What an import binds is followed by its targets.
    return frozenset() if plain.startswith((b"from ", b"import ")) else None


def _inner_names(text: bytes, words: frozenset[bytes]) -> frozenset[bytes]:
    """What is bound inside an ``if`` or ``try``, or by an assignment to several names."""
    inner = frozenset(name for pair in _INNER.findall(text) for name in pair if name)
    return inner or (words if b"=" in text.split(b"\n", 1)[0] else frozenset())


class _Search:
    def __init__(self, candidates: Mapping[str, bytes], paths: Iterable[str], read: Read) -> None:
        self.found: dict[str, bytes] = {}
        self._candidates = candidates
        self._read = read
        self._files: dict[str, _File] = {}
        self._shapes: dict[str, bool] = {}
        self._names: dict[str, set[bytes]] = {}
        self._strong: set[str] = set()  # reached by a response or a client, not by a constant alone
        self._whole: set[str] = set()  # each conftest.py that is read for its fixtures
        self._queue: dict[str, None] = {}
        self._modules = Files(paths)
        self._conftests = [path for path in paths if _folder_of_conftest(path) is not None]
        self._importers: dict[str, set[str]] = {}
        for path in paths:
            for _, target in self._links(path):
                self._importers.setdefault(target, set()).add(path)

    def start(self, path: str) -> None:
        """Begin with a file that makes calls or clients."""
        names = {b"completions"}
        for one in imports(self._data(path)):
            if one.module.split(".")[0] == "openai":
                names |= {alias for _, alias in one.names} or {one.alias}
        self._strong.add(path)
        self._matter(path, names)

    def run(self) -> None:
        """Follow names until nothing new is found."""
        while self._queue:
            path = next(iter(self._queue))
            del self._queue[path]
            names, words = self._file(path).spread(self._names[path])
            self._names[path] |= names
            self._imported(path, words)
            self._importing(path)

    def fixtures(self) -> bool:
        """Take in each ``conftest.py`` above what is found whose fixtures can make answers; if there are new.

        Tests ask for them by the names of parameters.
        """
        folders = _folders([*self._candidates, *self._names])
        new = [
            path
            for path in self._conftests
            if path not in self._whole and _folder_of_conftest(path) in folders and self._makes_doubles(path)
        ]
        for path in new:
            self._whole.add(path)
            self._matter(path, set(self._file(path).words))
        return bool(new)

    def _makes_doubles(self, path: str) -> bool:
        return any(
            _DOUBLES.search(self._data(one)) for one in (path, *(target for _, target in self._links(path)))
        )

    def _imported(self, path: str, words: set[bytes]) -> None:
        """Take in what the statements concerned use from other files."""
        behind = self._file(path).behind(words) if path in self._strong else set[bytes]()
        for one, target in self._file(path).links:
            used = {name for name, alias in one.names if alias in words or name == b"*"}
            direct = bool(used) or one.alias in words
            if path in self._strong:  # what is handed to a call may be made by other definitions here
                used |= {name for name, alias in one.names if alias in behind}
            if not direct and not used and one.alias not in behind:
                continue
            strong = direct and path in self._strong
            shaped = self._has_shapes(target) or (path in self._whole and self._makes_doubles(target))
            if target in self._names or strong or shaped:
                self._matter(target, used)

    def _importing(self, path: str) -> None:
        """Take in the files that import a name that matters, by whatever alias."""
        strong = path in self._strong
        if not strong and not self._has_shapes(path):
            return
        for importer in sorted(self._importers.get(path, ())):
            if not strong and not self._has_shapes(importer):
                continue
            mentioned = self._mentioned(importer, path)
            if not mentioned:
                continue
            newly_strong = strong and importer not in self._strong
            if newly_strong:
                self._strong.add(importer)
            self._matter(importer, mentioned, again=newly_strong)

    def _mentioned(self, importer: str, path: str) -> set[bytes]:
        """What a file calls those of the names that matter in ``path`` which it imports and uses."""
        names = self._names[path]
        mentioned = set[bytes]()
        for one, target in self._file(importer).links:
            if target == path and one.names and (b"*", b"*") not in one.names:
                mentioned |= {alias for name, alias in one.names if name in names}
            elif target == path:  # of what is imported by a computed name, nobody need mention a name
                words = self._file(importer).words
                mentioned |= words if one.computed else names & words
        return mentioned

    def _matter(self, path: str, names: set[bytes], again: bool = False) -> None:
        known = self._names.get(path)
        if known is None:
            self._names[path] = known = set()
            again = True
            if path not in self._candidates:
                self.found[path] = self._data(path)
        if again or not names <= known:
            known |= names
            self._queue[path] = None

    def _links(self, path: str) -> Iterator[tuple[Import, str]]:
        for one in imports(self._data(path)):
            for target in self._modules.targets(path, one.module):
                yield one, target
            for name, alias in one.names:
                joint = "" if one.module.endswith(".") else "."
                for target in self._modules.targets(
                    path, one.module + joint + name.decode("utf-8", "replace")
                ):
                    yield Import(one.module, alias=alias), target

    def _file(self, path: str) -> _File:
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = _File(self._data(path), self._links(path))
        return file

    def _has_shapes(self, path: str) -> bool:
        known = self._shapes.get(path)
        if known is None:
            known = self._shapes[path] = _SHAPES.search(self._data(path)) is not None
        return known

    def _data(self, path: str) -> bytes:
        data = self._candidates.get(path) or self.found.get(path)
        return data if data is not None else self._read(path) or b""

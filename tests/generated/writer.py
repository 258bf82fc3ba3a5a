"""What the pieces of a generated program write to: up to three files, with the imports that they need."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Lines = list[str]
Turn = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """A program that runs, with the turns of the server, the number of its calls, and the pieces in it."""

    files: dict[str, bytes]
    turns: list[Turn]
    sites: int
    pieces: tuple[str, ...]

    def __str__(self) -> str:
        shown = "".join(f"## {name}\n{data.decode()}" for name, data in self.files.items())
        return f"<{' '.join(self.pieces)}>\n{shown}{self.turns}"


@dataclass
class Writer:
    """Draws, and collects lines by file."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    layout: str = ""
    asynchronous: bool = False
    sites: int = 0
    turns: list[Turn] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    _imports: dict[str, dict[str, None]] = field(default_factory=dict)
    _bodies: dict[str, Lines] = field(default_factory=dict)
    _from: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.layout = self.pick("one", "one", "two", "three")
        self.asynchronous = self.draw(st.integers(0, 4)) == 4

    # -- chance --------------------------------------------------------------------------

    def pick(self, *options: T) -> T:
        """One of ``options``; the simplest comes first."""
        return self.draw(st.sampled_from(options))  # type: ignore[no-any-return]

    def piece(self, kind: str, *names: str) -> str:
        """The name of one piece, which is noted."""
        name = self.pick(*names)
        self.pieces.append(f"{kind}:{name}")
        return name

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """A few of ``options``, none twice."""
        chosen = self.draw(
            st.lists(st.sampled_from(range(len(options))), min_size=least, max_size=most, unique=True)
        )
        return [options[index] for index in chosen]

    def draw_int(self, most: int) -> int:
        """A number from 0 to ``most``."""
        return int(self.draw(st.integers(0, most)))

    def chance(self) -> bool:
        """Yes or no."""
        return bool(self.draw(st.booleans()))

    # -- text ----------------------------------------------------------------------------

    @property
    def wait(self) -> str:
        return "await " if self.asynchronous else ""

    @property
    def looping(self) -> str:
        """How a loop over what the server sends begins."""
        return "async for" if self.asynchronous else "for"

    @property
    def define(self) -> str:
        """How the definition of a function that asks begins."""
        return "async def" if self.asynchronous else "def"

    def home(self, wanted: str) -> str:
        """The file for what belongs to ``wanted`` (clients, service or main) in this layout."""
        if self.layout == "one" or wanted == "main":
            return "main"
        return "service" if self.layout == "two" else wanted

    def need(self, file: str, line: str) -> None:
        """An import."""
        self._imports.setdefault(file, {})[line] = None

    def imported(self, file: str, name: str) -> str:
        """The name of a module, which ``file`` imports."""
        self.need(file, f"import {name}")
        return name

    def add(self, file: str, *lines: str) -> None:
        """Lines at the top level of a file."""
        self._bodies.setdefault(file, []).extend(lines)

    def at(self, file: str, name: str, home: str, rebound: bool = False) -> str:
        """How ``file`` refers to what ``home`` defines; what is ``rebound`` must be asked of its module."""
        if file == home:
            return name
        key = f"{file} {home}"
        if key not in self._from:
            self._from[key] = self.chance()
        if self._from[key] and not rebound:
            self.need(file, f"from {home} import {name}")
            return name
        self.need(file, f"import {home}")
        return f"{home}.{name}"

    def program(self) -> Program:
        """All that has been written."""
        files = {}
        for name, body in self._bodies.items():
            lines = [*sorted(self._imports.get(name, ())), "", *body]
            files[f"{name}.py"] = ("\n".join(lines) + "\n").encode()
        return Program(files, self.turns, self.sites, tuple(self.pieces))


def block(head: str, body: Sequence[str]) -> Lines:
    """``body`` under ``head``."""
    return [head, *(textwrap.indent(line, "    ") for line in body)]

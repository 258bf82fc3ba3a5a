"""The formats of ``report``: a table from a name to the function that writes it.

A format is a function from :class:`Report` to text, in a module that is imported when the format is
asked for. To add one, write the function and add a row to ``_FORMATS``: the command line takes its
names from there, and so do the tests of hostile text.

What holds for each of them: the same report gives the same text; text from the project (paths, code,
messages) cannot act in it; no key is shown. Diagnostics and the text of a site are masked already;
``sources`` and the texts in ``outcome.changed`` are exact, so take lines from :meth:`Report.excerpt`.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from migrate_responses.config import Options
    from migrate_responses.results import Cell, FlowResult, Placed
    from migrate_responses.session import Outcome
    from migrate_responses.show.since import Since

TERMINAL = "terminal"

# name -> (module, function)
_FORMATS: dict[str, tuple[str, str]] = {
    "html": ("migrate_responses.show.html", "as_html"),
    "json": ("migrate_responses.show.document", "as_json"),
    "sarif": ("migrate_responses.show.sarif", "as_sarif"),
    "github": ("migrate_responses.show.github", "as_github"),
    "markdown": ("migrate_responses.show.markdown", "as_markdown"),
    "prompt": ("migrate_responses.show.prompt", "as_prompt"),
}

NAMES = (TERMINAL, *_FORMATS)
FOR_FILES = frozenset({"html", "sarif"})
"""Those that nobody reads on a terminal."""


@dataclass(frozen=True)
class Report:
    """What a format shows: the outcome of a run, and what it takes to tell of it.

    ``date`` is there only if it was asked for, so that the same code gives the same report.
    """

    outcome: Outcome
    options: Options
    sources: Mapping[str, bytes]  # every file that was read, by path as shown
    date: str | None = None
    name: str = ""  # of the project, or empty if there are several
    since: Since | None = None  # compared with an earlier report, if that was asked for
    history: tuple[Since, ...] = ()  # all earlier reports that were named, ``since`` the last of them
    prefix: str = ""  # the working directory as seen from the root of the repository
    links: str = ""  # what comes before a path in the repository to make it an address; ends with a slash
    # By path as shown; see find/owners.py.
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _texts: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def flows(self) -> Mapping[int, FlowResult]:
        """The flows by number."""
        return {flow.number: flow for flow in self.outcome.flows}

    def in_repository(self, path: str) -> str:
        """A path as shown, as seen from the root of the repository."""
        return posixpath.normpath(posixpath.join(self.prefix, path))

    def excerpt(self, path: str, first: int, last: int) -> list[tuple[int, str]]:
        """The lines ``first`` to ``last`` (from 1) of a file with their numbers, keys masked.

        Empty for a file that was not read or cannot be decoded.
        """
        lines = self._lines(path)
        numbers = range(max(first, 1), min(last, len(lines)) + 1)
        return [(number, lines[number - 1]) for number in numbers]

    def line_at(self, one: Placed) -> str:
        """The line of code that ``one`` is in, keys masked: in a notebook that of the cell."""
        if one.cell is not None:
            return self._line_of_cell(one.path, one.cell)
        return next((text for _, text in self.excerpt(one.path, one.line, one.line)), "")

    def _line_of_cell(self, path: str, cell: Cell) -> str:
        key = f"{path}:{cell.number}"
        if key not in self._texts:
            self._texts[key] = _masked_lines(_cell(self.sources.get(path, b""), cell.number))
        lines = self._texts[key]
        return lines[cell.line - 1] if cell.line <= len(lines) else ""

    def _lines(self, path: str) -> list[str]:
        lines = self._texts.get(path)
        if lines is None:
            lines = self._texts[path] = _masked_lines(self.sources.get(path, b""))
        return lines


def _cell(data: bytes, number: int) -> bytes:
    """The source of a cell of a notebook; empty if it has no such cell."""
    try:
        source = json.loads(data)["cells"][number - 1]["source"]
    except (ValueError, LookupError, TypeError):
        return b""
    return "".join(source).encode("utf-8", "surrogatepass")


def _masked_lines(data: bytes) -> list[str]:
    """The lines of a source file, as Python counts them, with keys masked."""
    from migrate_responses.secrets import masked
    from migrate_responses.source import decode

    try:
        text = decode(data).text
    except (SyntaxError, ValueError, LookupError):
        return []
    lines = re.split("\r\n|\r|\n", masked(text))
    return lines[:-1] if lines[-1] == "" else lines


def show(report: Report, form: str, stream: TextIO, no_color: bool) -> None:
    """Write ``report`` in the format called ``form``."""
    if form == TERMINAL:
        from migrate_responses.show.report import as_comparison, as_table
        from migrate_responses.show.screen import Screen

        screen = Screen(stream, no_color)
        as_table(screen, report.outcome)
        if report.since is not None:
            as_comparison(screen, report.since)
        return
    module, function = _FORMATS[form]
    text: str = getattr(import_module(module), function)(report)
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

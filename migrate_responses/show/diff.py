"""Diffs: an exact patch in a pipe; on a terminal file by file, in colour, with what is held back in sight."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from migrate_responses.results import FileResult
from migrate_responses.show.patch import patch
from migrate_responses.show.screen import Screen
from migrate_responses.source import decode

if TYPE_CHECKING:
    from rich.text import Text

_TODO = re.compile(r"# TODO\(migrate-responses\): (?P<code>MR\d{3}|)")
_MOST = 300_000  # bytes of a file; a larger one is shown without the colours of Python


def diffs(screen: Screen, files: Iterable[FileResult], about: Mapping[str, str]) -> None:
    """Write the patches of ``files``: byte for byte, unless the screen is a terminal.

    ``about`` has a few words for the heading of a file, by its path.
    """
    if screen.is_terminal:
        coloured(screen, files, about)
        return
    screen.stream.flush()
    for file in files:
        for line in patch(file.path, file.before, file.after):
            sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def coloured(screen: Screen, files: Iterable[FileResult], about: Mapping[str, str] | None = None) -> None:
    """The patches of ``files`` for a person, each under the name of its file."""
    for file in files:
        words = (about or {}).get(file.path, "")
        screen.line()
        screen.line((file.path, "bold underline"), f"  {words}" if words else "")
        painter = _Painter(screen, file)
        for number, line in enumerate(patch(file.path, file.before, file.after)):
            if number < 2:  # the names of the file; the heading has told it
                continue
            text = line.decode(painter.encoding, "backslashreplace").rstrip("\r\n")
            if screen.colour:
                screen.print(painter.paint(text))
            else:
                screen.line(text)


class _Painter:
    """The colours of one file's patch, line after line: signs in green and red, Python as Python."""

    def __init__(self, screen: Screen, file: FileResult) -> None:
        self._screen = screen
        self._file = file
        self._line = 0  # of the new file, from 0
        try:
            self.encoding = decode(file.after).encoding
        except (SyntaxError, ValueError):
            self.encoding = "utf-8"

    def paint(self, line: str) -> Text:
        """One line of the patch."""
        from rich.text import Text

        sign, code = line[:1], self._screen.shown(line[1:])
        if line.startswith("@@"):
            self._line = int(re.search(r"\+(\d+)", line).group(1)) - 1  # type: ignore[union-attr]
            return Text(self._screen.shown(line), "cyan")
        if sign == "-":
            return Text(f"-{code}", "red")
        if sign not in ("+", " "):
            return Text(self._screen.shown(line), "dim")
        text = self._python(code)
        self._line += 1
        todo = _TODO.search(code) if sign == "+" else None
        if todo is not None:
            text = Text(code, "yellow")
            text.stylize("bold", *todo.span("code"))
        elif sign == "+":
            text.stylize_before("green")
        return Text.assemble((sign, "bold green" if sign == "+" else ""), text)

    def _python(self, code: str) -> Text:
        """The current line of the new file, with the colours that Python gives it."""
        from rich.text import Text

        known = self._lines[self._line] if self._line < len(self._lines) else None
        return known.copy() if known is not None and known.plain == code else Text(code)

    @cached_property
    def _lines(self) -> Sequence[Text]:
        if len(self._file.after) > _MOST:
            return []
        from rich.text import Text

        text = Text()
        for kind, part in _tokens(self._file.after.decode(self.encoding, "backslashreplace")):
            lines = (self._screen.shown(line.removesuffix("\r")) for line in part.split("\n"))
            text.append("\n".join(lines), kind)
        return list(text.split("\n", allow_blank=True))


def _tokens(source: str) -> Iterable[tuple[str, str]]:
    """The pieces of Python source, each with its style."""
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    styles = {
        Comment: "italic dim",
        Keyword: "bold",
        Operator.Word: "bold",
        String: "cyan",
        Number: "cyan",
        Name.Decorator: "bold",
    }
    for kind, part in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        yield next((style for parent in kind.split() if (style := styles.get(parent))), ""), part

"""Writing to a terminal or a pipe: colour where it is wanted, and nothing in the text that could act."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from migrate_responses.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Part = str | tuple[str, str]
"""Plain text, or text and the style it has where there is colour."""

_NARROWEST = 20


def wants_colour(stream: TextIO, no_colour: bool) -> bool:
    """Whether ``stream`` takes colour: a terminal does, unless its user asked for plain text."""
    if no_colour or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return os.environ.get("FORCE_COLOR", "0") not in ("", "0") or stream.isatty()


class Screen:
    """One output stream. Rich is loaded only if there is colour."""

    def __init__(self, stream: TextIO, no_colour: bool = False) -> None:
        self.stream = stream
        self.colour = wants_colour(stream, no_colour)
        self.is_terminal = stream.isatty()
        self._console: Console | None = None

    @property
    def width(self) -> int:
        """The columns of the terminal; ``COLUMNS`` says otherwise."""
        import shutil

        return max(shutil.get_terminal_size().columns, _NARROWEST)

    def line(self, *parts: Part, hang: int | None = None) -> None:
        """Write one line, made visible, styled where there is colour.

        With ``hang`` it is prose: on a terminal it is wrapped between words, and the lines after the
        first begin that many columns in. Into a pipe, lines go as they are.
        """
        self.write(*parts, hang=hang, end="\n")

    def write(self, *parts: Part, hang: int | None = None, end: str = "") -> None:
        """As ``line``, without the end of the line."""
        pieces = [
            (self.shown(part), "") if isinstance(part, str) else (self.shown(part[0]), part[1])
            for part in parts
        ]
        if pieces and pieces[0][0].lstrip().startswith("::"):  # GitHub's runners take the line for a command
            pieces[0] = (pieces[0][0].replace("::", "\\x3a:", 1), pieces[0][1])
        wrapped = hang is not None and self.is_terminal
        if not self.colour:
            text = "".join(piece for piece, _ in pieces)
            lines = _wrapped(text, self.width - 1, hang or 0) if wrapped else [text]
            self.stream.write("\n".join(lines) + end)
        else:
            from rich.text import Text

            styled = Text.assemble(*pieces)
            self.print(self._hanging(styled, hang or 0) if wrapped else styled, end)

    def print(self, text: Text, end: str = "\n") -> None:
        """Write styled text, whose content is known to be visible, without wrapping it."""
        self.console().print(text, soft_wrap=True, end=end)

    def console(self) -> Console:
        """Rich's console on this stream."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=self.stream, force_terminal=True, highlight=False, markup=False, emoji=False
            )
        return self._console

    def shown(self, text: str) -> str:
        """``text`` without anything that acts or that the stream cannot show."""
        encoding = self.stream.encoding or "utf-8"
        text = visible(text)
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = text.replace("\u2026", "...").encode(encoding, "backslashreplace").decode(encoding)
        return text

    def _hanging(self, text: Text, hang: int) -> Text:
        from rich.text import Text

        lines = _wrapped(text.plain, self.width - 1, hang)
        if len(lines) == 1:
            return text
        result, at = Text(), 0
        for number, line in enumerate(lines):
            words = line[hang:] if number else line
            at = text.plain.index(words, at)
            result.append("\n" + " " * hang if number else "")
            result.append_text(text[at : at + len(words)])
            at += len(words)
        return result


def _wrapped(text: str, width: int, hang: int) -> list[str]:
    from textwrap import wrap

    room = max(width, hang + _NARROWEST)
    lead = text[: len(text) - len(text.lstrip())]
    return wrap(
        text.lstrip(),
        room,
        initial_indent=lead,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
        replace_whitespace=False,
    ) or [text]

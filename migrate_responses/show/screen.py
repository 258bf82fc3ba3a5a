"""Writing to a terminal or a pipe: colour where it is wanted, and nothing in the text that could act."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

Part = str | tuple[str, str]
"""Plain text, or text and the style it has where there is colour."""

# Control characters, line separators, and the marks that reorder text: any of them could make a
# terminal show something else than what is there.
_ACTIVE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """``text`` with everything that a terminal would act upon written as an escape. Tabs stay."""
    return _ACTIVE.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)


def wants_colour(stream: TextIO, no_colour: bool) -> bool:
    """Whether ``stream`` is a terminal whose user did not ask for plain text."""
    if no_colour or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


class Screen:
    """One output stream. Rich is loaded only if there is colour."""

    def __init__(self, stream: TextIO, no_colour: bool = False) -> None:
        self.stream = stream
        self.colour = wants_colour(stream, no_colour)
        self._console: Console | None = None

    def line(self, *parts: Part) -> None:
        """Write one line, made visible, styled where there is colour."""
        if not self.colour:
            text = "".join(visible(part if isinstance(part, str) else part[0]) for part in parts)
            encoding = self.stream.encoding or "utf-8"
            self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
            return
        from rich.text import Text

        text_line = Text()
        for part in parts:
            content, style = (part, "") if isinstance(part, str) else part
            text_line.append(visible(content), style)
        self.console().print(text_line, soft_wrap=True)

    def console(self) -> Console:
        """Rich's console on this stream."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.stream, highlight=False, markup=False, emoji=False)
        return self._console

"""The diff command's output: an exact patch in a pipe, a coloured one on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from migrate_responses.results import FileResult
from migrate_responses.show.patch import patch
from migrate_responses.show.screen import Screen

_STYLES = ((b"+++", "bold"), (b"---", "bold"), (b"@@", "cyan"), (b"+", "green"), (b"-", "red"))


def diffs(screen: Screen, files: Iterable[FileResult]) -> None:
    """Write the patches of ``files``: byte for byte, unless the screen is a terminal."""
    raw = not screen.stream.isatty()
    for file in files:
        for line in patch(file.path, file.before, file.after):
            if raw:
                sys.stdout.buffer.write(line)
            else:
                style = next((style for start, style in _STYLES if line.startswith(start)), "")
                screen.line((line.decode("utf-8", "backslashreplace").rstrip("\r\n"), style))
    if raw:
        sys.stdout.buffer.flush()

"""Unified diffs of bytes, exact enough for ``git apply`` and ``patch``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from migrate_responses.results import FileResult

_NO_NEWLINE = b"\\ No newline at end of file\n"


def patch(name: str, before: bytes, after: bytes) -> Iterator[bytes]:
    """The lines of the unified diff that turns ``before`` into ``after``; none if they are equal.

    Lines end at line feeds alone, as for git: a carriage return or a form feed belongs to its line.
    """
    from difflib import diff_bytes, unified_diff

    old, new = _lines(before), _lines(after)
    header = (_header(b"a/", name), _header(b"b/", name))
    for line in diff_bytes(unified_diff, old, new, *header, lineterm=b"\n"):
        yield line if line.endswith(b"\n") else line + b"\n" + _NO_NEWLINE


def line_counts(file: FileResult) -> tuple[int, int]:
    """How many lines the change of a file adds and removes."""
    lines = list(patch(file.path, file.before, file.after))[2:]  # without the names
    return sum(line.startswith(b"+") for line in lines), sum(line.startswith(b"-") for line in lines)


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _header(side: bytes, name: str) -> bytes:
    """The name as git writes it: quoted if it holds odd bytes, and with a tab after it if it holds blanks."""
    raw = side + os.fsencode(name.replace(os.sep, "/"))
    if any(byte < 0x20 or byte >= 0x7F or byte in b'"\\' for byte in raw):
        return b'"' + b"".join(_quoted(byte) for byte in raw) + b'"'
    return raw + b"\t" if b" " in raw else raw


def _quoted(byte: int) -> bytes:
    if byte in b'"\\':
        return b"\\" + bytes([byte])
    return bytes([byte]) if 0x20 <= byte < 0x7F else b"\\%03o" % byte

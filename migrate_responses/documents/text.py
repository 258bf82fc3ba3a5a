"""The bytes of a document as text and lines, and back."""

from __future__ import annotations

import codecs
import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class NotReadableError(Exception):
    """A document that cannot be read: a code, what is wrong, and where (0 for the whole file)."""

    def __init__(self, code: str, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.code, self.reason, self.line, self.column = code, reason, line, column


def decoded(data: bytes) -> str:
    """The text of ``data``, which is UTF-8, without its byte order mark."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise NotReadableError("MR902", str(error)) from error


def encoded(text: str, like: bytes) -> bytes:
    """``text`` as bytes, with a byte order mark if ``like`` has one."""
    return (codecs.BOM_UTF8 if like.startswith(codecs.BOM_UTF8) else b"") + text.encode()


def lines_of(text: str) -> list[str]:
    """The lines of ``text`` with their ends."""
    return _LINE.findall(text)


def parted(line: str) -> tuple[str, str]:
    """A line and its end."""
    body = line.rstrip("\r\n")
    return body, line[len(body) :]

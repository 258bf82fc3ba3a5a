"""The bytes of a document as text and lines, and back."""

from __future__ import annotations

import codecs
import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class NotReadableError(Exception):
    """A document that cannot be read: a code, a line (0 for the whole file) and what is wrong."""

    def __init__(self, code: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.line, self.reason = code, line, reason


def decoded(data: bytes) -> str:
    """The text of ``data``, which is UTF-8, without its byte order mark."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise NotReadableError("MR902", 0, str(error)) from error


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

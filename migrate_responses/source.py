"""Source bytes and text: byte order mark, coding cookie, and back without a change."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

# The first two lines, each with its end: a coding cookie stands in one of them, the second only if the first
# has no code. As Python does, this looks at bytes; `tokenize` would have the lines be UTF-8 without one.
_LINE = rb"([^\r\n]*)(?:\r\n|\r|\n|\Z)"
_HEAD = re.compile(_LINE + _LINE)
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.DOTALL)
_NO_CODE = re.compile(rb"[ \t\f]*(?:#.*)?", re.DOTALL)
_ASCII = bytes([*b"\t\n\f\r", *range(0x20, 0x5C), *range(0x5D, 0x7F)]) + rb"\x41\u0041"  # no escapes, either
# What a UTF-16 or UTF-32 file begins with; Python reads no such source.
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True)
class Source:
    """Decoded text, and what it takes to encode it as it was."""

    text: str
    encoding: str
    bom: bool

    def encode(self, text: str) -> bytes:
        """``text`` as the bytes of the file. Raises UnicodeEncodeError for what its encoding lacks."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


class EncodingError(ValueError):
    """A file that cannot be decoded; the text says why."""


def decode(data: bytes) -> Source:
    """Decode a Python source file. Raises ``EncodingError``.

    A file is decoded as Python decodes it on import, and only if the same bytes come back: what is not
    touched stays as it is.
    """
    if data.startswith(WIDE):
        raise EncodingError("the file is UTF-16 or UTF-32, which Python does not read")
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    cookie = _cookie(body)
    encoding = _known(cookie)
    if bom and encoding != "utf-8":
        raise EncodingError(f"the byte order mark says UTF-8, the coding comment {cookie}")
    try:
        text = body.decode(encoding)
        same = text.encode(encoding) == body
    except UnicodeDecodeError as error:
        raise EncodingError(_fault(body, encoding, cookie, error.start)) from error
    except UnicodeError:
        same = False
    if not same:
        raise EncodingError(f"the encoding {cookie} does not read and write the same bytes")
    return Source(text, encoding, bom)


def _cookie(body: bytes) -> str:
    """What the coding comment names; empty without one."""
    head = _HEAD.match(body)
    for line in head.groups() if head is not None else ():
        if found := _COOKIE.match(line):
            return found[1].decode("ascii", "backslashreplace")
        if not _NO_CODE.fullmatch(line):
            break
    return ""


def _known(cookie: str) -> str:
    """The encoding of a coding comment, by the name that Python has for it."""
    dashed = cookie.lower().replace("_", "-")
    if not cookie or dashed == "utf-8" or dashed.startswith("utf-8-"):
        return "utf-8"
    try:
        found = codecs.lookup(cookie)
        plain = _ASCII.decode(cookie) == _ASCII.decode("ascii")
    except LookupError as error:
        raise EncodingError(f"the coding comment names {cookie}, which is no encoding of text") from error
    except UnicodeError:
        plain = False
    if not plain:  # UTF-7 and its like could hide code in what looks like a comment
        raise EncodingError(f"the encoding {cookie} is no superset of ASCII")
    return "utf-8" if found.name == "utf-8" else cookie


def _fault(body: bytes, encoding: str, cookie: str, at: int) -> str:
    said = f"the coding comment says {cookie}" if cookie else "there is no coding comment"
    line = len(re.findall(rb"\r\n?|\n", body[:at])) + 1
    return f"byte 0x{body[at]:02x} in line {line} is not {encoding.upper()}, and {said}"


def with_ending(code: str, parsed: str, text: str) -> str:
    """``code`` with the end of ``text`` as it was written.

    ``parsed`` is what the parser makes of ``text``: it drops some of the white space and comments that
    follow the last statement. Raises ValueError if more than these differ.
    """
    if parsed == text:
        return code
    pairs = zip(parsed, text, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(parsed), len(text)))
    lost, kept = text[same:], parsed[same:]
    if any(line.strip() and not line.strip().startswith("#") for line in (lost + kept).splitlines()[1:]):
        raise ValueError("the parser does not give back the text that it read")
    if not code.endswith(kept):
        raise ValueError("the end of the file changes where the parser does not give it back")
    return code[: len(code) - len(kept)] + lost

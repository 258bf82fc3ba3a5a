"""Source bytes and text: byte order mark, coding cookie, and back without a change."""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Decoded text, and what it takes to encode it as it was."""

    text: str
    encoding: str
    bom: bool

    def encode(self, text: str) -> bytes:
        """``text`` as bytes in the encoding of the file."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


def decode(data: bytes) -> Source:
    """Decode a Python source file.

    Raises SyntaxError for an unknown or contradictory coding cookie, UnicodeDecodeError (a
    ValueError) for bytes that are not in the encoding.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if encoding == "utf-8-sig":
        encoding = "utf-8"
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    text = body.decode(encoding)
    if text.encode(encoding) != body:  # utf-7 and its like: writing back would change other bytes
        raise SyntaxError(f"encoding {encoding} does not read and write the same bytes")
    return Source(text, encoding, bom)


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

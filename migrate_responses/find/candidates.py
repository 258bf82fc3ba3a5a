"""Reading files, and telling on their bytes alone whether they can matter."""

from __future__ import annotations

import errno
import os
import re
import stat

from migrate_responses.documents.names import is_notebook
from migrate_responses.source import WIDE

_OUTPUTS = re.compile(rb'^([ \t]*)"outputs": \[\r?\n.*?^\1\]', re.MULTILINE | re.DOTALL)
_SOURCE = re.compile(rb'^[ \t]*(?:"(?:source|input)": )?"((?:[^"\\\n]|\\.)*)",?\r?$', re.MULTILINE)

# Without O_NONBLOCK, opening a pipe that has taken a file's place would wait for a writer for ever.
_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
)


LARGEST = 200_000_000  # bytes; what is larger is not read, and notebooks grow large
LARGEST_CODE = 10_000_000  # of Python: it takes hundreds of bytes of memory for each


def read(path: str) -> bytes | None:
    """The bytes of a regular file; None for anything else (a link, a pipe, a device, a directory).

    Raises ``OSError`` if it cannot be read, with ``EFBIG`` if it is too large; a file that is gone counts as
    nothing.
    """
    try:
        handle = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError:
        if os.path.islink(path):
            return None
        raise
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"{status.st_size / 1e6:,.0f} MB are too much to follow")
        data = os.read(handle, status.st_size + 1)
        while len(data) != status.st_size and (more := os.read(handle, 1 << 20)):
            data += more
        return data
    finally:
        os.close(handle)


def searchable(name: str, data: bytes) -> bytes:
    """``data`` with the code of a notebook as lines of Python, near enough for words and imports."""
    if not is_notebook(name):
        return data
    found = _SOURCE.findall(_OUTPUTS.sub(b"", data)) or [data]  # laid out as usual, or not
    lines = b"".join(line if line.endswith(rb"\n") else line + rb"\n" for line in found)
    return lines.replace(rb"\n", b"\n").replace(rb"\t", b"\t").replace(rb"\"", b'"')


def matters(data: bytes) -> bool:
    """Whether a file can hold Chat Completions, or name what they need. No decoding, no parsing."""
    if data.startswith(WIDE):  # two or four bytes a character; not that Python would read them
        data = data.replace(b"\0", b"")
    return (b"completions" in data and b"chat" in data) or b"openai" in data.lower()

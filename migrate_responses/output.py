"""Where a report goes: to standard output, or to a file that is the old one until the new one is complete."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from typing import TextIO

import click

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_HANDLES = ("/dev/", "/proc/")  # what is written to there is not what has the name


class Fault(click.ClickException):
    """Something around the program is not as it has to be."""

    exit_code = 2


@contextlib.contextmanager
def written(path: str | None) -> Iterator[TextIO]:
    """A stream for the text of the file at ``path``; without one, standard output."""
    if path is None:
        yield sys.stdout
        return
    data = io.BytesIO()
    text = io.TextIOWrapper(data, encoding="utf-8", errors="backslashreplace", newline="\n")
    yield text
    text.flush()
    try:
        _deliver(path, data.getvalue())
    except OSError as error:
        raise Fault(f"{path} cannot be written: {error.strerror or error}.") from error


def _deliver(path: str, data: bytes) -> None:
    if not _is_replaced(path, data):
        with open(path, "wb") as file:
            file.write(data)


def _is_replaced(path: str, data: bytes) -> bool:
    """Whether ``data`` could take the place of the file, or be a new one."""
    from migrate_responses.replace import stage

    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        return False
    if os.path.abspath(path).startswith(_HANDLES):
        return False
    try:
        staged = stage(os.path.realpath(path), data, status, anonymous=False)
        try:
            staged.put(())
        finally:
            staged.discard()
    except OSError as error:
        if error.errno in _FULL:  # there is no room: the old report is better than half a new one
            raise
        return False  # a folder that takes no new files
    return True

"""One line on the terminal while a run takes long."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from migrate_responses.progress import Step, latest

DELAY = 0.7  # seconds; most runs are over by then and should not flicker
_INTERVAL = 0.2


@contextlib.contextmanager
def sign_of_life(stream: TextIO) -> Iterator[None]:
    """While the body runs longer than ``DELAY``, show what it is at and for how long on ``stream``."""
    over = threading.Event()
    shown = threading.Thread(target=_show, args=(stream, over), daemon=True)
    shown.start()
    try:
        yield
    finally:
        over.set()
        shown.join()


def told(step: Step, seconds: float) -> str:
    """The line: ``reading 120 of 300 files (4 s so far)``."""
    doing = step.doing or "starting"
    if step.total:
        doing = f"{doing} {step.done:,} of {step.total:,} files"
    return f"{doing} ({seconds:.0f} s so far)"


def _show(stream: TextIO, over: threading.Event) -> None:
    started = time.monotonic()
    wait, last = DELAY, 0
    while not over.wait(wait):
        columns = shutil.get_terminal_size().columns - 1
        line = told(latest(), time.monotonic() - started)[:columns]
        stream.write(f"\r{line:{last}}")
        stream.flush()
        wait, last = _INTERVAL, len(line)
    if last:
        stream.write(f"\r{'':{last}}\r")
        stream.flush()

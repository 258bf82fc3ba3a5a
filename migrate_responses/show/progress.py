"""A bar on the terminal while a run takes long."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TextIO

DELAY = 0.7  # seconds; most runs are over by then and should not flicker


@contextlib.contextmanager
def sign_of_life(stream: TextIO, no_color: bool) -> Iterator[None]:
    """While the body runs longer than ``DELAY``, show a moving bar and the time on ``stream``."""
    over = threading.Event()

    def show() -> None:
        if over.wait(DELAY):
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(file=stream, no_color=no_color or None)
        columns = (TextColumn("following the calls"), BarColumn(pulse_style="cyan"), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            progress.add_task("", total=None)
            over.wait()

    bar = threading.Thread(target=show, daemon=True)
    bar.start()
    try:
        yield
    finally:
        over.set()
        bar.join()

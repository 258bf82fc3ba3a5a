"""The program on a terminal of its own: what it shows, and what it does about what is typed."""

from __future__ import annotations

import os
import re
import select
import struct
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = [sys.executable, "-m", "migrate_responses"]

# Makes standard input the controlling terminal, so that Ctrl-C is a signal, and becomes the program.
_OWN = (
    "import fcntl, os, sys, termios;"
    " os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A process on a terminal. ``seen`` is all that it has shown so far."""

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        columns: int = 80,
        program: list[str] | None = None,
        **environment: str,
    ) -> None:
        import fcntl
        import pty
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        dropped = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONIOENCODING")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _OWN, *(program or PROGRAM), *arguments],
            cwd=cwd,
            env={**kept, "TERM": "xterm-256color", **environment},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.seen = ""
        self._read = 0  # how much of its plain text was waited for

    @property
    def plain(self) -> str:
        """What was seen, without colours and with plain line ends."""
        return _STYLE.sub("", self.seen).replace("\r\n", "\n")

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Wait until ``text`` is shown after what was waited for last."""
        end = time.monotonic() + seconds
        while (found := self.plain.find(text, self._read)) < 0:
            assert time.monotonic() < end, f"no {text!r} in {self.seen!r}"
            assert self._more(end - time.monotonic()), f"ended without {text!r}: {self.seen!r}"
        self._read = found + len(text)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def end(self, seconds: float = 60) -> int:
        """Read on until the program ends; its exit status."""
        while self._more(seconds):
            pass
        os.close(self._master)
        return self._process.wait(timeout=seconds)

    def _more(self, seconds: float) -> bool:
        """Whether there was more to read."""
        if not select.select([self._master], [], [], max(seconds, 0))[0]:
            raise AssertionError(f"nothing for {seconds} s after {self.seen!r}")
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux tells the end of a terminal like this
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

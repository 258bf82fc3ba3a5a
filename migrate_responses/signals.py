"""Ctrl-C and polite kills: an exception where the program can stop, and nothing where it must not."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_WORDS = {"SIGINT": "Interrupted", "SIGTERM": "Terminated", "SIGHUP": "Hung up"}
_STOPPING = tuple(getattr(signal, name) for name in _WORDS if hasattr(signal, name))


class Stopped(BaseException):
    """Somebody wants the program to end."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.status = 128 + number  # as shells tell of a process that a signal has ended
        self.word = _WORDS[signal.Signals(number).name]


def listen() -> None:
    """From now on a signal to end raises ``Stopped``, unless whoever started the program has it ignored."""
    for number in _STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def ignore() -> None:
    """From now on nothing disturbs the end of the program."""
    for number in _STOPPING:
        signal.signal(number, signal.SIG_IGN)


def leave() -> None:
    """From now on a signal to end just ends what is left of the program."""
    for number in _STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, _frame: object) -> None:
    raise Stopped(number)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold signals to end back while the body runs, which has to be short."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {number: signal.getsignal(number) for number in _STOPPING}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda received, _: arrived.append(received))
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


@contextlib.contextmanager
def with_other_processes() -> Iterator[None]:
    """While the body writes to other processes, one that has gone is an error; a closed output ends all.

    Should the body fail, the program ends, and a thread may go on writing meanwhile: it stays an error.
    """
    pipe = getattr(signal, "SIGPIPE", None)
    if pipe is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(pipe, signal.SIG_IGN)
    yield
    signal.signal(pipe, before)

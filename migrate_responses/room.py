"""Room for large trees: a deep stack to walk them, and no garbage collector that walks them in vain."""

from __future__ import annotations

import atexit
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_Result = TypeVar("_Result")
# Expressions nest deeply in real code (a sum of 3,000 terms is 3,000 levels of syntax).
_RECURSION = 200_000
_STACK = 512 * 1024 * 1024
_littered = False  # whether garbage may lie about: what was known of a part that has been looked at


def with_deep_stack(work: Callable[[], _Result]) -> _Result:
    """The result of ``work``, run in a thread with room for deep recursion."""
    outcome: list[_Result] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller below
            failure.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    if failure:
        raise failure[0]
    return outcome[0]


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection but for ``make_room``: what is known of a program stays until the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.unfreeze()
            gc.enable()


def only_run() -> None:
    """This process does one run and ends: no garbage is collected but what ``make_room`` does, least of all
    at the end, which would take as long as a third of the run.
    """
    gc.disable()
    atexit.register(gc.freeze)


def make_room() -> None:
    """Before files are parsed: collect what was known of those that were looked at before, if any were."""
    global _littered
    if _littered:
        gc.collect()
    _littered = True


def set_trees_aside() -> None:
    """After files were parsed: no garbage is looked for in their trees.

    These are millions of objects that do not refer to each other in circles: they go once nothing that is
    known refers to them.
    """
    gc.freeze()

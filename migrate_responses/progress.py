"""How far a run has come, for whoever shows it.

The engine notes it here and knows nothing of who looks. A run in another process tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """What is being done; with a total of 0 it cannot be told how much there is of it."""

    doing: str = ""
    done: int = 0
    total: int = 0


_step = Step()


def note(doing: str, done: int = 0, total: int = 0) -> None:
    """Say what is being done."""
    global _step
    _step = Step(doing, done, total)


def latest() -> Step:
    """What was said last."""
    return _step

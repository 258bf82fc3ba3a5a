"""Imported by the process that makes the others of a run: it and they say nothing when the run has gone.

Whoever kills the run may do so while it is still telling a new process what to do. That one then finds the
end of a pipe, and would print how it came there into a terminal that belongs to somebody else by now.
"""

from __future__ import annotations

import pickle
import sys
from types import TracebackType

# What reading from a run that has gone comes to: nothing, half of it, a connection that is no more.
_GONE = (EOFError, ConnectionError, pickle.UnpicklingError)


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, _GONE):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _tell

"""What holds for all tests: where ``tests.wire`` is found, and how processes meet Ctrl-C."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

# A shell has what it runs in the background ignore Ctrl-C, and so would all processes that tests send one to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

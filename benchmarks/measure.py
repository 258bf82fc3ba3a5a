"""How long a process takes, and how much memory, as the operating system counts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_KILOBYTE = 1024 if sys.platform != "darwin" else 1  # what ``ru_maxrss`` counts in


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock, seconds of processor, and the largest process in megabytes."""

    wall: float
    cpu: float
    memory: float

    def times(self, factor: float) -> Cost:
        return Cost(self.wall * factor, self.cpu * factor, self.memory)


def once(command: Sequence[str], cwd: str | None = None) -> Cost:
    """The cost of one run. What it prints is thrown away, and so is its exit status."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    wall = time.perf_counter() - start
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _KILOBYTE / 1e6)


def side_by_side(commands: dict[str, Sequence[str]], runs: int) -> dict[str, Cost]:
    """The median cost of each command; they take turns, so that a slow minute is slow for all."""
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for command in commands.values():  # not counted: files and modules come to memory
        once(command)
    for _ in range(runs):
        for name, command in commands.items():
            found[name].append(once(command))
    return {
        name: Cost(
            median(cost.wall for cost in costs),
            median(cost.cpu for cost in costs),
            max(cost.memory for cost in costs),
        )
        for name, costs in found.items()
    }

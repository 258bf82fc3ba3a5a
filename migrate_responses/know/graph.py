"""The value-flow graph: variables hold sets of values, edges carry them, watchers react.

A fact is only ever added, so the order in which work is done does not change the result,
and the fixed point is reached because the values of a program are finitely many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from .kinds import Const, DictValue, External, Method, SeqValue, Typed, Unknown, Value

Watcher = Callable[[Value], None]

# Far above what real projects need (a 5,000-module project stays below a million); a bound so
# that a program made to be slow ends in a diagnostic and not in a hang.
STEP_LIMIT = 20_000_000


# How many values of a sort one variable keeps apart. Beyond it they are lumped together: the place is
# a crossroads (a framework's `shared` dict, a table of texts), and what it holds is not told apart anyway.
CONSTANTS, EXTERNALS, OBJECTS = 64, 16, 64
_LUMP = External("one of many things")
_CROWD = Unknown("one of many values")


class Var:
    """A place that holds values: one definition of a name, an attribute, an expression."""

    __slots__ = ("counts", "filters", "outs", "pending", "values", "watchers")

    def __init__(self) -> None:
        self.values: dict[Value, None] = {}  # a set that keeps insertion order
        self.counts: list[int] | None = None  # of each sort that is limited, once there can be too many
        self.pending: list[Value] = []  # those that edges and watchers have not seen yet
        self.outs: dict[Var, None] = {}
        self.watchers: list[Watcher] = []
        self.filters: list[tuple[Callable[[Value], bool], Var]] = []


class Solver:
    """Propagates values along edges until nothing changes."""

    def __init__(self) -> None:
        self._queue: deque[Var] = deque()
        self.steps = 0

    @property
    def exhausted(self) -> bool:
        """Whether the bound on work was hit: the facts are then incomplete."""
        return self.steps > STEP_LIMIT

    def add(self, var: Var, values: Iterable[Value]) -> None:
        known = var.values
        fresh = [value for value in values if value not in known]
        if fresh:
            fresh = _lumped(var, fresh)
        if fresh:
            var.values.update(dict.fromkeys(fresh))
            if not var.pending:
                self._queue.append(var)
            var.pending.extend(fresh)

    def flow(self, source: Var, target: Var) -> None:
        """From now on every value of ``source`` is a value of ``target``."""
        if source is not target and target not in source.outs:
            source.outs[target] = None
            self.add(target, list(source.values))

    def flow_if(self, source: Var, target: Var, keep: Callable[[Value], bool]) -> None:
        """Like :meth:`flow`, for the values that ``keep`` accepts."""
        source.filters.append((keep, target))
        self.add(target, [value for value in source.values if keep(value)])

    def watch(self, var: Var, watcher: Watcher) -> None:
        """Call ``watcher`` once for each value ``var`` has or will have."""
        var.watchers.append(watcher)
        for value in list(var.values):
            if value not in var.pending:
                watcher(value)

    def run(self) -> None:
        """Work until the fixed point, or until the bound is hit."""
        while self._queue and not self.exhausted:
            var = self._queue.popleft()
            fresh, var.pending = var.pending, []
            self.steps += len(fresh) * (1 + len(var.outs) + len(var.watchers))
            for target in list(var.outs):
                self.add(target, fresh)
            for keep, target in list(var.filters):
                self.add(target, [value for value in fresh if keep(value)])
            for watcher in list(var.watchers):
                for value in fresh:
                    watcher(value)


_LIMITS = (CONSTANTS, EXTERNALS, OBJECTS)
_FEW = min(_LIMITS)
_SORTS: dict[type[Value], int] = {
    Const: 0,
    Typed: 0,
    External: 1,
    Unknown: 1,
    DictValue: 2,
    SeqValue: 2,
    Method: 2,
}


def _lumped(var: Var, fresh: list[Value]) -> list[Value]:
    """``fresh`` with what goes beyond the limits for one variable replaced by a lump."""
    counts = var.counts
    if counts is None:
        if len(var.values) + len(fresh) <= _FEW:
            return fresh
        counts = var.counts = [0, 0, 0]
        _count(var.values, counts)
    if not _count(fresh, counts):
        return fresh
    kept = dict.fromkeys(_lump(value) if _is_over(value, counts) else value for value in fresh)
    return [value for value in kept if value not in var.values]


def _count(values: Iterable[Value], counts: list[int]) -> bool:
    """Add ``values`` to ``counts``; whether one of them was one too many."""
    crowded = False
    for value in values:
        sort = _SORTS.get(value.__class__)
        if sort is not None:
            counts[sort] += 1
            crowded = crowded or counts[sort] > _LIMITS[sort]
    return crowded


def _is_over(value: Value, counts: list[int]) -> bool:
    sort = _SORTS.get(value.__class__)
    return sort is not None and counts[sort] > _LIMITS[sort]


def _lump(value: Value) -> Value:
    if isinstance(value, (Const, Typed)):
        return Typed(value.type if isinstance(value, Typed) else type(value.value).__name__)
    return _LUMP if isinstance(value, External) else _CROWD

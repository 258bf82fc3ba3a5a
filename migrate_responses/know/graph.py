"""The value-flow graph: variables hold sets of values, edges carry them, watchers react.

A fact is only ever added, so the order in which work is done does not change the result,
and the fixed point is reached because the values of a program are finitely many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from typing import TypeVar

from .kinds import Const, DictValue, External, Method, SeqValue, Typed, Unknown, Value

Watcher = Callable[[Value], None]
_Node = TypeVar("_Node", bound=Hashable)

# Far above what real projects need (a 5,000-module project stays below a million); a bound so
# that a program made to be slow ends in a diagnostic and not in a hang.
STEP_LIMIT = 20_000_000

# How many values of a sort one variable keeps apart. Beyond it they are lumped together: the place is
# a crossroads (a framework's `shared` dict, a table of texts), and what it holds is not told apart anyway.
CONSTANTS, EXTERNALS, OBJECTS = 64, 16, 512
# The same once so many steps were done: in such a program values reach most places in crowds.
CROWDED = 4_000_000
_CROWDED_LIMITS = (16, 8, 16)
_LUMP = External("one of many things")
_CROWD = Unknown("one of many values")
# Stands for dicts, lists and their methods, and for whatever is got out of these. What the program does with
# them there is not seen: see ``decide/crowds.py``.
MANY = Unknown("one of many objects")


class Var:
    """A place that holds values: one definition of a name, an attribute, an expression.

    Most have few listeners or none, and there are hundreds of thousands: each sort is None without any.
    """

    __slots__ = ("counts", "filters", "into", "outs", "pending", "values", "watchers")

    def __init__(self) -> None:
        self.values: dict[Value, None] = {}  # a set that keeps insertion order
        self.counts: list[int] | None = None  # of each sort that is limited, once there can be too many
        self.pending: list[Value] | None = None  # unseen by edges and watchers; while it is queued
        self.outs: dict[Var, None] | None = None
        self.watchers: list[Watcher] | None = None
        self.filters: list[tuple[Callable[[Value], bool], Var]] | None = None
        self.into: Var | None = None  # who works for it, since both turned out to hold the same


class Solver:
    """Propagates values along edges until nothing changes."""

    def __init__(self) -> None:
        self._queue: deque[Var] = deque()
        self._busy: dict[Var, None] = {}  # all variables that ever had values to hand on
        self._crews: dict[Var, list[Var]] = {}  # whom a variable works for, besides itself
        self._owed: deque[tuple[Watcher, Value]] = deque()
        self._check = _PATIENCE
        self._limits = _LIMITS
        self.steps = 0
        self.lost: dict[Value, None] = {}  # the objects that MANY stands for somewhere

    @property
    def exhausted(self) -> bool:
        """Whether the bound on work was hit: the facts are then incomplete."""
        return self.steps > STEP_LIMIT

    def add(self, var: Var, values: Iterable[Value]) -> None:
        var = home(var)
        known = var.values
        fresh = [value for value in values if value not in known]
        if fresh:
            fresh = self._lumped(var, fresh)
        if fresh:
            var.values.update(dict.fromkeys(fresh))
            if var.pending is None:
                self._queue.append(var)
                var.pending = fresh
            else:
                var.pending += fresh

    def flow(self, source: Var, target: Var) -> None:
        """From now on every value of ``source`` is a value of ``target``."""
        source, target = home(source), home(target)
        if source is target or (source.outs is not None and target in source.outs):
            return
        if source.outs is None:
            source.outs = {}
        source.outs[target] = None
        self.add(target, source.values)

    def flow_if(self, source: Var, target: Var, keep: Callable[[Value], bool]) -> None:
        """Like :meth:`flow`, for the values that ``keep`` accepts."""
        source = home(source)
        if source.filters is None:
            source.filters = []
        source.filters.append((keep, target))
        self.add(target, [value for value in source.values if keep(value)])

    def watch(self, var: Var, watcher: Watcher) -> None:
        """Call ``watcher`` once for each value ``var`` has or will have."""
        var = home(var)
        if var.watchers is None:
            var.watchers = []
        var.watchers.append(watcher)
        pending = set(var.pending or ())
        for value in list(var.values):
            if value not in pending:
                watcher(value)

    def run(self) -> None:
        """Work until the fixed point, or until the bound is hit."""
        while (self._queue or self._owed) and not self.exhausted:
            while self._owed:
                watcher, value = self._owed.popleft()
                watcher(value)
            if self._queue:
                self._hand_on(self._queue.popleft())
            if self.steps > CROWDED:
                self._limits = _CROWDED_LIMITS
            if self.steps > self._check:
                self._collapse()

    def _hand_on(self, var: Var) -> None:
        """Let everybody know of what is new in ``var``."""
        fresh, var.pending = var.pending, None
        if not fresh:
            return
        self._busy[var] = None
        outs, filters, watchers = list(var.outs or ()), list(var.filters or ()), list(var.watchers or ())
        self.steps += len(fresh) * (1 + len(outs) + len(watchers))
        for target in outs:
            self.add(target, fresh)
        for keep, target in filters:
            self.add(target, [value for value in fresh if keep(value)])
        for watcher in watchers:
            for value in fresh:
                watcher(value)

    def _lumped(self, var: Var, fresh: list[Value]) -> list[Value]:
        """``fresh`` with what goes beyond the limits for one variable replaced by a lump."""
        limits = self._limits
        counts = var.counts
        if counts is None:
            if len(var.values) + len(fresh) <= min(limits):
                return fresh
            counts = var.counts = [0, 0, 0]
            _count(var.values, counts)
        _count(fresh, counts)
        is_over = [count > limit for count, limit in zip(counts, limits, strict=True)]
        if not any(is_over):
            return fresh
        kept: dict[Value, None] = {}
        for value in fresh:
            sort = _SORTS.get(value.__class__)
            if sort is not None and is_over[sort] and value is not MANY:
                if sort == _OBJECT:
                    self.lost[value.owner if isinstance(value, Method) else value] = None
                value = _lump(value)
                if value in var.values:
                    continue
            kept[value] = None
        return list(kept)

    # -- cycles --------------------------------------------------------------------------

    def _collapse(self) -> None:
        """Make one variable of those that all flow to each other: they hold the same in the end.

        In a program where everything reaches everything each value would go around thousands of them.
        """
        busy = dict.fromkeys(map(home, self._busy))
        edges = len(busy)
        for var in busy:
            if var.outs is not None:
                var.outs = dict.fromkeys(map(home, var.outs))
                var.outs.pop(var, None)
                edges += len(var.outs)
        merged = 0
        for first, *others in list(cycles(busy)):
            merged += len(others)
            for other in others:
                self._merge(other, first)
        self._busy = dict.fromkeys(map(home, busy))
        # Looking costs less than what was done since, and a fraction of it where most were found before.
        self._check = self.steps + max(_PATIENCE, (16 if merged * _WORTH < len(busy) else 4) * edges)

    def _merge(self, var: Var, chief: Var) -> None:
        """``chief`` works for ``var`` from now on."""
        told = set(var.values).difference(var.pending or ())
        heard = set(chief.values).difference(chief.pending or ())
        kept = self._lumped(chief, [value for value in var.values if value not in chief.values])
        self._owe(var, [value for value in chief.values if value in heard and value not in told])
        waiting = dict.fromkeys([*(chief.pending or ()), *kept])
        chief.values.update(dict.fromkeys(kept))
        if chief.pending is None:
            self._queue.append(chief)
        chief.pending = [value for value in waiting if value not in told]
        self._owe(chief, [value for value in waiting if value in told])
        if var.outs:
            chief.outs = chief.outs or {}
            chief.outs.update(var.outs)
        if var.watchers:
            chief.watchers = chief.watchers or []
            chief.watchers += var.watchers
        if var.filters:
            chief.filters = chief.filters or []
            chief.filters += var.filters
        var.into = chief
        var.pending = var.watchers = var.filters = None
        crew = [var, *self._crews.pop(var, ())]
        for member in crew:
            member.values = chief.values
        self._crews.setdefault(chief, []).extend(crew)

    def _owe(self, var: Var, values: list[Value]) -> None:
        """``values``, which others were told of, are still to be told to those who listen to ``var``."""
        if not values:
            return
        for target in var.outs or ():
            self.add(target, values)
        for keep, target in var.filters or ():
            self.add(target, [value for value in values if keep(value)])
        self._owed.extend((watcher, value) for watcher in var.watchers or () for value in values)


_PATIENCE = 1_000_000  # steps before it is worth while to look for cycles
_WORTH = 100  # it was, if one of so many variables was in one


def home(var: Var) -> Var:
    """Who works for ``var``: itself, most likely."""
    while var.into is not None:
        if var.into.into is not None:
            var.into = var.into.into
        var = var.into
    return var


def cycles(variables: Iterable[Var]) -> Iterator[list[Var]]:
    """The groups of ``variables`` that all flow to each other."""
    return (group for group in groups(variables, lambda var: map(home, var.outs or ())) if len(group) > 1)


def groups(nodes: Iterable[_Node], links: Callable[[_Node], Iterable[_Node]]) -> Iterator[list[_Node]]:
    """``nodes`` and all that ``links`` lead to, those that lead to each other together.

    A group comes after those that it leads to (Tarjan's algorithm, without recursion).
    """
    order: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    stack: dict[_Node, None] = {}
    for root in nodes:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        stack[root] = None
        path = [(root, iter(links(root)))]
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack[target] = None
                    path.append((target, iter(links(target))))
                    break
                if target in stack:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    group: list[_Node] = []
                    while not group or group[-1] != node:
                        group.append(stack.popitem()[0])
                    yield group[::-1]


_LIMITS = (CONSTANTS, EXTERNALS, OBJECTS)
_OBJECT = 2
_SORTS: dict[type[Value], int] = {
    Const: 0,
    Typed: 0,
    External: 1,
    Unknown: 1,
    DictValue: _OBJECT,
    SeqValue: _OBJECT,
    Method: _OBJECT,
}


def _count(values: Iterable[Value], counts: list[int]) -> None:
    """Add ``values`` to ``counts``."""
    for value in values:
        sort = _SORTS.get(value.__class__)
        if sort is not None:
            counts[sort] += 1


def _lump(value: Value) -> Value:
    if isinstance(value, Const):
        return _of_type(value.value.__class__.__name__)
    if isinstance(value, Typed):
        return _of_type(value.type)
    if isinstance(value, External):
        return _LUMP
    return _CROWD if isinstance(value, Unknown) else MANY


@cache
def _of_type(name: str) -> Typed:
    return Typed(name)

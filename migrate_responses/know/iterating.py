"""Functions from outside that go through something and call a function for each, or pair things up."""

from __future__ import annotations

from . import models
from .concurrency import Concurrency
from .graph import Var
from .kinds import Argument, DictValue, Invocation, SeqValue, Typed, Value

_OF_SEVERAL = frozenset({"builtins.max", "builtins.min"})  # of an iterable, or of several arguments


class Iterating(Concurrency):
    """``next``, ``zip``, ``map``, ``functools.reduce`` and their kin."""

    def iterate_over(self, path: str, call: Invocation) -> bool:
        """Give the result of ``path``; whether it is one of these functions."""
        arguments = call.arguments
        first = arguments[0].var if arguments else None
        match path:
            case "builtins.next" | "builtins.anext" | "builtins.min" | "builtins.max" if first is not None:
                self.spread(first, call.result)
                if path in _OF_SEVERAL and len([item for item in arguments if item.keyword is None]) > 1:
                    self.solver.flow(first, call.result)
                for argument in arguments[1:] if arguments[0].keyword is None else ():
                    if argument.keyword in (None, "default"):
                        self.solver.flow(argument.var, call.result)
                self.look_at_each(path, call)
            case "builtins.enumerate" if first is not None:
                pair = SeqValue(call.node, call.module, "tuple", Var())
                pair.items = {0: self.fresh(Typed("int")), 1: Var()}
                self.spread(first, pair.items[1])
                self.solver.add(
                    call.result, [SeqValue(call.node, call.module, "generator", self.fresh(pair))]
                )
            case "builtins.zip" | "itertools.zip_longest":
                row = SeqValue(call.node, call.module, "tuple", Var())
                for position, argument in enumerate(arguments):
                    item = row.items[position] = Var()
                    self.spread(argument.var, item)
                self.solver.add(call.result, [SeqValue(call.node, call.module, "generator", self.fresh(row))])
            case "functools.reduce" if len(arguments) > 1:
                self._reduce(call)
            case "itertools.starmap" if len(arguments) > 1:
                self._starmap(call)
            case "itertools.groupby" if first is not None:
                self._groups(call, first)
            case "heapq.nlargest" | "heapq.nsmallest" if len(arguments) > 1:
                self.derive(call.node, call.module, arguments[1].var, call.result)
                self.look_at_each(path, call)
            case "operator.setitem" if first is not None and len(arguments) > 2:
                key, value = arguments[1].var, arguments[2].var
                self.solver.watch(first, lambda owner: self._set_item(owner, key, value, call))
            case "operator.getitem" if first is not None and len(arguments) > 1:
                self.spread(first, call.result)
                self.solver.flow(self.looked_up(first, arguments[1].var), call.result)
            case _ if path in models.PUTS and first is not None and len(arguments) > 1:
                self.solver.watch(first, lambda owner: self.put(owner, arguments[1].var, call))
                self.spread(first, call.result)
            case "random.shuffle" | "heapq.heapify" if first is not None:
                self.solver.watch(first, self._shifted_by)
            case "heapq.heappop" if first is not None:
                self.solver.watch(first, self._shifted_by)
                self.spread(first, call.result)
            case "builtins.map":
                self._map(call)
            case _ if path.endswith(".map"):
                self._map(call)
            case _ if path.rpartition(".")[2] in models.POOL_METHODS and "." in path:
                self._pool(path.rpartition(".")[2], call)
            case _:
                return False
        return True

    def _shifted_by(self, owner: Value) -> None:
        if isinstance(owner, SeqValue):
            self.shift(owner)

    def _set_item(self, owner: Value, key: Var, value: Var, call: Invocation) -> None:
        if isinstance(owner, DictValue):
            self.entry(owner, key, call.node, "store", value, call.module)
        else:
            self.put(owner, value, call)

    def _map(self, call: Invocation) -> None:
        if len(call.arguments) < 2:
            return
        mapped = SeqValue(call.node, call.module, "generator", Var())
        passed: list[Argument] = []
        for argument in call.arguments[1:]:
            if argument.keyword is None:
                item = Var()
                self.spread(argument.var, item)
                passed.append(Argument(None, item, argument.node))
        self.run_in(call, call.arguments[0].var, passed, mapped.element)
        self.solver.add(call.result, [mapped])

    def _starmap(self, call: Invocation) -> None:
        mapped = SeqValue(call.node, call.module, "generator", Var())
        row = Var()
        self.spread(call.arguments[1].var, row)
        passed = [Argument("*", row, call.arguments[1].node)]
        self.run_in(call, call.arguments[0].var, passed, mapped.element)
        self.solver.add(call.result, [mapped])

    def _pool(self, name: str, call: Invocation) -> None:
        """``pool.imap(f, xs)`` and its kin: ``f`` once for each; with ``async`` for a callback too."""
        function = call.at(0, "func")
        iterable = call.at(1, "iterable")
        if function is None or iterable is None:
            return
        mapped = SeqValue(call.node, call.module, "generator" if name.startswith("imap") else "list", Var())
        each = Var()
        self.spread(iterable.var, each)
        passed = Argument("*" if name.startswith("starmap") else None, each, iterable.node)
        self.run_in(call, function.var, [passed], mapped.element)
        if name.endswith("_async"):
            self.promise(call, self.fresh(mapped), call.at(3, "callback"))
        else:
            self.solver.add(call.result, [mapped])

    def _reduce(self, call: Invocation) -> None:
        """``reduce(f, xs, start)``: ``f(f(start, x), x) ...``."""
        function, sequence, *start = call.arguments
        each = Var()
        self.spread(sequence.var, each)
        self.solver.flow(start[0].var if start else each, call.result)
        passed = [Argument(None, call.result, function.node), Argument(None, each, sequence.node)]
        self.run_in(call, function.var, passed, call.result)

    def _groups(self, call: Invocation, sequence: Var) -> None:
        """``for key, group in groupby(xs, key)``."""
        group = SeqValue(call.node, call.module, "generator", Var())
        self.spread(sequence, group.element)
        pair = SeqValue(call.node, call.module, "tuple", Var())
        pair.items = {0: self.fresh(Typed("object")), 1: self.fresh(group)}
        self.solver.add(call.result, [SeqValue(call.node, call.module, "generator", self.fresh(pair))])
        key = call.named("key") or (call.arguments[1] if len(call.arguments) > 1 else None)
        if key is not None:
            self.call_with_elements(key.var, sequence, call)

    def look_at_each(self, path: str, call: Invocation) -> None:
        """``sorted(xs, key=f)`` and ``filter(f, xs)`` call ``f`` with each element."""
        key = call.named("key")
        positional = [argument for argument in call.arguments if argument.keyword is None]
        if path in models.FILTERS and len(positional) > 1:
            self.call_with_elements(positional[0].var, positional[1].var, call)
        elif key is not None and positional:
            position = 1 if path.startswith("heapq.") else 0
            self.call_with_elements(key.var, positional[position].var, call)

"""Code that runs together: executors and their futures, tasks, threads."""

from __future__ import annotations

from . import models
from .calls import Calls
from .graph import Var
from .kinds import Argument, External, Invocation, SeqValue, Value


class Concurrency(Calls):
    """A future or a task is a box that holds the result; awaiting it, or ``result()``, opens it."""

    def run_in(self, call: Invocation, function: Var, arguments: list[Argument], result: Var) -> None:
        """The functions in ``function`` are run with ``arguments`` by what is called at ``call``."""
        inner = Invocation(call.node, call.module, arguments, result, call.scope)
        self.solver.watch(function, lambda found: self._forward(found, inner, call))

    def run(self, call: Invocation, position: int, name: str) -> None:
        """``to_thread(f, *args)`` and ``executor.submit(f, *args)``."""
        if position >= len(call.arguments):
            return
        function, rest = call.arguments[position], call.arguments[position + 1 :]
        result = call.result
        if name in ("submit", "apply_async"):
            result = Var()
            self.promise(call, result, call.at(3, "callback") if name == "apply_async" else None)
        if name in ("apply", "apply_async"):
            rest = _spread_out(rest)
        self.run_in(call, function.var, rest, result)

    def promise(self, call: Invocation, result: Var, callback: Argument | None) -> None:
        """``call`` gives a future that will hold ``result``; ``callback`` is called with it."""
        self.solver.add(call.result, [SeqValue(call.node, call.module, "future", result)])
        if callback is not None:
            self.call_with(callback.var, result, call)

    def run_together(self, path: str, call: Invocation) -> bool:
        """Functions that start or await others; whether ``path`` is one of them."""
        tail = path.rpartition(".")[2]
        if path in models.TASKS or tail == "create_task":
            self._task(call)
        elif path in models.GATHER:
            self._gather(call)
        elif path in models.WAITS and call.arguments:
            self._wait(call)
        elif path == "threading.Thread":
            self._thread(call)
        elif tail in models.IDENTITY_METHODS and call.arguments:
            self.awaited(call.arguments[0].var, call.result)
        else:
            return False
        return True

    def _task(self, call: Invocation) -> None:
        if call.arguments:
            result = Var()
            self.awaited(call.arguments[0].var, result)
            self.solver.add(call.result, [SeqValue(call.node, call.module, "future", result)])

    def awaited(self, source: Var, target: Var) -> None:
        """What ``await`` gives for ``source``: a task has a result, a coroutine stands for its own."""

        def on(value: Value) -> None:
            if isinstance(value, SeqValue) and value.type == "future":
                self.solver.flow(value.element, target)
            else:
                self.solver.add(target, [value])

        self.solver.watch(source, on)

    def _gather(self, call: Invocation) -> None:
        gathered = SeqValue(call.node, call.module, "list", Var())
        for position, argument in enumerate(call.arguments):
            if argument.keyword == "*":
                each = Var()
                self.spread(argument.var, each)
                self.awaited(each, gathered.element)
            elif argument.keyword is None:
                item = gathered.items[position] = Var()
                self.awaited(argument.var, item)
                self.solver.flow(item, gathered.element)
        self.solver.add(call.result, [gathered])

    def _wait(self, call: Invocation) -> None:
        """``done, pending = await asyncio.wait(tasks)``."""
        done = SeqValue(call.node, call.module, "set", Var())
        self.spread(call.arguments[0].var, done.element)
        pair = SeqValue(call.node, call.module, "tuple", Var())
        pair.items = {0: self.fresh(done), 1: self.fresh(done)}
        self.solver.add(call.result, [pair])

    def _thread(self, call: Invocation) -> None:
        target, args = call.named("target"), call.named("args")
        passed = [Argument("*", args.var, args.node)] if args is not None else []
        keywords = call.named("kwargs")
        if keywords is not None:
            passed.append(Argument("**", keywords.var, keywords.node))
        if target is not None:
            self.run_in(call, target.var, passed, Var())
        self.solver.add(call.result, [External("threading.Thread()")])


def _spread_out(rest: list[Argument]) -> list[Argument]:
    """What ``pool.apply(f, args, kwds)`` passes to ``f``; with pandas other keywords are for ``f`` too."""
    names = iter(("args", "kwds"))
    stars = {"args": "*", "kwds": "**"}
    passed = []
    for argument in rest:
        name = argument.keyword if argument.keyword is not None else next(names, None)
        if name is not None and name not in _CALLBACKS:
            passed.append(Argument(stars.get(name, name), argument.var, argument.node))
    return passed


_CALLBACKS = frozenset({"callback", "error_callback", "axis", "raw", "result_type"})

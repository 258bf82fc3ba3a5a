"""Methods that an object calls on itself: what one gives is handed to methods of the same class.

A template method of a base class is analysed once for all its subclasses::

    def generate(self, messages):
        raw = self._raw(messages)
        return self._text(raw)

Both calls are of methods of one object. So ``_text`` of a class gets what ``_raw`` gives in that class, and
not what it gives in another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .graph import Var
from .kinds import Argument, Bound, Function, Instance, Invocation, Value
from .streamed import Streamed

Pass = Callable[[Var, Var], None]  # lets values of one variable flow to another


@dataclass(eq=False, repr=False)
class OwnCall:
    """``self.name(...)``: what it gives, and what it takes, by the class of ``self``."""

    call: Invocation
    given: dict[Instance, Var] = field(default_factory=dict)
    taken: dict[tuple[Function, int], Var] = field(default_factory=dict)  # by the number of the argument
    is_loose: bool = False  # it can also call something that is not of the class of ``self``


class OwnCalls(Streamed):
    """What calls of methods on ``self`` give, and get of each other."""

    def __init__(self) -> None:
        super().__init__()
        self._own_calls: dict[Invocation, OwnCall] = {}
        self._own_results: dict[Var, OwnCall] = {}  # by the variable for all classes
        self._made_of: dict[Var, tuple[Var, Pass]] = {}  # what is awaited, or goes through a test, and how
        self._by_class: dict[tuple[Var, Instance], Var] = {}

    def own_call(self, call: Invocation, name: str, owners: Var) -> None:
        """``call`` is one of the method ``name`` on ``self``, which is one of ``owners``."""
        own = self._own_calls[call] = self._own_results[call.result] = OwnCall(call)

        def on(owner: Value) -> None:
            if isinstance(owner, Instance):  # it may have something else under that name
                self.solver.watch(self.instance_field(owner, name), lambda _: self._loosen(own))

        self.solver.watch(owners, on)

    def own_passed(self, source: Var, target: Var, how: Pass) -> None:
        """``target`` gets what ``how`` lets through of ``source``."""
        if source in self._own_results or source in self._made_of:
            self._made_of[target] = (source, how)

    def is_called(self, callee: Value, call: Invocation) -> None:
        """If ``callee`` of an own call is no method of an instance, the class of ``self`` says nothing."""
        own = self._own_calls.get(call)
        if own is not None and not (isinstance(callee, Bound) and isinstance(callee.owner, Instance)):
            self._loosen(own)

    def _loosen(self, own: OwnCall) -> None:
        if own.is_loose:
            return
        own.is_loose = True
        for var in own.given.values():
            self.solver.flow(own.call.result, var)
        for (_, number), var in own.taken.items():
            self.solver.flow(own.call.arguments[number].var, var)

    def given_to(self, call: Invocation, owner: Value | None) -> Var | None:
        """Where that goes which a method of ``owner`` gives to an own call, besides to its result."""
        own = self._own_calls.get(call)
        return self._of(own, owner) if own is not None and isinstance(owner, Instance) else None

    def _of(self, own: OwnCall, owner: Instance) -> Var:
        var = own.given.get(owner)
        if var is None:
            var = own.given[owner] = Var()
            if own.is_loose:
                self.solver.flow(own.call.result, var)
        return var

    def _narrowed(self, var: Var, owner: Instance) -> Var | None:
        """What ``var`` is if ``self`` is ``owner``; None if that makes no difference that is known."""
        if (own := self._own_results.get(var)) is not None:
            return self._of(own, owner)
        if var not in self._made_of:
            return None
        known = self._by_class.get((var, owner))
        if known is None:
            known = self._by_class[var, owner] = Var()
            source, how = self._made_of[var]
            inner = self._narrowed(source, owner)
            how(source if inner is None else inner, known)
        return known

    def taken_by(self, function: Function, call: Invocation, owner: Value | None) -> Invocation:
        """``call`` as a method of ``owner`` sees it: with what that class gives.

        Several classes may have the method in common, which gets then what each of them gives.
        """
        own = self._own_calls.get(call)
        if own is None or own.is_loose or not isinstance(owner, Instance):
            return call
        arguments = list(call.arguments)
        for number, argument in enumerate(arguments):
            var = self._narrowed(argument.var, owner)
            if var is not None:
                taken = own.taken.setdefault((function, number), Var())
                self.solver.flow(var, taken)
                arguments[number] = Argument(argument.keyword, taken, argument.node)
        return replace(call, arguments=arguments) if arguments != call.arguments else call

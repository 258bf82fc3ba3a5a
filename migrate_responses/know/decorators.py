"""What decorators, of the project and from outside it, make of functions and classes."""

from __future__ import annotations

import libcst as cst

from . import models
from . import modules as syntax
from .foreign import Foreign
from .graph import Var
from .kinds import Argument, Bound, Class, External, Function, Instance, Invocation, Method, Unknown, Value
from .modules import Module


class Decorators(Foreign):
    """What being decorated gives."""

    def __init__(self) -> None:
        super().__init__()
        self.undecided_decorators: list[tuple[Var, Var, Var, Function]] = []

    def decorate(self, decorator: Var, decorated: Var, function: Function, node: cst.Decorator) -> Var:
        """What the name of ``function`` holds under ``decorator``."""
        result = Var()
        argument = Argument(None, decorated, node)

        def applied(outcome: Var) -> Invocation:
            """``decorator(function)``; the node is only an identity."""
            return Invocation(cst.Call(node.decorator), function.module, [argument], outcome)

        def on(found: Value) -> None:
            match found:
                case External(path=path):
                    self._external_decorator(path, function, node)
                    self.solver.flow(decorated, result)
                case Function() if not _passes_through(found):
                    self.enter_function(found, applied(result), None)
                case Function() | Bound():
                    inner = found if isinstance(found, Function) else found.function
                    owner = found.owner if isinstance(found, Bound) else None
                    self.enter_function(inner, applied(Var()), owner)
                    self.solver.add(function.wrapped, [function])
                    self.solver.flow(decorated, result)
                case Unknown() | Method():
                    function.escaped = True
                    self.solver.flow(decorated, result)
                case Class() | Instance():  # it sees the results; the name stays the function
                    self.call(found, applied(Var()))
                    self.solver.flow(decorated, result)
                case _:
                    self.solver.flow(decorated, result)

        self.solver.watch(decorator, on)
        if not decorator.values:
            self.undecided_decorators.append((decorator, decorated, result, function))
        return result

    def decorate_class(self, decorator: Var, decorated: Var, node: cst.Decorator, module: Module) -> None:
        """A decorator of the project gets the class, to register it or to give it back."""
        invocation = Invocation(cst.Call(node.decorator), module, [Argument(None, decorated, node)], Var())

        def on(found: Value) -> None:
            if isinstance(found, (Function, Bound, Class, Instance)):
                self.call(found, invocation)

        self.solver.watch(decorator, on)

    def _external_decorator(self, path: str, function: Function, node: cst.Decorator) -> None:
        tail = path.rpartition(".")[2]
        call = node.decorator
        if path == "functools.wraps()" and isinstance(call, cst.Call) and call.args:
            self.solver.flow(self.vars[call.args[0].value], function.wrapped)
        else:
            self.solver.add(function.wrapped, [function])
        if path in ("builtins.staticmethod", "builtins.classmethod"):
            function.bound = {"staticmethod": "static", "classmethod": "class"}[tail]
        elif tail in ("property", "cached_property", "abstractproperty", "lazy_property", "hybrid_property"):
            function.bound = "property"
        elif not models.is_transparent(path):
            function.escaped = True


def _passes_through(decorator: Function) -> bool:
    """Whether a project decorator returns a wrapper ``(*args, **kwargs)`` around its function.

    Such a wrapper keeps the signature and, as far as values go, the result: callers are bound to
    the function itself, so that functions under one decorator are not mixed up.
    """
    for node in syntax.walk(decorator.node.body):
        if isinstance(node, cst.FunctionDef):
            params = node.params
            if isinstance(params.star_arg, cst.Param) and params.star_kwarg is not None:
                return True
    return False

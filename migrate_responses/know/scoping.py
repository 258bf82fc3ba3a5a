"""Names at a point of a module: what they hold there, and under which tests."""

from __future__ import annotations

import libcst as cst

from . import modules as syntax
from .cells import Cells
from .definitions import Definitions
from .flags import asked_of
from .graph import Var
from .kinds import STREAM_KINDS, Function, Shape, Value

Env = dict[str, Var]


class Names:
    """The names of one module as the walk through it goes on.

    ``env`` maps each local name to the one definition that reaches this point (joins have made
    a definition of their own), so a name that is used for several things is several variables.
    """

    def __init__(self, project: Definitions, module: syntax.Module) -> None:
        self.project = project
        self.module = module
        self.solver = project.solver
        self.scope = module.scope
        self.function: Function | None = None
        self.env: Env = {}
        self.guards: list[tuple[object, bool]] = []
        self.recorders: list[Env] = []
        self.pours: dict[cst.Subscript, Var] = {}  # where a loop copies the entries of a dict, and which
        self.cells = Cells(module) if len(module.cells) > 1 else None
        self.cell = 0

    def load(self, name: str) -> Var:
        scope: syntax.Scope | None = self.scope
        if name in self.env and name not in self.scope.shared:
            return self.env[name]
        while scope is not None:
            if name in scope.globals:
                scope = self.module.scope
                return scope.any(name)
            if name in scope.bound and not scope.is_class:
                if self.cells is not None and scope is self.scope.parent is self.module.scope:
                    return self.cells.met(self.solver, self.scope, name) or scope.any(name)
                return scope.any(name)
            scope = scope.parent
        return self.project.outer_name(self.module, name)

    def bind(self, name: str, value: Var) -> None:
        scope = self.scope
        if name in scope.globals:
            self.solver.flow(value, self.module.scope.any(name))
            return
        if name in scope.nonlocals:
            outer = scope.parent
            while outer is not None and (outer.is_class or name not in outer.bound):
                outer = outer.parent
            if outer is not None:
                self.solver.flow(value, outer.any(name))
            return
        self.solver.flow(value, scope.any(name))
        if self.cells is not None and scope is self.module.scope:
            self.solver.flow(value, self.cells.left(self.cell, name))
        if name not in scope.shared:
            self.env[name] = value
        for recorder in self.recorders:
            if name in recorder:
                self.solver.flow(value, recorder[name])

    def guarded(self, source: Var) -> Var:
        """``source`` as seen under the tests around this point (the arms of ``if stream:``)."""
        if not self.guards:
            return source
        guards = tuple(self.guards)
        target = Var()

        def keep(value: Value) -> bool:
            if not isinstance(value, Shape):
                return True
            streams = value.kind in STREAM_KINDS
            return all(streams is wanted for key, wanted in guards if key in value.site.flags)

        self.solver.flow_if(source, target, keep)
        self.project.own_passed(source, target, lambda one, other: self.solver.flow_if(one, other, keep))
        return target

    def flag_key(self, node: cst.BaseExpression) -> object | None:
        """What identifies a flag in a test: the definition of a name, or the text of an attribute."""
        if isinstance(node, cst.Name) and node.value not in ("True", "False", "None"):
            var = self.load(node.value)
            return self.project.undeclared.get(var, var)
        return syntax.dotted(node) or None

    def guard(self, test: cst.BaseExpression) -> tuple[object | None, bool]:
        """The flag that ``test`` asks for, and which answer makes it true."""
        match test:
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                key, positive = self.guard(inner)
                return key, not positive
            case cst.Comparison(
                left=left,
                comparisons=[
                    cst.ComparisonTarget(
                        operator=cst.Is() | cst.Equal(), comparator=cst.Name(value="True" | "False" as word)
                    )
                ],
            ):
                return self.flag_key(left), word == "True"
            case cst.Name() | cst.Attribute():
                return self.flag_key(test), True
            case cst.Call() if self.function is not None and self.function.double_star is not None:
                name = asked_of(test)
                own = name is not None and self.load(name) is self.function.parameters.get(name)
                return (self.function.double_star if own else None), True
            case _:
                return None, True

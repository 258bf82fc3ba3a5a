"""What a function of a notebook can find in a global name, when other cells replace both."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from . import modules as syntax
from .graph import Solver, Var


class Cells:
    """What each cell of a module leaves in its names.

    Cells are run in any order, so a name holds what any of them left in it. But a cell that makes a client
    and then defines ``ask`` anew ends the ``ask`` of another cell: whoever calls that one has run its own
    cell since, and if that cell makes a client too, it is never the other cell's.
    """

    def __init__(self, module: syntax.Module) -> None:
        self._module = module
        self._left: dict[tuple[int, str], Var] = {}
        self._met: dict[tuple[cst.CSTNode, str], Var | None] = {}

    def left(self, cell: int, name: str) -> Var:
        """What ``cell`` leaves in ``name``."""
        return self._left.setdefault((cell, name), Var())

    def met(self, solver: Solver, scope: syntax.Scope, name: str) -> Var | None:
        """What ``name`` holds for the function of ``scope``; None if that is simply all that there is."""
        key = (scope.node, name)
        if key not in self._met:
            ended = self._ended_by(scope.node, name) if isinstance(scope.node, cst.FunctionDef) else set()
            self._met[key] = self._joined(solver, name, ended) if ended else None
        return self._met[key]

    def _joined(self, solver: Solver, name: str, ended: set[int]) -> Var:
        var = Var()
        for cell in range(len(self._module.cells)):
            if cell not in ended:
                solver.flow(self.left(cell, name), var)
        return var

    def _ended_by(self, function: cst.FunctionDef, name: str) -> set[int]:
        """The other cells after which ``function`` is called only once its own has made ``name`` again."""
        module = self._module
        own = function.name.value
        cells = module.cells
        home = module.cell(function)
        body = cells[home] if home >= 0 else []
        if (
            {own, name} & module.scope.shared
            or function not in body
            or function.decorators
            or function.asynchronous is not None
            or module.scopes[function].yields
            or not self._only_called(own)
            or sum(own in syntax.bound_in([statement]) for statement in body) != 1
            or not any(_binds(statement, name) for statement in body[: body.index(function)])
        ):
            return set()
        return {number for number, cell in enumerate(cells) if number != home and self._replaces(cell, own)}

    def _only_called(self, name: str) -> bool:
        """Whether ``name`` is never handed on: whoever calls it looks it up first."""
        parents = self._module.parents
        for node in self._module.of(cst.Name):
            if node.value != name:
                continue
            match parents[node]:
                case cst.Call(func=used) if used is node:
                    continue
                case cst.FunctionDef(name=used) if used is node:
                    continue
                case cst.Attribute(attr=used) if used is node:
                    continue
                case cst.Arg(keyword=used) if used is node:
                    continue
                case cst.AssignTarget():
                    continue
                case _:
                    return False
        return True

    def _replaces(self, cell: list[cst.SimpleStatementLine | cst.BaseCompoundStatement], own: str) -> bool:
        """Whether ``cell`` binds ``own`` whenever it runs, and calls nothing of the notebook before that."""
        for statement in cell:
            if _binds(statement, own):
                return True
            if any(root in self._own for root in _called(statement)):
                return False
        return False

    @cached_property
    def _own(self) -> set[str]:
        """The names that may hold something of the notebook itself, and "" for what has no name."""
        module = self._module
        imported = {
            name
            for node in module.of(cst.Import, cst.ImportFrom, cst.AsName)
            for name in syntax.bound_by(node)
        }
        return {"", *(module.scope.bound - imported)}


def _binds(statement: cst.CSTNode, name: str) -> bool:
    """Whether ``statement`` of a cell gives ``name`` a value whenever it runs."""
    match statement:
        case cst.FunctionDef(name=cst.Name(value=bound)):
            return bound == name
        case cst.SimpleStatementLine(body=parts):
            return any(
                isinstance(part, cst.Assign)
                and any(name in syntax.target_names(target.target) for target in part.targets)
                for part in parts
            )
        case _:
            return False


def _called(statement: cst.CSTNode) -> Iterator[str]:
    """The names at the root of what ``statement`` calls when it runs."""
    if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
        return
    for node in syntax.walk(statement):
        if isinstance(node, cst.Call):
            yield syntax.dotted(node.func).partition(".")[0]

"""Statements without others inside: assignments, imports, and what leaves a function or a loop."""

from __future__ import annotations

import sys

import libcst as cst

from . import modules as syntax
from .definitions import Definitions
from .graph import Var
from .kinds import Const, DictValue, SeqValue, Unknown, Value
from .opened import defaults
from .patterns import Patterns
from .scoping import Env


class Statements(Patterns):
    """Builds simple statements. Each method tells whether what comes after the statement can be reached."""

    def __init__(self, project: Definitions, module: syntax.Module) -> None:
        super().__init__(project, module)
        self.loops: list[tuple[list[Env], list[Env]]] = []  # (breaks, continues) of each loop
        self._starred: set[str] = set()  # names from modules of which all is imported

    def _expr(self, node: cst.Expr) -> bool:
        self.expression(node.value)
        return True

    def _assign(self, node: cst.Assign) -> bool:
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target.target, value)
        return True

    def _ann_assign(self, node: cst.AnnAssign) -> bool:
        self.annotation(node.annotation.annotation)
        if self.scope.is_class and isinstance(node.target, cst.Name):
            owner = self.project.classes[self.scope.node]
            owner.annotations[node.target.value] = node.annotation.annotation
        if node.value is not None:
            value = self.expression(node.value)
            self.assign(node.target, self.project.declare(self.module, node.annotation.annotation, value))
        elif isinstance(node.target, cst.Attribute):
            self.expression(node.target.value)
        return True

    def _aug_assign(self, node: cst.AugAssign) -> bool:
        target = self.expression(node.target)
        value = self.expression(node.value)
        result = Var()
        self.solver.flow(target, result)
        self.solver.watch(target, lambda owner: self.project.augment(owner, node, value, result, self.module))
        self.assign(node.target, result)
        return True

    def _return(self, node: cst.Return) -> bool:
        if node.value is not None:
            value = self.expression(node.value)
            if self.function is not None:
                self.solver.flow(value, self.function.returned or self.function.result)
        return False

    def _raise(self, node: cst.Raise) -> bool:
        if node.exc is not None:
            self.solver.flow(self.expression(node.exc), self.project.raised)
        if node.cause is not None:
            self.expression(node.cause.item)
        return False

    def _break(self, node: cst.Break) -> bool:
        if self.loops:
            self.loops[-1][0].append(dict(self.env))
        return False

    def _continue(self, node: cst.Continue) -> bool:
        if self.loops:
            self.loops[-1][1].append(dict(self.env))
        return False

    def _import(self, node: cst.Import) -> bool:
        for alias in node.names:
            name = syntax.dotted(alias.name)
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                self.bind(alias.asname.name.value, self.project.imported(self.module, name))
            else:
                first = name.partition(".")[0]
                self.bind(first, self.project.imported(self.module, first))
                self.project.imported(self.module, name)
        return True

    def _import_from(self, node: cst.ImportFrom) -> bool:
        name = syntax.dotted(node.module) if node.module is not None else ""
        level = len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            if self.project.find_module(self.module, level, name) is None:
                self._overwritten(node, name)
            for found, var in self.project.star(self.module, level, name):
                self.scope.bound.add(found)
                self._starred.add(found)
                self.bind(found, var)
            return True
        for alias in node.names:
            member = syntax.dotted(alias.name)
            target = alias.asname.name if alias.asname is not None else alias.name
            if isinstance(target, cst.Name):
                self.bind(target.value, self.project.imported_from(self.module, level, name, member))
        return True

    def _overwritten(self, node: cst.ImportFrom, name: str) -> None:
        """``from local_settings import *``: what names stood for so far may be something else now."""
        if name.partition(".")[0] in sys.stdlib_module_names:
            return
        other = Unknown(f"`{name}`, of which all is imported", node)
        ours = defaults(self.module) | self._starred
        for known, var in [(known, var) for known, var in self.env.items() if known in ours]:
            new = Var()
            self.solver.flow(var, new)

            def on(value: Value, new: Var = new) -> None:
                if isinstance(value, (Const, DictValue, SeqValue)):
                    self.solver.add(new, [other])

            self.solver.watch(var, on)
            self.bind(known, new)

    def _delete(self, node: cst.Del) -> bool:
        targets = (
            [element.value for element in node.target.elements]
            if isinstance(node.target, cst.Tuple)
            else [node.target]
        )
        for target in targets:
            if isinstance(target, cst.Subscript):
                self._delete_item(target)
            else:
                self.expression(target)
        return True

    def _delete_item(self, target: cst.Subscript) -> None:
        """``del params["x"]``."""
        base = self.expression(target.value)
        self.solver.watch(
            base, lambda owner: self.project.shift(owner) if isinstance(owner, SeqValue) else None
        )
        for element in target.slice:
            if isinstance(element.slice, cst.Index):
                key = self.expression(element.slice.value)

                def on(owner: Value, key: Var = key) -> None:
                    if isinstance(owner, DictValue):
                        self.project.entry(owner, key, target, "delete", None, self.module)

                self.solver.watch(base, on)

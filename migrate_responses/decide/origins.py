"""Backwards through the value-flow graph: does everything that feeds a variable have a value?"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.graph import Var, home
from ..know.kinds import Bound, Class, Function
from ..know.project import Project


class Origins:
    """The edges of the graph, turned round. Built when first asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._sources: dict[Var, list[Var]] | None = None
        self._nodes: dict[Var, cst.CSTNode] = {}
        self._certain = frozenset(gate.target for gate in project.gates)

    def unseen(self, var: Var) -> cst.CSTNode | None:
        """An expression that flows to ``var`` and of which nothing is known, if there is one.

        ``var`` may hold values all the same, from other places; they are then not the whole truth.
        """
        if self._sources is None:
            self._sources = self._turn()
        first = home(var)
        seen, stack = {first}, [first]
        while stack:
            current = stack.pop()
            if current in self._certain:
                continue  # declared to be a client: that is the whole truth
            node = self._nodes.get(current)
            if node is not None and not current.values and not self._calls_project(node):
                return node
            for source in self._sources.get(current, ()):
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return None

    def _calls_project(self, node: cst.CSTNode) -> bool:
        """Whether ``node`` calls a function of the project: what that returns is asked instead."""
        return isinstance(node, cst.Call) and any(
            isinstance(value, (Function, Bound, Class)) for value in self._project.values(node.func)
        )

    def _turn(self) -> dict[Var, list[Var]]:
        self._nodes = {var: node for node, var in self._project.vars.items()}
        sources: dict[Var, list[Var]] = {}
        seen = set(map(home, self._roots()))
        stack = list(seen)
        while stack:
            var = stack.pop()
            targets = list(var.outs or ())
            targets += (target for _, target in var.filters or ())
            for target in map(home, targets):
                sources.setdefault(target, []).append(var)
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        return sources

    def _roots(self) -> Iterator[Var]:
        yield from self._project.vars.values()
        for function in self._project.functions.values():
            yield from function.parameters.values()

"""What surrounds a module: who imports whom, what is put into the environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from ..know.graph import Var
from ..know.kinds import Const, DictValue, External, Invocation, Unknown, Value
from ..know.modules import Module, dotted
from ..know.project import Project
from .receivers import in_tests
from .urls import Text, Texts


class Ambient:
    """Facts about modules, found when first asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._reach: dict[Module, set[Module]] | None = None
        self._assigned: dict[str, list[tuple[Var, cst.CSTNode, Module]]] | None = None

    def module_of(self, node: cst.CSTNode) -> Module | None:
        """The module that ``node`` belongs to."""
        return next((module for module in self._project.modules if node in module.parents), None)

    # -- imports -------------------------------------------------------------------------

    def meets(self, setter: Module | None, user: Module) -> bool:
        """Whether code of ``setter`` and code of ``user`` can run in one process, tests aside."""
        if setter is None or setter is user:
            return True
        if self._reach is None:
            self._reach = self._imports()
        if in_tests(setter):
            return False
        pair = {setter, user}
        return any(
            pair <= {module, *reached} for module, reached in self._reach.items() if not in_tests(module)
        )

    def _imports(self) -> dict[Module, set[Module]]:
        direct = {module: set(self._imported(module)) for module in self._project.modules}
        closed: dict[Module, set[Module]] = {}
        for module in direct:
            reached: set[Module] = set()
            stack = list(direct[module])
            while stack:
                current = stack.pop()
                if current not in reached:
                    reached.add(current)
                    stack.extend(direct[current])
            closed[module] = reached
        return closed

    def _imported(self, module: Module) -> Iterator[Module]:
        find = self._project.find_module
        for node in module.of(cst.Import, cst.ImportFrom):
            names: list[tuple[int, str]] = []
            if isinstance(node, cst.Import):
                names = [(0, dotted(alias.name)) for alias in node.names]
            elif isinstance(node, cst.ImportFrom):
                base, level = dotted(node.module) if node.module is not None else "", len(node.relative)
                names = [(level, base)]
                if not isinstance(node.names, cst.ImportStar):
                    names += [(level, f"{base}.{dotted(alias.name)}".strip(".")) for alias in node.names]
            for level, name in names:
                found = find(module, level, name)
                if found is not None and found is not module:
                    yield found

    # -- the environment -----------------------------------------------------------------

    def environment(self, name: str, module: Module, texts: Texts) -> list[Text]:
        """What the project puts into the environment variable ``name`` where ``module`` can see it."""
        found = []
        for var, node, where in self._put(name):
            if self.meets(where, module):
                found += [
                    replace(item, place=node) for item in texts.read(var, name) if item.text is not None
                ]
        return found

    def assigned(self, name: str) -> list[Var]:
        """Everything that the project puts into the environment variable ``name``."""
        return [var for var, _, _ in self._put(name)]

    def _put(self, name: str) -> list[tuple[Var, cst.CSTNode, Module]]:
        if self._assigned is None:
            self._assigned = {}
            for key, var, node, where in self._assignments():
                self._assigned.setdefault(key, []).append((var, node, where))
        return self._assigned.get(name, [])

    def _assignments(self) -> Iterator[tuple[str, Var, cst.CSTNode, Module]]:
        for call, callees in self._project.callees.items():
            names = {value.path for value in callees if isinstance(value, External)}
            if not names.isdisjoint(_SETTERS) and len(call.arguments) > 1:
                yield from self._setdefault(call)
            elif "os.environ.update" in names:
                yield from self._update(call)
        for module in self._project.modules:
            for node in module.of(cst.Assign, cst.AugAssign) if "environ" in module.text else ():
                if isinstance(node, cst.AugAssign):
                    yield from self._join(node, module)
                    continue
                assert isinstance(node, cst.Assign)
                for target in node.targets:
                    yield from self._store(target.target, node, module)

    def _setdefault(self, call: Invocation) -> Iterator[tuple[str, Var, cst.CSTNode, Module]]:
        for key in call.arguments[0].var.values:
            if isinstance(key, Const) and isinstance(key.value, str):
                yield key.value, call.arguments[1].var, call.node, call.module
            else:
                yield from self._by_name(call.node, call.module)

    def _update(self, call: Invocation) -> Iterator[tuple[str, Var, cst.CSTNode, Module]]:
        """``os.environ.update(SETTINGS)``."""
        for argument in call.arguments:
            if argument.keyword not in (None, "*", "**"):
                yield argument.keyword, argument.var, call.node, call.module
                continue
            for value in argument.var.values:
                if isinstance(value, DictValue):
                    yield from _entries(value, call.node, call.module)
                elif not isinstance(value, Const):
                    yield from self._by_name(call.node, call.module)

    def _join(self, node: cst.AugAssign, module: Module) -> Iterator[tuple[str, Var, cst.CSTNode, Module]]:
        """``os.environ |= SETTINGS``."""
        if any(map(_is_environment, self._project.values(node.target))):
            for value in self._project.values(node.value):
                if isinstance(value, DictValue):
                    yield from _entries(value, node, module)

    def _by_name(self, node: cst.CSTNode, module: Module) -> Iterator[tuple[str, Var, cst.CSTNode, Module]]:
        """A variable whose name is computed at ``node``: any that a dict of the project has."""
        for value in self._project.built.values():
            if isinstance(value, DictValue):
                yield from _entries(value, node, module)

    def _store(
        self, target: cst.BaseExpression, node: cst.Assign, module: Module
    ) -> Iterator[tuple[str, Var, cst.CSTNode, Module]]:
        if not isinstance(target, cst.Subscript):
            return
        owners = self._project.values(target.value)
        if not any(map(_is_environment, owners)):
            return
        value = self._project.vars.get(node.value)
        for element in target.slice:
            if isinstance(element.slice, cst.Index) and value is not None:
                for key in self._project.values(element.slice.value) or [Unknown("a name")]:
                    if isinstance(key, Const) and isinstance(key.value, str):
                        yield key.value, value, node, module
                    else:
                        yield from self._by_name(node, module)


_SETTERS = frozenset({"os.environ.setdefault", "os.environ.__setitem__", "os.putenv"})


def _is_environment(value: Value) -> bool:
    return isinstance(value, External) and value.path == "os.environ"


def _entries(
    value: DictValue, node: cst.CSTNode, module: Module
) -> Iterator[tuple[str, Var, cst.CSTNode, Module]]:
    """The variables of the SDK that ``value`` has entries for, put into the environment at ``node``."""
    for name, places in value.places.items():
        for place in places if name.startswith("OPENAI_") else ():
            if place.var is not None:
                yield name, place.var, node, module

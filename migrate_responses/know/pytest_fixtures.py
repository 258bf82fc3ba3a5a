"""What pytest hands to tests: fixtures by the names of parameters, and the values of ``parametrize``.

As in pytest, a fixture of the class counts before one of the module, and that before those of the
``conftest.py`` of the folders, nearest first. A fixture of a ``conftest.py`` that asks for another gets the
one that the test sees: any of that name below the folder.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from . import modules as syntax
from .definitions import Definitions
from .graph import Var
from .kinds import Class, Const, External, Function, Invocation, SeqValue, Value
from .modules import Module

REQUEST = "pytest.FixtureRequest()"
PARAM = "pytest.param"
_MARKERS = frozenset(
    f"{package}.{name}{called}"
    for package in ("pytest", "pytest_asyncio", "_pytest.fixtures")
    for name in ("fixture", "yield_fixture")
    for called in ("", "()")
)


@dataclass(frozen=True)
class _Fixture:
    name: str
    function: Function
    call: cst.Call | None  # the decorator, if it has arguments

    @property
    def module(self) -> Module:
        return self.function.module

    @property
    def value(self) -> Var:
        yields = self.function.yields
        return self.function.result if yields is None else yields.element

    @property
    def folder(self) -> str | None:
        """The folder whose tests see it, if it stands in a ``conftest.py``."""
        folder, name = posixpath.split(self.module.path)
        return folder if name == "conftest.py" else None

    def reaches(self, module: Module) -> bool:
        """Whether tests of ``module`` can see it."""
        if self.folder is None:  # a file of fixtures is anybody's, one of tests has its own
            stem = posixpath.basename(self.module.path).removesuffix(".py")
            return module is self.module or not (stem.startswith("test_") or stem.endswith("_test"))
        return not self.folder or module.path.startswith(f"{self.folder}/")

    def argument(self, name: str) -> cst.BaseExpression | None:
        """What the decorator is given as ``name``."""
        return None if self.call is None else _argument(self.call, name, None)


@dataclass(frozen=True)
class _Listed:
    """``parametrize(names, values)``, for one of the names."""

    position: int | None  # None if it is the only name
    values: Var
    indirect: bool


class Fixtures:
    """The fixtures of one project, once its modules are built."""

    def __init__(self, project: Definitions) -> None:
        self._project = project
        self._solver = project.solver
        self.filled: set[Var] = set()  # the parameters that get their values from here
        self._requests: dict[Function, External] = {}
        found = [fixture for function in project.functions.values() for fixture in self._fixture(function)]
        self._by_name: dict[str, list[_Fixture]] = {}
        for fixture in found:
            self._by_name.setdefault(fixture.name, []).append(fixture)
        self._functions = {fixture.function: fixture for fixture in found}

    def _fixture(self, function: Function) -> Iterator[_Fixture]:
        if not isinstance(function.node, cst.FunctionDef):
            return
        for decorator in function.node.decorators:
            node = decorator.decorator
            if any(
                isinstance(value, External) and value.path in _MARKERS for value in self._project.values(node)
            ):
                call = node if isinstance(node, cst.Call) else None
                fixture = _Fixture(function.name, function, call)
                name = fixture.argument("name")
                if isinstance(name, cst.SimpleString) and isinstance(name.evaluated_value, str):
                    fixture = _Fixture(name.evaluated_value, function, call)
                yield fixture
                return

    def fill(self) -> None:
        """Give the parameters of tests and fixtures what pytest gives them."""
        if not self._by_name and not any("parametrize" in module.text for module in self._project.modules):
            return
        for fixture in self._functions.values():
            self._fill_fixture(fixture)
        for function in list(self._project.functions.values()):
            if function.name.startswith("test") and function not in self._functions:
                self._fill_test(function)

    def requested(self, call: Invocation) -> None:
        """``request.getfixturevalue("client")``."""
        function = call.scope if isinstance(call.scope, Function) else None
        seen_from = self._functions.get(function) if function is not None else None

        def on(key: Value) -> None:
            if isinstance(key, Const) and isinstance(key.value, str):
                owner = function.owner if function is not None else None
                for source in self._sources(key.value, call.module, owner, seen_from):
                    self._solver.flow(source, call.result)

        if call.arguments:
            self._solver.watch(call.arguments[0].var, on)

    # -- parameters ----------------------------------------------------------------------

    def _fill_fixture(self, fixture: _Fixture) -> None:
        function = fixture.function
        params = fixture.argument("params")
        request = self._request(function)
        if params is not None and params in self._project.vars:
            self._list(_Listed(None, self._project.vars[params], False), self._slot(request, "param"))
        for cls in self._classes_using(fixture):
            self._solver.add(self._slot(request, "cls"), [cls])
        for name in _asked(function):
            if name == "request" and "request" not in self._by_name:
                self._give(function, name, self._project.fresh(request))
                continue
            for source in self._sources(name, function.module, function.owner, fixture):
                self._give(function, name, source)

    def _fill_test(self, function: Function) -> None:
        listed = self._listed(function)
        for name in _asked(function):
            fixtures = self._nearest(name, function.module, function.owner, None)
            if name in listed:
                for one in listed[name]:
                    if not one.indirect:
                        self._list(one, function.parameters[name])
                        self.filled.add(function.parameters[name])
                        continue
                    for fixture in fixtures:
                        self._list(one, self._slot(self._request(fixture.function), "param"))
                if not all(one.indirect for one in listed[name]):
                    continue
            if name == "request" and not fixtures:
                self._give(function, name, self._project.fresh(self._request(function)))
            elif not self._is_generated(name, function.module):
                for fixture in fixtures:
                    self._give(function, name, fixture.value)

    def _give(self, function: Function, name: str, source: Var) -> None:
        self._solver.flow(source, function.parameters[name])
        self.filled.add(function.parameters[name])

    def _request(self, function: Function) -> External:
        """The ``request`` that ``function`` gets; no two are the same."""
        return self._requests.setdefault(function, External(REQUEST, -1 - len(self._requests)))

    def _slot(self, request: External, name: str) -> Var:
        return self._project.external_field(request, name)

    def _list(self, listed: _Listed, target: Var) -> None:
        """Each of the values that are listed flows to ``target``."""

        def on(value: Value) -> None:
            if isinstance(value, SeqValue) and value.type == PARAM:
                self._project.element_at(value, listed.position or 0, target)
            elif listed.position is not None:
                self._project.element_at(value, listed.position, target)
            else:
                self._solver.add(target, [value])

        each = Var()
        self._project.spread(listed.values, each)
        self._solver.watch(each, on)

    # -- which fixture -------------------------------------------------------------------

    def _sources(
        self, name: str, module: Module, owner: Class | None, consumer: _Fixture | None
    ) -> Iterator[Var]:
        """What ``name`` can be where it is asked for; ``consumer`` is the fixture that asks, if one does."""
        for fixture in self._nearest(name, module, owner, consumer):
            yield fixture.value
        if consumer is None:
            return
        for fixture in self._by_name.get(name, ()):  # the tests' own, in place of the one that is nearest
            if fixture is not consumer and consumer.reaches(fixture.module):
                yield fixture.value
        for module, one in self._in_place_of.get(name, ()):
            if consumer.reaches(module):
                target = Var()
                self._list(one, target)
                yield target

    def _nearest(
        self, name: str, module: Module, owner: Class | None, but: _Fixture | None
    ) -> list[_Fixture]:
        """The fixtures called ``name`` that count for ``module`` and ``owner``."""
        known = [fixture for fixture in self._by_name.get(name, ()) if fixture is not but]
        if owner is not None:
            owners = {owner, *self._project.ancestors(owner)}
            own = [fixture for fixture in known if fixture.function.owner in owners]
            for fixture in known:  # of a subclass, which inherits the test
                of = fixture.function.owner
                if of is not None and owner in self._project.ancestors(of):
                    own.append(fixture)
            if any(fixture.function.owner in owners for fixture in own):
                return own
            return [*own, *self._nearest(name, module, None, but)]
        free = [fixture for fixture in known if fixture.function.owner is None]
        bound = self._imported(module, name)
        if own := [one for one in free if one.module is module or one.function in bound]:
            return own
        for conftest in self._conftests(module):
            bound = self._imported(conftest, name)
            if own := [one for one in free if one.module is conftest or one.function in bound]:
                return own
        return [one for one in free if one.module in self._plugins]

    def _conftests(self, module: Module) -> Iterator[Module]:
        """The ``conftest.py`` of the folders above ``module``, nearest first."""
        folder = posixpath.dirname(module.path)
        while True:
            found = self._by_path.get(posixpath.join(folder, "conftest.py"))
            if found is not None:
                yield found
            if not folder:
                return
            folder = posixpath.dirname(folder)

    @cached_property
    def _by_path(self) -> dict[str, Module]:
        return {module.path: module for module in self._project.modules}

    @cached_property
    def _plugins(self) -> set[Module]:
        """The modules that ``pytest_plugins`` names anywhere."""
        found: set[Module] = set()
        for module in self._project.modules:
            var = module.scope.names.get("pytest_plugins")
            for value in list(var.values) if var is not None else ():
                for name in value.element.values if isinstance(value, SeqValue) else (value,):
                    if isinstance(name, Const) and isinstance(name.value, str):
                        plugin = self._project.find_module(module, 0, name.value)
                        found.update([plugin] if plugin is not None else [])
        return found

    def _imported(self, module: Module, name: str) -> set[Value]:
        """The functions that ``name`` is bound to in ``module``."""
        var = module.scope.names.get(name)
        return set(var.values) if var is not None else set()

    def _is_generated(self, name: str, module: Module) -> bool:
        """Whether a ``pytest_generate_tests`` speaks of ``name``: then it may list anything."""
        for function in self._generators:
            if _Fixture("", function, None).reaches(module):
                for node in syntax.walk(function.node.body):
                    if isinstance(node, cst.SimpleString) and name in str(node.evaluated_value):
                        return True
        return False

    @cached_property
    def _generators(self) -> list[Function]:
        return [
            function
            for function in self._project.functions.values()
            if function.name == "pytest_generate_tests"
        ]

    @cached_property
    def _in_place_of(self) -> dict[str, list[tuple[Module, _Listed]]]:
        """What tests list for a name: it takes the place of the fixture, for other fixtures too."""
        found: dict[str, list[tuple[Module, _Listed]]] = {}
        for function in self._project.functions.values():
            for name, listed in self._listed(function).items() if function.name.startswith("test") else ():
                found.setdefault(name, []).extend(
                    (function.module, one) for one in listed if not one.indirect
                )
        return found

    # -- marks ---------------------------------------------------------------------------

    def _marks(self, node: cst.CSTNode, module: Module) -> Iterator[cst.Call]:
        """The marks with arguments on ``node``, a function or class, and on what is around it."""
        for around in (node, *module.ancestors(node)):
            if isinstance(around, (cst.FunctionDef, cst.ClassDef)):
                for decorator in around.decorators:
                    if isinstance(decorator.decorator, cst.Call):
                        yield decorator.decorator
            if isinstance(around, (cst.Module, cst.ClassDef)):
                yield from self._module_marks(around, module)

    def _module_marks(self, node: cst.Module | cst.ClassDef, module: Module) -> Iterator[cst.Call]:
        """Those of ``pytestmark = [...]`` in ``node``."""
        if "pytestmark" not in module.text:
            return
        for assign in module.of(cst.Assign):
            if any(syntax.dotted(target.target) == "pytestmark" for target in assign.targets):
                around = module.parents.get(module.parents.get(assign, assign))
                if node in (around, module.parents.get(around) if around is not None else None):
                    yield from (call for call in syntax.walk(assign.value) if isinstance(call, cst.Call))

    def _listed(self, function: Function) -> dict[str, list[_Listed]]:
        """The parameters of ``function`` for which values are listed."""
        found: dict[str, list[_Listed]] = {}
        if "parametrize" not in function.module.text:
            return found
        for call in self._marks(function.node, function.module):
            if not syntax.dotted(call.func).endswith("parametrize"):
                continue
            names, values = _argument(call, "argnames", 0), _argument(call, "argvalues", 1)
            indirect = _argument(call, "indirect", 2)
            spelled = list(_names(names)) if names is not None else []
            if values is None or values not in self._project.vars:
                continue
            for position, name in enumerate(spelled):
                is_indirect = indirect is not None and (
                    name in _names(indirect) or (isinstance(indirect, cst.Name) and indirect.value == "True")
                )
                alone = len(spelled) == 1
                listed = _Listed(None if alone else position, self._project.vars[values], is_indirect)
                found.setdefault(name, []).append(listed)
        return found

    def _classes_using(self, fixture: _Fixture) -> Iterator[Class]:
        """The classes of tests that ``fixture`` is told to prepare."""
        autouse = fixture.argument("autouse") is not None
        for cls in self._project.classes.values():
            if not fixture.reaches(cls.module):
                continue
            used = {
                text
                for call in self._marks(cls.node, cls.module)
                if syntax.dotted(call.func).endswith("usefixtures")
                for arg in call.args
                for text in _names(arg.value)
            }
            if fixture.name in used or (autouse and fixture.function.owner in (None, cls)):
                yield cls


def _asked(function: Function) -> list[str]:
    """The parameters that pytest fills: those without a default, ``self`` aside."""
    params = function.node.params
    plain = [item.name.value for item in (*params.params, *params.kwonly_params) if item.default is None]
    first = function.positional[:1] if function.owner is not None and function.bound != "static" else []
    return [name for name in plain if name not in first]


def _argument(call: cst.Call, name: str, position: int | None) -> cst.BaseExpression | None:
    for index, arg in enumerate(call.args):
        if arg.star:
            return None
        if arg.keyword.value == name if arg.keyword is not None else index == position:
            return arg.value
    return None


def _names(node: cst.BaseExpression) -> Iterator[str]:
    """``a`` and ``b`` of ``"a, b"`` or ``["a", "b"]``."""
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
        yield from (part.strip() for part in node.evaluated_value.split(",") if part.strip())
    elif isinstance(node, (cst.List, cst.Tuple)):
        for element in node.elements:
            yield from _names(element.value)

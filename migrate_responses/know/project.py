"""The project: its modules, their constraints, and the fixed point."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from . import models
from . import modules as syntax
from .annotations import instances_of
from .build import Builder
from .crowds import functions, held
from .declared import only_clients
from .definitions import Definitions
from .exported import exported
from .graph import MANY, Var
from .kinds import (
    Class,
    Client,
    Const,
    DictValue,
    External,
    Function,
    Instance,
    Invocation,
    Kind,
    SeqValue,
    Shape,
    Typed,
    Unknown,
    Value,
)
from .modules import Module
from .opened import Opened
from .pytest_fixtures import Fixtures
from .same_hands import clients_by_use
from .testing import in_tests

_MAX_ROUNDS = 40  # of seeding; each round gives values to functions that nobody calls


class Project(Definitions):
    """Everything that is known about a set of modules.

    After :meth:`solve`, ``values(node)`` tells what an expression can be, ``sites`` holds the
    calls, ``callees`` what each invocation calls.
    """

    def __init__(self, modules: Sequence[Module], is_packaged: bool = False) -> None:
        super().__init__(modules)
        self.is_packaged = is_packaged
        self._seeded: set[Var] = set()
        self._opened: set[tuple[Var, Var]] = set()  # what flows for want of knowing better
        self._given: set[Function] = set()  # to which anything may be passed
        self._offered: set[Function] = set()  # by a package, to others
        self._assumed: frozenset[str] = frozenset()
        self.assumed_clients: set[Client] = set()
        self.notes: dict[str, object] = {}  # facts that others derive once
        self._fixtures: Fixtures | None = None
        self._set_at_run_time = Opened(self)

    def assume(self, names: frozenset[str]) -> None:
        """Take parameters and attributes called one of ``names`` that cannot be resolved for OpenAI clients.

        To be called before :meth:`solve`.
        """
        self._assumed = names

    def solve(self) -> None:
        """Build all constraints and work to the fixed point."""
        self.link()
        self._set_at_run_time.prepare()
        for module in self.modules:
            Builder(self, module).build()
        self.solver.run()
        self._open_gates()
        self._seed_methods()
        self.solver.run()
        for function in exported(self.modules) if self.is_packaged else ():
            if function.owner is None:  # a class is made where its parts are at hand
                function.escaped = True
                self._offered.add(function)
        self._fixtures = Fixtures(self)
        self._fixtures.fill()
        self.solver.run()
        for _ in range(_MAX_ROUNDS):
            if not self._seed_round():
                break
            self.solver.run()

    def requested(self, call: Invocation) -> None:
        if self._fixtures is not None:
            self._fixtures.requested(call)

    # -- late facts ----------------------------------------------------------------------

    def _open_gates(self) -> None:
        """Now that imports are known: let through what declarations of clients let through, and all else."""
        for gate in self.gates:
            gate.clients = only_clients(instances_of(self, gate.module, gate.node))
            if gate.clients:
                self.solver.flow_if(gate.source, gate.target, gate.lets)
            else:
                self.solver.flow(gate.source, gate.target)
        self.gates = [gate for gate in self.gates if gate.clients]

    def _seed_methods(self) -> None:
        """``self`` is an instance of the class or of a subclass that inherits the method."""
        for function in self.functions.values():
            owner = function.owner
            if owner is not None and _is_method(function):
                first = function.parameters[function.positional[0]]
                self.solver.add(first, [owner if function.bound == "class" else owner.instance])
        self.solver.run()
        for cls in self.classes.values():
            for ancestor in self.ancestors(cls):
                for name, var in ancestor.members.items():
                    if name not in cls.members:
                        self._inherit_methods(cls, var)

    def _inherit_methods(self, cls: Class, methods: Var) -> None:
        for found in list(methods.values):
            if not isinstance(found, Function) or not found.positional:
                continue
            if found.bound in ("instance", "property"):
                self.solver.add(found.parameters[found.positional[0]], [cls.instance])
            elif found.name in ("__init_subclass__", "__new__"):
                self.solver.add(found.parameters[found.positional[0]], [cls])

    def _seed_round(self) -> bool:
        """Give values to what nothing flows to; whether anything was new."""
        changed = self._seed_lost()
        for site, result in self.results:
            if not any(isinstance(value, Shape) and value.site is site for value in result.values):
                self.solver.add(result, [Shape(Kind.COMPLETION, site)])
                changed = True
        for decorator, decorated, result, function in self.undecided_decorators:
            if not decorator.values and (decorated, result) not in self._opened:
                self._opened.add((decorated, result))
                function.escaped = True
                self.solver.flow(decorated, result)
                changed = True
        for owner, key, value in self.unkeyed:
            if not key.values and (owner.unkeyed, value) not in self._opened:
                self._opened.add((owner.unkeyed, value))
                self.solver.flow(value, owner.unkeyed)
                changed = True
        for owner, key, result in self.unread:
            if not key.values and (owner.everything, result) not in self._opened:
                self._opened.add((owner.everything, result))
                self.solver.flow(owner.everything, result)
                changed = True
        if changed:
            return True
        for function in list(self.functions.values()):
            changed |= self._seed_function(function)
        for cls in list(self.classes.values()):
            changed |= self._seed_fields(cls)
        if changed or self._set_at_run_time.open():
            return True
        for gate in self.gates:
            if gate.is_unfed and gate.target not in self._seeded:
                self._seeded.add(gate.target)
                self.solver.add(gate.target, gate.clients)
                changed = True
        return changed or self._seed_assumed() or self._seed_by_use()

    def _seed_lost(self) -> bool:
        """Anything may be passed to functions in lists and dicts that were lost in a crowd."""
        changed = False
        for value in held(self.solver.lost):
            for function in functions(self, value):
                if function not in self._given:
                    self._given.add(function)
                    changed = True
                    for var in function.parameters.values():
                        self.solver.add(var, [MANY])
        return changed

    def _seed_assumed(self) -> bool:
        """Give a client to what the user vouched for by name and nothing else explains."""
        if not self._assumed:
            return False
        changed = False
        for function in list(self.functions.values()):
            for param in syntax.parameters(function.node.params):
                name = param.name.value
                if name in self._assumed and param not in self.clients:
                    changed |= self._assume(param, function.parameters[name], function.module, ())
        for module in self.modules:
            for node in module.of(cst.Name, cst.Attribute):
                if node in self.vars and node not in self.clients:
                    name = (node.attr if isinstance(node, cst.Attribute) else node).value
                    if name in self._assumed:
                        changed |= self._assume(node, self.vars[node], module, (name,))
        return changed

    def _seed_by_use(self) -> bool:
        """Give a client to parameters that go where OpenAI clients go."""
        changed = False
        for var, clients in list(clients_by_use(self)):
            fresh = [client for client in clients if client not in var.values]
            self.solver.add(var, fresh)
            changed |= bool(fresh)
        return changed

    def _assume(self, node: cst.CSTNode, var: Var, module: Module, tails: tuple[str, ...]) -> bool:
        """Add a client to ``var`` if it is unknown, or something external whose name ends in ``tails``."""
        for value in var.values:
            external = isinstance(value, External) and value.path.rpartition(".")[2] in tails
            if not (external or _is_plain(value)) or isinstance(value, Typed):
                return False
            if isinstance(value, Const) and value.value is not None:
                return False
        client = self.clients[node] = Client("OpenAI", node, module)
        self.assumed_clients.add(client)
        self.solver.add(var, [client])
        return True

    def _seed_function(self, function: Function) -> bool:
        changed = False
        params = {item.name.value: item for item in syntax.parameters(function.node.params)}
        for name, var in function.parameters.items():
            if var in self._seeded or (_is_method(function) and name == function.positional[0]):
                continue
            called = function.callers or function in self.operated
            if var.values and called and not function.escaped and not _is_mocked(var):
                continue
            if self._fixtures is not None and var in self._fixtures.filled and var.values:
                continue
            self._seeded.add(var)
            if params[name] is function.node.params.star_arg:
                continue
            if params[name] is function.node.params.star_kwarg and function in self._offered:
                continue  # told of as such (``decide.offers.Offers.givers``)
            changed |= self._seed_entries(function, params[name], var)
            seeds = self._seeds(function, params[name], var)
            if name in self._assumed and all(isinstance(seed, Unknown) for seed in seeds):
                continue  # the user says what it is
            if seeds:
                self.solver.add(var, seeds)
                changed = True
        return changed

    def _seed_entries(self, function: Function, param: cst.Param, var: Var) -> bool:
        """Callers that are not known may fill a ``**kwargs``, or pass another dict than the default."""
        if function.callers and not function.escaped:
            return False
        changed = False
        for value in var.values:
            if isinstance(value, DictValue) and value.node in (param, param.default):
                self.solver.add(value.outside, [Unknown(f"parameter `{param.name.value}`", param)])
                changed = True
        return changed

    def _seeds(self, function: Function, param: cst.Param, var: Var) -> list[Value]:
        """What a parameter is by its annotation, or for want of callers that are known."""
        seeds: list[Value] = []
        if param.annotation is not None:
            seeds = list(instances_of(self, function.module, param.annotation.annotation))
        known = not _is_mocked(var) and any(
            isinstance(value, (Client, Instance, DictValue, SeqValue)) for value in var.values
        )
        if seeds:
            return [] if known else seeds
        if function.escaped and var.values and self._is_declared_here(function.module, param.annotation):
            return []  # whoever calls gives what the program gives, too
        if _is_injected(self, param):
            return []
        if function.escaped or not (known or function.callers or function in self.operated):
            if param.name.value.endswith("mocker") and in_tests(function.module):
                return [External("pytest_mock.MockerFixture()")]
            return [Unknown(f"parameter `{param.name.value}`", param)]
        return []

    def _is_declared_here(self, module: Module, annotation: cst.Annotation | None) -> bool:
        """Whether ``annotation`` names a class of the project, as ``list[Message]`` does."""
        names = syntax.walk(annotation) if annotation is not None else ()
        return any(
            isinstance(value, Class)
            for node in names
            if isinstance(node, cst.Name) and node.value in module.scope.bound
            for value in module.scope.any(node.value).values
        )

    def _comes_from_outside(self, cls: Class) -> bool:
        """Whether others alone make instances of ``cls``: the model of a request that a framework reads."""
        if cls in self.made or "__init__" in cls.members:
            return False
        owners = [cls, *self.ancestors(cls)]
        return any(_is_made_of_requests(base) for one in owners for var in one.bases for base in var.values)

    def _seed_fields(self, cls: Class) -> bool:
        changed = False
        for name, annotation in cls.annotations.items():
            var = self.instance_field(cls.instance, name)
            from_outside = name in cls.members and self._comes_from_outside(cls)
            if var in self._seeded or not (from_outside or all(map(_is_plain, var.values))):
                continue
            self._seeded.add(var)
            seeds = list(instances_of(self, cls.module, annotation))
            if from_outside and not any(isinstance(seed, (Typed, Client, Instance)) for seed in seeds):
                seeds.append(Unknown(f"field `{name}`", annotation))  # a default says little of it
            if seeds:
                self.solver.add(var, seeds)
                changed = True
        return changed


def _is_injected(project: Project, param: cst.Param) -> bool:
    """``bot=Depends(get_bot)``: the framework fills it with what the function gives."""
    default = param.default
    callees = project.values(default.func) if isinstance(default, cst.Call) and default.args else []
    return bool(callees) and all(
        isinstance(callee, External) and callee.path in models.INJECTED for callee in callees
    )


# Classes whose subclasses are filled from requests and files.
_MODELS = frozenset({"BaseModel", "SQLModel", "Schema", "Struct"})


def _is_made_of_requests(value: Value) -> bool:
    return isinstance(value, External) and value.path.rpartition(".")[2] in _MODELS


def _is_method(function: Function) -> bool:
    """Whether the first parameter is the instance or the class."""
    return function.owner is not None and bool(function.positional) and function.bound != "static"


def _is_mocked(var: Var) -> bool:
    """Whether only tests pass something: a double says nothing about what the program passes."""
    return bool(var.values) and all(map(_is_double, var.values))


def _is_double(value: Value) -> bool:
    if isinstance(value, Instance):
        return in_tests(value.type.module)
    return isinstance(value, External) and "mock" in value.path.lower()


def _is_plain(value: Value) -> bool:
    return isinstance(value, (Const, Typed, Unknown))

"""The project: its modules, their constraints, and the fixed point."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence

import libcst as cst

from . import modules as syntax
from .annotations import instances_of
from .calls import Calls
from .graph import Var
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
    ModuleValue,
    SeqValue,
    Shape,
    Site,
    Typed,
    Unknown,
    Value,
)
from .modules import Index, Module

_MAX_ROUNDS = 40  # of seeding; each round gives values to functions that nobody calls


class Project(Calls):
    """Everything that is known about a set of modules.

    After :meth:`solve`, ``values(node)`` tells what an expression can be, ``sites`` holds the
    calls, ``callees`` what each invocation calls.
    """

    def __init__(self, modules: Sequence[Module]) -> None:
        super().__init__()
        self.modules = list(modules)
        self.index = Index(self.modules)
        self.links: dict[Module, set[Module]] = {}
        self._programs: dict[Module, frozenset[Module]] = {}
        self.functions: dict[cst.CSTNode, Function] = {}
        self.classes: dict[cst.CSTNode, Class] = {}
        self.results: list[tuple[Site, Var]] = []
        self.external_fields: dict[tuple[str, str], Var] = {}
        self.undecided_decorators: list[tuple[Var, Var, Var, Function]] = []
        self._forwarded = set()
        self._module_client: Client | None = None
        self._externals: dict[str, Var] = {}
        self._seeded: set[Var] = set()
        self._assumed: frozenset[str] = frozenset()
        self.assumed_clients: set[Client] = set()

    def assume(self, names: frozenset[str]) -> None:
        """Take parameters and attributes called one of ``names`` that cannot be resolved for OpenAI clients.

        To be called before :meth:`solve`.
        """
        self._assumed = names

    def values(self, node: cst.CSTNode) -> list[Value]:
        """What ``node`` can be; empty if nothing is known."""
        var = self.vars.get(node)
        return list(var.values) if var is not None else []

    def shapes(self, node: cst.CSTNode) -> list[Shape]:
        """The parts of answers that ``node`` can be."""
        return [value for value in self.values(node) if isinstance(value, Shape)]

    def solve(self) -> None:
        """Build all constraints and work to the fixed point."""
        from .build import Builder

        for module in self.modules:
            Builder(self, module).build()
        self._seed_methods()
        self.solver.run()
        for _ in range(_MAX_ROUNDS):
            if not self._seed_round():
                break
            self.solver.run()

    # -- late facts ----------------------------------------------------------------------

    def _seed_methods(self) -> None:
        """``self`` is an instance of the class or of a subclass that inherits the method."""
        for function in self.functions.values():
            if function.owner is None or not function.positional or function.bound == "static":
                continue
            first = function.parameters[function.positional[0]]
            self.solver.add(first, [function.owner if function.bound == "class" else function.owner.instance])
        self.solver.run()
        for cls in self.classes.values():
            for ancestor in self.ancestors(cls):
                for name, var in ancestor.members.items():
                    if name in cls.members:
                        continue
                    for found in list(var.values):
                        if isinstance(found, Function) and found.positional and found.bound in ("instance", "property"):
                            self.solver.add(found.parameters[found.positional[0]], [cls.instance])

    def ancestors(self, cls: Class) -> list[Class]:
        """The project classes that ``cls`` inherits from, nearest first."""
        found: dict[Class, None] = {}
        stack = [cls]
        while stack:
            for base in stack.pop().bases:
                for value in list(base.values):
                    if isinstance(value, Class) and value not in found and value is not cls:
                        found[value] = None
                        stack.append(value)
        return list(found)

    def _seed_round(self) -> bool:
        """Give values to what nothing flows to; whether anything was new."""
        changed = False
        for site, result in self.results:
            if not any(isinstance(value, Shape) and value.site is site for value in result.values):
                self.solver.add(result, [Shape(Kind.COMPLETION, site)])
                changed = True
        for decorator, decorated, result, function in self.undecided_decorators:
            if not decorator.values and result not in decorated.outs:
                function.escaped = True
                self.solver.flow(decorated, result)
                changed = True
        if changed:
            return True
        for function in list(self.functions.values()):
            changed |= self._seed_function(function)
        for cls in list(self.classes.values()):
            changed |= self._seed_fields(cls)
        return changed or self._seed_assumed()

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
            for node in module.parents:
                if isinstance(node, (cst.Name, cst.Attribute)) and node in self.vars and node not in self.clients:
                    name = (node.attr if isinstance(node, cst.Attribute) else node).value
                    if name in self._assumed:
                        changed |= self._assume(node, self.vars[node], module, (name,))
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
            if var in self._seeded or (function.owner is not None and function.positional[:1] == [name] and function.bound != "static"):
                continue
            if function.callers and not function.escaped:
                if any(not _is_plain(value) for value in var.values) or not _is_bare(var, params[name]):
                    continue
            self._seeded.add(var)
            if function.star is not None and var is function.parameters.get(_star_name(function)):
                continue
            annotation = params[name].annotation
            seeds: list[Value] = []
            if annotation is not None:
                seeds = list(instances_of(self, function.module, annotation.annotation))
            known = any(isinstance(value, (Client, Instance, DictValue, SeqValue)) for value in var.values)
            if not seeds and not known and not function.callers:
                seeds = [Unknown(f"parameter `{name}`", params[name])]
            elif function.escaped and not seeds:
                seeds = [Unknown(f"parameter `{name}`", params[name])]
            elif seeds and known:
                seeds = []
            if name in self._assumed and all(isinstance(seed, Unknown) for seed in seeds):
                continue  # the user says what it is
            if seeds:
                self.solver.add(var, seeds)
                changed = True
        return changed

    def _seed_fields(self, cls: Class) -> bool:
        changed = False
        for name, annotation in cls.annotations.items():
            var = self.instance_field(cls.instance, name)
            if var in self._seeded or any(not _is_plain(value) for value in var.values):
                continue
            self._seeded.add(var)
            seeds = list(instances_of(self, cls.module, annotation))
            if seeds:
                self.solver.add(var, seeds)
                changed = True
        return changed

    # -- definitions ---------------------------------------------------------------------

    def define(
        self, node: cst.FunctionDef | cst.Lambda, module: Module, name: str, owner: Class | None
    ) -> Function:
        """A new function of the project."""
        params = node.params
        function = Function(node, module, name, owner, result=Var())
        function.parameters = {item.name.value: Var() for item in syntax.parameters(params)}
        function.positional = [item.name.value for item in (*params.posonly_params, *params.params)]
        if isinstance(params.star_arg, cst.Param):
            function.star = SeqValue(params.star_arg, module, "args", Var())
            self.solver.add(function.parameters[params.star_arg.name.value], [function.star])
        if params.star_kwarg is not None:
            function.double_star = DictValue(params.star_kwarg, module)
            self.solver.add(function.parameters[params.star_kwarg.name.value], [function.double_star])
        if module.scopes[node].yields:
            function.yields = SeqValue(node, module, "generator", Var())
        self.functions[node] = function
        return function

    def define_class(self, node: cst.ClassDef, module: Module) -> Class:
        """A new class of the project."""
        cls = Class(node, module, node.name.value)
        cls.instance = Instance(cls)
        self.classes[node] = cls
        scope = module.scopes[node]
        cls.members.update((name, scope.any(name)) for name in scope.bound)
        return cls

    def add_base(self, cls: Class, base: Var) -> None:
        cls.bases.append(base)
        for name, var in list(cls.lookups.items()):
            if name not in cls.members:
                self._inherit(base, name, var)
        for name, var in list(cls.instance.fields.items()):
            self._inherit_field(base, name, var)

    def delete(self, builder: syntax.Scope | object, target: cst.Subscript) -> None:
        """``del params["x"]``."""
        from .expressions import Expressions

        assert isinstance(builder, Expressions)
        base = builder.expression(target.value)
        for element in target.slice:
            if isinstance(element.slice, cst.Index):
                key = builder.expression(element.slice.value)

                def on(owner: Value, key: Var = key) -> None:
                    if isinstance(owner, DictValue):
                        self.entry(owner, key, target, "delete", None, builder.module)

                self.solver.watch(base, on)

    # -- modules and imports -------------------------------------------------------------

    def outer_name(self, module: Module, name: str) -> Var:
        """A name that no scope of ``module`` binds: a builtin, or from a star import."""
        if name in builtins.__dict__:
            return self._external(f"builtins.{name}")
        for star in module.externals:
            return self._external(f"{star.path}.{name}")
        return self.fresh()

    def _external(self, path: str) -> Var:
        var = self._externals.get(path)
        if var is None:
            var = self._externals[path] = self.fresh(External(path))
        return var

    def imported(self, module: Module, name: str) -> Var:
        """``import name``."""
        found = self.find_module(module, 0, name)
        return self.fresh(ModuleValue(found)) if found is not None else self._external(name)

    def find_module(self, importer: Module, level: int, name: str) -> Module | None:
        """The project module that an import means, if it is one."""
        found = self.index.relative(importer, level, name) if level else self.index.absolute(importer, name)
        if found is importer and not level:
            return None
        if found is not None and not level and name == "openai" and found.names_openai:
            return None
        if found is not None:
            self.links.setdefault(importer, set()).add(found)
            self.links.setdefault(found, set()).add(importer)
        return found

    def program(self, module: Module) -> frozenset[Module]:
        """The modules that can run together with ``module``: linked to it by imports, either way.

        A repository of examples is many programs; what one of them does says nothing about another.
        """
        known = self._programs.get(module)
        if known is None:
            found = {module}
            stack = [module]
            while stack:
                for other in self.links.get(stack.pop(), ()):
                    if other not in found:
                        found.add(other)
                        stack.append(other)
            known = frozenset(found)
            self._programs.update(dict.fromkeys(found, known))
        return known

    def imported_from(self, module: Module, level: int, name: str, member: str) -> Var:
        """``from name import member``."""
        found = self.find_module(module, level, name)
        if found is not None:
            var = self.module_member(found, member)
            if member not in found.scope.bound:
                submodule = self.find_module(module, level, f"{name}.{member}" if name else member)
                if submodule is not None:
                    self.solver.add(var, [ModuleValue(submodule)])
            return var
        submodule = self.find_module(module, level, f"{name}.{member}" if name else member)
        if submodule is not None and submodule is not module:
            return self.fresh(ModuleValue(submodule))
        if level:
            return self._external(f"{'.' * level}{name}.{member}")
        return self._external(f"{name}.{member}")

    def module_member(self, module: Module, name: str) -> Var:
        return module.scope.any(name)

    def star(self, module: Module, level: int, name: str) -> Iterator[tuple[str, Var]]:
        """The names that ``from name import *`` binds."""
        found = self.find_module(module, level, name)
        if found is None:
            if not level:
                module.externals.append(External(name))
            return
        for member in sorted(found.scope.bound):
            if not member.startswith("_"):
                yield member, self.module_member(found, member)

    def module_client(self, node: cst.CSTNode) -> Client:
        """The client that the module ``openai`` itself is; one for the whole project."""
        if self._module_client is None:
            self._module_client = Client("openai", node, self.modules[0])
        return self._module_client


def _star_name(function: Function) -> str | None:
    star = function.node.params.star_arg
    return star.name.value if isinstance(star, cst.Param) else None


def _is_plain(value: Value) -> bool:
    return isinstance(value, (Const, Typed, Unknown))


def _is_bare(var: Var, parameter: cst.Param) -> bool:
    """Whether no caller passes anything for the parameter."""
    return not var.values


__all__ = ["Invocation", "Project"]

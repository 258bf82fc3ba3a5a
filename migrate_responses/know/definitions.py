"""The functions, classes and modules of the project, and what its imports mean."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import libcst as cst

from . import modules as syntax
from .declared import Gate, can_be_client
from .decorators import Decorators
from .graph import Var
from .kinds import (
    Class,
    Client,
    Const,
    External,
    Function,
    Instance,
    ModuleValue,
    SeqValue,
    Shape,
    Unknown,
    Value,
    external,
)
from .linked import Linked
from .modules import Module
from .narrowing import AN_EXCEPTION

# How a module changes the methods of the SDK that it hands on.
_PATCHES = re.compile(r"wrap_function_wrapper|wrap_object|FunctionWrapper|\bsetattr\(")
# Methods that get the class without being told to.
_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


class Definitions(Linked, Decorators):
    """What the names of a project stand for, besides values."""

    def __init__(self, modules: Sequence[Module]) -> None:
        super().__init__(modules)
        self.functions: dict[cst.CSTNode, Function] = {}
        self.classes: dict[cst.CSTNode, Class] = {}
        self.metaclasses: dict[Class, Var] = {}
        self.raised = Var()  # the exceptions of the project that are raised anywhere
        self.gates: list[Gate] = []
        self.undeclared: dict[Var, Var] = {}  # what passes a declaration -> all that comes to it
        self._module_client: Client | None = None
        self._externals: dict[External, Var] = {}
        self._instead: dict[tuple[Module, str], Var] = {}

    def values(self, node: cst.CSTNode) -> list[Value]:
        """What ``node`` can be; empty if nothing is known."""
        var = self.vars.get(node)
        return list(var.values) if var is not None else []

    def shapes(self, node: cst.CSTNode) -> list[Shape]:
        """The parts of answers that ``node`` can be."""
        return [value for value in self.values(node) if isinstance(value, Shape)]

    def define(
        self, node: cst.FunctionDef | cst.Lambda, module: Module, name: str, owner: Class | None
    ) -> Function:
        """A new function of the project."""
        params = node.params
        function = Function(node, module, name, owner, Var(), Var())
        function.parameters = {item.name.value: Var() for item in syntax.parameters(params)}
        function.positional = [item.name.value for item in (*params.posonly_params, *params.params)]
        if isinstance(params.star_arg, cst.Param):
            function.star = SeqValue(params.star_arg, module, "args", Var())
            self.solver.add(function.parameters[params.star_arg.name.value], [function.star])
        if params.star_kwarg is not None:
            function.double_star = self.new_dict(params.star_kwarg, module)
            self.solver.add(function.parameters[params.star_kwarg.name.value], [function.double_star])
        if module.scopes[node].yields:
            function.yields = SeqValue(node, module, "generator", Var())
        if owner is not None and name in _OF_CLASSES:
            function.bound = "class"
        if isinstance(node, cst.FunctionDef) and node.returns is not None:
            function.returned = Var()
            declared = self.declare(module, node.returns.annotation, function.returned)
            self.solver.flow(declared, function.result)
        self.functions[node] = function
        return function

    def returned_by(self, generator: Value, target: Var) -> None:
        """What a generator of the project returns at its end, ``yield from`` gives."""
        function = self.functions.get(generator.node) if isinstance(generator, SeqValue) else None
        if function is not None and generator is function.yields:
            self.solver.flow(function.result, target)

    def declare(self, module: Module, annotation: cst.BaseExpression, source: Var) -> Var:
        """``source`` as far as ``annotation`` lets it be a client's value."""
        if not can_be_client(annotation):
            return source
        target = Var()
        self.gates.append(Gate(module, annotation, source, target, False))
        self.undeclared[target] = source
        return target

    def tested(self, module: Module, kind: cst.BaseExpression, source: Var) -> Var:
        """``source`` where it is known to be an instance of ``kind``."""
        if not can_be_client(kind):
            return source
        target = Var()
        self.gates.append(Gate(module, kind, source, target, True))
        self.undeclared[target] = source
        return target

    def define_class(self, node: cst.ClassDef, module: Module) -> Class:
        """A new class of the project."""
        cls = Class(node, module, node.name.value)
        self.classes[node] = cls
        self.metaclasses[cls] = Var()
        scope = module.scopes[node]
        cls.members.update((name, scope.any(name)) for name in sorted(scope.bound))
        return cls

    def caught(self, kinds: Var, node: cst.ExceptHandler | cst.ExceptStarHandler) -> Var:
        """What a handler for ``kinds`` binds: exceptions of those classes that the project raises."""
        var = Var()

        def on(kind: Value) -> None:
            if isinstance(kind, Class):
                self.solver.watch(self.raised, lambda value: self._catch(value, kind, var))
            elif isinstance(kind, SeqValue):
                self.solver.watch(kind.element, on)
            else:
                self.solver.add(var, [Unknown(AN_EXCEPTION, node)])

        self.solver.watch(kinds, on)
        return var

    def _catch(self, value: Value, kind: Class, var: Var) -> None:
        raised = value.instance if isinstance(value, Class) else value
        if isinstance(raised, Instance) and (raised.type is kind or kind in self.ancestors(raised.type)):
            self.solver.add(var, [raised])

    # -- modules and imports -------------------------------------------------------------

    def outer_name(self, module: Module, name: str) -> Var:
        """A name that no scope of ``module`` binds: a builtin, or from a star import."""
        if name == "display" and module.is_notebook:
            return self._external("IPython.display.display", 0)
        if name in builtins.__dict__:
            return self._external(f"builtins.{name}", 0)
        for star in module.externals:
            return self._external(f"{star.path}.{name}", self.realm(module))
        return self.fresh()

    def _external(self, path: str, realm: int) -> Var:
        value = external(path, realm)
        var = self._externals.get(value)
        if var is None:
            var = self._externals[value] = self.fresh(value)
        return var

    def imported(self, module: Module, name: str) -> Var:
        """``import name``."""
        found = self.find_module(module, 0, name)
        if found is not None:
            return self.fresh(ModuleValue(found))
        var = self._external(name, self.realm(module))
        if self._replaces_modules:
            self.solver.flow(self.replaced_module(name, self.realm(module)), var)
        return var

    @cached_property
    def _replaces_modules(self) -> bool:
        return any("sys.modules" in module.text for module in self.modules)

    def _member_of_replaced(self, name: str, member: str, realm: int, target: Var) -> None:
        """``from name import member`` where the project puts something else into ``sys.modules``."""
        if self._replaces_modules:
            node = cst.Name(member)  # an identity
            replaced = self.replaced_module(name, realm)
            self.solver.watch(replaced, lambda value: self.member(value, member, node, target))

    def named_module(self, importer: Module, level: int, name: str) -> Var:
        found = self.find_module(importer, level, name)
        if found is None and level:
            return self._external("." * level + name, self.realm(importer))
        return self.fresh(ModuleValue(found)) if found is not None else self.imported(importer, name)

    def imported_from(self, module: Module, level: int, name: str, member: str) -> Var:
        """``from name import member``."""
        found = self.find_module(module, level, name)
        if found is not None and not level and name == "openai" and _lacks(found, member):
            found = None  # the import would fail, and the SDK has the same name
        if found is not None:
            var = self.module_member(found, member)
            if member not in found.scope.bound or found is module:  # `from . import sub` in a package
                submodule = self.find_module(module, level, f"{name}.{member}" if name else member)
                if submodule is not None:
                    self.solver.add(var, [ModuleValue(submodule)])
            return var
        submodule = self.find_module(module, level, f"{name}.{member}" if name else member)
        if submodule is not None and submodule is not module:
            return self.fresh(ModuleValue(submodule))
        if level:
            return self._external(f"{'.' * level}{name}.{member}", self.realm(module))
        var = self._external(f"{name}.{member}", self.realm(module))
        self.solver.add(var, map(ModuleValue, self.given_by_framework(name, member)))
        self._member_of_replaced(name, member, self.realm(module), var)
        return var

    def module_member(self, module: Module, name: str) -> Var:
        if name not in module.scope.bound and "__getattr__" in module.scope.bound:
            return self._made_up(module, name)
        if not _stands_in(module):
            return module.scope.any(name)
        var = self._instead.get((module, name))
        if var is None:
            var = self._instead[module, name] = Var()
            self.solver.watch(module.scope.any(name), lambda value: self._pass_off(module, value, var))
        return var

    def _made_up(self, module: Module, name: str) -> Var:
        """A name that ``__getattr__`` of ``module`` gives: any of those that it does."""
        var = self._instead.get((module, name))
        if var is None:
            var = self._instead[module, name] = Var()
            self.solver.flow(module.scope.any(name), var)
            self.solver.watch(module.scope.any("__getattr__"), lambda found: self._made(found, name, var))
        return var

    def _made(self, found: Value, name: str, target: Var) -> None:
        if not isinstance(found, Function):
            return

        def keep(value: Value) -> bool:
            """Not what is exported under another name: a table of names leads to all that it lists."""
            other = value.name if isinstance(value, (Function, Class)) else name
            return other == name or not re.search(rf"[\"']{other}[\"']", found.module.text)

        for asked in found.positional[:1]:
            self.solver.add(found.parameters[asked], [Const(name, found.node)])
        self.solver.flow_if(found.result, target, keep)

    def _pass_off(self, module: Module, value: Value, target: Var) -> None:
        """What is of the SDK in a module that stands in for it is no longer the SDK's."""
        if isinstance(value, External) and f"{value.path}.".startswith("openai."):
            value = External(f"{module.name}.{value.path}", value.realm)
        self.solver.add(target, [value])

    def star(self, module: Module, level: int, name: str) -> Iterator[tuple[str, Var]]:
        """The names that ``from name import *`` binds."""
        found = self.find_module(module, level, name)
        if found is None:
            if not level:
                module.externals.append(External(name, self.realm(module)))
            return
        for member in sorted(found.scope.bound):
            if not member.startswith("_"):
                yield member, self.module_member(found, member)

    @property
    def openai_module(self) -> Client | None:
        """The client that the module ``openai`` is, if the project uses it as one."""
        return self._module_client

    def module_client(self, node: cst.CSTNode) -> Client:
        """The client that the module ``openai`` itself is; one for the whole project."""
        if self._module_client is None:
            self._module_client = Client("openai", node, self.modules[0])
        return self._module_client


def _stands_in(module: Module) -> bool:
    """Whether ``module`` is a drop-in for the SDK: called like it, and changing what it hands on."""
    return module.name.rpartition(".")[2] == "openai" and _PATCHES.search(module.text) is not None


def _lacks(module: Module, name: str) -> bool:
    """Whether ``from module import name`` would certainly fail."""
    bound = module.scope.bound
    if name in bound or "__getattr__" in bound or "globals" in module.text:
        return False
    return not any(isinstance(node.names, cst.ImportStar) for node in module.of(cst.ImportFrom))

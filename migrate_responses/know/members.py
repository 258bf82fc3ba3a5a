"""Attributes: what ``value.name`` is, for each kind of value, through classes and their bases."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import libcst as cst

from . import models, others
from .graph import MANY, Var
from .kinds import (
    DUMPS,
    JSON_DUMPS,
    SHAPES,
    TEXTS,
    Bound,
    Class,
    Client,
    Const,
    DictValue,
    Env,
    External,
    Function,
    Instance,
    Kind,
    Method,
    ModuleValue,
    Resource,
    SeqValue,
    Shape,
    Super,
    Typed,
    Unknown,
    Value,
)
from .modules import Module
from .operators import Operators, is_text

_LONGEST_PATH = 160  # an External path: beyond it the value is just something external


class Members(Operators):
    """Attribute semantics."""

    def __init__(self) -> None:
        super().__init__()
        self.clients: dict[cst.CSTNode, Client] = {}
        self.external_fields: dict[tuple[External, str], Var] = {}
        self._bound_members: dict[tuple[Instance, str], Var] = {}
        self._clients_behind: dict[tuple[Class, str], Var] = {}

    def attribute(self, value: Value, node: cst.Attribute, target: Var) -> None:
        """``value.name`` at ``node`` flows to ``target``."""
        self.member(value, node.attr.value, node, target)

    def member(self, value: Value, name: str, node: cst.CSTNode, target: Var) -> None:
        if name == "__dict__" and isinstance(value, (Class, Instance, ModuleValue)):
            self.solver.add(target, [External("builtins.vars()")])
        match value:
            case Shape():
                self._shape_member(value, name, node, target)
            case Client():
                self._client_member(value, name, node, target)
            case Resource():
                if models.step(value.path, name):
                    self.solver.add(target, [Resource(value.client, (*value.path, name), node, value)])
            case Instance():
                self._instance_member(value, name, target)
                self._inherited_client_member(value.type, name, node, target)
            case Class():
                self._class_member(value, name, target)
            case Super():
                if name in ("__new__", "__setattr__"):
                    self.solver.add(target, [External(f"builtins.object.{name}")])
                for base in value.type.bases:
                    self.solver.watch(base, lambda cls: self._super_member(cls, value.owner, name, target))
                    self._client_base(
                        value.type, base, lambda client: self._client_super(client, name, node, target)
                    )
            case ModuleValue():
                self.solver.flow(self.module_member(value.module, name), target)
            case External():
                self._external_member(value, name, node, target)
            case DictValue() | SeqValue():
                self.solver.add(target, [Method(value, name, node)])
            case Function(wrapped=wrapped) | Bound(function=Function(wrapped=wrapped)):
                if name == "__wrapped__":
                    self.solver.flow(wrapped, target)
                elif name == "__call__":
                    self.solver.add(target, [value])
            case Const() if name == "value":  # a text has none: it is a member of an enumeration
                self.solver.add(target, [value])
            case Const() if name == "name" and is_text(value):
                self.solver.add(target, [Typed("str")])
            case Unknown() if value is MANY:
                self.solver.add(target, [value])
            case Env() | Unknown():
                self.solver.add(target, [Unknown(f"{name} of {_describe(value)}", _origin(value))])
            case _ if is_text(value) and hasattr(str, name):  # else a member of an enumeration
                self.solver.add(target, [Method(value, name, node)])
            case _:
                pass

    @abstractmethod
    def module_member(self, module: Module, name: str) -> Var:
        """What ``name`` is in ``module``."""

    def _shape_member(self, shape: Shape, name: str, node: cst.CSTNode, target: Var) -> None:
        kind = shape.kind
        if (
            name in DUMPS
            or name in JSON_DUMPS
            or kind is Kind.RAW
            or kind in TEXTS
            or shape.form != "object"
            or kind in _CONTAINERS
            or kind is Kind.STREAM
        ):
            self.solver.add(target, [Method(shape, name, node)])
        elif kind is Kind.EVENT:
            self._event_member(shape, name, target)
        else:
            self.solver.add(target, [shape.part(SHAPES.get((kind, name), Kind.OTHER))])

    def _event_member(self, shape: Shape, name: str, target: Var) -> None:
        """Events of the ``.stream()`` helper (openai.lib.streaming.chat)."""
        if name == "chunk":
            self.solver.add(target, [shape.part(Kind.CHUNK)])
        elif name == "snapshot":
            self.solver.add(target, [shape.part(Kind.COMPLETION)])
        else:
            self.solver.add(target, [shape.part(Kind.LEAF)])

    def _client_member(self, client: Client, name: str, node: cst.CSTNode, target: Var) -> None:
        if name in models.ROOTS:
            self.solver.add(target, [Resource(client, (name,), node)])
        elif name in ("with_options", "copy"):
            self.solver.add(target, [Method(client, name, node)])
        elif name in models.WRAPPERS:
            self.solver.add(target, [External(f"openai.{client.name}.{name}")])
        elif name not in others.NOT_OF_SDK:
            self.solver.add(target, [External(f"openai.{client.name}().{name}")])

    def _instance_member(self, instance: Instance, name: str, target: Var) -> None:
        if name == "__class__":
            self.solver.add(target, [instance.type])
            return
        self.solver.flow(self.instance_field(instance, name), target)
        self.solver.flow(self._bound_member(instance, name), target)

    def _bound_member(self, instance: Instance, name: str) -> Var:
        """What an instance has of its class: one variable for all who read it."""
        known = self._bound_members.get((instance, name))
        if known is not None:
            return known
        target = self._bound_members[instance, name] = Var()

        def on(found: Value) -> None:
            if isinstance(found, Function) and is_setter(found.node):
                return
            if isinstance(found, Function) and found.bound != "static":
                if found.bound == "property":
                    self.solver.flow(found.result, target)
                else:
                    owner: Value = instance.type if found.bound == "class" else instance
                    self.solver.add(target, [Bound(found, owner)])
            else:
                self._described(found, target)

        self.solver.watch(self.lookup(instance.type, name), on)
        return target

    def _described(self, found: Value, target: Var) -> None:
        """``found``, or what it gives in its place if it is a descriptor: the result of ``__get__``."""

        def on(getter: Value) -> None:
            if isinstance(getter, Function):
                self.solver.flow(getter.result, target)

        if isinstance(found, Instance) and "__get__" in found.type.members:
            self.solver.watch(self.lookup(found.type, "__get__"), on)
        else:
            self.solver.add(target, [found])

    def _inherited_client_member(self, cls: Class, name: str, node: cst.CSTNode, target: Var) -> None:
        """What an instance of a subclass of the SDK's client has from the SDK."""

        def on(client: Value) -> None:
            if isinstance(client, Client):
                self._client_member(client, name, node, target)

        self.solver.watch(self._inherited_clients(cls, name), on)

    def _inherited_clients(self, cls: Class, name: str) -> Var:
        """The clients that ``cls`` has the attribute ``name`` of, if nothing of the project gives it one."""
        known = self._clients_behind.get((cls, name))
        if known is not None:
            return known
        target = self._clients_behind[cls, name] = Var()
        if name in cls.members:
            return target
        for base in cls.bases:
            self._client_base(cls, base, lambda client: self.solver.add(target, [client]))

            def on(found: Value) -> None:
                if isinstance(found, Class):
                    self.solver.flow(self._inherited_clients(found, name), target)

            self.solver.watch(base, on)
        return target

    def _client_base(self, cls: Class, base: Var, use: Callable[[Client], None]) -> None:
        """Give the client that ``cls`` is to ``use`` if ``base`` is a client class of the SDK."""

        def on(found: Value) -> None:
            if isinstance(found, External) and models.is_client_class(found.path):
                use(self.subclass_client(cls, found.path))

        self.solver.watch(base, on)

    def _client_super(self, client: Client, name: str, node: cst.CSTNode, target: Var) -> None:
        if name == "__init__":
            self.solver.add(target, [Method(client, name, node)])
        else:
            self._client_member(client, name, node, target)

    def subclass_client(self, cls: Class, path: str) -> Client:
        """The client that the instances of ``cls``, a subclass of the SDK's class at ``path``, are."""
        client = self.clients.get(cls.node)
        if client is None:
            client = self.clients[cls.node] = Client(path.rpartition(".")[2], cls.node, cls.module)
        return client

    def _class_member(self, cls: Class, name: str, target: Var) -> None:
        def on(found: Value) -> None:
            if isinstance(found, Function) and found.bound == "class":
                self.solver.add(target, [Bound(found, cls)])
            else:
                self._described(found, target)

        self.solver.watch(self.lookup(cls, name), on)

    def _super_member(self, cls: Value, owner: Value, name: str, target: Var) -> None:
        if not isinstance(cls, Class):
            return

        def on(found: Value) -> None:
            if isinstance(found, Function) and is_setter(found.node):
                return
            if isinstance(found, Function) and found.bound == "property":
                self.solver.flow(found.result, target)
            elif isinstance(found, Function):
                self.solver.add(target, [Bound(found, owner)])
            else:
                self.solver.add(target, [found])

        self.solver.watch(self.lookup(cls, name), on)

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

    def lookup(self, cls: Class, name: str) -> Var:
        """The class attribute ``name`` of ``cls``, its own or an inherited one."""
        var = cls.lookups.get(name)
        if var is None:
            var = cls.lookups[name] = Var()
            if name in cls.members:
                self.solver.flow(cls.members[name], var)
            else:
                for base in cls.bases:
                    self._inherit(base, name, var)
        return var

    def add_base(self, cls: Class, base: Var) -> None:
        """``base`` is written among the bases of ``cls``."""
        cls.bases.append(base)
        for name, var in list(cls.lookups.items()):
            if name not in cls.members:
                self._inherit(base, name, var)
        for name, var in list(cls.instance.fields.items()):
            self._inherit_field(base, name, var)

    def _inherit(self, base: Var, name: str, target: Var) -> None:
        def on(found: Value) -> None:
            if isinstance(found, Class):
                self.solver.flow(self.lookup(found, name), target)

        self.solver.watch(base, on)

    def instance_field(self, instance: Instance, name: str) -> Var:
        """What is stored in ``self.name`` for this class (and, for reads, for its bases)."""
        var = instance.fields.get(name)
        if var is None:
            var = instance.fields[name] = Var()
            for base in instance.type.bases:
                self._inherit_field(base, name, var)
        return var

    def _inherit_field(self, base: Var, name: str, target: Var) -> None:
        def on(found: Value) -> None:
            if isinstance(found, Class):
                self.solver.flow(self.instance_field(found.instance, name), target)

        self.solver.watch(base, on)

    def _external_member(self, value: External, name: str, node: cst.CSTNode, target: Var) -> None:
        if value.path == "openai" and name in models.ROOTS:
            self.solver.add(target, [Resource(self.module_client(node), (name,), node)])
            return
        if len(value.path) > _LONGEST_PATH:
            self.solver.add(target, [value])
            return
        if others.lacks(value.path, name):  # unless the project gives it one
            self.solver.flow(self.external_field(value, name), target)
            return
        if value.path in models.STATE and name not in models.STATE_METHODS:
            self.solver.flow(self.external_field(value, name), target)
            return
        stored = self.external_fields.get((value, name))
        if stored is not None:
            self.solver.flow(stored, target)
        elif "." in value.path or "()" in value.path:
            self.solver.flow(self.external_field(value, name), target)
        self.solver.add(target, [value.step(f".{name}")])

    def _set(self, found: Value, owner: Instance, value: Var) -> None:
        """``owner.name = value`` where ``found``, a property, has a setter."""
        if isinstance(found, Function) and is_setter(found.node) and len(found.positional) == 2:
            self.solver.add(found.parameters[found.positional[0]], [owner])
            self.solver.flow(value, found.parameters[found.positional[1]])

    @abstractmethod
    def module_client(self, node: cst.CSTNode) -> Client:
        """The client that the module ``openai`` itself is."""

    def external_field(self, owner: External, name: str) -> Var:
        """An attribute that the project stores on something external (``app.state.client = ...``)."""
        return self.external_fields.setdefault((owner, name), Var())

    def store_attribute(self, owner: Value, target: cst.Attribute, value: Var) -> None:
        """``owner.name = value``."""
        self.store_member(owner, target.attr.value, target, value)

    def store_member(self, owner: Value, name: str, target: cst.CSTNode, value: Var) -> None:
        """The attribute ``name`` of ``owner`` is set at ``target``."""
        match owner:
            case Instance():
                self.solver.flow(value, self.instance_field(owner, name))
                self.solver.watch(self.lookup(owner.type, name), lambda found: self._set(found, owner, value))
            case Class():
                self.solver.flow(value, owner.members.setdefault(name, Var()))
                self.solver.flow(owner.members[name], self.lookup(owner, name))
            case ModuleValue():
                self.solver.flow(value, owner.module.scope.any(name))
            case Client():
                owner.overrides.append((name, value, target))
            case External(path="openai"):
                self.module_client(target).overrides.append((name, value, target))
            case External():
                self.solver.flow(value, self.external_field(owner, name))
            case _:
                pass


def is_setter(node: cst.CSTNode) -> bool:
    """Whether ``node`` is what ``@name.setter`` decorates."""
    return isinstance(node, cst.FunctionDef) and any(
        isinstance(one.decorator, cst.Attribute) and one.decorator.attr.value == "setter"
        for one in node.decorators
    )


_CONTAINERS = frozenset({Kind.CHOICES, Kind.TOOL_CALLS, Kind.CHUNK_CHOICES, Kind.DELTA_CALLS})


def _origin(value: Value) -> cst.CSTNode | None:
    return value.node if isinstance(value, (Env, Unknown)) else None


def _describe(value: Value) -> str:
    match value:
        case Env(name=name):
            return f"the environment variable {name}" if name else "an environment variable"
        case Unknown(why=why):
            return why.rpartition(" of ")[2]  # where it came from, however long the way since
        case _:
            return "a value"

"""What attributes, subscripts and iteration give for each kind of value."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from . import models
from .graph import Var
from .heap import Heap, is_text
from .kinds import (
    DUMPS,
    ELEMENTS,
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

# The way from a client to a call, and the methods that make one.
ROOTS = frozenset({"chat", "beta"})
METHODS = frozenset({"create", "parse", "stream"})
WRAPPERS = frozenset({"with_raw_response", "with_streaming_response"})
STEPS = ROOTS | METHODS | WRAPPERS | {"completions"}

_LONGEST_PATH = 160  # an External path: beyond it the value is just something external


def step(path: tuple[str, ...], name: str) -> bool:
    """Whether ``name`` can follow ``path`` on the way from a client to a Chat Completions call."""
    last = path[-1] if path else ""
    match last:
        case "":
            return name in ROOTS
        case "beta":
            return name == "chat"
        case "chat":
            return name == "completions"
        case "completions":
            return name in METHODS or name in WRAPPERS or name in STORED
        case "with_raw_response" | "with_streaming_response":
            return name in METHODS
        case _:
            return False


# Methods on stored completions (trap H12): they have no counterpart of the same shape.
STORED = frozenset({"list", "retrieve", "update", "delete", "messages"})


class Semantics(Heap):
    """Attribute, subscript, iteration and context-manager semantics."""

    # -- attributes ----------------------------------------------------------------------

    def attribute(self, value: Value, node: cst.Attribute, target: Var) -> None:
        """``value.name`` at ``node`` flows to ``target``."""
        self.member(value, node.attr.value, node, target)

    def member(self, value: Value, name: str, node: cst.CSTNode, target: Var) -> None:
        match value:
            case Shape():
                self._shape_member(value, name, node, target)
            case Client():
                self._client_member(value, name, node, target)
            case Resource():
                if step(value.path, name):
                    self.solver.add(target, [Resource(value.client, (*value.path, name), node, value)])
            case Instance():
                self._instance_member(value, name, target)
                self._inherited_client_member(value.type, name, node, target)
            case Class():
                self._class_member(value, name, target)
            case Super():
                for base in value.type.bases:
                    self.solver.watch(base, lambda cls: self._super_member(cls, value.owner, name, target))
                    self._client_base(value.type, base, lambda client: self._client_super(client, name, node, target))
            case ModuleValue():
                self.solver.flow(self.module_member(value.module, name), target)
            case External():
                self._external_member(value, name, node, target)
            case DictValue() | SeqValue():
                self.solver.add(target, [Method(value, name, node)])
            case Function():
                pass
            case Env() | Unknown():
                self.solver.add(target, [Unknown(f"{name} of {_describe(value)}", _origin(value))])
            case _ if is_text(value):
                self.solver.add(target, [Method(value, name, node)])
            case _:
                pass

    def module_member(self, module: Module, name: str) -> Var:
        raise NotImplementedError

    def _shape_member(self, shape: Shape, name: str, node: cst.CSTNode, target: Var) -> None:
        kind = shape.kind
        if name in DUMPS or name in JSON_DUMPS:
            self.solver.add(target, [Method(shape, name, node)])
        elif kind is Kind.RAW:
            self.solver.add(target, [Method(shape, name, node)])
        elif kind in TEXTS:
            self.solver.add(target, [Method(shape, name, node)])
        elif shape.form != "object" or kind in _CONTAINERS:
            self.solver.add(target, [Method(shape, name, node)])
        elif kind is Kind.STREAM:
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
        if name in ROOTS:
            self.solver.add(target, [Resource(client, (name,), node)])
        elif name in ("with_options", "copy"):
            self.solver.add(target, [Method(client, name, node)])
        elif name in WRAPPERS:
            self.solver.add(target, [External(f"openai.{client.name}.{name}")])
        else:
            self.solver.add(target, [External(f"openai.{client.name}().{name}")])

    def _instance_member(self, instance: Instance, name: str, target: Var) -> None:
        self.solver.flow(self.instance_field(instance, name), target)

        def on(found: Value) -> None:
            if isinstance(found, Function) and found.bound != "static":
                if found.bound == "property":
                    self.solver.flow(found.result, target)
                else:
                    owner: Value = instance.type if found.bound == "class" else instance
                    self.solver.add(target, [Bound(found, owner)])
            else:
                self.solver.add(target, [found])

        self.solver.watch(self.lookup(instance.type, name), on)

    def _inherited_client_member(
        self, cls: Class, name: str, node: cst.CSTNode, target: Var, seen: frozenset[Class] = frozenset()
    ) -> None:
        """What an instance of a subclass of the SDK's client has from the SDK."""
        if name in cls.members or cls in seen:
            return
        for base in cls.bases:
            self._client_base(cls, base, lambda client: self._client_member(client, name, node, target))

            def on(found: Value) -> None:
                if isinstance(found, Class):
                    self._inherited_client_member(found, name, node, target, seen | {cls})

            self.solver.watch(base, on)

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

    clients: dict[cst.CSTNode, Client]

    def _class_member(self, cls: Class, name: str, target: Var) -> None:
        def on(found: Value) -> None:
            if isinstance(found, Function) and found.bound == "class":
                self.solver.add(target, [Bound(found, cls)])
            else:
                self.solver.add(target, [found])

        self.solver.watch(self.lookup(cls, name), on)

    def _super_member(self, cls: Value, owner: Value, name: str, target: Var) -> None:
        if not isinstance(cls, Class):
            return

        def on(found: Value) -> None:
            if isinstance(found, Function):
                self.solver.add(target, [Bound(found, owner)])
            else:
                self.solver.add(target, [found])

        self.solver.watch(self.lookup(cls, name), on)

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
        if value.path == "openai" and name in ROOTS:
            self.solver.add(target, [Resource(self.module_client(node), (name,), node)])
            return
        if len(value.path) > _LONGEST_PATH:
            self.solver.add(target, [value])
            return
        stored = self.external_fields.get((value.path, name))
        if stored is not None:
            self.solver.flow(stored, target)
        elif "." in value.path or "()" in value.path:
            self.solver.flow(self.external_field(value.path, name), target)
        self.solver.add(target, [value.step(f".{name}")])

    def module_client(self, node: cst.CSTNode) -> Client:
        raise NotImplementedError

    external_fields: dict[tuple[str, str], Var]

    def external_field(self, path: str, name: str) -> Var:
        """An attribute that the project stores on something external (``app.state.client = ...``)."""
        return self.external_fields.setdefault((path, name), Var())

    def store_attribute(self, owner: Value, target: cst.Attribute, value: Var) -> None:
        """``owner.name = value``."""
        name = target.attr.value
        match owner:
            case Instance():
                self.solver.flow(value, self.instance_field(owner, name))
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
                self.solver.flow(value, self.external_field(owner.path, name))
            case _:
                pass

    # -- subscripts ----------------------------------------------------------------------

    def subscript(self, value: Value, node: cst.Subscript, index: Var | None, target: Var) -> None:
        """``value[index]`` at ``node`` flows to ``target``; ``index`` is None for a slice."""
        match value:
            case SeqValue():
                if index is None:
                    self.derive(node, self.module_of(value), self.vars[node.value], target)
                else:
                    self.element_at(value, _constant_index(index), target)
            case DictValue():
                if index is not None:
                    self._read(value, index, target)
                    self.entry(value, index, node, "read", None, value.module)
            case Shape():
                self._shape_item(value, index, target)
            case External():
                if len(value.path) > _LONGEST_PATH:
                    self.solver.add(target, [value])
                elif index is not None:
                    self._external_item(value, node, index, target)
            case _ if is_text(value):
                self.solver.add(target, [Typed("str")])
            case _:
                pass

    def _external_item(self, value: External, node: cst.Subscript, index: Var, target: Var) -> None:
        if value.path == "os.environ":
            self.solver.watch(index, lambda key: self.solver.add(target, [Env(_text(key), None, node)]))
            return

        def on(key: Value) -> None:
            text = _text(key)
            if text is not None:
                self.solver.flow(self.external_field(value.path, text), target)

        self.solver.watch(index, on)
        self.solver.add(target, [value.step("[]")])

    def module_of(self, value: SeqValue | DictValue) -> Module:
        return value.module

    def _shape_item(self, shape: Shape, index: Var | None, target: Var) -> None:
        if shape.kind in ELEMENTS:
            kind = ELEMENTS[shape.kind] if index is not None else shape.kind
            self.solver.add(target, [shape.part(kind)])
        elif shape.kind in (Kind.CONTENT, Kind.DELTA_TEXT):
            self.solver.add(target, [Typed("str")])
        elif shape.form == "dict" and index is not None:
            self.shape_key(shape, index, target)

    def shape_key(self, shape: Shape, key: Var, target: Var) -> None:
        """``dumped["choices"]``: the part under a constant key of a dumped answer."""

        def on(found: Value) -> None:
            name = _text(found)
            if name is not None:
                self.solver.add(target, [shape.part(SHAPES.get((shape.kind, name), Kind.OTHER))])

        self.solver.watch(key, on)

    def store_item(self, owner: Value, key: Var, target: cst.Subscript, value: Var, module: Module) -> None:
        """``owner[key] = value``."""
        if isinstance(owner, DictValue):
            self.entry(owner, key, target, "store", value, module)
        elif isinstance(owner, SeqValue):
            self.solver.flow(value, owner.element)
            index = _constant_index(key)
            if index is not None and index in owner.items:
                self.solver.flow(value, owner.items[index])
        elif isinstance(owner, External):

            def on(found: Value) -> None:
                text = _text(found)
                if text is not None:
                    self.solver.flow(value, self.external_field(owner.path, text))

            self.solver.watch(key, on)

    # -- iteration and context -----------------------------------------------------------

    def elements(self, owner: Value, target: Var) -> None:
        match owner:
            case SeqValue():
                self.solver.flow(owner.element, target)
                for var in owner.items.values():
                    self.solver.flow(var, target)
            case Shape(kind=Kind.STREAM) if owner.site.method == "stream":
                self.solver.add(target, [owner.part(Kind.EVENT)])
            case Shape() if owner.kind in ELEMENTS:
                self.solver.add(target, [owner.part(ELEMENTS[owner.kind])])
            case DictValue():
                self.solver.add(target, [Typed("str")])
            case Instance():
                for name in ("__iter__", "__aiter__"):
                    self._iterate_with(owner, name, target)
            case External() if len(owner.path) <= _LONGEST_PATH:
                self.solver.add(target, [owner.step("[]")])
            case Unknown():
                self.solver.add(target, [owner])
            case _:
                pass

    def _iterate_with(self, owner: Instance, name: str, target: Var) -> None:
        def on(found: Value) -> None:
            if isinstance(found, Function):
                self.solver.watch(found.result, lambda value: self.elements(value, target) if value is not owner else None)

        self.solver.watch(self.lookup(owner.type, name), on)

    def enter_context(self, value: Value, target: Var) -> None:
        """What ``with value as target`` binds."""
        match value:
            case Shape(kind=Kind.MANAGER):
                kind = Kind.RAW if value.site.via == "with_streaming_response" else Kind.STREAM
                self.solver.add(target, [value.part(kind)])
            case SeqValue(type="generator"):
                self.solver.flow(value.element, target)
            case Instance():
                self.solver.add(target, [value])
                for name in ("__enter__", "__aenter__"):
                    self.solver.watch(
                        self.lookup(value.type, name), lambda found: self._entered(found, target)
                    )
            case External(path=path):
                self.solver.add(target, [External(path)])
            case _:
                self.solver.add(target, [value])

    def _entered(self, found: Value, target: Var) -> None:
        if isinstance(found, Function):
            self.solver.flow(found.result, target)


_CONTAINERS = frozenset({Kind.CHOICES, Kind.TOOL_CALLS, Kind.CHUNK_CHOICES, Kind.DELTA_CALLS})


def _constant_index(index: Var) -> int | None:
    values = list(index.values)
    if len(values) == 1 and isinstance(values[0], Const) and isinstance(values[0].value, int):
        return values[0].value
    return None


def _text(value: Value) -> str | None:
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


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

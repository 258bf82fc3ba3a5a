"""Calls of code outside the project: clients are made, functions run functions, boxes hold values.

What is known of a function stands in the tables of :mod:`.models`; what takes more than a table, here.
"""

from __future__ import annotations

from abc import abstractmethod

import libcst as cst

from . import models, others
from . import modules as syntax
from .graph import Var
from .kinds import (
    USAGES,
    Alias,
    Bound,
    Client,
    Const,
    DictValue,
    Env,
    External,
    Function,
    Instance,
    Invocation,
    ModuleValue,
    Partial,
    Resource,
    SeqValue,
    Shape,
    Super,
    Typed,
    Unknown,
    Value,
)
from .loading import MODULES
from .modules import Module
from .settings_objects import SettingsObjects


class Foreign(SettingsObjects):
    """What calling something external gives."""

    def call_external(self, callee: External, call: Invocation) -> None:
        path = callee.path
        arguments = call.arguments
        if models.is_client_class(path):
            self._make_client(path, call)
        elif path in models.CLIENT_WRAPPERS:
            self.flow_argument(call, 0)
        elif self.carry(path, call) or self.dump_function(path, call):
            pass
        elif path in models.IDENTITY:
            self.flow_argument(call, models.IDENTITY[path])
        elif path in models.SEQUENCES:
            for argument in arguments[1:] if path in models.FILTERS else arguments:
                if argument.keyword in (None, "*"):
                    self.derive(call.node, call.module, argument.var, call.result)
            self.look_at_each(path, call)
            if not any(argument.keyword in (None, "*") for argument in arguments):
                self.solver.add(call.result, [SeqValue(call.node, call.module, "list", Var())])
        elif path.rpartition(".")[0] in models.STATE and arguments:
            self._state(callee, call)
        elif path == "contextvars.ContextVar":
            self._context_variable(call)
        elif path in models.BOXES:
            self._box(call)
        elif path in models.TYPE_MAKERS:
            self._name_type(path, call)
        elif path == "functools.update_wrapper":
            self._update_wrapper(call)
        elif path in models.BOUND_LATER:
            self.solver.add(call.result, [External(path).step("()")])
            self.hand_out(call)
        elif path == "functools.partial" and arguments:
            self._partial(call)
        elif path in models.INJECTED and arguments:
            self.run_in(call, arguments[0].var, [], call.result)
        elif path in models.RUNNERS or path.rpartition(".")[2] in models.RUNNER_METHODS:
            tail = path.rpartition(".")[2]
            self.run(call, models.RUNNERS.get(path, models.RUNNER_METHODS.get(tail, 0)), tail)
        elif path in models.DICTS:
            self.keyword_dict(call, call.result)
            self._usage_as_dict(call)
        elif path == "collections.defaultdict":
            self._default_dict(call)
        elif path in models.TEXT_FUNCTIONS:
            self.solver.add(call.result, [Typed("str")])
            self.hand_out(call)
        elif path in models.TYPED_FUNCTIONS:
            kind = models.TYPED_FUNCTIONS[path]
            self.solver.add(call.result, [Typed(kind, None if kind == "bool" else call.node)])
            if path == "builtins.sum" and arguments:
                self.sum_up(call)
        elif path in models.GETENV and arguments:
            self._getenv(call)
        elif path.startswith("openai.types.") and path.endswith("Param"):  # a TypedDict
            self.keyword_dict(call, call.result)
        elif path == "json.loads" and arguments:
            self._json_loads(call)
        elif path == f"{MODULES}.get" and arguments:
            self.loaded_module(arguments[0].var, call.module, call.result)
        elif path.rpartition(".")[2] in models.TEXT_ONLY_METHODS and "." in path:
            self.solver.add(call.result, [Typed("str")])
        elif others.is_removed(path) and _needs_clients(call.module):
            pass  # it raises
        elif not self._call_builtin(path, call):
            self._call_unknown(path, call)

    @abstractmethod
    def requested(self, call: Invocation) -> None:
        """A test asks pytest for a fixture by its name at ``call``."""

    def _default_dict(self, call: Invocation) -> None:
        """``defaultdict(list)``: under a key that was never set is what the factory makes."""
        value = self.new_dict(call.node, call.module)
        self.pour_arguments(value, call.arguments[1:], call.module)
        if call.arguments:
            self.run_in(call, call.arguments[0].var, [], value.unkeyed)
            self.solver.flow(value.unkeyed, value.everything)
        self.solver.add(call.result, [value])

    def _json_loads(self, call: Invocation) -> None:
        """``json.loads(resp.model_dump_json())`` is the dumped answer; other text is anything."""

        def on(value: Value) -> None:
            if isinstance(value, Shape) and value.form == "json":
                self.solver.add(call.result, [Shape(value.kind, value.site, "dict")])
            else:
                self.solver.add(call.result, [External("json.loads()")])

        self.solver.watch(call.arguments[0].var, on)

    def _usage_as_dict(self, call: Invocation) -> None:
        """``dict(resp.usage)`` has the entries that its dump has."""
        if len(call.arguments) != 1 or call.arguments[0].keyword is not None:
            return

        def on(value: Value) -> None:
            if isinstance(value, Shape) and value.kind in USAGES and value.form == "object":
                self.solver.add(call.result, [Shape(value.kind, value.site, "dict")])

        self.solver.watch(call.arguments[0].var, on)

    def flow_argument(self, call: Invocation, position: int) -> None:
        positional = [item for item in call.arguments if item.keyword is None]
        if 0 <= position < len(positional):
            self.solver.flow(positional[position].var, call.result)

    def _context_variable(self, call: Invocation) -> None:
        cell = SeqValue(call.node, call.module, "cell", Var())
        default = call.named("default")
        if default is not None:
            self.solver.flow(default.var, cell.element)
        self.solver.add(call.result, [cell])

    def _state(self, method: External, call: Invocation) -> None:
        """``session_state.get("key")`` and its kin: what the project put there comes out again."""
        owner, _, name = method.path.rpartition(".")
        key, rest = call.arguments[0], call.arguments[1:]
        if name == "getfixturevalue":
            self.requested(call)
            return

        def on(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str):
                slot = self.external_field(External(owner, method.realm), found.value)
                if name in ("set", "setdefault") and rest:
                    self.solver.flow(rest[0].var, slot)
                if name != "set":
                    self.solver.flow(slot, call.result)

        self.solver.watch(key.var, on)
        if name in ("get", "pop") and rest:
            self.solver.flow(rest[0].var, call.result)

    def _name_type(self, path: str, call: Invocation) -> None:
        """``NewType("N", T)``, ``TypeVar("N", bound=T)`` and their kin: another name for types."""
        is_new = path.endswith("NewType")
        for argument in call.arguments[1:]:
            if argument.keyword in (None, "bound", "value", "tp") and isinstance(argument.node, cst.Arg):
                self.solver.add(call.result, [Alias(argument.node.value, call.module, is_new)])

    def _box(self, call: Invocation) -> None:
        box = SeqValue(call.node, call.module, "box", Var())
        default = call.named("default")
        if default is not None:
            self.solver.flow(default.var, box.element)
        self.solver.add(call.result, [box])

    def _partial(self, call: Invocation) -> None:
        rest = call.arguments[1:]
        crowded = False

        def on(target: Value) -> None:
            nonlocal crowded
            if not _is_bound_again(target, call.node):
                self.solver.add(call.result, [Partial(target, rest, call.node)])
            elif not crowded:
                crowded = True
                self._call_unknown("functools.partial", call)

        self.solver.watch(call.arguments[0].var, on)

    def _update_wrapper(self, call: Invocation) -> None:
        """``update_wrapper(wrapper, function)``: the wrapper, which knows whom it wraps."""
        positional = [argument for argument in call.arguments if argument.keyword is None]
        wrapper = positional[0] if positional else call.named("wrapper")
        wrapped = positional[1] if len(positional) > 1 else call.named("wrapped")

        def on(value: Value) -> None:
            if isinstance(value, Function) and wrapped is not None:
                self.solver.flow(wrapped.var, value.wrapped)

        if wrapper is not None:
            self.solver.flow(wrapper.var, call.result)
            self.solver.watch(wrapper.var, on)

    def _getenv(self, call: Invocation) -> None:
        name = None
        for value in call.arguments[0].var.values:
            if isinstance(value, Const) and isinstance(value.value, str):
                name = value.value
        default = call.arguments[1].var if len(call.arguments) > 1 else None
        self.solver.add(call.result, [Env(name, default, call.node)])

    def _call_builtin(self, path: str, call: Invocation) -> bool:
        """Functions with a meaning of their own; whether ``path`` is one of them."""
        arguments = call.arguments
        match path:
            case "builtins.super":
                pass
            case "builtins.getattr" if len(arguments) > 1:
                self._getattr(call)
            case "builtins.setattr" if len(arguments) > 2:
                self.set_by_name(call)
            case "builtins.type" if len(arguments) == 1:
                self.solver.watch(arguments[0].var, lambda value: self._type_of(value, call.result))
            case "builtins.print" | "builtins.type" | "builtins.id":
                pass
            case "pytest.param":
                row = SeqValue(call.node, call.module, path, Var())
                row.items = {index: item.var for index, item in enumerate(arguments) if item.keyword is None}
                self.solver.add(call.result, [row])
            case _:
                return (
                    self.iterate_over(path, call)
                    or self.run_together(path, call)
                    or self.load_module(path, call)
                )
        return True

    def _type_of(self, value: Value, target: Var) -> None:
        if isinstance(value, Instance):
            self.solver.add(target, [value.type])

    def _getattr(self, call: Invocation) -> None:
        owner, key = call.arguments[0], call.arguments[1]
        literal = isinstance(key.node, cst.Arg) and isinstance(key.node.value, cst.SimpleString)

        def on_key(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str):
                name = found.value
                self.solver.watch(owner.var, lambda value: on_member(value, name))
            else:
                self.solver.watch(owner.var, on_any)

        def on_member(value: Value, name: str) -> None:
            if isinstance(value, External) and not literal and value.path != "openai":
                # A walk along a list of names would make all of their combinations.
                self.solver.add(call.result, [External(f"{value.path.removesuffix('.*')}.*")])
            else:
                self.member(value, name, call.node, call.result)

        def on_any(value: Value) -> None:
            if isinstance(value, (Client, Resource)):
                self.solver.add(call.result, [Unknown("an attribute chosen at run time", call.node)])
            elif isinstance(value, ModuleValue):  # any of the tables that it has
                for name in sorted(value.module.scope.bound):
                    self.solver.flow_if(value.module.scope.any(name), call.result, _is_table)

        self.solver.watch(key.var, on_key)
        for argument in call.arguments[2:]:
            self.solver.flow(argument.var, call.result)

    def _call_unknown(self, path: str, call: Invocation) -> None:
        self.solver.add(call.result, [External(path).step("()")])
        if not models.is_transparent(path):
            self.hand_out(call)
        elif path not in models.METADATA:  # retry(f) called like a function: still f
            wrapped = [
                argument for argument in call.arguments[:1] if models.is_wrapped(path, argument.keyword)
            ]
            for argument in wrapped:
                self.solver.flow_if(argument.var, call.result, _is_callable)
            self.hand_out(call, wrapped)  # retry_if_result(f) calls f

    def _make_client(self, path: str, call: Invocation) -> None:
        client = self.clients.get(call.node)
        if client is None:
            name = path.rpartition(".")[2]
            client = self.clients[call.node] = Client(name, call.node, call.module)
            self._client_arguments(client, call)
        self.solver.add(call.result, [client])

    def add_super(self, call: Invocation) -> None:
        """``super()`` in a method: found by where it is written, not by what flows."""
        function = call.scope
        if isinstance(function, Function) and function.owner is not None and function.positional:
            owner = function.owner
            self.solver.watch(
                function.parameters[function.positional[0]],
                lambda value: self.solver.add(call.result, [Super(owner, value)]),
            )


def _needs_clients(module: Module) -> bool:
    """Whether ``module`` cannot even be imported with a version of the SDK from before its client classes."""
    for statement in module.tree.body:
        for node in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(node, cst.ImportFrom):
                names = () if isinstance(node.names, cst.ImportStar) else node.names
                imported = {syntax.dotted(alias.name) for alias in names}
                is_sdk = node.module is not None and syntax.dotted(node.module) == "openai"
                if is_sdk and not node.relative and not imported.isdisjoint(models.CLIENT_CLASSES):
                    return True
    return False


def _is_bound_again(target: Value, node: cst.CSTNode) -> bool:
    """Whether ``target`` has been bound by ``node`` before, or twice elsewhere: a loop, which has no end."""
    layers = 0
    while isinstance(target, Partial):
        layers += 1
        if target.node is node or layers == _LAYERS:
            return True
        target = target.target
    return False


_LAYERS = 2


def _is_table(value: Value) -> bool:
    return isinstance(value, (DictValue, SeqValue))


def _is_callable(value: Value) -> bool:
    return isinstance(value, (Function, Bound, Resource, Partial))

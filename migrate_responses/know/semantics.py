"""What subscripts, iteration and ``with`` give for each kind of value."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import libcst as cst

from . import models
from .graph import MANY, Var
from .kinds import (
    ELEMENTS,
    SHAPES,
    Alias,
    Const,
    DictValue,
    Env,
    External,
    Function,
    Instance,
    Kind,
    SeqValue,
    Shape,
    Typed,
    Unknown,
    Value,
)
from .members import Members
from .modules import Module, walk
from .operators import is_text
from .testing import in_tests

_TYPES = ("typing.", "typing_extensions.")
_LONGEST_PATH = 160  # an External path: beyond it the value is just something external


class Semantics(Members):
    """Subscript, iteration and context-manager semantics."""

    def __init__(self) -> None:
        super().__init__()
        self._iterated: set[tuple[Instance, Var]] = set()

    # -- subscripts ----------------------------------------------------------------------

    def subscript(
        self, value: Value, node: cst.Subscript, module: Module, index: Var | None, target: Var
    ) -> None:
        """``value[index]`` at ``node`` of ``module`` flows to ``target``; ``index`` is None for a slice."""
        match value:
            case SeqValue():
                if index is None:
                    self.derive(node, module, self.vars[node.value], target)
                else:
                    self._for_each_index(index, lambda number: self.element_at(value, number, target))
                    self._if_slice(index, lambda: self.derive(node, module, self.vars[node.value], target))
            case DictValue():
                if index is not None:
                    self._read(value, index, target)
                    self.entry(value, index, node, "read", None, module)
            case Shape():
                self._shape_item(value, index, target)
            case Instance():
                self._fields(value, target)
                self._get_item(value, node, module, index, target)
            case External():
                if index is None or len(value.path) > _LONGEST_PATH:  # a slice is more of the same
                    self.solver.add(target, [value])
                else:
                    self._external_item(value, node, module, index, target)
                    if value.path.startswith(_TYPES):
                        self.solver.add(target, [Alias(node, module)])
            case Unknown() if value is MANY:
                self.solver.add(target, [value])
            case _ if is_text(value):
                self.solver.add(target, [Typed("str")])
            case _:
                pass

    def _fields(self, owner: Instance, target: Var) -> None:
        """A named tuple is also read by position: any of its fields."""

        def on(base: Value) -> None:
            if isinstance(base, External) and base.path in models.NAMED_TUPLES:
                for name in owner.type.annotations:
                    self.solver.flow(self.instance_field(owner, name), target)

        for base in owner.type.bases:
            self.solver.watch(base, on)

    def _get_item(
        self, owner: Instance, node: cst.Subscript, module: Module, index: Var | None, target: Var
    ) -> None:
        """``owner[index]`` gives what ``__getitem__`` does; for a slice, several of these perhaps."""
        found = Var()

        def on(getter: Value) -> None:
            if isinstance(getter, Function):
                self.solver.flow(getter.result, found)
                key = list(getter.parameters.values())[1:2]
                if index is not None and key:
                    self.solver.flow(index, key[0])

        self.solver.watch(self.lookup(owner.type, "__getitem__"), on)
        self.solver.flow(found, target)
        if index is None and "__getitem__" in owner.type.members:
            self.solver.add(target, [SeqValue(node, module, "list", found)])

    @abstractmethod
    def loaded_module(self, key: Var, importer: Module, target: Var) -> None:
        """``sys.modules[key]`` in ``importer`` flows to ``target``."""

    def replaced_module(self, name: str, realm: int) -> Var:
        """What the project, its tests aside, puts in the place of the module ``name``."""
        return self.external_field(External("sys.modules[]", realm), name)

    def _external_item(
        self, value: External, node: cst.Subscript, module: Module, index: Var, target: Var
    ) -> None:
        if value.path == "os.environ":
            self.solver.watch(index, lambda key: self.solver.add(target, [Env(_text(key), None, node)]))
            return

        def on(key: Value) -> None:
            text = _text(key)
            if text is not None:
                self.solver.flow(self.external_field(value, text), target)

        self.solver.watch(index, on)
        if value.path == "sys.modules":
            self.loaded_module(index, module, target)
            return
        if value.path == "builtins.globals()" and isinstance(node.value, cst.Call):
            self._global(index, module, target)
            return
        if value.path in models.STATE:
            return
        self.solver.add(target, [value.step("[]")])

    def _global(self, key: Var, module: Module, target: Var) -> None:
        """``globals()[key]`` in ``module`` flows to ``target``."""

        def on(found: Value) -> None:
            name = _text(found)
            if name is not None and name in module.scope.bound:
                self.solver.flow(self.module_member(module, name), target)
            else:
                self.solver.add(target, [External("builtins.globals()").step("[]")])

        self.solver.watch(key, on)
        if not key.values:
            self.solver.add(target, [External("builtins.globals()").step("[]")])

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
            self._for_each_index(key, lambda number: self._put_at(owner, number, value))
            self._if_slice(key, lambda: self.splice(owner, value))
        elif isinstance(owner, External):

            def on(found: Value) -> None:
                text = _text(found)
                if text is not None:
                    self.solver.flow(value, self.external_field(owner, text))
                    if owner.path == "sys.modules" and not in_tests(module):
                        self.solver.flow(value, self.replaced_module(text, owner.realm))

            self.solver.watch(key, on)

    def _put_at(self, owner: SeqValue, index: int | None, value: Var) -> None:
        places = [owner.items[index]] if index in owner.items else list(owner.items.values())
        for item in places:
            self.solver.flow(value, item)

    def _for_each_index(self, index: Var, use: Callable[[int | None], None]) -> None:
        """Call ``use`` with each number that ``index`` can be, and with None if it can be anything else."""
        seen: set[int | None] = set()

        def on(found: Value) -> None:
            number = found.value if isinstance(found, Const) and type(found.value) is int else None
            if isinstance(found, Const) and isinstance(found.value, str):
                return  # a list has nothing under a text: what came here is a dict
            if number not in seen:
                seen.add(number)
                use(number)

        self.solver.watch(index, on)
        if not index.values:
            use(None)

    def _if_slice(self, index: Var, then: Callable[[], None]) -> None:
        """Do ``then`` if ``index`` can be what ``slice(...)`` makes."""

        def on(found: Value) -> None:
            if isinstance(found, External) and found.path == "builtins.slice()":
                then()

        self.solver.watch(index, on)

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
                self.solver.flow(owner.keys, target)
            case Instance() if (owner, target) not in self._iterated:
                self._iterated.add((owner, target))
                self._fields(owner, target)
                self._iterate(owner, target)
            case External() if len(owner.path) <= _LONGEST_PATH:
                self.solver.add(target, [owner.step("[]")])
            case Unknown():
                self.solver.add(target, [owner])
            case _:
                pass

    def _iterate(self, owner: Instance, target: Var) -> None:
        """``__iter__`` gives an iterable, the owner perhaps; an iterator has ``__next__``."""

        def iterable(found: Value) -> None:
            if isinstance(found, Function):
                self.spread(found.result, target)
                if found.yields is not None:
                    self.solver.flow(found.yields.element, target)

        def iterator(found: Value) -> None:
            if isinstance(found, Function):
                self.solver.flow(found.result, target)

        for name in ("__iter__", "__aiter__"):
            self.solver.watch(self.lookup(owner.type, name), iterable)
        for name in ("__next__", "__anext__"):
            self.solver.watch(self.lookup(owner.type, name), iterator)

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

    def swallows(self, value: Value) -> bool:
        """Whether errors in the body of ``with value`` may end there."""
        match value:
            case External(path=path):
                return path.endswith(_SWALLOWING)
            case Instance():
                ends = [self.lookup(value.type, name) for name in ("__exit__", "__aexit__")]
                return any(
                    isinstance(found, Function) and _may_say_yes(found.node)
                    for end in ends
                    for found in end.values
                )
            case SeqValue(node=cst.FunctionDef() as function):
                return any(
                    isinstance(inner, cst.Try)
                    and bool(inner.handlers)
                    and any(isinstance(part, cst.Yield) for part in walk(inner.body))
                    for inner in walk(function)
                )
            case _:
                return False

    def _entered(self, found: Value, target: Var) -> None:
        if isinstance(found, Function):
            self.solver.flow(found.result, target)


_SWALLOWING = ("contextlib.suppress()", ".raises()", ".assertRaises()")


def _may_say_yes(function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether an ``__exit__`` can return something true."""
    return any(
        isinstance(inner, cst.Return)
        and inner.value is not None
        and not (isinstance(inner.value, cst.Name) and inner.value.value in ("None", "False"))
        for inner in walk(function)
    )


def _text(value: Value) -> str | None:
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None

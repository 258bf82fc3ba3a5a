"""Records: objects of the project that others read field by field, as pydantic models and dataclasses.

Whoever gets a record, or what it is dumped to, sees what its fields hold: a route that returns one sends its
usage to a browser. A pydantic model also looks at what it is given, by the names that it declares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

import libcst as cst

from ..know.graph import Var
from ..know.kinds import (
    DUMPS,
    JSON_DUMPS,
    STRUCTURAL,
    Argument,
    Bound,
    Class,
    DictValue,
    External,
    Function,
    Instance,
    Invocation,
    Kind,
    SeqValue,
    Shape,
    Value,
)
from ..know.modules import dotted, walk
from ..know.project import Project

_DECORATORS = frozenset("dataclass define frozen mutable attrs s attributes".split())
_WITHOUT_FIELDS = sys.stdlib_module_names | {"openai"}
_MODELS = ("pydantic", "sqlmodel")
_DUMPS = DUMPS | JSON_DUMPS | {"dict", "json"}


class Records:
    """The records of a solved project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._is_record = cache(self._find)
        self._left_out = cache(self._find_left_out)

    def fields(self, value: Value) -> Iterator[Var]:
        """What whoever gets ``value`` can read; nothing if it is no record."""
        if isinstance(value, Instance) and self._is_record(value.type):
            yield from (var for _, var in self._shown(value))

    def _shown(self, record: Instance) -> Iterator[tuple[str, Var]]:
        for name, var in self._declared(record):
            shown = not name.startswith("_") and name not in self._left_out(record.type)
            if shown and any(has_shape(held) for held in var.values):
                yield name, var

    def _declared(self, record: Instance) -> Iterator[tuple[str, Var]]:
        """The fields of a record, and what those hold that were never set: ``items: list[Out] = []``."""
        yield from record.fields.items()
        for owner in (record.type, *self._project.ancestors(record.type)):
            yield from ((name, owner.members[name]) for name in owner.annotations if name in owner.members)

    def dumped(self, call: Invocation) -> Iterator[Var]:
        """What ``record.model_dump()`` shows."""
        method = call.node.func
        if not isinstance(method, cst.Attribute) or method.attr.value not in _DUMPS:
            return
        if any(isinstance(callee, (Function, Bound)) for callee in self._project.callees.get(call, ())):
            return  # a method of the project's own
        only, never = _names(call, "include"), _names(call, "exclude") or set()
        for value in self._project.values(method.value):
            if isinstance(value, Instance) and self._is_model(value.type):
                for name, var in self._shown(value):
                    if name not in never and (not only or name in only):
                        yield var

    def validated(self, call: Invocation) -> Iterator[Argument]:
        """The arguments of ``Model(usage=...)`` that are looked at: their fields are records, too."""
        for callee in self._project.callees.get(call, ()):
            if isinstance(callee, Class) and self._is_model(callee):
                declared = {
                    name: annotation
                    for owner in reversed([callee, *self._project.ancestors(callee)])
                    for name, annotation in owner.annotations.items()
                }
                for argument in call.arguments:
                    annotation = declared.get(argument.keyword or "")
                    if (
                        annotation is not None
                        and _holds_part(argument.var)
                        and self._names_record(annotation)
                    ):
                        yield argument

    def _names_record(self, annotation: cst.BaseExpression) -> bool:
        return any(
            isinstance(value, Class) and self._is_record(value)
            for node in walk(annotation)
            if isinstance(node, cst.Name)
            for value in self._project.values(node)
        )

    def _find(self, cls: Class) -> bool:
        family = [cls, *self._project.ancestors(cls)]
        if any(dotted(made).rpartition(".")[2] in _DECORATORS for made in _decorators(family)):
            return True
        return any(owner.annotations for owner in family) and any(map(_gives_fields, self._bases(cls)))

    def _is_model(self, cls: Class) -> bool:
        return any(path.startswith(_MODELS) for path in self._bases(cls))

    def _bases(self, cls: Class) -> Iterator[str]:
        for owner in (cls, *self._project.ancestors(cls)):
            for base in owner.bases:
                yield from (value.path for value in base.values if isinstance(value, External))

    def _find_left_out(self, cls: Class) -> frozenset[str]:
        """The fields that no dump shows: ``raw: ChatCompletion = Field(exclude=True)``."""
        found: set[str] = set()
        for owner in (cls, *self._project.ancestors(cls)):
            for node in walk(owner.node.body):
                match node:
                    case cst.AnnAssign(target=cst.Name(value=declared), value=cst.Call(args=args)):
                        if any(map(_excludes, args)):
                            found.add(declared)
                    case _:
                        continue
        return frozenset(found)


def has_shape(value: Value) -> bool:
    """Whether the migration gives ``value`` another shape: texts and finish reasons stay texts."""
    if isinstance(value, Shape):
        return value.kind in STRUCTURAL - {Kind.FINISH, Kind.CHUNK_FINISH}
    return isinstance(value, (SeqValue, DictValue, Instance))


def _holds_part(var: Var) -> bool:
    """Whether there may be a part of an answer in ``var``, or a list of them."""
    lists = [value for value in var.values if isinstance(value, SeqValue)]
    return any(
        isinstance(value, Shape) for found in (var, *(one.element for one in lists)) for value in found.values
    )


def _decorators(family: list[Class]) -> Iterator[cst.BaseExpression]:
    for owner in family:
        for decorator in owner.node.decorators:
            made = decorator.decorator
            yield made.func if isinstance(made, cst.Call) else made


def _gives_fields(path: str) -> bool:
    """Whether a base class makes annotations fields: models and tables do, those of the library hardly."""
    return path == "typing.NamedTuple" or path.partition(".")[0] not in _WITHOUT_FIELDS


def _excludes(arg: cst.Arg) -> bool:
    match arg:
        case cst.Arg(keyword=cst.Name(value="exclude"), value=cst.Name(value="True")):
            return True
        case _:
            return False


def _names(call: Invocation, keyword: str) -> set[str] | None:
    """``include={"text"}``: the names, None if there is no such argument."""
    argument = call.named(keyword)
    node = argument.node.value if argument is not None and isinstance(argument.node, cst.Arg) else None
    if node is None:
        return None
    texts = (inner.evaluated_value for inner in walk(node) if isinstance(inner, cst.SimpleString))
    return {text for text in texts if isinstance(text, str)}

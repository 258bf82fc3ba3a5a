"""What a class statement calls: ``__init_subclass__`` of the bases, and the methods of a metaclass."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from .definitions import Definitions
from .graph import Var
from .kinds import Argument, Class, Function, Invocation, Value

_OF_BASES = "__init_subclass__"
_OF_METACLASS = ("__new__", "__init__")


def subclass(project: Definitions, cls: Class, metaclass: Var | None, keywords: list[Argument]) -> None:
    """``class cls(*bases, metaclass=metaclass, **keywords)`` gives ``keywords`` to who shapes the class."""
    own = project.metaclasses[cls]
    if metaclass is not None:
        project.solver.flow(metaclass, own)
    shaped = [*(Argument(None, Var(), cls.node) for _ in ("name", "bases", "namespace")), *keywords]

    def called(found: Value, arguments: list[Argument], owner: Value) -> None:
        if isinstance(found, Function):
            node = cst.Call(cls.node.name)  # an identity
            project.enter_function(found, Invocation(node, cls.module, arguments, Var()), owner)

    def call(callee: Var, arguments: list[Argument], owner: Value) -> None:
        project.solver.watch(callee, lambda found: called(found, arguments, owner))

    def on_base(base: Value) -> None:
        if isinstance(base, Class):
            project.solver.flow(project.metaclasses[base], own)
            call(project.lookup(base, _OF_BASES), keywords, cls)

    def on_metaclass(meta: Value) -> None:
        if isinstance(meta, Class):
            for name in _OF_METACLASS:
                call(project.lookup(meta, name), shaped, meta if name == "__new__" else cls)

    for base in cls.bases:
        project.solver.watch(base, on_base)
    project.solver.watch(own, on_metaclass)


def shapers(project: Definitions, cls: Class) -> Iterator[Value]:
    """Who gets the keywords of the class statement of ``cls``."""
    for base in cls.bases:
        for found in base.values:
            if isinstance(found, Class):
                yield from project.lookup(found, _OF_BASES).values
    for found in project.metaclasses[cls].values:
        if isinstance(found, Class):
            for name in _OF_METACLASS:
                yield from project.lookup(found, name).values

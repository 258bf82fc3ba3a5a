"""Objects that are made into dicts: ``asdict(run)``, ``vars(run)``, ``run.__dict__``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.graph import Var
from ..know.kinds import DictValue, Instance, SeqValue, Shape, Value
from ..know.modules import Module
from .records import has_shape

OPENERS = frozenset(
    {"dataclasses.asdict", "dataclasses.astuple", "builtins.vars", "attr.asdict", "attrs.asdict"}
)


def opened(var: Var) -> Iterator[Var]:
    """The fields of the objects in ``var``, and those inside them, that may change their shape."""
    seen: set[Value] = set()
    stack = list(var.values)
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        match value:
            case Instance(fields=fields):
                for field in fields.values():
                    stack.extend(field.values)
                    if any(
                        isinstance(inner, (DictValue, Shape)) and has_shape(inner) for inner in field.values
                    ):
                        yield field
            case SeqValue(element=element, items=items):
                for inside in (element, *items.values()):
                    stack.extend(inside.values)
            case DictValue(everything=everything):
                stack.extend(everything.values)
            case _:
                continue


def is_updated(node: cst.Attribute, module: Module) -> bool:
    """``self.__dict__.update(...)``: nothing is read."""
    parent = module.parents[node]
    return isinstance(parent, cst.Attribute) and parent.attr.value == "update"

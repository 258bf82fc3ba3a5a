"""A receiver must be one kind of thing: what can be something else holds its flow back (MR306)."""

from __future__ import annotations

import libcst as cst

from ..decide.mixed import is_same_call
from ..decide.receivers import DOUBLES, in_tests, is_answer_of_stored
from ..know.graph import Var
from ..know.kinds import (
    USAGES,
    Const,
    DictValue,
    External,
    Instance,
    Kind,
    SeqValue,
    Shape,
    Typed,
    Unknown,
    Value,
)
from ..know.modules import Module
from ..know.narrowing import AN_EXCEPTION
from .context import WRITES, Context
from .read_history import hold_object, is_history_read, is_told_apart
from .tested import is_tested


def only_kind(context: Context, node: cst.CSTNode, module: Module, shapes: list[Shape]) -> Kind | None:
    """The one kind a receiver has; holds the flow back if it can be anything else."""
    sites = {shape.site for shape in shapes}
    kinds = {shape.kind for shape in shapes}
    text = context.source(node, module)
    if is_history_read(context, node):
        if is_told_apart(context, node, module):
            return None
        hold_object(context, node, module, sites)
        return None
    if len(kinds) > 1:
        streamed = Kind.STREAM in kinds and Kind.COMPLETION in kinds
        code = "MR403" if streamed else "MR306"
        context.manual(
            node, module, sites, code, f"`{text}` is {' or '.join(sorted(kind.value for kind in kinds))}"
        )
        return None
    doubled = all(is_tested(context, site) for site in sites)
    others = [
        value
        for value in context.project.values(node)
        if not _harmless(value, doubled)
        and not is_same_call(value, sites)
        and not is_answer_of_stored(context.project, value)
        and not (_is_caught(value) and _fails(module, node))
    ]
    if others:
        context.manual(node, module, sites, "MR306", f"`{text}` can also be {_other(others[0])}")
        return None
    return kinds.pop()


def _is_caught(value: Value) -> bool:
    return isinstance(value, Unknown) and value.why == AN_EXCEPTION


def _fails(module: Module, node: cst.CSTNode) -> bool:
    """Whether what is read of ``node`` is nothing that an exception has: it raised, and will."""
    parent = module.parents.get(node)
    return isinstance(parent, (cst.Attribute, cst.Subscript)) and parent.value is node


def _other(value: Value) -> str:
    """What else a receiver can be, for a person."""
    match value:
        case External(path=path):
            return f"something of `{path.partition('(')[0]}`"
        case Unknown(why=why):
            return f"what comes from {why}"
        case Instance(type=cls):
            return f"a `{cls.name}`"
        case DictValue():
            return "a dict"
        case SeqValue(type=kind):
            return f"a {kind if kind in ('list', 'tuple', 'set') else 'sequence'}"
        case Typed(type=kind):
            return f"a value of type {kind}"
        case Const(value=constant):
            return f"{constant!r}"
        case _:
            return "something else"


def _harmless(value: Value, doubled: bool = False) -> bool:
    """Whether a value beside an answer is its absence: None, or the empty default of a ``.get``.

    Where the call is ``doubled`` by tests, what they make answers of is no other kind either. Of a list all
    that is in it counts, also of one that holds itself.
    """
    seen = {value: None}
    waiting = [value]
    while waiting:
        match one := waiting.pop():
            case SeqValue() if not one.derived:
                fresh = [item for item in one.element.values if item not in seen]
                seen.update(dict.fromkeys(fresh))
                waiting += fresh
            case _ if not _is_absence(one, doubled):
                return False
    return True


def _is_usage(source: Var) -> bool:
    """Whether ``dict(resp.usage)`` was made of it: its entries are those of the dump beside it."""
    return bool(source.values) and all(
        isinstance(value, Shape) and value.kind in USAGES for value in source.values
    )


def _is_absence(value: Value, doubled: bool) -> bool:
    """The same of anything but a list."""
    match value:
        case Shape():
            return True
        case Const():
            return value.value in (None, "", False)
        case External(path=path):
            return doubled and path.startswith(DOUBLES)  # the rule for tests sees to it
        case DictValue():
            return (
                not value.others
                and all(map(_is_usage, value.merged))
                and not any(place.how in WRITES for places in value.places.values() for place in places)
            )
        case Instance(type=cls):
            return doubled and in_tests(cls.module)  # a fake
        case _:
            return False

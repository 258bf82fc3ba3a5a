"""Messages that are no list: an iterator, a deque, an object that can be gone through (MR201).

The SDK made a list of whatever ``messages`` was; ``input`` is sent as it is.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import External, Instance, Place, SeqValue, Site, Value
from ..know.modules import Module
from .context import Context, Keyword
from .shadowed import is_local

_ITERATORS = frozenset(
    {
        *("builtins.filter", "builtins.iter", "builtins.reversed"),
        *("itertools.chain", "itertools.cycle", "itertools.islice", "tqdm.tqdm", "tqdm"),
    }
)
_CONTAINERS = frozenset(
    {"builtins.frozenset", "builtins.set", "collections.deque", "collections.UserList"},
)
_LISTS = frozenset({"builtins.list", "builtins.tuple", "typing.List", "typing.NamedTuple"})


def make_list(context: Context, site: Site, item: Keyword, written: cst.BaseExpression) -> None:
    """Write ``list(...)`` around the messages at one place, if they are none."""
    place = item.place
    iterator = _is_iterator(context, place, written)
    if not iterator and not any(_is_container(context, value) for value in _values(place)):
        return
    owners = [site] if item.holder is None else context.senders(item.holder)
    at_call = any(place.node is argument for argument in site.node.args)
    if not iterator and not at_call:  # what is added to it later would be missing in a copy
        detail = f"`{context.source(written, place.module)}` is no list: make one where it is sent"
        context.manual(written, place.module, owners, "MR204", detail)
        return
    context.edit(written, place.module, owners, _as_list, "MR201", "list")
    if is_local("list", written, place.module):
        detail = "`list`, which would be called, is a name of its own here"
        context.manual(written, place.module, owners, "MR309", detail)


def _values(place: Place) -> list[Value]:
    return list(place.var.values) if place.var is not None else []


def _is_iterator(context: Context, place: Place, written: cst.BaseExpression) -> bool:
    """Whether messages can be gone through once."""
    if isinstance(written, cst.Call) and _made_by(context, written) & _ITERATORS:
        return True
    return any(
        isinstance(value, SeqValue)
        and (value.type == "generator" or _maker(context, value.node, value.module) & _ITERATORS)
        for value in _values(place)
    )


def _is_container(context: Context, value: Value) -> bool:
    match value:
        case SeqValue(node=node, module=module):
            return bool(_maker(context, node, module) & _CONTAINERS)
        case External(path=path):
            return path.removesuffix("()") in _CONTAINERS and path.endswith("()")
        case Instance(type=cls):
            bases = [base for known in (cls, *context.project.ancestors(cls)) for base in known.bases]
            names = [base.path for var in bases for base in var.values if isinstance(base, External)]
            return not any(name.partition("[")[0] in _LISTS for name in names)
        case _:
            return False


def _maker(context: Context, node: cst.CSTNode, module: Module) -> set[str]:
    """What made a sequence, by name."""
    return _made_by(context, node) if isinstance(node, cst.Call) and node in module.parents else set()


def _made_by(context: Context, call: cst.Call) -> set[str]:
    return {value.path for value in context.project.values(call.func) if isinstance(value, External)}


def _as_list(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.BaseExpression)
    if isinstance(updated, cst.GeneratorExp):
        return cst.ListComp(updated.elt, updated.for_in)
    return cst.Call(cst.Name("list"), [cst.Arg(updated)])

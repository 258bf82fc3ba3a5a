"""Reads of a history before anything but plain messages gets into it: they see what they saw (MR208).

``for m in messages: print(m["role"])`` above the loop that adds calls and results, in one function that makes
the list anew each time.
"""

from __future__ import annotations

import libcst as cst

from ..know.graph import Var
from ..know.kinds import Place, SeqValue
from ..know.modules import Module
from .context import Context
from .item_facts import Facts, Form, answers_of

_PLAIN = frozenset({Form.PLAIN})
_EAGER = frozenset("all any dict list max min set sorted sum tuple".split())
_DEPTH = 4  # how many copies of a list are followed back


def is_read_before(context: Context, known: Facts, entry: cst.CSTNode, module: Module) -> bool:
    """Whether the entry of a list at ``entry`` is looked at before other items than messages can be in it."""
    listed = _listed(entry, module) if isinstance(entry, cst.Name) else None
    return listed is not None and _are_plain(context, known, listed, module, entry, _DEPTH)


def _are_plain(
    context: Context, known: Facts, listed: cst.BaseExpression, module: Module, at: cst.CSTNode, depth: int
) -> bool:
    """Whether all that ``listed`` can be holds plain messages alone when ``at`` is reached."""
    values = context.project.values(listed)
    return bool(values) and all(
        isinstance(value, SeqValue) and _is_plain(context, known, value, module, at, depth)
        for value in values
    )


def _is_plain(
    context: Context, known: Facts, sequence: SeqValue, module: Module, at: cst.CSTNode, depth: int
) -> bool:
    if all(_holds_messages(known, var) for var in (sequence.element, *sequence.items.values())):
        return True
    order = _Order(context, module)
    if not depth or sequence.module is not module or not order.is_before(sequence.node, at):
        return False
    if not _is_made_at_once(sequence.node):
        return False
    places = [place for place in sequence.places if place.node is not sequence.node]  # a comprehension's own
    later = [place for place in places if not _adds_plain(known, place)]
    if any(
        place.module is not module or not order.is_after(place.node, at, sequence.node) for place in later
    ):
        return False
    if isinstance(sequence.node, cst.ListComp):
        source = _copied(sequence.node)
        return source is not None and _are_plain(context, known, source, module, sequence.node, depth - 1)
    return all(
        isinstance(value, SeqValue)
        and (
            _is_plain(context, known, value, module, sequence.node, depth - 1)
            or (value.module is module and order.is_after(value.node, at, sequence.node))
        )
        for source in sequence.derived
        for value in source.values
    )


def _adds_plain(known: Facts, place: Place) -> bool:
    """Whether what is added at ``place`` are plain messages."""

    if place.var is None:
        return False
    lists = [value for value in place.var.values if isinstance(value, SeqValue)]
    inner = [var for value in lists for var in (value.element, *value.items.values())]
    return all(_holds_messages(known, var) for var in (place.var, *inner))


def _holds_messages(known: Facts, var: Var) -> bool:
    """Whether a variable holds plain messages alone, and no answer either."""
    return known.forms_of(var) <= _PLAIN and not any(map(answers_of, var.values))


def _listed(name: cst.Name, module: Module) -> cst.BaseExpression | None:
    """What the loop or comprehension around ``name`` goes through, if ``name`` is its variable."""
    for parent in module.ancestors(name):
        match parent:
            case cst.ListComp(for_in=loop) | cst.SetComp(for_in=loop) | cst.GeneratorExp(for_in=loop):
                if loop.inner_for_in is None and _binds(loop.target, name):
                    return loop.iter if _is_done_at_once(parent, module) else None
            case cst.For(target=target, iter=listed):
                if _binds(target, name):
                    return listed
            case cst.FunctionDef() | cst.Lambda() | cst.ClassDef():
                return None
            case _:
                continue
    return None


def _is_made_at_once(node: cst.CSTNode) -> bool:
    """Whether a list is made where it is written; ``filter`` looks at its own when it is asked."""
    match node:
        case cst.Call(func=cst.Name(value=name)):
            return name in ("list", "tuple", "sorted")
        case _:
            return isinstance(node, (cst.List, cst.Tuple, cst.ListComp, cst.BinaryOperation))


def _is_done_at_once(node: cst.CSTNode, module: Module) -> bool:
    """Whether a comprehension is no generator that somebody else goes through later."""
    if not isinstance(node, cst.GeneratorExp):
        return True
    call = module.parents.get(module.parents[node])
    match call:
        case cst.Call(func=cst.Name(value=name)):
            return name in _EAGER
        case cst.Call(func=cst.Attribute(value=cst.SimpleString(), attr=cst.Name(value="join"))):
            return True
        case _:
            return False


def _copied(node: cst.ListComp) -> cst.BaseExpression | None:
    """What ``[m for m in messages if ...]`` takes its entries from."""
    loop = node.for_in
    if (
        loop.inner_for_in is not None
        or not isinstance(node.elt, cst.Name)
        or not _binds(loop.target, node.elt)
    ):
        return None
    return loop.iter


def _binds(target: cst.BaseExpression, name: cst.Name) -> bool:
    return isinstance(target, cst.Name) and target.value == name.value


class _Order:
    """What comes before what, in one function of a module."""

    def __init__(self, context: Context, module: Module) -> None:
        known = context.memo.setdefault("order of nodes", {})
        assert isinstance(known, dict)
        if module not in known:
            known[module] = {node: number for number, node in enumerate(module.parents)}
        self._number: dict[cst.CSTNode, int] = known[module]
        self._module = module

    def is_before(self, first: cst.CSTNode, second: cst.CSTNode) -> bool:
        """Whether ``first`` is written before ``second`` and both are in one function."""
        if self._module.function(first) is not self._module.function(second):
            return False
        return self._number.get(first, 0) < self._number.get(second, 0)

    def is_after(self, node: cst.CSTNode, at: cst.CSTNode, made: cst.CSTNode) -> bool:
        """Whether ``node`` runs after ``at`` only, until the list that is ``made`` there is made anew."""
        again = (self._loops(node) & self._loops(at)) - self._loops(made)
        return self.is_before(at, node) and not again

    def _loops(self, node: cst.CSTNode) -> set[cst.CSTNode]:
        found: set[cst.CSTNode] = set()
        for parent in self._module.ancestors(node):
            if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
                break
            if isinstance(parent, (cst.For, cst.While)):
                found.add(parent)
        return found

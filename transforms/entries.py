"""What is put into a history: the expression, and whether it was in one before."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Place, SeqValue
from ..know.modules import Module, bound_by, walk
from .context import Context
from .item_facts import Facts, answers_of
from .shared import bindings


def value_of(place: Place) -> cst.BaseExpression | None:
    """The expression that is put into the list."""
    match place.how, place.node:
        case "append", cst.Call(args=[cst.Arg(star="", value=value)]):
            return value
        case "literal", cst.Element(value=value):
            return value
        case _:
            return None


def is_entry(context: Context, known: Facts, place: Place) -> bool:
    """Whether what is put into a list was in one before: ``[messages[0]] + ...``, ``for m in messages``."""
    if isinstance(place.node, (cst.ListComp, cst.GeneratorExp)):
        own = _own_loop(place.node)
        if own is not None:
            return _is_history(context, known, own.iter)
        return _is_taken_from(context, known, place.node.elt, place.module)
    value = value_of(place)
    return value is not None and _is_taken_from(context, known, value, place.module)


def _is_taken_from(context: Context, known: Facts, node: cst.BaseExpression, module: Module) -> bool:
    match node:
        case cst.Subscript(value=source, slice=[cst.SubscriptElement(slice=cst.Index())]):
            return _is_history(context, known, source)
        case cst.Name(value=name):
            scope = module.function(node) or module.tree
            loops = [
                inner
                for inner in walk(scope)
                if isinstance(inner, (cst.For, cst.CompFor)) and name in _bound(inner)
            ]
            others = [inner for inner in bindings(scope, name) if inner not in loops]
            return (
                bool(loops) and not others and all(_is_history(context, known, loop.iter) for loop in loops)
            )
        case _:
            return False


def _own_loop(node: cst.ListComp | cst.GeneratorExp) -> cst.CompFor | None:
    """The loop of ``[m for m in messages if ...]`` whose elements it keeps; its ``m`` is nobody else's."""
    found: cst.CompFor | None = None
    loop: cst.CompFor | None = node.for_in
    while loop is not None:
        if isinstance(node.elt, cst.Name) and node.elt.value in _bound(loop):
            found = loop if isinstance(loop.target, cst.Name) else None
        loop = loop.inner_for_in
    return found


def _bound(loop: cst.For | cst.CompFor) -> set[str]:
    return {loop.target.value} if isinstance(loop.target, cst.Name) else set(bound_by(loop))


def _is_history(context: Context, known: Facts, node: cst.BaseExpression) -> bool:
    """Whether ``node`` is a list in which answers are items already, or that has none."""
    values = context.project.values(node)
    return bool(values) and all(
        isinstance(value, SeqValue)
        and (value in known.senders or not any(answers_of(element) for element in known.elements(value)))
        for value in values
    )

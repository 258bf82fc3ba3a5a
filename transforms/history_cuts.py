"""Cuts of a history that fall between the same messages as before, though an answer is several items now.

That is so after the first messages, as long as these are plain ones: ``self.messages = self.messages[:1]``.
And where the length was taken before: ``messages[start:]``, with ``start = len(messages)``, is what is new.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DictValue, SeqValue, Value
from ..know.modules import Module, bound_by, walk
from .context import Context, constants
from .item_facts import Facts, Form
from .reading import builtin

_MANY = 1_000
# Methods that leave what is there where it is.
_ADDING = frozenset({"append", "extend", "copy", "index", "count", "__len__"})


def is_same_cut(context: Context, known: Facts, cut: cst.Subscript, module: Module) -> bool:
    """Whether the slice ``cut`` of a history leaves out what it left out before."""
    bounds = cut.slice[0].slice
    if not isinstance(bounds, cst.Slice) or bounds.step is not None or len(cut.slice) != 1:
        return False
    lower, upper = bounds.lower, bounds.upper
    bound = upper if lower is None else lower
    if bound is None or (lower is not None and upper is not None):
        return False
    if not _is_beginning(context, known, cut.value, bound) and not _is_length(
        context, known, cut, bound, module
    ):
        return False
    if _is_written(cut, module):
        return lower is not None
    made = context.project.built.get(cut)
    # Of a list that is sent it is seen elsewhere what is done with it.
    return (lower is None and bool(_numbers(context, bound))) or (
        isinstance(made, SeqValue) and made in known.senders
    )


def is_same_count(context: Context, known: Facts, call: cst.CSTNode, module: Module) -> bool:
    """Whether ``start = len(messages)`` is only a place to cut at."""
    assign = module.parents.get(call)
    match assign:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            scope = module.function(call)
            return scope is not None and any(
                isinstance(node, cst.Subscript)
                and _bound_of(node) == name
                and is_same_cut(context, known, node, module)
                for node in walk(scope)
            )
        case _:
            return False


def _bound_of(node: cst.Subscript) -> str | None:
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Slice(lower=cst.Name(value=name), upper=None, step=None))]:
            return name
        case [cst.SubscriptElement(slice=cst.Slice(lower=None, upper=cst.Name(value=name), step=None))]:
            return name
        case _:
            return None


def _is_written(cut: cst.Subscript, module: Module) -> bool:
    """``del messages[1:]``, ``messages[1:] = []``."""
    return isinstance(module.parents.get(cut), (cst.Del, cst.AssignTarget))


def _numbers(context: Context, bound: cst.BaseExpression | None) -> list[int]:
    """The numbers that a bound can be; none if it can be something else, or less than nothing."""
    if isinstance(bound, cst.Integer):
        return [bound.evaluated_value]
    found = constants(context.project.vars.get(bound)) if bound is not None else None
    numbers = [value for value in found or [] if type(value) is int and value >= 0]
    return numbers if found is not None and len(numbers) == len(found) else []


# -- the first messages ------------------------------------------------------------------


def _is_beginning(
    context: Context, known: Facts, node: cst.BaseExpression, bound: cst.BaseExpression
) -> bool:
    """Whether what is before ``bound`` in the history ``node`` are plain messages, and always there."""
    most = max(_numbers(context, bound), default=0)
    return 0 < most <= _leading_of(context, known, node)


def _leading_of(context: Context, known: Facts, node: cst.BaseExpression) -> int:
    """How many messages at the beginning of the list ``node`` are plain ones for certain.

    That is the least of what holds for each list it can be and those they are made of, each asked once.
    """
    count = _MANY
    seen: set[SeqValue] = set()
    todo = [node]
    while todo and count:
        values = context.project.values(todo.pop())
        if not values:
            return 0
        for value in values:
            if not isinstance(value, SeqValue):
                return 0
            if value not in seen:
                seen.add(value)
                made, base = _made_with(context, known, value)
                kept = (_kept_by(context, known, *holder) for holder in context.holders(value))
                count = min(count, made, *kept)
                todo += [base] if base is not None else []
    return count


def _made_with(context: Context, known: Facts, sequence: SeqValue) -> tuple[int, cst.BaseExpression | None]:
    """How many there are at most when ``sequence`` is made, and of which other list."""
    match node := sequence.node:
        case cst.List(elements=elements):
            count = 0
            for element in elements:
                if isinstance(element, cst.StarredElement) or not _is_plain(context, known, element.value):
                    break
                count += 1
            return count, None
        case cst.Subscript(
            value=base, slice=[cst.SubscriptElement(slice=cst.Slice(lower=None, upper=upper, step=None))]
        ):
            return min(_numbers(context, upper), default=0) if upper is not None else _MANY, base
        case cst.BinaryOperation(left=left, operator=cst.Add()):
            return _MANY, left
        case cst.Call(args=[cst.Arg(keyword=None, star="", value=base)]) if builtin(context, node) == "list":
            return _MANY, base
        case _:
            return 0, None


def _is_plain(context: Context, known: Facts, node: cst.BaseExpression) -> bool:
    values = context.project.values(node)
    return bool(values) and all(
        isinstance(value, DictValue)
        and known.forms.get(value) is Form.PLAIN
        and known.forms_of(context.project.vars.get(node)) == {Form.PLAIN}
        for value in values
    )


def _kept_by(context: Context, known: Facts, node: cst.CSTNode, module: Module) -> int:
    """How many messages at the beginning of a list are left alone where it is used at ``node``."""
    match parent := module.parents.get(node):
        case cst.Attribute(value=value, attr=cst.Name(value=method)) if value is node:
            return _MANY if method in _ADDING else 0
        case cst.AugAssign(target=target, operator=operator) if target is node:
            return _MANY if isinstance(operator, cst.AddAssign) else 0
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=item)]) if value is node:
            if not isinstance(module.parents.get(parent), (cst.Del, cst.AssignTarget, cst.AugAssign)):
                return _MANY
            return _kept_by_store(context, known, parent, item, module)
        case _:
            return _MANY


def _kept_by_store(
    context: Context, known: Facts, target: cst.Subscript, item: cst.BaseSlice, module: Module
) -> int:
    place = module.parents.get(target)
    if isinstance(item, cst.Slice):
        return min(_numbers(context, item.lower), default=0)
    assign = module.parents.get(place) if isinstance(place, cst.AssignTarget) else None
    same = isinstance(assign, cst.Assign) and _is_plain(context, known, assign.value)
    return _MANY if same else 0


# -- a length that was taken -------------------------------------------------------------


def _is_length(
    context: Context, known: Facts, cut: cst.Subscript, bound: cst.BaseExpression, module: Module
) -> bool:
    """Whether ``bound`` is the length that the list had in this function, and no entry has moved since."""
    scope = module.function(cut)
    if not isinstance(bound, cst.Name) or not isinstance(scope, cst.FunctionDef):
        return False
    measured = _measured(scope, bound.value)
    if measured is None or builtin(context, measured) != "len":
        return False
    before = list(context.project.values(measured.args[0].value))
    now = list(context.project.values(cut.value))
    if not now or set(before) != set(now) or not all(isinstance(value, SeqValue) for value in now):
        return False
    order = module.order
    return (
        order[measured] < order[cut]
        and all(_only_grows(context, value, bound.value) for value in now if isinstance(value, SeqValue))
        and all(_cuts_one_of(context, node, now, module) for node in walk(scope) if _names(node, bound.value))
    )


def _measured(scope: cst.FunctionDef, name: str) -> cst.Call | None:
    """The call of ``start = len(messages)``, if that is all that ``name`` ever is."""
    found: list[cst.Call | None] = []
    for node in walk(scope):
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=target))],
                value=cst.Call(args=[cst.Arg(keyword=None, star="")]) as call,
            ) if target == name:
                found.append(call)
            case cst.AssignTarget(target=cst.Name(value=target)) if target == name:
                continue
            case _ if name in bound_by(node) or (isinstance(node, cst.Param) and node.name.value == name):
                found.append(None)
            case _:
                continue
    return found[0] if len(found) == 1 else None


def _names(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _cuts_one_of(context: Context, node: cst.CSTNode, lists: list[Value], module: Module) -> bool:
    """Whether ``node`` is a bound of a slice of one of ``lists``, or where the bound is set."""
    parent = module.parents.get(node)
    if isinstance(parent, cst.AssignTarget):
        return True
    element = module.parents.get(parent) if isinstance(parent, cst.Slice) else None
    whole = module.parents.get(element) if element is not None else None
    return isinstance(whole, cst.Subscript) and set(context.project.values(whole.value)) == set(lists)


def _only_grows(context: Context, sequence: SeqValue, bound: str) -> bool:
    """Whether entries are only put at the end of ``sequence``, or cut off at ``bound``."""
    return all(_leaves(node, module, bound) for node, module in context.holders(sequence))


def _leaves(node: cst.CSTNode, module: Module, bound: str) -> bool:
    match parent := module.parents.get(node):
        case cst.Attribute(value=value, attr=cst.Name(value=method)) if value is node:
            return method in _ADDING
        case cst.AugAssign(target=target, operator=operator) if target is node:
            return isinstance(operator, cst.AddAssign)
        case cst.Subscript(value=value) if value is node:
            stored = isinstance(module.parents.get(parent), (cst.Del, cst.AssignTarget, cst.AugAssign))
            return not stored or _bound_of(parent) == bound
        case _:
            return True


def positions(context: Context, known: Facts, sequence: SeqValue) -> Iterator[tuple[cst.CSTNode, Module]]:
    """The cuts of ``sequence``, and the places where it is counted, that see the same as before."""
    for node, module in context.holders(sequence):
        parent = module.parents.get(node)
        match parent:
            case cst.Subscript(value=value) if value is node and is_same_cut(context, known, parent, module):
                yield parent, module
            case cst.Arg():
                call = module.parents[parent]
                if is_same_count(context, known, call, module):
                    yield call, module
            case _:
                continue

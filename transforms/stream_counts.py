"""Chunks that a loop counts although they hold no text (MR404).

The first chunk of an answer has an empty text, which is not None, and the last ones have none at all; no
event stands for either. What counts below a test for truth counts the same as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

import libcst as cst

from ..know.kinds import Bound, Function, Kind, SeqValue, Shape, Site, Value
from ..know.modules import Module, walk
from .context import Context
from .stream_visible import is_gathered

_Lets = Callable[[Context, cst.BaseExpression, bool], bool | None]


def plan(context: Context) -> None:
    """Ask before a count of chunks becomes one of texts."""
    _in_loops(context)
    _in_takers(context)
    emitting = set(_emitting(context))
    for sequence in context.sequences() if emitting else ():
        sites = {value.site for value in _elements(sequence) if _is_delta(value)} & emitting
        for node, module in context.holders(sequence) if sites else ():
            for place in _counted(context, node, module):
                _hold(context, place, module, sites)


def _hold(context: Context, place: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    detail = (
        f"`{context.source(place, module)}` counts texts, and the empty ones of the first and the"
        " last chunk do not come any more"
    )
    context.unsafe(place, module, sites, "MR404", detail)


def _in_takers(context: Context) -> None:
    """Functions that get the text of each chunk, empty or not, and count how often they are called."""
    for loop, module, sites in _streams(context):
        for call in walk(loop.body):
            if not isinstance(call, cst.Call) or not any(_is_text(context, arg.value) for arg in call.args):
                continue
            if _nearest(context, call, loop, module, _lets) is False:
                continue
            for callee in context.project.values(call.func):
                function = callee.function if isinstance(callee, Bound) else callee
                if isinstance(function, Function):
                    for count in _each_time(context, function):
                        _hold(context, count, function.module, sites)


def _kept(context: Context, body: cst.BaseSuite, module: Module) -> Iterator[cst.CSTNode]:
    """``texts.append(text)``, where how many there are shows."""
    for arg in walk(body):
        text = arg.value if isinstance(arg, cst.Arg) else None
        if text is not None and _is_text(context, text) and is_gathered(context, text, module):
            yield module.parents[arg]


_CHOOSING = (cst.If, cst.IfExp, cst.For, cst.While, cst.Try, cst.Match, cst.FunctionDef, cst.Lambda)


def _each_time(context: Context, function: Function) -> Iterator[cst.CSTNode]:
    """What ``function`` counts, or puts into a list that is counted, whenever it is called."""
    module, node = function.module, function.node
    if not isinstance(node, cst.FunctionDef):
        return
    for counting in (*_counts(node), *_kept(context, node.body, module)):
        around = list(module.ancestors(counting))
        inside = around[: around.index(node)]
        plain = not any(isinstance(one, _CHOOSING) for one in inside)
        if plain and _nearest(context, counting, node, module, _lets) is not False:
            yield counting


def _emitting(context: Context) -> Iterator[Site]:
    """The streams of which empty texts, too, are handed on to whoever asks for the next one."""
    for module in context.project.modules:
        for loop in module.of(cst.For, cst.CompFor):
            assert isinstance(loop, (cst.For, cst.CompFor))
            sites = _sites(context, loop)
            whole: cst.CSTNode = loop if isinstance(loop, cst.For) else module.parents[loop]
            for node in walk(whole) if sites else ():
                given = node.value if isinstance(node, cst.Yield) else getattr(node, "elt", None)
                if not isinstance(given, cst.BaseExpression) or not _is_text(context, given):
                    continue
                if _nearest(context, given, loop, module, _lets) is not False:
                    yield from sites


def _elements(sequence: SeqValue) -> Iterator[Value]:
    seen: set[SeqValue] = set()
    stack = [sequence]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen.add(current)
            yield from current.element.values
            stack += [value for var in current.derived for value in var.values if isinstance(value, SeqValue)]


def _is_delta(value: Value) -> TypeGuard[Shape]:
    return isinstance(value, Shape) and value.kind is Kind.DELTA_TEXT


def _counted(context: Context, node: cst.CSTNode, module: Module) -> Iterator[cst.CSTNode]:
    """Where it shows how many texts the sequence at ``node`` gives."""
    parent = module.parents.get(node)
    call = module.parents.get(parent) if isinstance(parent, cst.Arg) else None
    match call:
        case cst.Call(func=cst.Name(value="len" | "enumerate" | "next" | "anext" | "zip")):
            yield call
        case cst.Call(func=cst.Name(value="print")) if _is_a(context, node, "list"):
            yield call
        case _ if isinstance(parent, cst.Assign) and _is_unpacked(parent):
            if _is_a(context, node, "list", "generator"):
                yield parent
        case _ if isinstance(parent, cst.For) and parent.iter is node:
            yield from (one for one in _counts(parent) if _takes_all(context, one, parent, module))
        case _:
            return


def _is_a(context: Context, node: cst.CSTNode, *types: str) -> bool:
    values = context.project.values(node)
    return any(isinstance(value, SeqValue) and value.type in types for value in values)


def _is_unpacked(node: cst.Assign) -> bool:
    """``first, *rest = texts``"""
    return any(isinstance(target.target, (cst.Tuple, cst.List)) for target in node.targets)


def _takes_all(context: Context, count: cst.CSTNode, loop: cst.For, module: Module) -> bool:
    return _nearest(context, count, loop, module, _lets) is not False


def _streams(context: Context) -> Iterator[tuple[cst.For, Module, set[Site]]]:
    for module in context.project.modules:
        for node in module.of(cst.For):
            if sites := _sites(context, node):
                yield node, module, sites


def _sites(context: Context, loop: cst.For | cst.CompFor) -> set[Site]:
    """The calls whose streams ``loop`` goes through."""
    return {shape.site for shape in context.project.shapes(loop.iter) if shape.kind is Kind.STREAM}


def _in_loops(context: Context) -> None:
    for node, module, sites in _streams(context):
        for count in (*_counts(node), *_kept(context, node.body, module)):
            if _takes_empty(context, count, node, module):
                _hold_chunks(context, count, module, sites)
    for module in context.project.modules:  # `sum(1 for chunk in stream if ... is not None)`
        for loop in module.of(cst.CompFor):
            whole, sites = module.parents[loop], _sites(context, loop)
            one = whole.elt if isinstance(whole, (cst.GeneratorExp, cst.ListComp)) else None
            if sites and isinstance(one, cst.Integer) and _takes_empty(context, one, whole, module):
                _hold_chunks(context, whole, module, sites)


def _hold_chunks(context: Context, count: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    text = context.source(count, module)
    detail = f"`{text}` counts chunks with an empty text or none, and no event stands for them"
    context.unsafe(count, module, sites, "MR404", detail)


def _counts(loop: cst.For | cst.FunctionDef) -> Iterator[cst.AugAssign]:
    for node in walk(loop.body):
        match node:
            case cst.AugAssign(operator=cst.AddAssign() | cst.SubtractAssign(), value=cst.Integer()):
                yield node
            case _:
                continue


def _takes_empty(context: Context, count: cst.CSTNode, loop: cst.CSTNode, module: Module) -> bool:
    """Whether the nearest test of a text on the way to ``count`` lets one through that is empty or None."""
    return _nearest(context, count, loop, module, _lets) or False


def lets_none(context: Context, node: cst.CSTNode, loop: cst.CSTNode, module: Module) -> bool:
    """Whether no test of a text on the way from ``loop`` to ``node`` keeps None out."""
    return _nearest(context, node, loop, module, _lets_none) is not False


def _nearest(
    context: Context, node: cst.CSTNode, loop: cst.CSTNode, module: Module, lets: _Lets
) -> bool | None:
    """What the nearest test of a text on the way from ``loop`` to ``node`` lets through, if there is one."""
    below = node
    for parent in module.ancestors(node):
        found = None
        if isinstance(parent, (cst.If, cst.IfExp)) and below is not parent.test:
            found = lets(context, parent.test, below is parent.body)
        elif isinstance(parent, cst.IndentedBlock) and isinstance(below, cst.BaseStatement):
            above = parent.body[: parent.body.index(below)]
            for guard in (item for item in reversed(above) if isinstance(item, cst.If)):
                found = lets(context, guard.test, False) if found is None and _skips(guard) else found
        elif isinstance(parent, (cst.GeneratorExp, cst.ListComp, cst.SetComp)):
            for condition in parent.for_in.ifs:
                found = lets(context, condition.test, True) if found is None else found
        if found is not None or parent is loop:
            return found
        below = parent
    return None


def _skips(node: cst.If) -> bool:
    """``if ...: continue``"""
    last: cst.CSTNode = node.body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Continue)


def _lets(context: Context, test: cst.BaseExpression, true: bool) -> bool | None:
    """Whether an empty text passes where ``test`` is true (or false); None if it asks for no text."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _lets(context, inner, not true)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot())]):
            return True if _is_text(context, left) else None
        case cst.BooleanOperation(operator=cst.And(), left=left, right=right) if true:
            found = [_lets(context, part, True) for part in (left, right)]
            return None if found == [None, None] else False not in found
        case _ if _is_text(context, test):
            return not true
        case _:
            return None


def _lets_none(context: Context, test: cst.BaseExpression, true: bool) -> bool | None:
    """Whether None passes where ``test`` is true (or false); None if it asks for no text."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _lets_none(context, inner, not true)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator)]):
            negative = isinstance(operator, (cst.IsNot, cst.NotEqual))
            return (negative is not true) if _is_text(context, left) else None
        case cst.BooleanOperation(operator=cst.And(), left=left, right=right) if true:
            found = [_lets_none(context, part, True) for part in (left, right)]
            return None if found == [None, None] else False not in found
        case _ if _is_text(context, test):
            return not true
        case _:
            return None


def _is_text(context: Context, node: cst.BaseExpression) -> bool:
    return any(shape.kind is Kind.DELTA_TEXT for shape in context.project.shapes(node))

"""Where a history is counted, cut, or has entries taken out: what depends on one answer being one item."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import External, SeqValue
from ..know.modules import Module, walk
from .context import Context, constants
from .reading import builtin

Look = tuple[cst.CSTNode, Module]


def cuts(context: Context, sequence: SeqValue) -> Iterator[Look]:
    """The slices of a history that leave something out, and ``deque(maxlen=9)``, which does so by itself."""
    if _is_bounded(context, sequence.node):
        yield sequence.node, sequence.module
    for node, module in context.holders(sequence):
        parent = module.parents.get(node)
        match parent:
            case cst.Subscript(
                value=value, slice=[cst.SubscriptElement(slice=cst.Slice(lower=lower, upper=upper))]
            ) if value is node and (lower is not None or upper is not None):
                if not context.is_gone(node, module):
                    yield parent, module
            case _:
                continue


def _is_bounded(context: Context, made: cst.CSTNode) -> bool:
    if not isinstance(made, cst.Call):
        return False
    callees = context.project.values(made.func)
    is_deque = any(isinstance(value, External) and value.path == "collections.deque" for value in callees)
    return is_deque and (len(made.args) > 1 or any(arg.keyword is not None for arg in made.args))


def counts(context: Context, sequence: SeqValue) -> Iterator[Look]:
    """Where the length of a history matters, or one of its entries goes."""
    for node, module in context.holders(sequence):
        parent = module.parents.get(node)
        counted = isinstance(parent, cst.Arg) and _is_counted(context, parent, module)
        if parent is not None and counted and not context.is_gone(node, module):
            yield module.parents[parent], module
        for counting in _counted_by_turns(context, node, module):
            if not context.is_gone(counting, module):
                yield counting, module
    for place in sequence.places:
        if place.how in ("pop", "remove", "delete"):
            yield place.node, place.module


def _counted_by_turns(context: Context, node: cst.CSTNode, module: Module) -> Iterator[cst.CSTNode]:
    """Where a loop over the history ``node`` does something for each entry, whatever it is: ``n += 1``."""
    match parent := module.parents.get(node):
        case cst.Arg():
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and builtin(context, call) == "enumerate":
                yield call
        case cst.CompFor(target=target, iter=source, ifs=ifs) if source is node:
            whole = module.parents.get(parent)
            if ifs and not any(_asks_type(item.test) for item in ifs):
                return
            if isinstance(whole, (cst.GeneratorExp, cst.ListComp)) and not _mentions(whole.elt, target):
                yield whole
        case cst.For(target=target, iter=source, body=body) if source is node:
            for line in body.body:
                for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                    if isinstance(small, cst.AugAssign) and not _mentions(small.value, target):
                        yield small
        case _:
            return


def _asks_type(test: cst.CSTNode) -> bool:
    """``isinstance(message, dict)``: what the entries are, and not what they say."""
    return any(
        isinstance(inner, cst.Call)
        and isinstance(inner.func, cst.Name)
        and inner.func.value in ("isinstance", "hasattr")
        for inner in walk(test)
    )


def _mentions(node: cst.CSTNode, target: cst.CSTNode) -> bool:
    """Whether ``node`` has a name of the loop's ``target`` in it."""
    names = {inner.value for inner in walk(target) if isinstance(inner, cst.Name)}
    return any(isinstance(inner, cst.Name) and inner.value in names for inner in walk(node))


def searches(context: Context, sequence: SeqValue) -> Iterator[Look]:
    """Where a history is searched for an answer: ``messages.remove(message)``."""
    for node, module in context.holders(sequence):
        method = module.parents.get(node)
        call = module.parents.get(method) if isinstance(method, cst.Attribute) else None
        match method, call:
            case cst.Attribute(value=value, attr=attr), cst.Call(args=[cst.Arg(value=wanted), *_]) if (
                value is node and attr.value in ("remove", "index", "count")
            ):
                if context.project.shapes(wanted):
                    yield call, module
            case _:
                continue


def _is_counted(context: Context, arg: cst.Arg, module: Module) -> bool:
    """Whether the length matters: more than that there is something."""
    call = module.parents.get(arg)
    if not isinstance(call, cst.Call):
        return False
    if not any(
        isinstance(v, External) and v.path == "builtins.len" for v in context.project.values(call.func)
    ):
        return False
    comparison = module.parents.get(call)
    match comparison:
        case cst.Comparison(left=left, comparisons=[target]) if left is call:
            return constants(context.project.vars.get(target.comparator)) not in ([0], [1])
        case _:
            return True

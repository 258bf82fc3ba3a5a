"""Whether a name can be None instead of an answer: ``ask`` returned nothing, nobody has passed one."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Bound, Const, Function
from ..know.modules import Module, bound_by, walk
from .context import Context
from .none_errors import Failure, is_heard, is_heard_above
from .reading import truth_tested
from .snippets import spells_none


def may_be_none(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node`` can be None, as its values or the functions that give it tell."""
    return _is_none_at_times(context, node) or is_not_given(context, node)


def is_not_given(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node`` comes from a function that comes to its end without ``return`` at times."""
    return any(_gives_nothing(context, made) for made in _made_by(context, node))


def _is_none_at_times(context: Context, node: cst.CSTNode) -> bool:
    """Whether None is among the values; the default of a ``getattr`` never shows where the field is there."""
    return any(
        isinstance(value, Const) and value.value is None and not _is_default(context, value)
        for value in context.project.values(node)
    )


def _made_by(context: Context, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The calls that give the value of ``node``: itself, or what the name is set to."""
    if isinstance(node, (cst.Call, cst.Await)):
        yield node
    elif isinstance(node, cst.Name):
        module = context.module_of(node)
        for part in walk(module.function(node) or module.tree):
            match part:
                case cst.Assign(targets=targets, value=value):
                    if any(
                        isinstance(item.target, cst.Name) and item.target.value == node.value
                        for item in targets
                    ):
                        yield value
                case _:
                    continue


def _gives_nothing(context: Context, call: cst.CSTNode) -> bool:
    """Whether ``call`` is of a function that comes to its end without ``return`` at times."""
    call = call.expression if isinstance(call, cst.Await) else call
    callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
    for callee in callees:
        function = callee.function if isinstance(callee, Bound) else callee
        if not isinstance(function, Function) or not isinstance(function.node, cst.FunctionDef):
            continue
        if function.yields is None and not _leaves(function.node.body):
            return True
    return False


def _leaves(suite: cst.BaseSuite) -> bool:
    """Whether the end of a block is never reached."""
    last = suite.body[-1] if suite.body else None
    match last:
        case cst.SimpleStatementLine(body=[*_, cst.Return() | cst.Raise()]):
            return True
        case cst.Return() | cst.Raise():
            return True
        case cst.If(body=body, orelse=cst.If() as other):
            return _leaves(body) and _leaves(cst.IndentedBlock([other]))
        case cst.If(body=body, orelse=cst.Else(body=other)):
            return _leaves(body) and _leaves(other)
        case cst.With(body=body):
            return _leaves(body)
        case cst.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            if final is not None and _leaves(final.body):
                return True
            end = orelse.body if orelse is not None else body
            return _leaves(end) and all(_leaves(handler.body) for handler in handlers)
        case cst.While(test=cst.Name(value="True")):
            return not any(isinstance(part, cst.Break) for part in walk(last))
        case cst.Match(cases=cases):
            return all(_leaves(case.body) for case in cases)
        case _:
            return False


def _is_default(context: Context, value: Const) -> bool:
    module = context.module_of(value.node)
    argument = module.parents.get(value.node)
    call = module.parents.get(argument) if isinstance(argument, cst.Arg) else None
    func = call.func if isinstance(call, cst.Call) else None
    match func:
        case cst.Name(value="getattr") if isinstance(call, cst.Call):
            return not may_be_none(context, call.args[0].value)
        case cst.Attribute(attr=cst.Name(value="get")):
            return True
        case _:
            return False


def is_doubted(context: Context, module: Module, scope: cst.CSTNode, name: str) -> bool:
    """Whether ``name`` can be None somewhere in ``scope``, or the code asks whether it is."""
    return any(
        isinstance(node, cst.Name)
        and node.value == name
        and not _is_of_comprehension(module, node)
        and (_is_none_at_times(context, node) or truth_tested(module, node) or _is_asked(module, node))
        for node in walk(scope)
    )


def _is_of_comprehension(module: Module, node: cst.Name) -> bool:
    """Whether a comprehension has a variable of its own by that name."""
    return any(
        isinstance(part, cst.CompFor) and node.value in set(bound_by(part))
        for parent in module.ancestors(node)
        if isinstance(parent, cst.BaseComp)
        for part in walk(parent)
    )


def _is_asked(module: Module, node: cst.Name) -> bool:
    parent = module.parents.get(node)
    match parent:
        case cst.Comparison(left=left, comparisons=[target]) if left is node:
            return spells_none(target.comparator)
        case cst.ComparisonTarget():
            comparison = module.parents[parent]
            return isinstance(comparison, cst.Comparison) and spells_none(comparison.left)
        case _:
            return False


_NO_ANSWER = Failure(frozenset({"AttributeError", "TypeError"}))


def would_be_heard(context: Context, node: cst.BaseExpression, module: Module, above: bool = True) -> bool:
    """Whether what is read of ``node`` is an error at times, and a handler waits for that.

    ``above``: one around a caller counts as well.
    """
    if not any(may_be_none(context, part) for part in _receivers(node)):
        return False
    if above:
        return is_heard_above(context, node, module, _NO_ANSWER, broad=True)
    return is_heard(node, module, _NO_ANSWER, broad=True)


def _receivers(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """``a.b[0]``, ``a.b``, ``a``."""
    while True:
        yield node
        if not isinstance(node, (cst.Attribute, cst.Subscript)):
            return
        node = node.value

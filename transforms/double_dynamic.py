"""Doubles that nobody can look into: they make their attributes up, or are read from data (MR803).

Nothing of the old answer is mentioned in the code of such a double, so there is nothing to rewrite, and
nothing tells what it gives to those who read the new answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..decide.receivers import DOUBLES
from ..know import modules as syntax
from ..know.kinds import Class, Const, External, Function, Instance, Value
from ..know.modules import Module
from .context import Context
from .double_functions import Replacements
from .double_targets import Targets

_MAKING = ("__getattr__", "__getattribute__")
_KNOWN = (*DOUBLES, "openai.", "types.SimpleNamespace", "argparse.Namespace")


def dark(
    context: Context, module: Module, replacements: Replacements, known: Collection[cst.CSTNode]
) -> Iterator[tuple[cst.CSTNode, str]]:
    """The nodes in ``module`` that stand for such doubles, each with what is wrong about it."""
    silent = _silent(context, module, Targets(module, known))
    for function in replacements.functions:
        if function.module is module and function not in silent:
            for node in _answers(function.node):
                for value in context.project.values(node):
                    detail = _darkness(context, value)
                    if detail is not None:
                        yield node, f"`{context.source(node, module)}` {detail}"
    for node in filter(is_patcher, module.of(cst.Call)):
        for arg in node.args:
            for value in context.project.values(arg.value):
                if isinstance(value, Instance) and _makes_up(context, value):
                    yield arg, f"`{context.source(arg.value, module)}` makes its attributes up"


def _silent(context: Context, module: Module, targets: Targets) -> set[Value]:
    """The functions that only stand for methods of the program that give nothing: no answer is looked for."""
    given: dict[Value, bool] = {}
    for node in module.of(cst.Assign, cst.Arg):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(value=mock))], value=value):
                origins = targets.origins(mock)
                silent = bool(origins) and all(_gives_nothing(context, origin) for origin in origins)
            case cst.Assign(value=value):
                silent = False
            case cst.Arg(value=value):
                call = module.parents.get(node)
                silent = isinstance(call, cst.Call) and _gives_nothing(context, call)
            case _:
                continue
        for function in context.project.values(value):
            if isinstance(function, Function):
                given[function] = silent and given.get(function, True)
    return {function for function, is_silent in given.items() if is_silent}


def _gives_nothing(context: Context, patch: cst.BaseExpression) -> bool:
    """Whether ``patch.object(Worker, "run")`` replaces a method of the program that gives only constants."""
    match patch:
        case cst.Call(args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as name), *_]):
            pass
        case _:
            return False
    if not is_patcher(patch) or not isinstance(name.evaluated_value, str):
        return False
    methods = [
        method
        for cls in context.project.values(owner)
        if isinstance(cls, Class)
        for method in context.project.lookup(cls, name.evaluated_value).values
    ]
    return bool(methods) and all(
        isinstance(method, Function)
        and method.yields is None
        and all(isinstance(value, Const) for value in method.result.values)
        for method in methods
    )


def _answers(node: cst.FunctionDef | cst.Lambda) -> Iterator[cst.BaseExpression]:
    """What a call of ``node`` gives."""
    if isinstance(node, cst.Lambda):
        yield node.body
        return
    for inner in syntax.walk(node.body):
        if isinstance(inner, cst.Return) and inner.value is not None:
            yield inner.value


def _darkness(context: Context, value: Value) -> str | None:
    """Why nobody can tell what ``value`` gives; None if that can be told."""
    match value:
        case External(path=path) if not path.startswith(_KNOWN):
            return "is an answer of unknown form"
        case Instance() if _makes_up(context, value):
            return "makes its attributes up"
        case _:
            return None


def _makes_up(context: Context, value: Instance) -> bool:
    return any(context.project.lookup(value.type, name).values for name in _MAKING)

"""Doubles that nobody can look into: they make their attributes up, or are read from data (MR803).

Nothing of the old answer is mentioned in the code of such a double, so there is nothing to rewrite, and
nothing tells what it gives to those who read the new answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..decide.receivers import DOUBLES
from ..know import modules as syntax
from ..know.kinds import External, Instance, Value
from ..know.modules import Module
from .context import Context
from .double_functions import Replacements

_MAKING = ("__getattr__", "__getattribute__")
_KNOWN = (*DOUBLES, "openai.", "types.SimpleNamespace", "argparse.Namespace")


def dark(context: Context, module: Module, replacements: Replacements) -> Iterator[tuple[cst.CSTNode, str]]:
    """The nodes in ``module`` that stand for such doubles, each with what is wrong about it."""
    for function in replacements.functions:
        if function.module is module:
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

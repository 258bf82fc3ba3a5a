"""The net under the handlers: old words that are looked for in errors which went another way (MR602).

A function may return the text of an error, and a future, or ``gather(return_exceptions=True)``, hands the
error itself on. Who looks there for "maximum context length" would not find it any more.
"""

from __future__ import annotations

import libcst as cst

from ..decide.receivers import in_tests
from ..know.kinds import Const, Shape
from ..know.modules import Module, walk
from . import too_long
from .context import Context
from .error_texts import looked_at

_FINDS = frozenset({"startswith", "find", "index", "count"})
# What hands the error of another call on to who asks for its result.
_CARRIERS = frozenset({"result", "exception", "gather", "as_completed", "map", "starmap", "get"})


def plan(context: Context) -> None:
    """Hold back the calls of a program that looks for such words where no handler was followed to."""
    known = looked_at(context)
    for module in context.project.modules:
        if in_tests(module) or not any(word in module.text.lower() for word in too_long.TELLING):
            continue
        for node in module.of(cst.Comparison, cst.Call):
            if node not in known and _looks(context, node) and _may_be_of_api(node, module):
                program = context.project.program(module)
                sites = [site for site in context.sites if site.module in program]
                detail = f"`{context.source(node, module)}` looks for words of the old API in its errors"
                for site in sites:
                    context.unsafe(node, module, [site], "MR602", detail)


def _looks(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node`` looks for such words, which are written there, in a text that is not all known."""
    match node:
        case cst.Comparison(
            left=cst.SimpleString() as words,
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=text)],
        ) if isinstance(operator, (cst.In, cst.NotIn)):
            pass
        case cst.Call(
            func=cst.Attribute(value=text, attr=cst.Name(value=name)),
            args=[cst.Arg(value=cst.SimpleString() as words), *_],
        ) if name in _FINDS:
            pass
        case _:
            return False
    value = words.evaluated_value
    if not isinstance(value, str) or not too_long.tells(value):
        return False
    values = context.project.values(text)
    return not values or not all(isinstance(one, (Const, Shape)) for one in values)


def _may_be_of_api(node: cst.CSTNode, module: Module) -> bool:
    """Whether what ``node`` looks at may be the error of a call elsewhere, or its text.

    What a handler around it got is that only if the error came by way of a future.
    """
    names = {inner.value for inner in walk(node) if isinstance(inner, cst.Name)}
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return True
        if isinstance(parent, cst.ExceptHandler) and parent.name is not None:
            around = module.parents.get(parent)
            caught = {parent.name.name.value} if isinstance(parent.name.name, cst.Name) else set()
            known = too_long.Names(frozenset(caught)).within(parent.body)
            if isinstance(around, cst.Try) and names & known.all:
                return any(
                    isinstance(inner, cst.Call)
                    and isinstance(inner.func, (cst.Attribute, cst.Name))
                    and _called(inner.func) in _CARRIERS
                    for inner in walk(around.body)
                )
    return True


def _called(func: cst.Attribute | cst.Name) -> str:
    return func.attr.value if isinstance(func, cst.Attribute) else func.value

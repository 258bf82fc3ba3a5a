"""Requests that a double keeps, looked at elsewhere: by a test that gets them from a fixture (MR803).

The rules for doubles rewrite what stands beside the double; what they left as it was looks for old names.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..decide.receivers import in_tests
from ..know import modules as syntax
from ..know.kinds import DictValue, Function
from ..know.modules import Module, walk
from .context import Context
from .double_histories import sends_items
from .double_targets import METHODS, RENAMED, RESHAPED
from .poured import READS, looks
from .taken_out import taker
from .tested import at, key_asked


def plan(context: Context) -> None:
    """Hold back what a look at a recorded request is about. To be asked when the doubles are planned."""
    tests = context.plan.test_modules
    edited = {inner for edit in context.plan.edits if edit.module in tests for inner in walk(edit.node)}
    for value in context.dicts():
        double = taker(value) if value.module in tests else None
        for node, module in _looks(context, value) if double is not None else ():
            beside = module is value.module and module.function(node) is double
            if double is not None and _is_as_ever(context, value, double, node, module):
                continue
            if not beside and edited.isdisjoint(walk(node)):
                text = context.source(node, module)
                detail = f"`{text}` looks at a recorded request"
                context.unsafe(node, module, tests[value.module], "MR803", detail)


def _is_as_ever(
    context: Context, value: DictValue, double: cst.CSTNode, node: cst.CSTNode, module: Module
) -> bool:
    """Whether ``node`` asks for a parameter of functions of the program in whose place the double is put.

    Who calls them says the keyword as before.
    """
    name = _asked(node)
    functions = _stands_for(context, value.module, double)
    if name is None or not functions:
        return False
    edited = {edit.node for edit in context.plan.edits}
    for function in functions:
        own = [p for p in syntax.parameters(function.params) if p.name.value == name and not p.star]
        if len(own) != 1 or not edited.isdisjoint((function, function.params, own[0], own[0].name)):
            return False
    return name != "messages" or not any(sends_items(context, site) for site in at(context, module, node))


def _stands_for(context: Context, module: Module, double: cst.CSTNode) -> list[cst.FunctionDef]:
    """The functions of the program that a test replaces by ``double``; none if it replaces something else."""
    names: set[str] = set()
    for call in filter(is_patcher, module.of(cst.Call)):
        assert isinstance(call, cst.Call)
        given = {
            v.node for arg in call.args for v in context.project.values(arg.value) if isinstance(v, Function)
        }
        if double in given:
            texts = [arg.value for arg in call.args if isinstance(arg.value, cst.SimpleString)]
            names |= {str(text.evaluated_value).rpartition(".")[2] for text in texts} or {""}
    found = [
        function.node
        for function in context.project.functions.values()
        if function.name in names
        and isinstance(function.node, cst.FunctionDef)
        and not in_tests(function.module)
    ]
    known = {function.name.value for function in found}
    return found if names and names <= known - METHODS else []


def _asked(node: cst.CSTNode) -> str | None:
    """The one key that a read asks for."""
    if isinstance(node, cst.Comparison) and isinstance(node.left, cst.SimpleString):
        return str(node.left.evaluated_value)
    return key_asked(node)


def _looks(context: Context, value: DictValue) -> Iterator[tuple[cst.CSTNode, Module]]:
    for name, places in value.places.items():
        if name in RENAMED or name in RESHAPED:
            yield from ((place.node, place.module) for place in places if place.how in READS)
    yield from looks(context, value)

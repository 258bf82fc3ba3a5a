"""Functions that a test puts in the place of ``create``: what they ask of the request (MR802, MR803)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..know import modules as syntax
from ..know.kinds import Bound, DictValue, Function
from ..know.modules import Module
from .context import Context

_METHODS = frozenset({"create", "parse"})
_ANSWERS = frozenset({"side_effect", "new", "wraps"})
_UNDERSTOOD = frozenset({"get", "append"})


class Replacements:
    """The functions of one test file that get the request."""

    def __init__(self, context: Context, module: Module, known: Collection[cst.CSTNode]) -> None:
        self._context = context
        self._module = module
        self.functions: list[Function] = []
        for node in module.of(cst.Call, cst.Assign, cst.Arg):
            for value in _given(node, known):
                self._add(value)
        for function in self.functions:  # grows while it is read: functions hand the request on
            for node in syntax.walk(function.node):
                if isinstance(node, cst.Call) and any(
                    arg.star == "**" and self.is_request(arg.value) for arg in node.args
                ):
                    self._add(node.func)

    def _add(self, node: cst.BaseExpression) -> None:
        for value in self._context.project.values(node):
            function = value.function if isinstance(value, Bound) else value
            if isinstance(function, Function) and function not in self.functions:
                self.functions.append(function)

    def is_request(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is the ``**kwargs`` of such a function."""
        dicts = [function.double_star for function in self.functions]
        return any(
            isinstance(value, DictValue) and value in dicts for value in self._context.project.values(node)
        )

    def named(self, names: Collection[str]) -> Iterator[cst.Param]:
        """The parameters that are called like arguments of the old request."""
        for function in self.functions:
            for parameter in syntax.parameters(function.node.params):
                if parameter.name.value in names and function.module is self._module:
                    yield parameter

    def unclear(self) -> Iterator[cst.BaseExpression]:
        """Uses of a whole request that may look at the names of its arguments."""
        for node in self._module.of(cst.Name) if self.functions else ():
            if not self.is_request(node):
                continue
            parent = self._module.parents.get(node)
            match parent:
                case cst.Attribute(value=value, attr=attr) if value is node:
                    if attr.value not in _UNDERSTOOD:
                        yield node
                case cst.Arg(star=""):
                    call = self._module.parents.get(parent)
                    func = call.func if isinstance(call, cst.Call) else None
                    if not isinstance(func, cst.Attribute) or func.attr.value not in _UNDERSTOOD:
                        yield node
                case cst.StarredDictElement() | cst.Comparison() | cst.For():
                    yield node
                case _:
                    continue


def _given(node: cst.CSTNode, known: Collection[cst.CSTNode]) -> Iterator[cst.BaseExpression]:
    """What ``node`` puts in the place of a method of the old API."""
    match node:
        case cst.Call() if is_patcher(node):
            if any(inner in known for arg in node.args for inner in syntax.walk(arg.value)):
                yield from (arg.value for arg in node.args)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=attr))], value=value):
            if attr.value in _METHODS | _ANSWERS:
                yield value
        case cst.Arg(keyword=cst.Name(value=name), value=value) if name in _METHODS | _ANSWERS:
            yield value
        case _:
            return

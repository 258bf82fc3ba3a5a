"""Plain functions of a test file that get a mock, or what it has recorded, from the tests beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import libcst as cst

from ..know import modules as syntax
from ..know.modules import Module


class Helpers:
    """The functions at the top of one file that are only ever called there, by their names."""

    def __init__(self, module: Module, others: Sequence[Module] | None = None) -> None:
        self._module = module
        self._others = others  # the other files; None if they are not known

    @cached_property
    def _calls(self) -> dict[str, tuple[cst.FunctionDef, list[cst.Call]]]:
        """Each such function with its calls."""
        module = self._module
        found: dict[str, tuple[cst.FunctionDef, list[cst.Call]]] = {}
        for line in module.tree.body:
            if not isinstance(line, cst.FunctionDef) or line.decorators or line.name.value.startswith("test"):
                continue
            found[line.name.value] = (line, [])
        others: set[str] = set()
        for name in module.of(cst.Name):
            if name.value not in found or name is found[name.value][0].name:
                continue
            parent = module.parents.get(name)
            if isinstance(parent, cst.Call) and parent.func is name:
                found[name.value][1].append(parent)
            elif not (isinstance(parent, cst.Attribute) and parent.attr is name):
                others.add(name.value)
        return {name: held for name, held in found.items() if name not in others}

    def passed(self, node: cst.Name) -> list[cst.BaseExpression]:
        """What all callers give for the parameter ``node`` of the function around it; none if unclear."""
        function = self._module.function(node)
        if not isinstance(function, cst.FunctionDef):
            return []
        helper, calls = self._calls.get(function.name.value, (None, []))
        if helper is not function or _is_bound(function, node.value):
            return []
        found: list[cst.BaseExpression] = []
        for call in calls:
            value = next((arg.value for arg, name in _matched(function, call) if name == node.value), None)
            if value is None:
                return []
            found.append(value)
        return found

    def returned(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What a call gives whose function does nothing but return it."""
        match node:
            case cst.Call(func=cst.Name(value=name)) if self._is_alone(name):
                function = self._calls.get(name, (None, []))[0]
                return _only_returned(function) if function is not None else None
            case _:
                return None

    def is_returned(self, node: cst.CSTNode) -> bool:
        """Whether ``node`` is what calls of such a function give, so that they can be looked at instead."""
        function = self._module.function(node)
        if not isinstance(function, cst.FunctionDef) or not self._is_alone(function.name.value):
            return False
        held = self._calls.get(function.name.value, (None, []))[0]
        return held is function and _only_returned(function) is node

    def _is_alone(self, name: str) -> bool:
        """Whether no other file takes a function of that name from somewhere."""
        return self._others is not None and not any(
            name in other.text and _takes(other, name) for other in self._others
        )

    def uses(self, arg: cst.Arg) -> list[cst.Name] | None:
        """Where the function that gets ``arg`` reads it; None if that is not to be seen."""
        call = self._module.parents.get(arg)
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
            return None
        function = self._calls.get(call.func.value, (None, []))[0]
        if function is None:
            return None
        name = next((name for other, name in _matched(function, call) if other is arg), None)
        if name is None or _is_bound(function, name):
            return None
        return [
            node
            for node in syntax.walk(function.body)
            if isinstance(node, cst.Name) and node.value == name and self._is_read(node)
        ]

    def _is_read(self, node: cst.Name) -> bool:
        parent = self._module.parents.get(node)
        if isinstance(parent, cst.Attribute):
            return parent.attr is not node
        return not (isinstance(parent, cst.Arg) and parent.keyword is node)


def _takes(module: Module, name: str) -> bool:
    """``from helpers import name``, ``helpers.name``."""
    for node in module.of(cst.ImportFrom, cst.Attribute):
        match node:
            case cst.ImportFrom(names=cst.ImportStar()):
                return True
            case cst.ImportFrom(names=names) if not isinstance(names, cst.ImportStar):
                if any(alias.evaluated_name == name for alias in names):
                    return True
            case cst.Attribute(attr=cst.Name(value=value)) if value == name:
                return True
            case _:
                continue
    return False


def _only_returned(function: cst.FunctionDef) -> cst.BaseExpression | None:
    """``def f(x): return VALUE``, perhaps with a docstring."""
    lines = function.body.body if isinstance(function.body, cst.IndentedBlock) else ()
    if len(lines) == 2 and function.get_docstring() is not None:
        lines = lines[1:]
    match lines:
        case [cst.SimpleStatementLine(body=[cst.Return(value=value)])]:
            return value if function.asynchronous is None else None
        case _:
            return None


def _matched(function: cst.FunctionDef, call: cst.Call) -> Iterator[tuple[cst.Arg, str]]:
    """The arguments of a call, each with the parameter that gets it."""
    names = [parameter.name.value for parameter in (*function.params.posonly_params, *function.params.params)]
    named = {parameter.name.value for parameter in syntax.parameters(function.params)}
    for number, arg in enumerate(call.args):
        if arg.star:
            return
        if arg.keyword is not None:
            if arg.keyword.value in named:
                yield arg, arg.keyword.value
        elif number < len(names):
            yield arg, names[number]


def _is_bound(function: cst.FunctionDef, name: str) -> bool:
    """Whether the function gives the parameter ``name`` another value."""
    return any(name in syntax.bound_by(node) for node in syntax.walk(function.body))

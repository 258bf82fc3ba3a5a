"""What libraries keep for the program: objects and functions that were put into something of theirs.

``SimpleNamespace(bot=Bot())``, ``app.config["BOT"] = Bot()``, ``Retrying(...)(ask, "x")``: what comes out
of the same library may be the project's object, or an answer that its method gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from ..decide.contents import hands_on as keeps
from ..know.crowds import functions, held
from ..know.kinds import TEXTS, Bound, Class, External, Function, Instance, Invocation, Shape, Value
from .context import Context


class Handed(NamedTuple):
    """The libraries that got something, and the names of the functions with answers that they can call."""

    libraries: frozenset[str]
    makers: frozenset[str]


def hands_on(context: Context, value: Value) -> bool:
    """Whether ``value`` can be anything that somebody else kept, or an answer of a function that he kept."""
    if keeps(value):
        return True
    return isinstance(value, External) and _library(value) in handed(context).libraries


def is_made(context: Context, value: Value) -> bool:
    """Whether ``value`` is what a method of an object that a library keeps may have given: ``kept.ask()``."""
    if not isinstance(value, External) or not value.path.endswith("()"):
        return False
    name = value.path.removesuffix("()").rpartition(".")[2]
    return name in handed(context).makers and hands_on(context, value)


def handed(context: Context) -> Handed:
    """What libraries got of the project."""
    known = context.memo.get("handed to libraries")
    if known is None:
        known = context.memo["handed to libraries"] = _handed(context)
    assert isinstance(known, Handed)
    return known


def _handed(context: Context) -> Handed:
    libraries: set[str] = set()
    makers: set[str] = set()
    for library, values in _gifts(context):
        for value in held(values):
            given = value.instance if isinstance(value, Class) else value
            if isinstance(given, (Function, Bound, Instance)):
                found = [one for one in functions(context.project, given) if _matters(one)]
                makers.update(one.name for one in found if _gives_answers(one))
                libraries.update([library] if found else [])
    return Handed(frozenset(libraries), frozenset(makers))


def _gifts(context: Context) -> Iterator[tuple[str, Iterable[Value]]]:
    for call in context.project.invocations:
        for callee in _called(context, call):
            if isinstance(callee, External) and _library(callee) not in _LEAVES:
                for argument in call.arguments:
                    yield _library(callee), argument.var.values
    for module in context.project.modules:
        for node in module.of(cst.Assign):
            assert isinstance(node, cst.Assign)
            for target in node.targets:
                if isinstance(target.target, (cst.Attribute, cst.Subscript)):
                    for owner in context.project.values(target.target.value):
                        if isinstance(owner, External):
                            yield _library(owner), context.project.values(node.value)


def _called(context: Context, call: Invocation) -> Iterable[Value]:
    return context.project.values(call.node.func) if isinstance(call.node, cst.Call) else ()


def _library(value: External) -> str:
    return value.path.partition(".")[0]


def _matters(function: Function) -> bool:
    return function.double_star is not None or _gives_answers(function)


def _gives_answers(function: Function) -> bool:
    return any(isinstance(value, Shape) and value.kind not in TEXTS for value in function.result.values)


# What is given to these comes back, if at all, in ways that are followed.
_LEAVES = frozenset(
    {"builtins", "typing", "typing_extensions", "openai", "logging", "unittest", "mock", "pytest"}
)

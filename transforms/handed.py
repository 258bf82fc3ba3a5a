"""What libraries keep for the program: objects and functions that were put into something of theirs.

``SimpleNamespace(bot=Bot())``, ``app.config["BOT"] = Bot()``, ``Retrying(...)(ask, "x")``: what comes out
of the same library may be the project's object, or an answer that its method gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from ..know.crowds import functions, held
from ..know.kinds import TEXTS, Bound, Class, External, Function, Instance, Invocation, Shape, Site, Value
from ..know.testing import in_tests
from .context import Context


@dataclass
class Handed:
    """What the libraries got, each under its first name."""

    answers: dict[str, dict[str, set[Site]]] = field(default_factory=dict)  # of which calls, by function
    wrappers: dict[str, set[str]] = field(default_factory=dict)  # functions that take any keywords


def sites_kept(context: Context, value: Value) -> set[Site]:
    """The calls whose answers ``value`` may be, or hold, as its library got functions that give them."""
    if not isinstance(value, External):
        return set()
    return set().union(*handed(context).answers.get(_library(value), {}).values())


def sites_made(context: Context, value: Value) -> set[Site]:
    """The calls whose answers ``value`` may be, as what a method of an object in a library gave."""
    if not isinstance(value, External) or not value.path.endswith("()"):
        return set()
    name = value.path.removesuffix("()").rpartition(".")[2]
    return handed(context).answers.get(_library(value), {}).get(name, set())


def is_wrapper(context: Context, owner: Value, name: str) -> bool:
    """Whether ``owner.name`` may be the function of that name, with any keywords, that a library got."""
    return isinstance(owner, External) and name in handed(context).wrappers.get(_library(owner), ())


def handed(context: Context) -> Handed:
    """What libraries got of the program; tests are none of it."""
    known = context.memo.get("handed to libraries")
    if known is None:
        known = context.memo["handed to libraries"] = _handed(context)
    assert isinstance(known, Handed)
    return known


def _handed(context: Context) -> Handed:
    found = Handed()
    for library, values in _gifts(context):
        for value in held(values):
            given = value.instance if isinstance(value, Class) else value
            if not isinstance(given, (Function, Bound, Instance)):
                continue
            for function in functions(context.project, given):
                sites = _answered(function)
                if sites:
                    found.answers.setdefault(library, {}).setdefault(function.name, set()).update(sites)
                if function.double_star is not None:
                    found.wrappers.setdefault(library, set()).add(function.name)
    return found


def _gifts(context: Context) -> Iterator[tuple[str, Iterable[Value]]]:
    for call in context.project.invocations:
        if in_tests(call.module):
            continue
        for callee in _called(context, call):
            if isinstance(callee, External) and _library(callee) not in _LEAVES:
                for argument in call.arguments:
                    yield _library(callee), argument.var.values
    for module in context.project.modules:
        for node in module.of(cst.Assign) if not in_tests(module) else ():
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


def _answered(function: Function) -> set[Site]:
    """The calls whose answers ``function`` gives, but for texts."""
    return {
        value.site for value in function.result.values if isinstance(value, Shape) and value.kind not in TEXTS
    }


# What is given to these comes back, if at all, in ways that are followed.
_LEAVES = frozenset(
    {"builtins", "typing", "typing_extensions", "openai", "logging", "unittest", "mock", "pytest"}
)

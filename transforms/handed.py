"""What libraries keep for the program: objects and functions that were put into something of theirs.

``SimpleNamespace(bot=Bot())``, ``app.config["BOT"] = Bot()``, ``Retrying(...)(ask, "x")``: what comes out
of the same library may be the project's object, or an answer that its method gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from ..know.crowds import functions, held
from ..know.kinds import (
    TEXTS,
    Bound,
    Class,
    External,
    Function,
    Instance,
    Invocation,
    ModuleValue,
    Shape,
    Site,
    Value,
)
from ..know.models import REFLECTION
from ..know.modules import Module
from ..know.testing import in_tests
from .context import Context


@dataclass
class Handed:
    """What the libraries got, each under its first name."""

    answers: dict[str, dict[str, set[Site]]] = field(default_factory=dict)  # of which calls, by function
    wrappers: dict[str, set[str]] = field(default_factory=dict)  # functions that take any keywords
    reflected: set[Site] = field(default_factory=set)  # calls of functions that are found by reflection


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


def sites_reflected(context: Context, value: Value, module: Module) -> set[Site]:
    """The calls whose answers ``value``, read in ``module``, may be as it was found by reflection."""
    if not isinstance(value, External) or not value.path.startswith(REFLECTION):
        return set()
    own = set(sites_of(context, ModuleValue(module))) if value.path.startswith(_OWN_NAMES) else set()
    return own | handed(context).reflected


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
    for owner in _looked_into(context):
        found.reflected.update(sites_of(context, owner))
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


def _looked_into(context: Context) -> Iterator[Value]:
    """What is looked into by ``vars(x)``, ``x.__dict__``, ``getmembers(x)``."""
    for call in context.project.invocations:
        if call.arguments and not in_tests(call.module):
            for callee in _called(context, call):
                if isinstance(callee, External) and callee.path in _LOOKS:
                    yield from call.arguments[0].var.values
    for module in context.project.modules:
        if "__dict__" in module.text and not in_tests(module):
            for node in module.of(cst.Attribute):
                if isinstance(node, cst.Attribute) and node.attr.value == "__dict__":
                    yield from context.project.values(node.value)


def sites_of(context: Context, owner: Value, prefix: str = "") -> Iterator[Site]:
    """The calls whose answers functions of ``owner`` give, but for texts; of those whose names begin so."""
    if isinstance(owner, ModuleValue):
        scope = owner.module.scope
        for name in sorted(name for name in scope.bound if name.startswith(prefix)):
            for value in list(scope.any(name).values):
                if isinstance(value, (Function, Class, Instance)):
                    yield from sites_of(context, value)
        return
    given = owner.instance if isinstance(owner, Class) else owner
    for function in functions(context.project, given):
        if function.name.startswith(prefix):
            yield from _answered(function)


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

_LOOKS = frozenset(
    """builtins.vars inspect.getmembers inspect.getmembers_static operator.attrgetter()
    operator.methodcaller()""".split()
)
_OWN_NAMES = ("builtins.globals()", "builtins.vars()", "builtins.locals()")

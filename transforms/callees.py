"""Keywords at calls that can reach several functions: a new name must suit all of them (MR120)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard

import libcst as cst

from ..decide.doubles import is_patcher
from ..know import models
from ..know.kinds import Bound, Class, External, Function, Place, Value
from ..know.modules import Module
from ..know.subclassing import shapers
from ..know.testing import in_tests
from .context import Context, Keyword
from .snippets import key_text
from .taken_out import kept_by


def other_taker(context: Context, item: Keyword) -> str | None:
    """Who else takes the keyword ``item`` under its old name, if a caller gives it to several functions.

    ``item`` stands in the ``**kwargs`` of one of them. It may be renamed for another if that one only
    hands its keywords on to calls that are migrated too.
    """
    if item.holder is None or not isinstance(item.holder.node, cst.Param):
        return None
    for callee in _callees(context, item.place):
        name = _takes(context, callee, item)
        if name is not None:
            return name
    return None


def replaced_in_test(context: Context, item: Keyword) -> tuple[str, Module] | None:
    """The function that gets the keyword ``item``, and the test that puts something in its place by its name.

    A test that does not name the keyword can neither ask for it nor have a parameter for it.
    """
    if item.holder is None or not isinstance(item.holder.node, cst.Param):
        return None
    for callee in _callees(context, item.place):
        if _is_mock(callee):  # of which nothing tells what it is put in the place of
            for test in filter(in_tests, context.project.modules):
                if re.search(rf"\b{item.name}\b", test.text):
                    return callee.path, test
        function = callee.function if isinstance(callee, Bound) else callee
        if isinstance(function, Function):
            for test in _patches(context).get(function.name, ()):
                if re.search(rf"\b{item.name}\b", test.text):
                    return function.name, test
    return None


def _patches(context: Context) -> dict[str, list[Module]]:
    """The names that tests replace: ``patch("app.ask")``, ``patch.object(app, "ask")``; with the tests."""
    known = context.memo.get("patches")
    if known is None:
        found: dict[str, list[Module]] = {}
        for module in filter(in_tests, context.project.modules):
            for call in filter(is_patcher, module.of(cst.Call)):
                for name in _replaced(call):
                    found.setdefault(name, []).append(module)
        known = context.memo["patches"] = found
    assert isinstance(known, dict)
    return known


def _replaced(patch: cst.CSTNode) -> Iterator[str]:
    """The names that a call of ``patch`` and its like may replace."""
    assert isinstance(patch, cst.Call)
    for arg in patch.args:
        if arg.keyword is not None:  # of patch.multiple
            yield arg.keyword.value
        elif isinstance(arg.value, cst.SimpleString):
            yield key_text(arg.value).rpartition(".")[2]


def _callees(context: Context, place: Place) -> list[Value]:
    call = place.module.parents.get(place.node)
    if isinstance(call, cst.ClassDef):
        return list(shapers(context.project, context.project.classes[call]))
    known = context.memo.get("callees")
    if known is None:
        known = context.memo["callees"] = _by_node(context)
    assert isinstance(known, dict)
    return list(known.get(call, ()))


def _by_node(context: Context) -> dict[cst.CSTNode, list[Value]]:
    found: dict[cst.CSTNode, list[Value]] = {}
    for invocation, callees in context.project.callees.items():
        found.setdefault(invocation.node, []).extend(callees)
    return found


def _takes(context: Context, callee: Value, item: Keyword) -> str | None:
    """The name of ``callee`` if the keyword ``item`` must not be renamed for it."""
    if isinstance(callee, Class):
        found = callee.members.get("__init__")
        inner = [value for value in found.values if isinstance(value, Function)] if found is not None else []
        return next((name for value in inner if (name := _takes(context, value, item))), None)
    if _is_mock(callee) and not _mocks_itself(context):
        return None  # `replaced_in_test` looks at what asks it
    if isinstance(callee, External):
        passes_on = callee.path in models.RUNNERS or callee.path in _PASS_ON
        tail = callee.path.rpartition(".")[2]
        return None if passes_on or tail in models.RUNNER_METHODS else f"{callee.path}"
    function = callee.function if isinstance(callee, Bound) else callee
    if not isinstance(function, Function):
        return None
    if item.name in kept_by(function, set(item.place.module.ancestors(item.place.node))):
        return function.name
    dict_ = function.double_star
    return function.name if dict_ is not None and not context.senders(dict_) else None


def _is_mock(callee: Value) -> TypeGuard[External]:
    return isinstance(callee, External) and _MOCK.match(callee.path) is not None


def _mocks_itself(context: Context) -> bool:
    """Whether the program makes mocks, besides its tests."""
    return any(_IMPORT.search(module.text) and not in_tests(module) for module in context.project.modules)


# Not the word alone: comments that this tool leaves in a program name what a test uses.
_IMPORT = re.compile(r"^\s*(from|import)\b.*\bmock\b", re.MULTILINE)
_MOCK = re.compile(r"(unittest\.|pytest_)?mock\.")
_PASS_ON = frozenset({"functools.partial", "threading.Thread"})

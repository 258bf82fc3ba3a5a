"""Tests that have come out in a certain way where an expression is evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

import libcst as cst

from ..know.modules import Module, bound_by, walk
from .name_tests import Test
from .snippets import key_text

_LEAVING = (cst.Break, cst.Continue, cst.Raise, cst.Return)


def is_entry(node: cst.BaseExpression) -> bool:
    """A name, or an entry or attribute of one."""
    return isinstance(node, cst.Name) or (_parts(node) is not None and isinstance(_owner(node), cst.Name))


def _owner(node: cst.BaseExpression) -> cst.BaseExpression | None:
    parts = _parts(node)
    return parts[0] if parts is not None else None


def _parts(node: cst.BaseExpression) -> tuple[cst.BaseExpression, str] | None:
    """``m`` and ``"role"`` of ``m["role"]`` and ``m.get("role")``; and ``.role`` of ``m.role``."""
    match node:
        case cst.Attribute(value=owner, attr=attr):
            return owner, f".{attr.value}"
        case (
            cst.Subscript(
                value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]
            )
            | cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="get")),
                args=[cst.Arg(value=cst.SimpleString() as key)],
            )
        ):
            return owner, key_text(key)
        case _:
            return None


def is_same(one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    left, right = _parts(one), _parts(other)
    if left is None or right is None:
        return one.deep_equals(other)
    return left[1] == right[1] and left[0].deep_equals(right[0])


def tests_around(node: cst.BaseExpression, module: Module) -> Iterator[Test]:
    """The tests that have come out in a certain way where ``node`` is evaluated, of what it reads then."""
    owner = _owner(node) or node
    assert isinstance(owner, cst.Name)
    below: cst.CSTNode = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            return
        if isinstance(parent, cst.IndentedBlock):
            yield from _before(parent, below, owner.value, node)
            if _changes([parent], owner.value, node):
                return
        else:
            yield from _around(parent, below)
        below = parent


def _around(parent: cst.CSTNode, below: cst.CSTNode) -> Iterator[Test]:
    """The tests of ``parent`` that say whether ``below``, which is in it, is reached."""
    match parent:
        case cst.If(test=test) | cst.IfExp(test=test) if test is not below:
            yield test, parent.body is below
        case cst.ListComp(elt=elt, for_in=loop) | cst.GeneratorExp(elt=elt, for_in=loop) if elt is below:
            for condition in loop.ifs:
                yield condition.test, True
        case _:
            return


def _before(
    block: cst.IndentedBlock, below: cst.CSTNode, name: str, read: cst.BaseExpression
) -> Iterator[Test]:
    """The tests in lines above ``below`` which leave the ``block`` if they are true."""
    lines = [*takewhile(lambda line: line is not below, block.body), below]
    for number, line in enumerate(lines[:-1]):
        if not isinstance(line, cst.If) or line.orelse is not None or not _leaves(line.body):
            continue
        if not _changes(lines[number + 1 :], name, read):
            yield line.test, False


def _leaves(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, _LEAVING)


def _changes(lines: Sequence[cst.CSTNode], name: str, read: cst.BaseExpression) -> bool:
    """Whether ``name``, or the entry of it that is ``read``, is given something else in ``lines``."""
    for inner in (inner for line in lines for inner in walk(line)):
        if name in bound_by(inner):
            return True
        if isinstance(inner, cst.AssignTarget) and is_same(inner.target, read):
            return True
    return False

"""Which roles a message can have that takes over that of another: tests around it rule some out.

In ``if m["role"] == "tool": ... else: out.append({"role": m["role"], ...})`` the latter is no tool result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import takewhile

import libcst as cst

from ..know.kinds import DictValue
from ..know.modules import Module, bound_by, walk
from .context import WRITES
from .snippets import entry, key_text

_LEAVING = (cst.Break, cst.Continue, cst.Raise, cst.Return)
_Test = tuple[cst.BaseExpression, bool]


def ruled_out(message: DictValue, role: object) -> bool:
    """Whether the tests around a message say that it does not have ``role``."""
    written = entry(message.node, "role") if isinstance(message.node, cst.Dict) else None
    if written is None or not _is_entry(written.value) or message.merged or message.others:
        return False
    if any(place.how in WRITES and place.node is not written for place in message.places["role"]):
        return False
    return any(
        _says_no(test, truth, written.value, role) for test, truth in _tests(written.value, message.module)
    )


def _is_entry(node: cst.BaseExpression) -> bool:
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


def _same(one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    left, right = _parts(one), _parts(other)
    if left is None or right is None:
        return one.deep_equals(other)
    return left[1] == right[1] and left[0].deep_equals(right[0])


def _tests(node: cst.BaseExpression, module: Module) -> Iterator[_Test]:
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


def _around(parent: cst.CSTNode, below: cst.CSTNode) -> Iterator[_Test]:
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
) -> Iterator[_Test]:
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
        if isinstance(inner, cst.AssignTarget) and _same(inner.target, read):
            return True
    return False


def _says_no(test: cst.BaseExpression, truth: bool, read: cst.BaseExpression, role: object) -> bool:
    """Whether ``test`` cannot have come out as ``truth`` if ``read`` was ``role``."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _says_no(inner, not truth, read, role)
        case cst.BooleanOperation(operator=operator, left=left, right=right):
            if isinstance(operator, cst.And) is truth:
                return _says_no(left, truth, read, role) or _says_no(right, truth, read, role)
            return False
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator, asked)]) if _same(
            left, read
        ):
            roles = _roles(asked)
            if roles is None:
                return False
            is_one = isinstance(operator, (cst.Equal, cst.In))
            if not is_one and not isinstance(operator, (cst.NotEqual, cst.NotIn)):
                return False
            return (role in roles) is not (truth is is_one)
        case _:
            return False


def _roles(asked: cst.BaseExpression) -> Set[object] | None:
    match asked:
        case cst.SimpleString():
            return {asked.evaluated_value}
        case cst.Tuple(elements=row) | cst.List(elements=row) | cst.Set(elements=row):
            texts = [item.value for item in row]
            found = {text.evaluated_value for text in texts if isinstance(text, cst.SimpleString)}
            return found if all(isinstance(text, cst.SimpleString) for text in texts) else None
        case _:
            return None

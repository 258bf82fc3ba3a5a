"""Which roles a message can have that takes over that of another: tests around it rule some out.

In ``if m["role"] == "tool": ... else: out.append({"role": m["role"], ...})`` the latter is no tool result.
"""

from __future__ import annotations

from collections.abc import Set

import libcst as cst

from ..know.kinds import DictValue
from .context import WRITES
from .snippets import entry
from .tests_around import is_entry, is_same, tests_around


def ruled_out(message: DictValue, role: object) -> bool:
    """Whether the tests around a message say that it does not have ``role``."""
    written = entry(message.node, "role") if isinstance(message.node, cst.Dict) else None
    if written is None or not is_entry(written.value) or message.merged or message.others:
        return False
    if any(place.how in WRITES and place.node is not written for place in message.places["role"]):
        return False
    return any(
        _says_no(test, truth, written.value, role)
        for test, truth in tests_around(written.value, message.module)
    )


def _says_no(test: cst.BaseExpression, truth: bool, read: cst.BaseExpression, role: object) -> bool:
    """Whether ``test`` cannot have come out as ``truth`` if ``read`` was ``role``."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _says_no(inner, not truth, read, role)
        case cst.BooleanOperation(operator=operator, left=left, right=right):
            if isinstance(operator, cst.And) is truth:
                return _says_no(left, truth, read, role) or _says_no(right, truth, read, role)
            return False
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator, asked)]) if is_same(
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

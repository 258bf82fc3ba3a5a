"""Which finish reasons a comparison asks for, spelled out, by constants, or in a tuple of them."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Class, External, SeqValue, Value
from .context import Context, constants

REASONS = frozenset({"length", "content_filter", "tool_calls", "function_call", "stop"})


def wanted_by(
    context: Context, node: cst.Comparison, subject: cst.BaseExpression
) -> tuple[list[str], bool] | None:
    """The finish reasons that a comparison asks for, and whether it asks for them or against."""
    if node.left is not subject or len(node.comparisons) != 1:
        return None
    target = node.comparisons[0]
    match target.operator:
        case cst.Equal() | cst.NotEqual() | cst.Is() | cst.IsNot():
            found = _strings(context, target.comparator)
            positive = isinstance(target.operator, (cst.Equal, cst.Is))
        case cst.In() | cst.NotIn():
            found = _members(context, target.comparator)
            positive = isinstance(target.operator, cst.In)
        case _:
            return None
    if not found or not all(
        value is None or (isinstance(value, str) and value in REASONS) for value in found
    ):
        return None
    if len(found) > 1 and isinstance(target.operator, (cst.Equal, cst.NotEqual)):
        return None
    return [str(value) for value in found], positive


def _strings(context: Context, node: cst.BaseExpression) -> list[object] | None:
    """The constants that ``node`` can be; None if one is a member of an enumeration, which equals no text."""
    if isinstance(node, cst.Attribute):
        for value in context.project.values(node.value):
            bases = [base for var in value.bases for base in var.values] if isinstance(value, Class) else []
            names = {base.path.rpartition(".")[2] for base in bases if isinstance(base, External)}
            if names & {"Enum", "Flag", "IntEnum", "IntFlag"} and "str" not in names:
                return None
    return constants(context.project.vars.get(node))


def _members(context: Context, node: cst.BaseExpression) -> list[object] | None:
    """What is in a tuple, list or set that is written here, or under a name and never changed."""
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        found: list[object] = []
        for element in node.elements:
            found.extend(_strings(context, element.value) or [object()])
        return found
    sequences = context.project.values(node)
    if len(sequences) != 1 or not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    return _elements(sequences[0])


def _elements(value: Value) -> list[object] | None:
    if not isinstance(value, SeqValue) or any(place.how != "literal" for place in value.places):
        return None
    if value.type not in ("list", "tuple", "set"):
        return None
    found: list[object] = []
    for var in (value.element, *value.items.values()):
        found.extend(constants(var) or [])
        if var.values and constants(var) is None:
            return None
    for source in value.derived:
        for inner in source.values:
            poured = _elements(inner)
            if poured is None:
                return None
            found.extend(poured)
    return list(dict.fromkeys(found))

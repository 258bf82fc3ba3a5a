"""Limits below 16 that come by ways that are not followed: options, variables, namespaces (MR102).

``parser.add_argument("--max-tokens", default=10)``, ``os.getenv("MAX_TOKENS", "10")``,
``SimpleNamespace(max_tokens=8)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from ..know.kinds import Const, External, SeqValue, Site, Value
from ..know.modules import Module
from .context import Context

LEAST = 16  # max_output_tokens of openai.types.responses.ResponseCreateParams
# What a keyword for a limit of tokens is called, and an option or a variable, whose ``--tokens`` is one too.
_LIMIT = re.compile(r"[-\w]*(max[-_](\w+[-_])?tokens?|tokens?[-_](limit|max))", re.IGNORECASE)
_OPTION = re.compile(rf"-*tokens?|{_LIMIT.pattern}", re.IGNORECASE)


class Low(NamedTuple):
    """A number below 16 under a name: how it is written, and the keyword (none: it is an option's)."""

    written: str
    limit: int
    keyword: str = ""


def low_elsewhere(context: Context, site: Site, values: Iterable[Value]) -> Low | None:
    """A low limit that may reach ``site``, whose limit can be ``values``, by a way that is not followed.

    Many a keyword ``tokens=`` is a count: it is a limit where the limit itself is read under that name.
    """
    known = context.memo.setdefault("low limits", {})
    assert isinstance(known, dict)
    read = {value.path.rpartition(".")[2] for value in values if isinstance(value, External)}
    for module in context.project.alongside(site.module):
        if module not in known:
            known[module] = list(_low(context, module))
        for low in known[module]:
            assert isinstance(low, Low)
            if not low.keyword or _LIMIT.fullmatch(low.keyword) or low.keyword in read:
                return low
    return None


def low_computed(context: Context, node: cst.CSTNode) -> list[int]:
    """The limit below 16, if any, that ``node`` computes from numbers that are known: ``len(LABELS) * 2``."""
    number = _computed(context, node)
    return [int(number)] if number is not None and 0 <= number < LEAST else []


def _computed(context: Context, node: cst.CSTNode) -> float | None:
    """The least number that ``node`` can be; None if not all in it is known."""
    values = context.project.values(node)
    numbers = [one.value for one in values if isinstance(one, Const) and isinstance(one.value, (int, float))]
    if numbers and len(numbers) == len(values):
        return min(numbers)
    match node:
        case cst.BinaryOperation(left=left, right=right):
            one, other = _computed(context, left), _computed(context, right)
            return _combined(node.operator, one, other) if one is not None and other is not None else None
        case cst.Call(func=cst.Name(value="int" | "round"), args=[cst.Arg(value=number)]):
            found = _computed(context, number)
            return int(found) if found is not None else None
        case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=counted)]):
            return _length(context, counted)
        case _:
            return None


def _combined(operator: cst.BaseBinaryOp, left: float, right: float) -> float | None:
    match operator:
        case cst.Add():
            return left + right
        case cst.Multiply():
            return left * right
        case cst.Divide() | cst.FloorDivide() if right:
            return left / right
        case _:
            return None


def _length(context: Context, node: cst.BaseExpression) -> int | None:
    """How many elements a list has that is spelled out, and that nobody changes."""
    lengths: list[int] = []
    for value in context.project.values(node):
        if not isinstance(value, SeqValue) or value.derived:
            return None
        if any(place.how != "literal" for place in value.places):
            return None
        if not isinstance(value.node, (cst.List, cst.Tuple, cst.Set)):
            return None
        lengths.append(len(value.node.elements))
    return min(lengths, default=None)


def _low(context: Context, module: Module) -> Iterator[Low]:
    for node in module.of(cst.Call):
        assert isinstance(node, cst.Call)
        if node in context.project.sites:
            continue
        named = any(
            isinstance(arg.value, cst.SimpleString) and _OPTION.fullmatch(str(arg.value.evaluated_value))
            for arg in node.args
        )
        for arg in node.args:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            by_option = named and keyword in ("", "default")
            limit = _number(context, arg.value) if by_option or _OPTION.fullmatch(keyword) else None
            if limit is not None and 0 < limit < LEAST:  # 0 is a count, or no limit: the API refuses it
                yield Low(context.source(node, module), limit, "" if by_option else keyword)


def _number(context: Context, node: cst.BaseExpression) -> int | None:
    """The whole number that is written at ``node``, or spelled in a string there."""
    for value in context.project.values(node):
        if isinstance(value, Const):
            if isinstance(value.value, int) and not isinstance(value.value, bool):
                return value.value
            if isinstance(value.value, str) and value.value.isdecimal():
                return int(value.value)
    return None

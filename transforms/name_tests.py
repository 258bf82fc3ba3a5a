"""Which names get through tests of them: ``if k in SUPPORTED and k != "verbose"``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..know.kinds import Const, DictValue, SeqValue, Value
from ..know.modules import walk
from ..know.project import Project

Test = tuple[cst.BaseExpression, bool]  # and how it has come out


def terms(tests: Iterable[Test]) -> Iterator[Test]:
    """The tests that have come out in a certain way where all ``tests`` have."""
    stack = list(tests)
    while stack:
        match stack.pop():
            case cst.UnaryOperation(operator=cst.Not(), expression=inner), truth:
                stack.append((inner, not truth))
            case cst.BooleanOperation(operator=operator, left=left, right=right), truth if (
                isinstance(operator, cst.And) is truth
            ):
                stack += [(left, truth), (right, truth)]
            case test, truth:
                yield test, truth


def let_through(
    project: Project, tests: Iterable[Test], key: str, passed: frozenset[str] | None
) -> frozenset[str] | None:
    """The names that ``tests`` of ``key`` let through, of those that are ``passed``, or of all there are.

    None if no test asks for the name, or if they are not known.
    """
    asked = [(test, truth) for test, truth in terms(tests) if _names(test, key)]
    names = passed
    for test, truth in asked:
        match test:
            case cst.Comparison(
                left=cst.Name(value=name),
                comparisons=[cst.ComparisonTarget(operator=operator, comparator=other)],
            ) if name == key:
                is_one = _is_one(operator, truth)
                is_row = isinstance(operator, (cst.In, cst.NotIn))
                if is_one:
                    allowed = _all_in(project, other) if is_row else _texts(project, other)
                    names = allowed if names is None else names if allowed is None else names & allowed
                elif is_one is False and names is not None:
                    names -= _surely_in(project, other) if is_row else _only(_texts(project, other))
            case _:
                continue
    return names if asked else None


def _is_one(operator: cst.BaseCompOp, truth: bool) -> bool | None:
    """Whether the comparison says that the name is the other one, or among them."""
    if isinstance(operator, (cst.In, cst.Equal)):
        return truth
    return not truth if isinstance(operator, (cst.NotIn, cst.NotEqual)) else None


def _names(test: cst.BaseExpression, key: str) -> bool:
    return any(isinstance(node, cst.Name) and node.value == key for node in walk(test))


def _texts(project: Project, node: cst.BaseExpression) -> frozenset[str] | None:
    """The texts that ``node`` can be, if it can be nothing else."""
    found = [value.value if isinstance(value, Const) else None for value in project.values(node)]
    texts = frozenset(text for text in found if isinstance(text, str))
    return texts if texts and all(isinstance(text, str) for text in found) else None


def _only(texts: frozenset[str] | None) -> frozenset[str]:
    return texts if texts is not None and len(texts) == 1 else frozenset()


def _all_in(project: Project, node: cst.BaseExpression) -> frozenset[str] | None:
    """The texts in ``node``, if it has nothing else."""
    found: set[str] = set()
    stack = list(project.values(node))
    seen: set[Value] = set()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        match value:
            case SeqValue(element=element, derived=derived):
                held = list(element.values)
                texts = [one.value for one in held if isinstance(one, Const) and isinstance(one.value, str)]
                if not held or len(texts) < len(held) or not all(var.values for var in derived):
                    return None
                found.update(texts)
            case DictValue(places=places, others=[], merged=[]):
                found.update(places)
            case _:
                return None
    return frozenset(found) if found else None


def _surely_in(project: Project, node: cst.BaseExpression) -> frozenset[str]:
    """The texts that are in ``node`` whatever happens: in a tuple, or where it is written right there."""
    match project.values(node):
        case [SeqValue(places=places, derived=[]) as row] if row.type == "tuple" or row.node is node:
            held = [value for place in places if place.var is not None for value in place.var.values]
            single = all(place.var is not None and len(place.var.values) == 1 for place in places)
            texts = [value.value for value in held if isinstance(value, Const)]
            return frozenset(text for text in texts if isinstance(text, str)) if single else frozenset()
        case _:
            return frozenset()

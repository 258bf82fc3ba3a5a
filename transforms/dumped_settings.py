"""Settings that an object is made into: the names of its fields are looked up in a table on their way.

The fields keep their names, which configuration, command lines and other code may know. So do the entries of
a dict of which only some are passed on (:mod:`.filtered`).
"""

from __future__ import annotations

from collections.abc import Container

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Place
from .context import is_none
from .moved_limits import LIMITS
from .name_tests import terms
from .snippets import expr

_LOOKED_UP = "{name: value for name, value in dumped.items()}"


def never_dumped(place: Place) -> bool:
    """Whether the field of ``place`` is always None, and left out for that."""
    return is_none(place.var) and _leaves_out_none(place.node)


def one_hides_the_other(names: Container[str], place: Place) -> bool:
    """Whether two of ``names`` would be one afterwards, and the None of one may take the other's place."""
    return all(limit in names for limit in LIMITS) and not _leaves_out_none(place.node)


def _leaves_out_none(node: cst.CSTNode) -> bool:
    """``exclude_none=True``, or a test of the values."""
    match node:
        case cst.Call(args=args):
            return any(
                arg.keyword is not None
                and arg.keyword.value == "exclude_none"
                and isinstance(arg.value, cst.Name)
                and arg.value.value == "True"
                for arg in args
            )
        case cst.DictComp(value=cst.Name(value=value), for_in=cst.CompFor(ifs=tests)):
            return any(
                truth and _is_given(term, value) for term, truth in terms((test.test, True) for test in tests)
            )
        case _:
            return False


def _is_given(test: cst.BaseExpression, name: str) -> bool:
    """``v is not None``, or ``v``."""
    match test:
        case cst.Name(value=found):
            return found == name
        case cst.Comparison(
            left=cst.Name(value=found),
            comparisons=[cst.ComparisonTarget(operator=cst.IsNot(), comparator=cst.Name(value="None"))],
        ):
            return found == name
        case _:
            return False


def renamed_in_dump(old: str, new: str | None) -> Apply:
    """An edit of a call that makes an object a dict: the entry ``old`` is called ``new`` there."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if new is None or new == old:
            return updated
        row = cst.DictElement(cst.SimpleString(f'"{old}"'), cst.SimpleString(f'"{new}"'))
        match updated:
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key)) as place]):
                return updated.with_changes(slice=[place.with_changes(slice=cst.Index(_looked_up(key, row)))])
            case cst.DictComp(key=key) if isinstance(original, cst.DictComp) or not isinstance(key, cst.Name):
                return updated.with_changes(key=_looked_up(key, row))
            case _:
                assert isinstance(updated, cst.BaseExpression)
                made = expr(_LOOKED_UP, dumped=updated)
                assert isinstance(made, cst.DictComp)
                return made.with_changes(key=_looked_up(made.key, row))

    return apply


def _looked_up(key: cst.BaseExpression, row: cst.DictElement) -> cst.BaseExpression:
    """``key`` as a table with ``row`` has it: one more row where another edit has put a table."""
    match key:
        case cst.Call(func=cst.Attribute(value=cst.Dict() as table)):
            wider = cst.Attribute(table.with_changes(elements=[*table.elements, row]), cst.Name("get"))
            return key.with_changes(func=wider)
        case _:
            return expr("table.get(name, name)", table=cst.Dict([row]), name=key)

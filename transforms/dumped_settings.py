"""Settings that an object is made into: the names of its fields are looked up in a table on their way.

The fields keep their names, which configuration, command lines and other code may know.
"""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import DictValue, Place
from .context import is_none
from .moved_limits import LIMITS
from .snippets import expr

_LOOKED_UP = "{name: value for name, value in dumped.items()}"


def never_dumped(place: Place) -> bool:
    """Whether the field of ``place`` is always None, and left out for that."""
    return is_none(place.var) and _leaves_out_none(place.node)


def one_hides_the_other(holder: DictValue | None, place: Place) -> bool:
    """Whether two fields would have one name afterwards, and the None of one may take the other's place."""
    limits = LIMITS & holder.places.keys() if holder is not None else ()
    return len(limits) > 1 and not _leaves_out_none(place.node)


def _leaves_out_none(call: cst.CSTNode) -> bool:
    return isinstance(call, cst.Call) and any(
        arg.keyword is not None
        and arg.keyword.value == "exclude_none"
        and isinstance(arg.value, cst.Name)
        and arg.value.value == "True"
        for arg in call.args
    )


def renamed_in_dump(old: str, new: str | None) -> Apply:
    """An edit of a call that makes an object a dict: the entry ``old`` is called ``new`` there."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if new is None or new == old:
            return updated
        row = cst.DictElement(cst.SimpleString(f'"{old}"'), cst.SimpleString(f'"{new}"'))
        match updated:
            case cst.DictComp(key=cst.Call(func=cst.Attribute(value=cst.Dict() as table)) as key):
                wider = cst.Attribute(table.with_changes(elements=[*table.elements, row]), cst.Name("get"))
                return updated.with_changes(key=key.with_changes(func=wider))
            case _:
                assert isinstance(updated, cst.BaseExpression)
                made = expr(_LOOKED_UP, dumped=updated)
                assert isinstance(made, cst.DictComp)
                return made.with_changes(key=expr("table.get(name, name)", table=cst.Dict([row])))

    return apply

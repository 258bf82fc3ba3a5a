"""Whether a dict of arguments always says ``store``, whoever made it (MR107)."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.graph import Var
from ..know.kinds import DictValue, Invocation, Site
from .context import Context, constants
from .taken_out import taker


def says_store(context: Context, site: Site) -> bool:
    """Whether each request of ``site`` gets ``store`` from one of the dicts that are passed by ``**``."""
    return _passes(context, site.invocation, frozenset())


def is_decided(var: Var | None) -> bool:
    """Whether ``store`` is True or False, and nothing that stands for the default."""
    found = constants(var)
    return found is not None and bool(found) and all(isinstance(value, bool) for value in found)


def _passes(context: Context, call: Invocation, seen: frozenset[DictValue]) -> bool:
    return any(
        is_decided(argument.var) if argument.keyword == "store" else _all_say(context, argument.var, seen)
        for argument in call.arguments
        if argument.keyword in ("store", "**")
    )


def _all_say(context: Context, var: Var | None, seen: frozenset[DictValue]) -> bool:
    if var is None or not var.values:
        return False
    return all(isinstance(value, DictValue) and _says(context, value, seen) for value in var.values)


def _says(context: Context, value: DictValue, seen: frozenset[DictValue]) -> bool:
    """Whether ``value`` has the entry wherever it is passed on."""
    places = value.places.get("store", [])
    if value in seen or any(place.how in ("pop", "delete") for place in places):
        return False
    around = seen | {value}
    function = taker(value)
    if function is not None:
        known = context.project.functions.get(function)
        callers = known.callers if known is not None else []
        return bool(callers) and all(_passes(context, caller, around) for caller in callers)
    if any(value.module.parents.get(place.node) is value.node and is_decided(place.var) for place in places):
        return True
    return any(_all_say(context, context.project.vars.get(part), around) for part in _poured(value.node))


def _poured(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The dicts that a display, or a call of ``dict``, is made from: ``{**a}``, ``dict(a)``."""
    match node:
        case cst.Dict(elements=elements):
            for element in elements:
                if isinstance(element, cst.StarredDictElement):
                    yield element.value
        case cst.Call(args=arguments):
            for argument in arguments:
                if argument.star == "**" or (argument.keyword is None and not argument.star):
                    yield argument.value
        case _:
            return

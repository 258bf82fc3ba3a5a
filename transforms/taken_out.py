"""Keywords that a function takes out of its ``**kwargs`` before it passes them on: they are not passed."""

from __future__ import annotations

from collections.abc import Container, Iterator

import libcst as cst

from ..know.graph import Var
from ..know.kinds import Bound, Class, DictValue, Function, Instance, Place
from ..know.modules import walk

_CONDITIONAL = (
    cst.BooleanOperation,
    cst.ClassDef,
    cst.CompFor,
    cst.DictComp,
    cst.FunctionDef,
    cst.GeneratorExp,
    cst.IfExp,
    cst.Lambda,
    cst.ListComp,
    cst.SetComp,
)
_LOOKS = frozenset({"get", "pop", "setdefault"})


def taken_out(value: DictValue, name: str) -> bool:
    """Whether ``name`` is always gone from ``value``, a function's ``**kwargs``, when it is passed on."""
    places = value.places.get(name, ())
    if not any(place.how in ("pop", "delete") for place in places):
        return False
    function = taker(value)
    if function is None or not isinstance(function.body, cst.IndentedBlock):
        return False
    if any(place.how in ("literal", "store", "setdefault") for place in places):
        return False
    for statement in function.body.body:
        if any(_always_in(place, statement) for place in places):
            return True
        if _uses(statement, value):
            return False
    return False


def parameters_beside(value: DictValue) -> frozenset[str]:
    """The names that no caller puts into ``value``, a ``**kwargs`` beside parameters so called."""
    function = taker(value)
    if function is None:
        return frozenset()
    return _named(function)


def held_back(value: DictValue, source: Var) -> frozenset[str]:
    """The names that do not get into ``value`` from the dicts in ``source``, which are poured into it."""
    return parameters_beside(value) if any(source is one for one in value.passed) else frozenset()


def kept_by(function: Function, around: Container[cst.CSTNode]) -> frozenset[str]:
    """The keywords that ``function`` takes itself, and does not pass on by ``**kwargs``.

    So does a wrapper that a decorator puts around it, for calls that are not in it: not those with
    the wrapper ``around`` them.
    """
    value = function.double_star
    if value is None:
        return frozenset(function.parameters)
    kept = parameters_beside(value) | {name for name in value.places if taken_out(value, name)}
    for wrapper in wrappers_of(function):
        if wrapper not in around:
            kept |= _named(wrapper)
    return kept


def wrappers_of(function: Function) -> Iterator[cst.FunctionDef]:
    """The functions with ``**kwargs`` that the project's decorators put around ``function``."""
    for value in [value for decorator in function.decorators for value in decorator.values]:
        match value:
            case Function():
                tops = [value]
            case Bound(function=function):
                tops = [function]
            case Class() | Instance():
                cls = value if isinstance(value, Class) else value.type
                called = cls.members.get("__call__")
                tops = (
                    [one for one in called.values if isinstance(one, Function)] if called is not None else []
                )
            case _:
                continue
        for top in tops:
            if (
                top.double_star is not None
                and isinstance(top.node, cst.FunctionDef)
                and top.owner is not None
            ):
                yield top.node  # `__call__(self, q, **kwargs)` takes the place of the function
                continue
            for node in walk(top.node):
                match node:
                    case cst.FunctionDef(params=cst.Parameters(star_arg=cst.Param(), star_kwarg=cst.Param())):
                        yield node
                    case _:
                        continue


def _named(function: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The keywords that ``function`` has parameters for."""
    return frozenset(item.name.value for item in (*function.params.params, *function.params.kwonly_params))


def taker(value: DictValue) -> cst.FunctionDef | cst.Lambda | None:
    """The function that ``value`` is the ``**kwargs`` of."""
    parameters = value.module.parents.get(value.node)
    if not isinstance(parameters, cst.Parameters) or parameters.star_kwarg is not value.node:
        return None
    function = value.module.parents.get(parameters)
    return function if isinstance(function, (cst.FunctionDef, cst.Lambda)) else None


def _always_in(place: Place, statement: cst.CSTNode) -> bool:
    """Whether ``place`` takes its entry out whenever ``statement`` runs."""
    if place.how not in ("pop", "delete") or place.node not in place.module.parents:
        return False
    for ancestor in place.module.ancestors(place.node):
        if ancestor is statement:
            return isinstance(statement, cst.SimpleStatementLine)
        if isinstance(ancestor, _CONDITIONAL):
            return False
    return False


def _uses(statement: cst.CSTNode, value: DictValue) -> bool:
    """Whether ``statement`` does more with the dict than look at single entries of it."""
    assert isinstance(value.node, cst.Param)
    name = value.node.name.value
    for node in walk(statement):
        if not isinstance(node, cst.Name) or node.value != name:
            continue
        match value.module.parents.get(node):
            case cst.Attribute(value=owner, attr=cst.Name(value=method)) if (
                owner is node and method in _LOOKS
            ):
                continue
            case cst.Subscript(value=owner) if owner is node:
                continue
            case _:
                return True
    return False

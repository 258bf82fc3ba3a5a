"""Dicts of arguments that somebody else has too, whole or as a copy: their keys change for all (MR120)."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.escapes import Way
from ..know.kinds import (
    Bound,
    Class,
    DictValue,
    External,
    Function,
    Instance,
    Partial,
    Place,
    Site,
    Value,
)
from ..know.modules import Module
from .by_name import reads_by_name
from .context import Context, Request
from .parameter import UNCHANGED
from .poured import READS, inherited, looks
from .taken_out import kept_by, taker, wrappers_of

_SAME_KEY = frozenset({"tools", "tool_choice"})


def shared_dicts(context: Context, site: Site, request: Request) -> None:
    """A dict whose keys change must not be read by anybody else, nor looked at as data; nor its copies."""
    own = {argument.node for argument in site.invocation.arguments}
    _in_partials(context, site, request)
    roots = {value: names for value in request.dicts if (names := _changed(request, value))}
    for value, names in list(roots.items()):
        for kept in _decorated(context, value):
            roots.setdefault(kept, names)
    for value, names in inherited(context, roots).items():
        for escape in context.escapes.of(value):
            if escape.node in own:
                continue
            hold = context.unsafe if escape.way is Way.DISPLAY else context.manual
            detail = f"the dict of arguments is also {escape.way.value} {escape.to}"
            hold(escape.node, escape.module, [site], "MR120", detail)
        for node, module in context.holders(value):
            if (taker := keyword_taker(context, node, module, names)) is not None:
                detail = f"`{taker}` takes one of the arguments itself"
                context.manual(node, module, [site], "MR120", detail)
        for node, module in looks(context, value):
            shown = module.parents[node]
            text = context.source(module.parents[shown] if isinstance(shown, cst.Arg) else shown, module)
            context.manual(node, module, [site], "MR120", f"`{text}` looks at the names of the arguments")
        for node, module in reads_by_name(context, value, names):
            detail = f"`{context.source(node, module)}` gets an argument by its name"
            context.manual(node, module, [site], "MR120", detail)
        if value in request.dicts:
            _mixed(context, site, value, names)
        elif not context.senders(value):  # of a copy that is sent as well, its own calls know the keys
            _copy(context, site, value, names)


def _decorated(context: Context, value: DictValue) -> Iterator[DictValue]:
    """The ``**kwargs`` of the wrappers that decorators put around the function that ``value`` is for."""
    definition = taker(value)
    function = context.project.functions.get(definition) if definition is not None else None
    for wrapper in wrappers_of(function) if function is not None else ():
        known = context.project.functions.get(wrapper)
        if known is not None and known.double_star is not None:
            yield known.double_star


def _changed(request: Request, value: DictValue) -> frozenset[str]:
    """The names in ``value`` that change."""
    return frozenset(keyword.name for keyword in request.of(value)) - UNCHANGED


def _in_partials(context: Context, site: Site, request: Request) -> None:
    """``partial(...).keywords`` shows the names of what is bound."""
    bound = {item.place.node for item in request.keywords if item.name not in UNCHANGED}
    for node, module, partial in _keywords_read(context):
        if any(argument.node in bound for argument in partial.arguments):
            text = context.source(node, module)
            context.manual(node, module, [site], "MR120", f"`{text}` looks at the names of the arguments")


def _keywords_read(context: Context) -> list[tuple[cst.CSTNode, Module, Partial]]:
    """The reads of what is bound by ``functools.partial``."""
    known = context.memo.get("keywords of partials")
    if known is None:
        known = context.memo["keywords of partials"] = [
            (node, module, value)
            for module in context.project.modules
            for node in module.of(cst.Attribute)
            if isinstance(node, cst.Attribute) and node.attr.value == "keywords"
            for value in context.project.values(node.value)
            if isinstance(value, Partial)
        ]
    assert isinstance(known, list)
    return known


def _copy(context: Context, site: Site, value: DictValue, names: frozenset[str]) -> None:
    """``value`` is no dict of arguments, but has entries of one."""
    places = [place for name in sorted(names - _SAME_KEY) for place in value.places.get(name, ())]
    for place in [*places, *value.others]:
        if place.how in READS:
            text = context.source(place.node, place.module)
            detail = f"`{text}` reads a copy of the arguments"
            context.manual(place.node, place.module, [site], "MR120", detail)


def _mixed(context: Context, site: Site, value: DictValue, names: frozenset[str]) -> None:
    """``m["max_tokens"]`` where ``m`` can also be a dict that is not sent, and keeps that name."""
    for name in sorted(names - _SAME_KEY):
        for place in value.places.get(name, ()):
            base = _asked(place)
            for other in context.project.values(base) if base is not None else ():
                if isinstance(other, DictValue) and name in other.places and not context.senders(other):
                    text = context.source(place.node, place.module)
                    verb = "reads" if place.how in READS else "writes to"
                    detail = f"`{text}` also {verb} a dict that is no request"
                    context.manual(place.node, place.module, [site], "MR120", detail)
                    break


def _asked(place: Place) -> cst.BaseExpression | None:
    """The dict of which a read asks, or that gets an entry after it is made."""
    match place.node:
        case cst.Subscript(value=base) | cst.Call(func=cst.Attribute(value=base)):
            return base if place.how in READS or place.how in ("store", "setdefault") else None
        case (
            cst.ComparisonTarget(comparator=base)
            | cst.Comparison(comparisons=[cst.ComparisonTarget(comparator=base)])
        ):
            return base
        case cst.Arg():
            call = place.module.parents.get(place.node)
            func = call.func if isinstance(call, cst.Call) else None
            updates = isinstance(func, cst.Attribute) and func.attr.value == "update"
            return func.value if updates and isinstance(func, cst.Attribute) else None
        case _:
            return None


def keyword_taker(context: Context, node: cst.CSTNode, module: Module, names: frozenset[str]) -> str | None:
    """A function that gets ``**node`` and keeps one of the entries ``names``, if there is one."""
    argument = module.parents.get(node)
    call = module.parents.get(argument) if argument is not None else None
    if not isinstance(argument, cst.Arg) or not isinstance(call, cst.Call) or not _is_poured(argument):
        return None
    callees = list(context.project.values(call.func))
    if any(isinstance(callee, External) for callee in callees):  # partial(f, **node), submit(f, **node)
        callees += [
            value for item in call.args if not item.star for value in context.project.values(item.value)
        ]
    around = set(module.ancestors(call))
    return next((name for callee in callees for name in _takes(context, callee, names, around)), None)


def _is_poured(argument: cst.Arg) -> bool:
    """``f(**d)``, or ``Thread(target=f, kwargs=d)``."""
    return argument.star == "**" or (argument.keyword is not None and argument.keyword.value == "kwargs")


def _takes(context: Context, callee: Value, names: frozenset[str], around: set[cst.CSTNode]) -> Iterator[str]:
    match callee:
        case Bound(function=function):
            yield from _takes(context, function, names, around)
        case Partial(target=target):
            yield from _takes(context, target, names, around)
        case Function(name=name):
            if names & kept_by(callee, around):
                yield name
        case Class(name=name):
            family = [callee, *context.project.ancestors(callee)]
            if names & {field for cls in family for field in cls.annotations}:
                yield name
            for method in ("__init__", "__new__"):
                yield from _member(context, family, method, names, around)
        case Instance(type=cls):
            yield from _member(context, [cls, *context.project.ancestors(cls)], "__call__", names, around)
        case _:
            return


def _member(
    context: Context, family: list[Class], method: str, names: frozenset[str], around: set[cst.CSTNode]
) -> Iterator[str]:
    for cls in family:
        if method in cls.members:
            for value in cls.members[method].values:
                if isinstance(value, Function):
                    yield from _takes(context, value, names, around)
            return

"""Objects that were lost in a crowd: a place with too many of them to be told apart (``graph.py``).

What the program does with such an object at that place is not seen: it may be changed there, read, or called.
So anything may be passed to the functions in it, and the calls that it has to do with are not known for
certain: those whose answers it holds, and those that send it or what was got out of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .graph import MANY
from .kinds import Bound, Class, DictValue, Function, Instance, SeqValue, Shape, Site, Value
from .members import Members


def held(values: Iterable[Value]) -> dict[Value, None]:
    """``values`` and what is in them, however deep; an instance counts as one."""
    found: dict[Value, None] = {}
    stack = list(values)
    while stack:
        value = stack.pop()
        if value in found:
            continue
        found[value] = None
        if isinstance(value, SeqValue):
            inner = [value.element, *value.items.values()]
        elif isinstance(value, DictValue):
            inner = [value.everything, value.keys]
        else:
            continue
        stack.extend(one for var in inner for one in var.values)
    return found


def functions(members: Members, value: Value) -> Iterator[Function]:
    """The functions that somebody who has ``value`` can call."""
    match value:
        case Function():
            yield value
        case Bound():
            yield value.function
        case Class():
            yield from _functions(members.lookup(value, "__init__").values)
        case Instance():
            for cls in (value.type, *members.ancestors(value.type)):
                for var in list(cls.members.values()):
                    yield from _functions(var.values)


def _functions(values: Iterable[Value]) -> Iterator[Function]:
    return (value for value in list(values) if isinstance(value, Function))


def calls_in_crowds(members: Members, sites: Iterable[Site]) -> set[Site]:
    """Those of ``sites`` that have to do with what was lost."""
    lost = held(members.solver.lost)
    if not lost:
        return set()
    found: set[Site] = set()
    for value in lost:
        shown = [function.result for function in functions(members, value)]
        if isinstance(value, Instance):
            shown += value.fields.values()
        seen = [value, *(inner for var in shown for inner in var.values)]
        found.update(one.site for one in seen if isinstance(one, Shape))
    for site in sites:
        sent = held(value for argument in site.invocation.arguments for value in argument.var.values)
        if MANY in sent or not lost.keys().isdisjoint(sent.keys() - _plain(sent)):
            found.add(site)
    return found


def _plain(values: Iterable[Value]) -> set[Value]:
    """Those of ``values`` that nothing can be done to."""
    return {value for value in values if not isinstance(value, (SeqValue, DictValue, Instance))}

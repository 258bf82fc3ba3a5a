"""What dicts and lists hold, and all that can be reached from a variable."""

from __future__ import annotations

from collections.abc import Iterator

from ..know.graph import Var
from ..know.kinds import Const, DictValue, External, SeqValue, Typed, Unknown, Value

PLAIN = (Const, Typed, External, Unknown)


def contents(value: Value) -> list[Value]:
    """What a container holds: the elements of a sequence, the values of a dict; each once, in order."""
    if isinstance(value, SeqValue):
        held = [value.element, *value.items.values()]
    elif isinstance(value, DictValue):
        held = [value.everything, value.keys]
    else:
        return []
    return list(dict.fromkeys(inner for var in held for inner in var.values))


def reachable(*variables: Var) -> Iterator[Value]:
    """The values of ``variables`` and what they contain, however deep."""
    seen: dict[Value, None] = {}
    stack = [value for var in variables for value in var.values]
    while stack:
        value = stack.pop()
        if value not in seen and not isinstance(value, PLAIN):
            seen[value] = None
            stack.extend(contents(value))
    return iter(seen)


def hands_on(value: Value) -> bool:
    """Whether ``value`` can be anything that somebody else kept: ``attrgetter("answer")(run)``."""
    if isinstance(value, External):
        return value.path.partition(".")[0] in _KEEPERS
    return isinstance(value, Unknown)


# Modules that give back what they were given, or what somebody names.
_KEEPERS = frozenset(
    """asyncio builtins collections concurrent contextlib copy dataclasses enum functools heapq hydra
    importlib inspect itertools multiprocessing operator pickle pkgutil pydoc queue random runpy shelve
    stevedore sys threading weakref""".split()
)

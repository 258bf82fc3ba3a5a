"""What a distributed project offers under its own name: others call it as well as the project does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .kinds import Class, Function
from .modules import Module
from .testing import in_tests

MADE = "__init__"  # offered as the class

# Folders that a distribution leaves out, or that nobody imports from.
_BESIDE = frozenset(
    "tests test examples example samples demo demos docs doc tutorials notebooks benchmarks e2e".split()
)
_BESIDE_AT_TOP = _BESIDE | {"scripts", "tools", "setup.py", "noxfile.py", "conftest.py"}


def is_shipped(module: Module) -> bool:
    """Whether ``module`` can be part of what a packaged project offers to others, by its path."""
    first, *others = module.path.split("/")
    return first not in _BESIDE_AT_TOP and _BESIDE.isdisjoint(others[:-1]) and not in_tests(module)


def exported(modules: Iterable[Module]) -> Iterator[Function]:
    """The functions that packages hand on by name, and the constructors of such classes."""
    for module in modules:
        if not module.is_package or not is_shipped(module):
            continue
        for name in sorted(module.scope.bound):
            for value in [] if name.startswith("_") else list(module.scope.any(name).values):
                if isinstance(value, Function) and value.name == name and value.owner is None:
                    yield value
                elif isinstance(value, Class) and value.name == name and MADE in value.members:
                    yield from (made for made in value.members[MADE].values if isinstance(made, Function))

"""Arguments that are some entries of another dict: ``{k: v for k, v in kwargs.items() if k in SUPPORTED}``.

The names are asked for there, so they stay as callers write them, and are looked up in a table on their way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..know.copying import copied_by_comprehension
from ..know.graph import Var
from ..know.kinds import Const, DictValue, Place, SeqValue, Unknown, Value
from ..know.modules import walk
from ..know.project import Project

# What becomes of these is decided where they are written.
_BY_PLACE = frozenset({"messages", "functions", "function_call"})


class Filtered:
    """The entries of such dicts, and the dicts that they come from."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[DictValue, dict[str, Place] | None] = {}

    def entries(self, value: DictValue) -> dict[str, Place] | None:
        """The entries that ``value`` gets by a test of names; None without one, or if they are not known."""
        if value not in self._known:
            self._known[value] = self._entries(value)
        return self._known[value]

    def sources(self, value: DictValue) -> list[DictValue]:
        """The dicts that ``value`` gets its entries from."""
        found: dict[DictValue, None] = {}
        stack = [value]
        while stack:
            for source in stack.pop().merged:
                for one in source.values:
                    if isinstance(one, DictValue) and one not in found:
                        found[one] = None
                        stack.append(one)
        return list(found)

    def _entries(self, value: DictValue) -> dict[str, Place] | None:
        made = value.node
        if not isinstance(made, cst.DictComp) or copied_by_comprehension(made) is None:
            return None
        assert isinstance(made.key, cst.Name)
        tests = [test.test for test in made.for_in.ifs]
        if not any(_names(test, made.key.value) for test in tests):
            return None
        allowed = self._allowed(tests, made.key.value)
        passed = self._passed(value)
        if passed is None and allowed is None:
            return None
        names = allowed if passed is None else passed if allowed is None else passed & allowed
        if names is None or not names.isdisjoint(_BY_PLACE):
            return None
        return {name: self._entry(value, name, passed is None) for name in sorted(names)}

    def _entry(self, value: DictValue, name: str, is_open: bool) -> Place:
        var = Var()
        self._project.solver.flow(self._project.field(value, name), var)
        if is_open:
            self._project.solver.add(var, [Unknown("an entry of a dict that is not known", value.node)])
        self._project.solver.run()
        return Place("dumped", value.node, value.module, var)

    def _passed(self, value: DictValue) -> frozenset[str] | None:
        """The names in the dicts that ``value`` is made from, if nobody else can put one there."""
        sources = self.sources(value)
        for var in (var for holder in (value, *sources) for var in holder.merged):
            if not var.values or not all(
                isinstance(item, DictValue) or _is_none(item) for item in var.values
            ):
                return None
        if any(source.others and not isinstance(source.node, cst.Param) for source in sources):
            return None
        return frozenset(name for source in sources for name in source.places)

    def _allowed(self, tests: Iterable[cst.BaseExpression], key: str) -> frozenset[str] | None:
        """The names that get through the ``tests`` of ``key``, if these name them."""
        found: frozenset[str] | None = None
        for test in terms(tests):
            match test:
                case cst.Comparison(
                    left=cst.Name(value=name), comparisons=[cst.ComparisonTarget(cst.In(), listed)]
                ) if name == key:
                    names = self._listed(listed)
                    if names is not None:
                        found = names if found is None else found & names
                case _:
                    continue
        return found

    def _listed(self, node: cst.BaseExpression) -> frozenset[str] | None:
        """The texts in ``node``, if it has nothing else."""
        found: set[str] = set()
        stack = self._project.values(node)
        seen: set[Value] = set()
        while stack:
            value = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            match value:
                case Const(value=str() as text) if value not in self._project.values(node):
                    found.add(text)
                case SeqValue(element=element, derived=derived):
                    if not element.values or not all(var.values for var in derived):
                        return None
                    stack += element.values
                case DictValue(places=places, others=[], merged=[]):
                    found.update(places)
                case _:
                    return None
        return frozenset(found) if found else None


def terms(tests: Iterable[cst.BaseExpression]) -> Iterator[cst.BaseExpression]:
    """The tests that all hold where ``tests`` do."""
    stack = list(tests)
    while stack:
        match test := stack.pop():
            case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
                stack += [left, right]
            case _:
                yield test


def _names(test: cst.BaseExpression, key: str) -> bool:
    return any(isinstance(node, cst.Name) and node.value == key for node in walk(test))


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None

"""Arguments that are some entries of another dict: ``{k: v for k, v in kwargs.items() if k in SUPPORTED}``.

The names are asked for there, so they stay as callers write them, and are looked up in a table on their way.
"""

from __future__ import annotations

import libcst as cst

from ..know.copying import copied_by_comprehension, entries_of_loop
from ..know.graph import Var
from ..know.kinds import Const, DictValue, Place, Unknown, Value
from ..know.modules import Module
from ..know.project import Project
from .name_tests import let_through
from .tests_around import tests_around

# What becomes of these is decided where they are written.
_BY_PLACE = frozenset({"messages", "functions", "function_call"})

Entries = dict[str, Place]


class Filtered:
    """The entries of such dicts, and the dicts that they come from."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[DictValue, Entries | None] = {}
        self._stored: dict[Place, Entries | None] = {}

    def entries(self, value: DictValue) -> Entries | None:
        """The entries that ``value`` gets by a test of names; None without one, or if they are not known."""
        if value not in self._known:
            self._known[value] = self._of_comprehension(value)
        return self._known[value]

    def stored(self, place: Place) -> Entries | None:
        """The same of ``for k, v in kwargs.items(): if k in SUPPORTED: params[k] = v`` at ``place``."""
        if place not in self._stored:
            self._stored[place] = self._of_loop(place)
        return self._stored[place]

    def sources(self, value: DictValue) -> list[DictValue]:
        """The dicts that ``value`` gets its entries from by a test of names."""
        poured = value.merged if self.entries(value) is not None else []
        for place in value.others:
            source = entries_of_loop(place.node, place.module.parents) if self.stored(place) else None
            if source is not None:
                poured = [*poured, self._project.vars[source]]
        return self._all_of(poured)

    def _all_of(self, poured: list[Var]) -> list[DictValue]:
        found: dict[DictValue, None] = {}
        stack = list(poured)
        while stack:
            for one in stack.pop().values:
                if isinstance(one, DictValue) and one not in found:
                    found[one] = None
                    stack.extend(one.merged)
        return list(found)

    def _of_comprehension(self, value: DictValue) -> Entries | None:
        made = value.node
        if not isinstance(made, cst.DictComp) or copied_by_comprehension(made) is None:
            return None
        assert isinstance(made.key, cst.Name)
        tests = [(test.test, True) for test in made.for_in.ifs]
        passed = self._passed(value.merged)
        names = let_through(self._project, tests, made.key.value, passed)
        return self._entries(names, value.merged, passed is None, made, value.module)

    def _of_loop(self, place: Place) -> Entries | None:
        source = entries_of_loop(place.node, place.module.parents) if place.how == "store" else None
        if source is None:
            return None
        assert isinstance(place.node, cst.Subscript)
        if len(self._project.values(place.node.value)) != 1:  # entries of other dicts keep their names
            return None
        poured = [self._project.vars[source]]
        key = _key(place.node)
        passed = self._passed(poured)
        names = let_through(self._project, tests_around(key, place.module), key.value, passed)
        return self._entries(names, poured, passed is None, place.node, place.module)

    def _entries(
        self,
        names: frozenset[str] | None,
        poured: list[Var],
        is_open: bool,
        node: cst.CSTNode,
        module: Module,
    ) -> Entries | None:
        """An entry for each of ``names``, with what the dicts in ``poured`` have under it."""
        if names is None or not names.isdisjoint(_BY_PLACE):
            return None
        found: Entries = {}
        for name in sorted(names):
            var = Var()
            for value in [value for source in poured for value in source.values]:
                if isinstance(value, DictValue):
                    self._project.solver.flow(self._project.field(value, name), var)
            if is_open:
                self._project.solver.add(var, [Unknown("an entry of a dict that is not known", node)])
            found[name] = Place("dumped", node, module, var)
        self._project.solver.run()
        return found

    def _passed(self, poured: list[Var]) -> frozenset[str] | None:
        """The names in the dicts of ``poured``, if nobody else can put one there."""
        sources = self._all_of(poured)
        for var in (*poured, *(var for source in sources for var in source.merged)):
            if not var.values or not all(map(_is_known, var.values)):
                return None
        if any(source.others and not isinstance(source.node, cst.Param) for source in sources):
            return None
        return frozenset(
            name
            for source in sources
            for name, places in source.places.items()
            if any(place.var is not None for place in places)
        )


def _is_known(value: Value) -> bool:
    return isinstance(value, DictValue) or (isinstance(value, Const) and value.value is None)


def _key(node: cst.CSTNode) -> cst.Name:
    """``k`` of ``params[k]``."""
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name() as key))]):
            return key
        case _:
            raise TypeError(node)

"""What assignments do: names are bound, attributes and entries written, sequences unpacked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import libcst as cst

from . import modules as syntax
from .graph import Var
from .kinds import DictValue, SeqValue, Value
from .scoping import Names
from .stated_flags import sets_stream, spelled


class Targets(Names, ABC):
    """Builds the constraints of the targets of assignments and loops."""

    @abstractmethod
    def expression(self, node: cst.BaseExpression) -> Var:
        """The variable of ``node``; builds what is below it."""

    def new(self, *values: Value) -> Var:
        var = Var()
        if values:
            self.solver.add(var, values)
        return var

    def opaque(self, node: cst.CSTNode) -> Var:
        for child in syntax.children(node):
            if isinstance(child, cst.BaseExpression):
                self.expression(child)
            else:
                self.opaque(child)
        return Var()

    def iterate(self, source: Var) -> Var:
        """What a loop over ``source`` yields."""
        var = Var()
        self.project.spread(source, var)
        return var

    def assign(self, target: cst.BaseExpression, value: Var) -> None:
        """``target = value``."""
        match target:
            case cst.Name(value=name):
                self.project.vars[target] = value
                self.bind(name, value)
            case cst.Attribute():
                base = self.expression(target.value)
                self.solver.watch(base, lambda owner: self.project.store_attribute(owner, target, value))
            case cst.Subscript():
                self._store_subscript(target, value)
            case cst.Tuple(elements=elements) | cst.List(elements=elements):
                self._unpack(elements, value)
            case cst.StarredElement():
                self.assign(target.value, value)
            case _:
                self.expression(target)

    def _store_subscript(self, target: cst.Subscript, value: Var) -> None:
        base = self.expression(target.value)
        match target.slice:
            case [cst.SubscriptElement(slice=cst.Slice() as section)]:
                self.opaque(section)
                self.solver.watch(base, lambda owner: self.project.splice(owner, value))
            case [cst.SubscriptElement(slice=cst.Index(value=index))]:
                key, source = self.expression(index), self.pours.get(target)
                flag = spelled(target, self.module)[0] if sets_stream(target) else None
                if flag is not None:
                    self.project.flag_keys[target] = self.flag_key(flag)

                def store(owner: Value) -> None:
                    if source is not None and isinstance(owner, DictValue):
                        self.project.merge(owner, source)
                    else:
                        self.project.store_item(owner, key, target, value, self.module)

                self.solver.watch(base, store)
            case several:  # of an array
                for element in several:
                    self.opaque(element.slice)

    def _unpack(self, elements: Sequence[cst.BaseElement], value: Var) -> None:
        starred = any(isinstance(element, cst.StarredElement) for element in elements)
        for position, element in enumerate(elements):
            part = Var()
            index = None if starred else position

            def take(source: Value, index: int | None = index, part: Var = part) -> None:
                self.project.element_at(source, index, part)

            self.solver.watch(value, take)
            if isinstance(element, cst.StarredElement):
                rest = SeqValue(element, self.module, "list", part)
                self.assign(element.value, self.new(rest))
            else:
                self.assign(element.value, part)

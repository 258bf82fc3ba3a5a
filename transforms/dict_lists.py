"""Histories that have to hold dicts: they are declared to, dumped, or read as such.

What an answer puts into one are its items as dicts, ``item.to_dict()``. Those of a parsed answer cannot be
dumped, as they would keep their ``parsed``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from typing import TYPE_CHECKING

import libcst as cst

from ..know.kinds import Bound, Function, Place, Resource, SeqValue, Site
from ..know.modules import Module, parameters

if TYPE_CHECKING:
    from .item_facts import Facts


class DictLists:
    """Which of the lists that are sent have to hold dicts."""

    def __init__(self, known: Facts) -> None:
        self._context = known.context
        self._lists: dict[cst.CSTNode, list[SeqValue | None]] = {}
        for sequence, _, place in known.places():
            self._lists.setdefault(place.node, []).append(sequence)
        self._wants = cache(self._is_declared)
        self._reads = cache(self._is_read)

    def wanted_at(self, place: Place) -> bool:
        """Whether one of the lists that something is put into at ``place`` is declared so, or dumped."""
        return any(map(self._wants, self._lists.get(place.node, ())))

    def taken_at(self, place: Place, sites: Iterable[Site]) -> bool:
        """Whether the items of answers of ``sites``, put in where dicts were, become dicts at ``place``.

        So they do where a list is used for more than being sent. Those of a parsed answer hold back there.
        """
        read = any(map(self._reads, self._lists.get(place.node, (None,))))
        if not read and not self.wanted_at(place):
            return False
        if all(site.method == "create" for site in sites):
            return True
        if read:
            detail = "messages that were dicts are read, and the items of a parsed answer are objects"
            self._context.unsafe(place.node, place.module, sites, "MR208", detail)
        return False

    def _is_declared(self, sequence: SeqValue | None) -> bool:
        if sequence is None:
            return False
        for node, module in self._context.holders(sequence):
            parent = module.parents.get(node)
            if isinstance(parent, cst.AnnAssign) and says_dict(parent.annotation, module):
                return True
        return sequence in self._declared or any(
            escape.to.startswith(("json.", "yaml.")) for escape in self._context.escapes.of(sequence)
        )

    @cached_property
    def _declared(self) -> set[SeqValue]:
        """The lists that come to a parameter which is declared to be one of dicts."""
        return {
            value
            for function in self._context.project.functions.values()
            for param in parameters(function.node.params)
            if param.annotation is not None and says_dict(param.annotation, function.module)
            for value in function.parameters[param.name.value].values
            if isinstance(value, SeqValue)
        }

    def _is_read(self, sequence: SeqValue | None) -> bool:
        if sequence is None:
            return True
        return not all(self._is_sent(node, module) for node, module in self._context.holders(sequence))

    def _is_sent(self, node: cst.CSTNode, module: Module) -> bool:
        """Whether ``node`` is added to, sent, or hands the list on to where that can be seen."""
        match module.parents.get(node):
            case cst.Assign() | cst.AssignTarget() | cst.AnnAssign() | cst.Param() | cst.NamedExpr():
                return True
            case cst.Attribute(attr=cst.Name(value="append" | "extend" | "insert" | "clear")) as method:
                return isinstance(module.parents.get(method), cst.Call)
            case cst.Arg(star="") as arg:
                call = module.parents.get(arg)
                callees = self._context.project.values(call.func) if isinstance(call, cst.Call) else []
                followed = all(isinstance(callee, (Function, Bound, Resource)) for callee in callees)
                return bool(callees) and followed
            case _:
                return False


def says_dict(annotation: cst.Annotation, module: Module) -> bool:
    """Whether something is declared to be, or to hold, a dict of no other type."""
    return "dict" in module.tree.code_for_node(annotation.annotation).lower()

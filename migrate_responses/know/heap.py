"""Dicts and sequences: what is put into them, where, and what comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import libcst as cst

from .graph import Solver, Var
from .kinds import (
    Argument,
    Const,
    DictValue,
    External,
    Invocation,
    Method,
    Place,
    SeqValue,
    Typed,
    Unknown,
    Value,
)
from .models import REFLECTION
from .modules import Module


class Heap(ABC):
    """Entries of dicts and elements of sequences, as constraints."""

    def __init__(self) -> None:
        self.solver = Solver()
        self.vars: dict[cst.CSTNode, Var] = {}
        self.built: dict[cst.CSTNode, DictValue | SeqValue] = {}
        self.sent: dict[SeqValue, Var] = {}  # what is sent into a generator
        self.patterns: list[tuple[cst.CSTNode, Module, Var]] = []  # of match statements, with what they meet
        self.unread: list[tuple[DictValue, Var, Var]] = []  # reads under keys of which nothing is known
        self.unkeyed: list[tuple[DictValue, Var, Var]] = []  # entries under such keys, so far
        self._awaiting: dict[DictValue, list[Callable[[DictValue], None]]] = {}  # what is poured into them
        self._seats: dict[SeqValue, list[Var]] = {}  # what was read by position
        self._shifted: set[SeqValue] = set()  # whose positions say nothing any more

    def fresh(self, *values: Value) -> Var:
        """A new variable that holds ``values``."""
        var = Var()
        if values:
            self.solver.add(var, values)
        return var

    # -- dicts ---------------------------------------------------------------------------

    def field(self, owner: DictValue, key: str) -> Var:
        """The entry ``key``, with what merged dicts have under it."""
        var = owner.fields.get(key)
        if var is None:
            var = owner.fields[key] = Var()
            self.solver.flow(owner.unkeyed, var)
            self._fill(owner, key, var)
        return var

    def written(self, owner: DictValue, key: str) -> Var:
        """What is known to stand under ``key``: the entry without what may stand under any key."""
        var = owner.written.get(key)
        if var is None:
            var = owner.written[key] = Var()
            self._fill(owner, key, var)
        return var

    def _fill(self, owner: DictValue, key: str, var: Var) -> None:
        for place in owner.places.get(key, ()):
            if place.var is not None:
                self.solver.flow(place.var, var)
        for poured in list(owner.poured):
            self.solver.flow(self.written(poured, key), var)

    def new_dict(self, node: cst.CSTNode, module: Module) -> DictValue:
        """A dict that nothing is known of yet."""
        return DictValue(node, module, Var(), Var(), Var(), Var(), Var())

    def merge(self, owner: DictValue, source: Var) -> None:
        """``owner`` gets all entries of the dicts in ``source``."""
        if any(source is known for known in owner.merged):
            return
        owner.merged.append(source)

        def on(value: Value) -> None:
            if isinstance(value, DictValue) and value not in owner.poured and value is not owner:
                owner.poured[value] = None
                for then in self._awaiting.get(owner, ()):
                    then(value)
                self.solver.flow(value.everything, owner.everything)
                self.solver.flow(value.unkeyed, owner.unkeyed)
                self.solver.flow(value.outside, owner.outside)
                for key, var in (*owner.fields.items(), *owner.written.items()):
                    self.solver.flow(self.written(value, key), var)
            elif isinstance(value, (External, Unknown)):
                self.solver.add(owner.outside, [_entry_of(value, owner)])
            elif isinstance(value, SeqValue):
                self._pair_up(owner, value)

        self.solver.watch(source, on)

    def _pair_up(self, owner: DictValue, pairs: SeqValue) -> None:
        """``dict(pairs)``: what they have may be under any key."""
        held = Var()
        place = Place("literal", owner.node, owner.module, held)
        self.solver.flow(held, owner.everything)
        self.solver.flow(held, owner.unkeyed)

        def on(pair: Value) -> None:
            if place not in owner.others:  # of `dict(params or ())` no pair comes
                owner.others.append(place)
            if isinstance(pair, SeqValue):
                self.element_at(pair, 1, held)
            else:
                self.solver.add(held, [_entry_of(pair, owner)])

        element = Var()
        self.elements(pairs, element)
        self.solver.watch(element, on)

    def each_poured(self, owner: DictValue, then: Callable[[DictValue], None]) -> None:
        """Do ``then`` with each dict that is poured into ``owner``, now or later."""
        self._awaiting.setdefault(owner, []).append(then)
        for value in list(owner.poured):
            then(value)

    def entry(
        self,
        owner: DictValue,
        key: Var,
        node: cst.CSTNode,
        how: str,
        value: Var | None,
        module: Module,
    ) -> None:
        """An entry of ``owner`` is written or read at ``node``, under each constant in ``key``."""
        place = Place(how, node, module, value)
        if how in ("pop", "delete"):
            self.solver.add(owner.missing, [Const(None, node)])
        if value is not None:
            self.solver.flow(value, owner.everything)
        if not key.values:
            owner.others.append(place)
            if value is not None:
                self.unkeyed.append((owner, key, value))
        seen: set[object] = set()

        def on(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str):
                if found.value in seen:
                    return
                seen.add(found.value)
                owner.places.setdefault(found.value, []).append(place)
                if value is not None:
                    self.solver.flow(value, self.field(owner, found.value))
                    if found.value in owner.written:
                        self.solver.flow(value, owner.written[found.value])
                return
            if not _is_unhashable(found):
                self.solver.add(owner.keys, [found])
            is_new = place not in owner.others
            if is_new:
                owner.others.append(place)
            # A name from outside may be any; one of a dict that is copied is told apart by who copies.
            if value is not None and None not in seen and (is_new or isinstance(found, (External, Unknown))):
                seen.add(None)  # once is enough
                self.solver.flow(value, owner.unkeyed)

        self.solver.watch(key, on)

    def keyword_dict(self, invocation: Invocation, result: Var) -> DictValue:
        """The dict that ``dict(a=1, **b)`` makes."""
        known = self.built.get(invocation.node)
        if isinstance(known, DictValue):
            return known
        value = self.new_dict(invocation.node, invocation.module)
        self.built[invocation.node] = value
        self.pour_arguments(value, invocation.arguments, invocation.module)
        self.solver.add(result, [value])
        return value

    def pour_arguments(self, owner: DictValue, arguments: list[Argument], module: Module) -> None:
        """Write the arguments of ``dict(...)`` or ``.update(...)`` into ``owner``."""
        for argument in arguments:
            if argument.keyword in (None, "**"):
                self.merge(owner, argument.var)
            elif argument.keyword != "*":
                key = self.fresh(Const(argument.keyword, argument.node))
                self.entry(owner, key, argument.node, "keyword", argument.var, module)

    def dict_method(self, method: Method, owner: DictValue, call: Invocation) -> None:
        """``d.get("k")``, ``d.update(...)`` and their kin."""
        first = call.arguments[0].var if call.arguments else self.fresh()
        second = call.arguments[1].var if len(call.arguments) > 1 else None
        match method.name:
            case "get" | "pop":
                self.entry(owner, first, call.node, method.name, None, call.module)
                self._read(owner, first, call.result)
                if second is not None:
                    self.solver.flow(second, call.result)
                elif method.name == "get":
                    self._missing(owner, first, call)
            case "clear" | "popitem":
                self.solver.add(owner.missing, [Const(None, call.node)])
            case "setdefault":
                self.entry(owner, first, call.node, "setdefault", second, call.module)
                self._read(owner, first, call.result)
            case "__setitem__":
                self.entry(owner, first, call.node, "store", second, call.module)
            case "__getitem__":
                self.entry(owner, first, call.node, "read", None, call.module)
                self._read(owner, first, call.result)
            case "update":
                self.pour_arguments(owner, call.arguments, call.module)
            case "copy":
                self.solver.add(call.result, [owner])
            case "items":
                pair = SeqValue(call.node, call.module, "tuple", Var())
                pair.items = {0: self.fresh(Typed("str")), 1: Var()}
                self.solver.flow(owner.keys, pair.items[0])
                self.solver.flow(owner.everything, pair.items[1])
                listing = SeqValue(call.node, call.module, "generator", self.fresh(pair))
                self.solver.add(call.result, [listing])
            case "values":
                listing = SeqValue(call.node, call.module, "generator", Var())
                self.solver.flow(owner.everything, listing.element)
                self.solver.add(call.result, [listing])
            case "keys":
                listing = SeqValue(call.node, call.module, "generator", self.fresh(Typed("str")))
                self.solver.flow(owner.keys, listing.element)
                self.solver.add(call.result, [listing])
            case _:
                pass

    def _missing(self, owner: DictValue, key: Var, call: Invocation) -> None:
        """``d.get(key)`` gives None, unless the dict is written with that key and nothing is taken out."""

        def on(found: Value) -> None:
            name = found.value if isinstance(found, Const) else None
            places = owner.places.get(name, ()) if isinstance(name, str) else ()
            if any(place.how == "literal" for place in places):
                self.solver.flow(owner.missing, call.result)
            else:
                self.solver.add(call.result, [Const(None, call.node)])

        if not key.values:  # any key, for all that is known
            self.solver.add(call.result, [Const(None, call.node)])
        self.solver.watch(key, on)

    def looked_up(self, source: Var, key: Var) -> Var:
        """What the dicts in ``source`` have under ``key``."""
        found = Var()
        self.solver.watch(
            source, lambda value: self._read(value, key, found) if isinstance(value, DictValue) else None
        )
        return found

    def _read(self, owner: DictValue, key: Var, result: Var) -> None:
        def on(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str):
                self.solver.flow(self.field(owner, found.value), result)
                self.solver.flow(owner.outside, result)
            else:
                self.solver.flow(owner.everything, result)

        self.solver.watch(key, on)
        if not key.values:
            self.unread.append((owner, key, result))

    # -- sequences -----------------------------------------------------------------------

    def join(self, owner: SeqValue, source: Var) -> None:
        """The elements of the sequences in ``source`` become elements of ``owner``."""
        if any(source is known for known in owner.derived):
            return
        owner.derived.append(source)
        self.spread(source, owner.element)

    def element_at(self, owner: Value, index: int | None, target: Var) -> None:
        """``owner[index]`` flows to ``target``; without an index, any element."""
        known = isinstance(owner, SeqValue) and index in owner.items and not owner.derived
        if known and isinstance(owner, SeqValue) and index is not None and owner not in self._shifted:
            self._seats.setdefault(owner, []).append(target)
            self.solver.flow(owner.items[index], target)
        else:
            self.elements(owner, target)

    def shift(self, owner: SeqValue) -> None:
        """Elements of ``owner`` change their places: what is read by position can be any of them."""
        if owner not in self._shifted:
            self._shifted.add(owner)
            for target in self._seats.pop(owner, ()):
                self.elements(owner, target)

    def splice(self, owner: Value, source: Var) -> None:
        """``owner[start:end] = source``."""
        if isinstance(owner, SeqValue):
            self.join(owner, source)
            self.shift(owner)

    def spread(self, source: Var, target: Var) -> None:
        """What iterating over ``source`` gives flows to ``target``."""
        self.solver.watch(source, lambda value: self.elements(value, target))

    @abstractmethod
    def elements(self, owner: Value, target: Var) -> None:
        """What iterating over ``owner`` gives flows to ``target``."""

    def seq_method(self, method: Method, owner: SeqValue, call: Invocation) -> None:
        """``messages.append(...)`` and its kin."""
        first = call.arguments[0].var if call.arguments else None
        last = call.arguments[-1].var if call.arguments else None
        if method.name in _SHIFTS:
            self.shift(owner)
        match method.name:
            case "append" | "add" | "put" | "put_nowait" | "appendleft" | "set" if first is not None:
                self.solver.flow(first, owner.element)
                owner.places.append(Place("append", call.node, call.module, first))
            case "set" if first is not None:  # of a context variable
                self.solver.flow(first, owner.element)
            case "insert" if last is not None:
                self.solver.flow(last, owner.element)
                owner.places.append(Place("insert", call.node, call.module, last))
            case "extend" | "extendleft" | "update" if first is not None:
                self.join(owner, first)
                owner.places.append(Place("extend", call.node, call.module, first))
            case "__setitem__" if last is not None:
                self.put(owner, last, call)
            case "__getitem__":
                self.elements(owner, call.result)
            case "pop" | "popleft" | "get" | "result":
                self.solver.flow(owner.element, call.result)
                owner.places.append(Place("pop", call.node, call.module))
            case "copy":
                self.solver.add(call.result, [owner])
            case "remove" | "clear" | "reverse" | "sort" | "index" | "count":
                owner.places.append(Place(method.name, call.node, call.module))
            case "__next__" | "__anext__" | "send" | "asend":
                self.solver.flow(owner.element, call.result)
                if first is not None:
                    self.solver.flow(first, self.sent.setdefault(owner, Var()))
            case _:
                pass

    def put(self, owner: Value, value: Var, call: Invocation) -> None:
        """``value`` gets a place among the elements of ``owner``, who knows which, by ``call``."""
        if isinstance(owner, SeqValue):
            self.shift(owner)
            self.solver.flow(value, owner.element)
            for item in owner.items.values():
                self.solver.flow(value, item)
            owner.places.append(Place("put", call.node, call.module, value))

    def derive(self, node: cst.CSTNode, module: Module, source: Var, result: Var) -> None:
        """``list(x)``, ``sorted(x)``, ``x[1:]``: a new sequence with the elements of ``source``."""
        known = self.built.get(node)
        if not isinstance(known, SeqValue):
            known = SeqValue(node, module, "list", Var())
            self.built[node] = known
            self.solver.add(result, [known])
        self.join(known, source)


_SHIFTS = frozenset("appendleft clear extendleft insert pop popleft remove reverse rotate sort".split())


def _entry_of(value: Value, owner: DictValue) -> Value:
    """What ``value``, which is not known, may put into ``owner``; what reflection gives stays that."""
    if isinstance(value, External) and value.path.startswith(REFLECTION):
        return value.step("[]")
    return Unknown("an entry of a dict that is not known", owner.node)


def _is_unhashable(value: Value) -> bool:
    """Whether ``value`` can never be a key."""
    return isinstance(value, DictValue) or (isinstance(value, SeqValue) and value.type in ("list", "set"))

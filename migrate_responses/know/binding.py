"""Which parameters of a project function the arguments of a call reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from .graph import Var
from .kinds import Const, DictValue, Function, Invocation, Method, SeqValue, Typed, Unknown, Value
from .modules import parameters
from .semantics import Semantics


@dataclass(frozen=True)
class Row:
    """What is filled by position: parameters, or the fields of an object; ``star`` takes what is left."""

    slots: Sequence[Var]
    star: SeqValue | None = None

    def after(self, position: int) -> Row:
        """What is left for those who come at ``position`` or later."""
        return Row(self.slots[position:], self.star)


class Binding(Semantics):
    """Arguments become parameters; what a sequence gets later reaches those whom it was handed on to."""

    def __init__(self) -> None:
        super().__init__()
        self._takers: dict[SeqValue, list[Callable[[], None]]] = {}  # who is called with `*sequence`
        self._loose: set[tuple[SeqValue, Value]] = set()
        self._opened_by: dict[
            tuple[Function | str, ...], Var
        ] = {}  # what dicts from outside may hold for some
        self._unnamed: dict[tuple[Function, int], Var] = {}  # what dicts may hold for any of the parameters

    def bind(self, function: Function, names: Sequence[str], call: Invocation) -> None:
        """The arguments of ``call`` flow to the parameters; ``names`` are those that go by position."""
        self.bind_row(Row([function.parameters[name] for name in names], function.star), call)
        if all(argument.keyword in (None, "*") for argument in call.arguments):
            return
        keywords = _keywords(function, names)
        for argument in call.arguments:
            if argument.keyword == "**":
                self._bind_double_star(function, keywords, argument.var)
                self._open(function, _defaulted(function, keywords, names, call), argument.var)
            elif argument.keyword in keywords:
                self.solver.flow(argument.var, keywords[argument.keyword])
            elif argument.keyword not in (None, "*") and function.double_star is not None:
                key = self.fresh(Const(argument.keyword, argument.node))
                self.entry(function.double_star, key, argument.node, "keyword", argument.var, call.module)

    def bind_row(self, row: Row, call: Invocation) -> None:
        """The arguments of ``call`` that go by position flow to where they belong."""
        position = 0
        is_counted = True
        for argument in call.arguments:
            if argument.keyword is None and is_counted:
                self._place(row, position, argument.var)
                position += 1
            elif argument.keyword is None:
                one = SeqValue(argument.node, call.module, "tuple", argument.var)
                self._scatter(row.after(position), one)
            elif argument.keyword == "*":
                self._bind_star(row, position, is_counted, argument.var)
                is_counted = False  # where the next ones go depends on how many these are

    def _place(self, row: Row, position: int, var: Var) -> None:
        if position < len(row.slots):
            self.solver.flow(var, row.slots[position])
        elif row.star is not None:
            self._collect(row.star, position - len(row.slots), var)

    def _collect(self, star: SeqValue, index: int, var: Var) -> None:
        """``var`` is number ``index`` of what ``star`` is given."""
        self.solver.flow(var, star.element)
        item = star.items.get(index)
        if item is not None:
            self.solver.flow(var, item)
        elif index < _MOST:
            item = star.items[index] = Var()
            self.solver.flow(var, item)
            for source in star.derived:
                self.spread(source, item)
            self._tell(star)
        else:
            self._scatter(Row([], star), SeqValue(star.node, star.module, "tuple", var))

    def _bind_star(self, row: Row, position: int, is_counted: bool, var: Var) -> None:
        def on(value: Value) -> None:
            if isinstance(value, SeqValue) and is_counted:
                self._take(value, row, position)
            else:
                self._scatter(row.after(position), value)

        self.solver.watch(var, on)

    def _take(self, sequence: SeqValue, row: Row, position: int) -> None:
        """``row`` is filled from ``sequence``: with all that it holds, now or later."""
        placed: set[int] = set()

        def take() -> None:
            for index, item in list(sequence.items.items()):
                if index not in placed:
                    placed.add(index)
                    self._place(row, position + index, item)
            if _is_open(sequence):
                self._scatter(row.after(position), sequence)

        self._takers.setdefault(sequence, []).append(take)
        take()

    def _scatter(self, row: Row, value: Value) -> None:
        """Any place of ``row`` can be taken by any element of ``value``."""
        for slot in row.slots:
            self.elements(value, slot)
        star = row.star
        if star is None or star is value or (star, value) in self._loose:
            return
        self._loose.add((star, value))
        source = self.fresh(value)
        for item in star.items.values():
            self.spread(source, item)
        self.join(star, source)

    # -- what a sequence gets later ------------------------------------------------------

    def join(self, owner: SeqValue, source: Var) -> None:
        super().join(owner, source)
        self._tell(owner)

    def seq_method(self, method: Method, owner: SeqValue, call: Invocation) -> None:
        super().seq_method(method, owner, call)
        self._tell(owner)

    def _tell(self, sequence: SeqValue) -> None:
        for take in list(self._takers.get(sequence, ())):
            take()

    def _open(self, function: Function, keywords: dict[str, Var], source: Var) -> None:
        """``f(**json.load(file))``: what the call does not give itself may be anything."""
        kinds = {param.name.value: param.annotation for param in parameters(function.node.params)}
        why = Unknown("an entry of a `**` that is not known", function.node)
        self.open(keywords, kinds, source, why)

    def open(
        self,
        slots: Mapping[str, Var],
        annotations: Mapping[str, cst.Annotation | cst.BaseExpression | None],
        source: Var,
        why: Unknown,
    ) -> None:
        """Any of ``slots`` may be filled by ``**source``, as far as nobody knows what is in there."""

        def on(value: Value) -> None:
            if isinstance(value, DictValue):
                for slot in slots.values():
                    self.solver.flow(value.outside, slot)
            elif not isinstance(value, Const):
                for name, slot in slots.items():
                    kind = plain_type(annotations.get(name))
                    self.solver.add(slot, [Typed(kind) if kind else why])

        self.solver.watch(source, on)

    def _bind_double_star(self, function: Function, keywords: dict[str, Var], var: Var) -> None:
        # One place for what may go to any of them: each dict times each parameter would be many.
        loose = self._unnamed.get((function, len(keywords)))
        if loose is None:
            loose = self._unnamed[function, len(keywords)] = Var()
            for parameter in keywords.values():
                self.solver.flow(loose, parameter)

        def on(value: Value) -> None:
            if isinstance(value, DictValue):
                self.solver.flow(value.unkeyed, loose)
                for name, parameter in keywords.items():
                    self.solver.flow(self.written(value, name), parameter)

        self.solver.watch(var, on)
        if function.double_star is not None:
            function.double_star.passed.append(var)
            self.merge(function.double_star, var)


def _defaulted(
    function: Function, keywords: dict[str, Var], names: Sequence[str], call: Invocation
) -> dict[str, Var]:
    """Those of ``keywords`` with a default which ``call`` gives neither by name nor by position."""
    params = function.node.params
    every = (*params.posonly_params, *params.params, *params.kwonly_params)
    defaults = {item.name.value for item in every if item.default is not None}
    placed = sum(argument.keyword is None for argument in call.arguments)
    given = {*names[:placed], *(argument.keyword for argument in call.arguments)}
    return {name: var for name, var in keywords.items() if name in defaults - given}


def plain_type(annotation: cst.Annotation | cst.BaseExpression | None) -> str | None:
    """``str`` of ``str``, ``str | None`` and ``Optional[str]``: what holds nothing."""
    node = annotation.annotation if isinstance(annotation, cst.Annotation) else annotation
    match node:
        case cst.Name(value="str" | "int" | "float" | "bool" as name):
            return name
        case cst.BinaryOperation(left=one, operator=cst.BitOr(), right=cst.Name(value="None")):
            return plain_type(one)
        case cst.Subscript(
            value=cst.Name(value="Optional"), slice=[cst.SubscriptElement(slice=cst.Index(value=one))]
        ):
            return plain_type(one)
        case _:
            return None


def _keywords(function: Function, names: Sequence[str]) -> dict[str, Var]:
    """The parameters that a call can fill by name, if ``names`` are those that it can by position."""
    params = function.node.params
    others = {
        item.name.value
        for item in (*params.posonly_params, params.star_arg, params.star_kwarg)
        if isinstance(item, cst.Param)
    }
    others.update(name for name in function.positional if name not in names)
    return {name: var for name, var in function.parameters.items() if name not in others}


def _is_open(sequence: SeqValue) -> bool:
    """Whether there can be more in ``sequence`` than its known items."""
    if sequence.derived or (not sequence.items and sequence.type != "args"):
        return True
    return any(place.how in _GROWING for place in sequence.places)


_GROWING = ("append", "insert", "extend")
_MOST = 32  # arguments that are told apart: a function that calls itself with one more has no end of them

"""What operators give: lists and dicts that are put together, texts, numbers."""

from __future__ import annotations

from abc import abstractmethod
from itertools import product

import libcst as cst

from .graph import Var
from .heap import Heap
from .kinds import (
    Alias,
    Class,
    Const,
    DictValue,
    Env,
    External,
    Function,
    Instance,
    Invocation,
    Place,
    SeqValue,
    Shape,
    Typed,
    Value,
)
from .modules import Module

_MANY = 6  # numbers of one side to compute with
_LARGE = 1_000_000
# The methods that an operator means: ``__add__``, with ``r`` or ``i`` before the name in some cases.
METHODS: dict[type[cst.CSTNode], str] = {
    cst.Add: "add",
    cst.AddAssign: "add",
    cst.Subtract: "sub",
    cst.SubtractAssign: "sub",
    cst.Multiply: "mul",
    cst.MultiplyAssign: "mul",
    cst.Divide: "truediv",
    cst.DivideAssign: "truediv",
    cst.BitOr: "or",
    cst.BitOrAssign: "or",
    cst.BitAnd: "and",
    cst.BitAndAssign: "and",
    cst.RightShift: "rshift",
    cst.RightShiftAssign: "rshift",
}


class Operators(Heap):
    """The semantics of ``+``, ``|``, ``+=`` and their kin."""

    def __init__(self) -> None:
        super().__init__()
        self.operated: set[Function] = set()  # methods that an operator calls: what they get is known

    @abstractmethod
    def lookup(self, cls: Class, name: str) -> Var:
        """The class attribute ``name`` of ``cls``, its own or an inherited one."""

    def operate(self, value: Value, node: cst.BinaryOperation, result: Var, module: Module) -> None:
        """``left + right`` and its kin, for one value of one side."""
        plus = isinstance(node.operator, cst.Add)
        method = METHODS.get(type(node.operator))
        if isinstance(value, Instance) and method is not None:
            left, right = self.vars[node.left], self.vars[node.right]
            if value in left.values:
                self.operate_on(value, f"__{method}__", right, result)
            if value in right.values:
                self.operate_on(value, f"__r{method}__", left, result)
            return
        if isinstance(node.operator, cst.BitOr) and isinstance(value, (Class, External, Alias)):
            self.solver.add(result, [Alias(node, module)])
        if plus and isinstance(value, SeqValue):
            left, right = self.vars[node.left], self.vars[node.right]
            self.derive(node, module, left, result)
            self.derive(node, module, right, result)
        elif isinstance(node.operator, cst.BitOr) and isinstance(value, DictValue):
            known = self.built.get(node)
            if not isinstance(known, DictValue):
                known = self.new_dict(node, module)
                self.built[node] = known
                self.solver.add(result, [known])
            self.merge(known, self.vars[node.left])
            self.merge(known, self.vars[node.right])
        elif is_text(value) or (plus and isinstance(value, Env)):
            self.solver.add(result, [Typed("str", node if plus else None)])
        elif isinstance(node.operator, cst.Multiply) and isinstance(value, SeqValue):
            self.solver.add(result, [value])
        elif isinstance(value, (External, Env)):
            self.solver.add(result, [External("a computed value")])
        elif folded := _folded(value, node, self.vars):
            self.solver.add(result, folded)
        elif isinstance(value, (Const, Typed)) and not plus:
            self.solver.add(result, [Typed("number", node)])
        elif isinstance(value, Shape):
            self.solver.add(result, [Typed("object")])

    def augment(self, owner: Value, node: cst.AugAssign, value: Var, result: Var, module: Module) -> None:
        """``owner += value``."""
        if isinstance(owner, SeqValue):
            self.join(owner, value)
            owner.places.append(Place("extend", node, module, value))
        elif isinstance(owner, DictValue):
            self.merge(owner, value)
        elif isinstance(owner, Instance) and (method := METHODS.get(type(node.operator))) is not None:
            for prefix in ("i", ""):
                self.operate_on(owner, f"__{prefix}{method}__", value, result)
        elif is_text(owner):
            self.solver.add(result, [Typed("str")])
        elif isinstance(owner, Const) and owner.value is not None:
            self.solver.add(result, [Typed("number")])

    def operate_on(self, owner: Instance, name: str, other: Var, result: Var) -> None:
        """The method ``name`` of ``owner`` is called with ``other``."""

        def on(found: Value) -> None:
            if not isinstance(found, Function) or len(found.positional) < 2:
                return
            own, given = found.positional[:2]
            self.operated.add(found)
            self.solver.add(found.parameters[own], [owner])
            self.solver.flow(other, found.parameters[given])
            self.solver.flow(found.result, result)

        self.solver.watch(self.lookup(owner.type, name), on)

    def sum_up(self, call: Invocation) -> None:
        """``sum(parts, start)``: numbers, or whatever ``+`` makes of objects of the project."""
        start = call.at(1, "start")
        element = Var()
        self.solver.watch(call.arguments[0].var, lambda value: self.elements(value, element))

        def on(value: Value) -> None:
            if isinstance(value, Instance):
                self.solver.add(call.result, [value])
                self.operate_on(value, "__add__", element, call.result)
                self.operate_on(value, "__radd__", call.result, call.result)

        for part in (element, *([start.var] if start is not None else [])):
            self.solver.watch(part, on)


def is_text(value: Value) -> bool:
    """Whether ``value`` is certainly a string."""
    if isinstance(value, Const):
        return isinstance(value.value, str)
    return isinstance(value, Typed) and value.type == "str"


def _folded(value: Value, node: cst.BinaryOperation, known: dict[cst.CSTNode, Var]) -> list[Const]:
    """The constants that ``60 * n`` is for what is known of ``n``; none if a side is not a few whole numbers.

    A loop that computes the next number from the last would give new ones without end.
    """
    sides = [_whole_numbers(known[side]) for side in (node.left, node.right)]
    if not all(sides) or not isinstance(value, Const):
        return []
    return [
        Const(found, node)
        for left, right in product(*sides)
        if value.value in (left, right) and (found := _applied(node.operator, left, right)) is not None
    ]


def _whole_numbers(var: Var) -> list[int]:
    values = list(var.values)
    numbers = [value.value for value in values if isinstance(value, Const) and isinstance(value.value, int)]
    few = len(numbers) == len(values) <= _MANY and all(abs(number) <= _LARGE for number in numbers)
    return numbers if few else []


def _applied(operator: cst.BaseBinaryOp, left: int, right: int) -> int | None:
    match operator:
        case cst.Add():
            return left + right
        case cst.Subtract():
            return left - right
        case cst.Multiply():
            return left * right
        case cst.FloorDivide() if right:
            return left // right
        case _:
            return None

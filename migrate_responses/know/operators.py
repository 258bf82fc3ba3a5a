"""What operators give: lists and dicts that are put together, texts, numbers."""

from __future__ import annotations

import libcst as cst

from .graph import Var
from .heap import Heap
from .kinds import Alias, Class, Const, DictValue, Env, External, Place, SeqValue, Shape, Typed, Value
from .modules import Module


class Operators(Heap):
    """The semantics of ``+``, ``|``, ``+=`` and their kin."""

    def operate(self, value: Value, node: cst.BinaryOperation, result: Var, module: Module) -> None:
        """``left + right`` and its kin, for one value of one side."""
        plus = isinstance(node.operator, cst.Add)
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
        elif (folded := _folded(value, node, self.vars)) is not None:
            self.solver.add(result, [folded])
        elif isinstance(value, (Const, Typed)) and not plus:
            self.solver.add(result, [Typed("number")])
        elif isinstance(value, Shape):
            self.solver.add(result, [Typed("object")])

    def augment(self, owner: Value, node: cst.AugAssign, value: Var, result: Var, module: Module) -> None:
        """``owner += value``."""
        if isinstance(owner, SeqValue):
            self.join(owner, value)
            owner.places.append(Place("extend", node, module, value))
        elif isinstance(owner, DictValue):
            self.merge(owner, value)
        elif is_text(owner):
            self.solver.add(result, [Typed("str")])
        elif isinstance(owner, Const) and owner.value is not None:
            self.solver.add(result, [Typed("number")])


def is_text(value: Value) -> bool:
    """Whether ``value`` is certainly a string."""
    if isinstance(value, Const):
        return isinstance(value.value, str)
    return isinstance(value, Typed) and value.type == "str"


def _folded(value: Value, node: cst.BinaryOperation, known: dict[cst.CSTNode, Var]) -> Const | None:
    """The constant that ``60 * 2`` is; None if a side is anything but one whole number."""
    sides: list[int] = []
    for side in (node.left, node.right):
        values = list(known[side].values)
        number = values[0].value if len(values) == 1 and isinstance(values[0], Const) else None
        if not isinstance(number, int) or abs(number) > 1_000_000:
            return None
        sides.append(number)
    left, right = sides
    match node.operator:
        case cst.Add():
            return Const(left + right, node)
        case cst.Subtract():
            return Const(left - right, node)
        case cst.Multiply():
            return Const(left * right, node)
        case cst.FloorDivide() if right:
            return Const(left // right, node)
        case _:
            return None

"""What is done with each piece of a streamed call, which comes whole now (MR408).

Adding up pieces gives the same with one of them. Counting them, showing each, or telling the first from the
others does not.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Bound, Class, External, Function, Kind, SeqValue
from ..know.modules import Module, walk
from .context import Context
from .stream_parts import On
from .stream_region import Region
from .stream_syntax import is_empty

GATHERING = (
    frozenset("append extend setdefault update get add insert len".split(" "))
    | frozenset("dict list str int getattr hasattr isinstance".split(" "))
    | {"defaultdict", "SimpleNamespace"}
)
_LISTS = frozenset({"append", "extend", "insert", "add"})


def gathers(region: Region, node: cst.CSTNode) -> bool:
    """Whether ``node`` does with one event what it did with the pieces of a call, one after the other."""
    if (
        isinstance(node, (cst.Pass, cst.Continue))
        or region.calls in ("arguments", "live")
        or _is_for_the_first(region, node)
    ):
        return True
    if region.calls == "opening":
        return isinstance(node, (cst.Return, cst.Break)) or (
            not isinstance(node, (cst.Raise, cst.AugAssign)) and _is_quiet(region, node)
        )
    return _adds(region, node)


def only_adds(region: Region, suite: cst.CSTNode) -> bool:
    """Whether code that was for some of the pieces, and falls away, only added them to what there is."""
    return all(
        isinstance(small, (cst.Pass, cst.Continue)) or (_adds(region, small) and _takes(region, small))
        for small in walk(suite)
        if isinstance(small, cst.BaseSmallStatement)
    )


def _takes(region: Region, node: cst.CSTNode) -> bool:
    """Whether ``node`` looks at a piece, or names what was kept of the ones before."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=cst.Subscript()):
            return True
        case cst.AugAssign(target=cst.Attribute()) | cst.Assign(targets=[cst.AssignTarget(cst.Attribute())]):
            return not is_changed(region, node) or _is_sum(region, node)
        case _:
            return any(isinstance(i, cst.BaseExpression) and region.piece(i) for i in walk(node))


def _adds(region: Region, node: cst.CSTNode) -> bool:
    if isinstance(node, (cst.Return, cst.Break, cst.Raise)) or not _is_quiet(region, node):
        return False
    match node:
        case cst.AugAssign(value=value) | cst.Assign(value=cst.BinaryOperation() as value):
            return not _is_fixed(node.target if isinstance(node, cst.AugAssign) else node.targets[0], value)
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name)))):
            return name not in _LISTS or _is_only_joined(region.context, owner)
        case _:
            return True


def _is_fixed(target: cst.CSTNode, value: cst.BaseExpression) -> bool:
    """``+= 1``, ``= count + 1``: how often it is done tells."""
    whole = target.target if isinstance(target, cst.AssignTarget) else target
    return not any(
        isinstance(inner, (cst.Name, cst.Attribute)) and not inner.deep_equals(whole) for inner in walk(value)
    )


def _is_only_joined(context: Context, owner: cst.BaseExpression) -> bool:
    """Whether the list ``owner`` is put together to one text, by all who use it."""
    lists = context.project.values(owner)
    return bool(lists) and all(
        isinstance(value, SeqValue)
        and not any(context.escapes.of(value))
        and all(_is_joined(context, node, module) for node, module in context.holders(value))
        for value in lists
    )


def _is_joined(context: Context, node: cst.CSTNode, module: Module) -> bool:
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(attr=cst.Name(value=name)):
            return name in ("append", "extend", "clear")
        case cst.Arg():
            call = module.parents.get(parent)
            if not isinstance(call, cst.Call):
                return False
            callees = context.project.values(call.func)
            return (isinstance(call.func, cst.Attribute) and call.func.attr.value == "join") or (
                bool(callees) and all(isinstance(value, (Function, Bound, Class)) for value in callees)
            )
        case cst.Subscript() | cst.For() | cst.CompFor() | cst.Comparison() | cst.FormattedStringExpression():
            return False
        case _:
            return True


def is_added(region: Region, node: cst.CSTNode) -> bool:
    """``calls[index].function.arguments += call.function.arguments``: one more piece of a kept call."""
    return (
        isinstance(node, cst.SimpleStatementLine)
        and len(node.body) == 1
        and region.calls == "whole"
        and _is_sum(region, node.body[0])
    )


def _is_sum(region: Region, node: cst.CSTNode) -> bool:
    match node:
        case cst.AugAssign(target=cst.Attribute() as target, operator=cst.AddAssign(), value=piece):
            pass
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Attribute() as target)],
            value=cst.BinaryOperation(left=before, operator=cst.Add(), right=piece),
        ):
            if isinstance(before, cst.BooleanOperation) and is_empty(before.right):
                before = before.left
            if not before.with_changes(lpar=[], rpar=[]).deep_equals(target):
                return False
        case _:
            return False
    kinds = {shape.kind for shape in region.context.project.shapes(target.value)}
    return kinds == {Kind.DELTA_FUNCTION} and region.piece(piece) == target.attr.value


def is_changed(region: Region, node: cst.CSTNode) -> bool:
    """Whether ``node`` sets a field of a streamed call."""
    match node:
        case (
            cst.AugAssign(target=cst.Attribute() as target)
            | cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)])
        ):
            kinds = {shape.kind for shape in region.context.project.shapes(target.value)}
            return bool(kinds & {Kind.DELTA_FUNCTION, Kind.DELTA_CALL})
        case _:
            return False


def _is_quiet(region: Region, node: cst.CSTNode) -> bool:
    """Whether nobody sees how often ``node`` runs."""
    for inner in walk(node):
        if isinstance(inner, (cst.Yield, cst.Await)):
            return False
        if isinstance(inner, cst.Call) and not _is_gathering(region, inner):
            return False
    return True


def _is_gathering(region: Region, call: cst.Call) -> bool:
    func = call.func
    name = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
    if region.calls == "opening" and name in _LISTS:
        return False
    values = region.context.project.values(func)
    if any(
        isinstance(value, External) and value.path.startswith(("logging.", "loguru.")) for value in values
    ):
        return True
    return name in GATHERING or (bool(values) and all(isinstance(value, Class) for value in values))


def _is_for_the_first(region: Region, node: cst.CSTNode) -> bool:
    """Whether a test around ``node`` let through only the first piece of a call, which has its name."""
    child = node
    for parent in region.module.ancestors(node):
        match parent:
            case cst.If(test=test, body=body) | cst.While(test=test, body=body) if child is not test:
                if _is_first(region, test) is (child is body):
                    return True
            case _:
                pass
        if parent is region.node:
            return False
        child = parent
    return False


def _is_first(region: Region, test: cst.BaseExpression) -> bool | None:
    """Whether ``test`` is true for the first piece alone, or (False) for those after it alone."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = _is_first(region, inner)
            return None if found is None else not found
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            both = {_is_first(region, left), _is_first(region, right)}
            if isinstance(operator, cst.And):
                both -= {None}
            return both.pop() if len(both) == 1 else None
        case cst.NamedExpr(value=inner) | cst.Call(func=cst.Name(value="bool"), args=[cst.Arg(value=inner)]):
            return _is_first(region, inner)
        case cst.Comparison(left=left, comparisons=[target]):
            pure = region.pure(test)
            if not any(
                isinstance(inner, cst.BaseExpression)
                and (region.is_index(inner) or region.piece(inner) in _OPENING)
                for inner in walk(test)
            ):
                return None
            if pure is not None:
                return On.CALL in pure
            return True if isinstance(target.operator, (cst.Equal, cst.In)) else None
        case _:
            return True if region.piece(test) in _OPENING else None


_OPENING = frozenset({"id", "name", "type"})

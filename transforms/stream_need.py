"""What a statement of a loop body asks of the chunk before anything is rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from ..know.modules import bound_by, children, dotted, walk
from .stream_parts import FINISH, On, Reach

# What a read wants of the chunk -> where it is there.
WANTS: dict[str, Reach] = {
    "text": frozenset({On.TEXT}),
    "refusal": frozenset({On.REFUSAL}),
    "role": frozenset({On.FIRST}),
    "call": frozenset({On.CALL, On.PIECE}),
    "finish": FINISH,
    "usage": frozenset({On.USAGE}),
    "response": FINISH | {On.USAGE},
}
_QUIET = frozenset({"flush", "sleep"})


@dataclass(eq=False, repr=False)
class Need:
    """Gathered over one statement and what is in it."""

    wants: set[str] = field(default_factory=set)
    neutral: list[cst.CSTNode] = field(default_factory=list)  # acts whatever the chunk says
    handles: set[On] = field(default_factory=set)  # acts under its own test
    aliases: set[str] = field(default_factory=set)  # names that were read where the part may be missing


def reads(node: cst.CSTNode) -> Iterator[str]:
    """The names and dotted names that ``node`` reads (or may read)."""
    for inner in walk(node):
        if isinstance(inner, (cst.Name, cst.Attribute)):
            name = dotted(inner)
            if name:
                yield name


def writes(node: cst.CSTNode) -> Iterator[str]:
    """The names and dotted names whose value ``node`` may change."""
    for inner in walk(node):
        yield from bound_by(inner)
        match inner:
            case (
                cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target)
            ):
                yield from _owner(target)
            case cst.Call(func=cst.Attribute(value=receiver)):
                yield from _owner(receiver)
            case _:
                continue


def sets(node: cst.CSTNode) -> Iterator[str]:
    """The names and dotted names that ``node`` itself assigns."""
    match node:
        case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            yield from _owner(target)
        case cst.NamedExpr(target=cst.Name(value=name)):
            yield name
        case _:
            return


def _owner(node: cst.BaseExpression) -> Iterator[str]:
    while isinstance(node, (cst.Subscript, cst.Call)):
        node = node.value if isinstance(node, cst.Subscript) else node.func
    name = dotted(node)
    if name and name != "self":
        yield name


def is_quiet(node: cst.CSTNode) -> bool:
    """Whether it does not matter how often ``node`` runs: ``pass``, a flush, a pause, a docstring."""
    match node:
        case cst.Pass():
            return True
        case cst.Expr(value=cst.BaseString()):
            return True
        case cst.Expr(value=cst.Await(expression=call)) | cst.Expr(value=call):
            tail = call.func if isinstance(call, cst.Call) else None
            name = tail.attr.value if isinstance(tail, cst.Attribute) else getattr(tail, "value", "")
            return name in _QUIET
        case _:
            return False


def prints_line(node: cst.CSTNode) -> bool:
    """Whether ``node`` prints something visible even where the text is empty: a line end, a mark."""
    match node:
        case cst.SimpleStatementLine(
            body=[cst.Expr(value=cst.Call(func=cst.Name(value="print"), args=args))]
        ):
            ends = [arg.value for arg in args if arg.keyword is not None and arg.keyword.value == "end"]
            if not ends or not (isinstance(ends[0], cst.SimpleString) and ends[0].evaluated_value == ""):
                return True
            shown = [arg.value for arg in args if arg.keyword is None]
            return len(shown) > 1 or any(map(_has_text, shown))
        case _:
            return False


def _has_text(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is put together with text that is written out."""
    match node:
        case cst.SimpleString():
            return node.evaluated_value != ""
        case cst.FormattedString(parts=parts):
            return any(isinstance(part, cst.FormattedStringText) for part in parts)
        case cst.BinaryOperation(left=left, right=right):
            return _has_text(left) or _has_text(right)
        case _:
            return False


def is_poll(node: cst.CSTNode) -> bool:
    """``if cancelled: break``: what it does before it leaves, it does once."""
    if not isinstance(node, cst.If) or node.orelse is not None:
        return False
    leaves = isinstance([*_lines(node.body)][-1], (cst.Break, cst.Return, cst.Raise, cst.Pass))
    plain = all(isinstance(item, cst.BaseSmallStatement) for item in _lines(node.body))
    return leaves and plain and not any(isinstance(inner, (cst.NamedExpr, cst.Yield)) for inner in walk(node))


def latch_of(node: cst.CSTNode) -> str:
    """The flag of ``if first: print("AI: "); first = False``: it acts on the first chunk, now event.

    What it calls may not look at the clock: the first event comes sooner than the first chunk did.
    """
    if not isinstance(node, cst.If) or node.orelse is not None:
        return ""
    negated = isinstance(node.test, cst.UnaryOperation) and isinstance(node.test.operator, cst.Not)
    flag = node.test.expression if isinstance(node.test, cst.UnaryOperation) else node.test
    name = dotted(flag) if isinstance(flag, (cst.Name, cst.Attribute)) else ""
    flipped = any(_sets(small, name, negated) for small in _lines(node.body))
    timed = any(isinstance(inner, cst.Name) and inner.value in _CLOCKS for inner in walk(node.body))
    return name if flipped and not timed else ""


_CLOCKS = frozenset("time perf_counter monotonic datetime timeit time_ns now utcnow".split())


def _lines(body: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    for line in body.body:
        yield from line.body if isinstance(line, cst.SimpleStatementLine) else [line]


def _sets(node: cst.CSTNode, name: str, value: bool) -> bool:
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Name(value=word)):
            return isinstance(target, (cst.Name, cst.Attribute)) and (dotted(target), word) == (
                name,
                str(value),
            )
        case _:
            return False


def expressions(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The outermost expressions of a statement."""
    for child in children(node):
        if isinstance(child, cst.BaseExpression):
            yield child
        elif not isinstance(child, cst.BaseSuite):
            yield from expressions(child)

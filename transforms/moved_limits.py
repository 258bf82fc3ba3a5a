"""A limit that is moved from one key to another, where both are one key afterwards: the lines go (MR101).

``kw["max_completion_tokens"] = kw.pop("max_tokens")``, under a test of the model or of the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import DictValue
from ..know.modules import Module, walk
from .context import WRITES, Context, Keyword

LIMITS = frozenset({"max_tokens", "max_completion_tokens"})
# Calls in a test that do nothing but look.
_LOOKS = frozenset("all any bool endswith get isinstance len lower startswith str strip".split())


@dataclass(frozen=True)
class _Move:
    """The ``lines`` that take an entry of ``base`` away, and put it there as ``new``."""

    lines: tuple[cst.CSTNode, ...]
    base: cst.BaseExpression
    new: str


def moving_lines(context: Context, item: Keyword) -> list[cst.CSTNode]:
    """The lines that go, if the use of a key at ``item`` is part of a move, or asks whether one is needed."""
    module, node = item.place.module, item.place.node
    line = module.statement(node)
    if item.name not in LIMITS or item.holder is None:
        return []
    if isinstance(line, cst.If):
        found = _moves_alone(line)
        gone: list[cst.CSTNode] = [line]
    else:
        found = [move for move in _moves(_block(line, module)) if line in move.lines]
        outer = next(iter(module.ancestors(module.parents[line])), None) if found else None
        gone = [outer if isinstance(outer, cst.If) and _moves_alone(outer) else line]
    return gone if found and all(_is_all(context, item, move) for move in found) else []


def _is_all(context: Context, item: Keyword, move: _Move) -> bool:
    """Whether nothing but moves writes the key that ``move`` writes, and only requests have it."""
    for value in context.project.values(move.base):
        if not isinstance(value, DictValue) or not context.senders(value):
            return False
        written = [place for place in value.places.get(move.new, ()) if place.how in WRITES]
        for site in context.senders(value):
            written += [keyword.place for keyword in context.request(site).written(move.new)]
        if not all(_is_move(place.module, place.node) for place in written):
            return False
        if _is_waited_for(item.place.module, move) and not _is_given(value, LIMITS - {move.new}):
            return False
    return item.holder in context.project.values(move.base)


def _is_waited_for(module: Module, move: _Move) -> bool:
    """Whether something nearby goes on after an error, that of a key which is not there perhaps."""
    return any(isinstance(parent, (cst.Try, cst.With)) for parent in module.ancestors(move.base))


def _is_given(value: DictValue, keys: frozenset[str]) -> bool:
    """Whether a dict was made with one of ``keys``."""
    return any(place.how == "literal" for key in keys for place in value.places.get(key, ()))


def _is_move(module: Module, node: cst.CSTNode) -> bool:
    line = module.statement(node)
    if isinstance(line, cst.If):
        return bool(_moves_alone(line))
    return any(line in move.lines for move in _moves(_block(line, module)))


def _block(line: cst.CSTNode, module: Module) -> Sequence[cst.CSTNode]:
    block = module.parents.get(line)
    return block.body if isinstance(block, (cst.IndentedBlock, cst.Module)) else ()


def _moves_alone(test: cst.If) -> list[_Move]:
    """The moves in the body of ``test``, if there is nothing else in it and asking has no effect."""
    calls = [node for node in walk(test.test) if isinstance(node, cst.Call)]
    effects = any(isinstance(node, (cst.NamedExpr, cst.Await, cst.Yield)) for node in walk(test.test))
    if test.orelse is not None or effects or not all(map(_is_look, calls)):
        return []
    found = list(_moves(test.body.body))
    alone = sum(len(move.lines) for move in found) == len(test.body.body)
    return found if alone else []


def _is_look(call: cst.Call) -> bool:
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return isinstance(name, cst.Name) and name.value in _LOOKS


def _moves(body: Sequence[cst.CSTNode]) -> Iterator[_Move]:
    """The moves among the statements of a block."""
    for number, line in enumerate(body):
        match _only(line):
            case cst.Assign(
                targets=[
                    cst.AssignTarget(
                        target=cst.Subscript(value=cst.Name() | cst.Attribute() as base) as target
                    )
                ],
                value=value,
            ):
                pass
            case _:
                continue
        new = _subscripted(target)
        old = _taken(value, base)
        if new not in LIMITS or old not in LIMITS - {new}:
            continue
        if isinstance(value, cst.Call) and _is_pop(value):
            yield _Move((line,), base, new)
        elif number + 1 < len(body) and _dropped(_only(body[number + 1]), base) == old:
            yield _Move((line, body[number + 1]), base, new)


def _only(line: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The one small statement of a line, or what stands behind a colon."""
    if isinstance(line, cst.BaseSmallStatement):
        return line
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        return line.body[0]
    return None


def _taken(node: cst.BaseExpression, base: cst.BaseExpression) -> str | None:
    """The key of ``base[key]``, ``base.get(key)`` or ``base.pop(key)``, with no default but None."""
    match node:
        case cst.Subscript(value=owner) if owner.deep_equals(base):
            return _subscripted(node)
        case cst.Call(
            func=cst.Attribute(value=owner, attr=cst.Name(value="pop" | "get")),
            args=[cst.Arg(value=cst.SimpleString() as key), *rest],
        ) if owner.deep_equals(base) and all(
            isinstance(arg.value, cst.Name) and arg.value.value == "None" for arg in rest
        ):
            return _text(key)
        case _:
            return None


def _is_pop(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value == "pop"


def _dropped(statement: cst.BaseSmallStatement | None, base: cst.BaseExpression) -> str | None:
    """The key of ``del base[key]`` and of ``base.pop(key)``."""
    match statement:
        case cst.Del(target=cst.Subscript() as target):
            return _taken(target, base)
        case cst.Expr(value=cst.Call() as call) if _is_pop(call):
            return _taken(call, base)
        case _:
            return None


def _subscripted(node: cst.Subscript) -> str | None:
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]:
            return _text(key)
        case _:
            return None


def _text(key: cst.SimpleString) -> str | None:
    return key.evaluated_value if isinstance(key.evaluated_value, str) else None

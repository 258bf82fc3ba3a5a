"""The finish reason of a stream as text, for after the loop (MR302, MR406).

Where it is only asked for one of the known reasons there, the text that is spelled out says the same.
"""

from __future__ import annotations

import itertools

import libcst as cst

from ..know.kinds import Kind, Shape
from ..know.modules import Module, walk
from .finish import called, is_carrier, is_forced, is_test
from .snippets import spells_none
from .stream_parts import FILTERED, HAS_CALLS, INCOMPLETE, On, Reach
from .stream_region import Region


def reason_text(region: Region, ended: Reach) -> str:
    """The reason as an expression of the event ``v``, where the stream ended in one of the ways ``ended``."""
    text = '"stop"'
    calls = f'"{called(region.context, region.sites)}"'
    if ended == {On.CALLS}:
        text = calls
    elif On.CALLS in ended:
        text = f"{calls} if {HAS_CALLS} else {text}"
    if ended == {On.LENGTH}:
        text = '"length"'
    elif On.LENGTH in ended:
        text = f'"length" if {INCOMPLETE} else {text}'
        text = f'"content_filter" if {FILTERED}"content_filter" else {text}'
    return text


def is_only_asked(region: Region, node: cst.BaseExpression) -> bool:
    """Whether the reason that is kept at ``node`` ends in tests, all of them after the loop."""
    context = region.context
    if not _is_kept(region, node) or is_forced(context, set(region.sites)):
        return False
    if any(context.escapes.of(Shape(Kind.CHUNK_FINISH, site)) for site in region.sites):
        return False
    for other, module, shapes in context.shaped:
        mine = [shape for shape in shapes if shape.kind is Kind.CHUNK_FINISH and shape.site in region.sites]
        if not mine or not isinstance(other, cst.BaseExpression):
            continue
        inside = region.node in module.ancestors(other)
        if inside and not (region.kind(other) is Kind.CHUNK_FINISH or _is_own(region, other)):
            return False
        if not inside and not (is_test(context, other, module) or _is_carried(region, other, module)):
            return False
    return True


def _is_carried(region: Region, node: cst.BaseExpression, module: Module) -> bool:
    """Whether the reason, or ``reason or "stop"``, only passes through."""
    match module.parents.get(node):
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=cst.SimpleString()) as either if (
            left is node
        ):
            return is_carrier(region.context, either, module)
        case _:
            return is_carrier(region.context, node, module)


def _is_kept(region: Region, node: cst.BaseExpression) -> bool:
    """``reason = chunk.choices[0].finish_reason``, perhaps with ``or reason``."""
    parent = region.module.parents.get(node)
    return isinstance(parent, (cst.Assign, cst.AnnAssign)) or keeps_itself(region, node)


def keeps_itself(region: Region, node: cst.BaseExpression) -> bool:
    """``reason = chunk.choices[0].finish_reason or reason``: nothing happens where there is none."""
    parent = region.module.parents.get(node)
    assign = region.module.parents.get(parent) if isinstance(parent, cst.BooleanOperation) else None
    match parent, assign:
        case (
            cst.BooleanOperation(left=left, operator=cst.Or(), right=right),
            cst.Assign(targets=[cst.AssignTarget(target=target)]),
        ):
            return left is node and target.deep_equals(right)
        case _:
            return False


def starts_as_none(region: Region, node: cst.BaseExpression) -> bool:
    """``reason = None`` right before the loop: what ``chunk.choices[0].finish_reason`` is for most chunks."""
    block = region.module.parents.get(region.node)
    match region.module.parents.get(node), block:
        case (
            cst.Assign(targets=[cst.AssignTarget(target=target)]),
            cst.IndentedBlock(body=lines) | cst.Module(body=lines),
        ):
            given: cst.BaseExpression | None = None
            for line in itertools.takewhile(lambda line: line is not region.node, lines):
                for statement in line.body if isinstance(line, cst.SimpleStatementLine) else [line]:
                    given = _given(statement, target, given)
            return given is not None and spells_none(given)
        case _:
            return False


def _given(
    statement: cst.CSTNode, target: cst.BaseExpression, before: cst.BaseExpression | None
) -> cst.BaseExpression | None:
    """What ``target`` is once ``statement`` has run, as far as it is spelled there."""
    pairs: list[tuple[cst.BaseExpression, cst.BaseExpression | None]] = []
    match statement:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Tuple(elements=names))], value=cst.Tuple() as row
        ):
            if len(names) == len(row.elements):
                pairs = [(name.value, item.value) for name, item in zip(names, row.elements, strict=True)]
        case cst.Assign(targets=targets, value=value):
            pairs = [(item.target, value) for item in targets]
        case cst.AnnAssign(target=name, value=value):
            pairs = [(name, value)]
        case _:
            pass
    for own, given in pairs:
        if own.deep_equals(target):
            return given
    return None if any(_is_set(inner, target) for inner in walk(statement)) else before


def _is_set(node: cst.CSTNode, target: cst.BaseExpression) -> bool:
    """Whether ``node`` may give ``target`` another value."""
    own = getattr(node, "target", None)
    return isinstance(own, cst.CSTNode) and any(inner.deep_equals(target) for inner in walk(own))


def _is_own(region: Region, node: cst.BaseExpression) -> bool:
    """Whether ``node`` is a place that the reason is kept in, or what is put there."""
    parent = region.module.parents.get(node)
    match parent:
        case cst.AssignTarget() | cst.Assign() | cst.AnnAssign():
            return True
        case cst.BooleanOperation(left=left):
            return keeps_itself(region, left)
        case cst.Arg():  # the default of `getattr(choice, "finish_reason", reason)`, which never shows
            call = region.module.parents[parent]
            return isinstance(call, cst.Call) and region.kind(call) is Kind.CHUNK_FINISH
        case _:
            return False

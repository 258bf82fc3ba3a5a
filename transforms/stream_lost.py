"""What a statement would no longer say of chunks that no event comes to it for (MR404).

A statement that handles the text of a chunk is put under the event that stands for text. On the other
chunks it did nothing that shows: it added ``""``. If it also asks whether the stream ends, or hands on that
there is no text, it did something on those, too, and that would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Bound, Function, Kind
from ..know.modules import children, walk
from .stream_parts import SAME, On, Reach, skips
from .stream_region import Region
from .stream_syntax import is_call_of, is_empty, is_zero
from .stream_visible import handlers

_LEAVES = frozenset({Kind.DELTA_TEXT, Kind.DELTA_REFUSAL})
_ASKING = (cst.If, cst.IfExp, cst.BooleanOperation)
_MORE = frozenset({Kind.USAGE, Kind.CHUNK_FINISH, Kind.DELTA_CALLS, Kind.DELTA_CALL, Kind.DELTA_REFUSAL})


def lost(region: Region, node: cst.CSTNode, own: Reach, reach: Reach) -> cst.CSTNode | None:
    """What in ``node`` tells chunks that say ``own`` from others of ``reach``, so that it shows."""
    with region.seeing_kept():
        return next(_lost(region, node, own, reach - {On.OTHER}), None)


def _lost(region: Region, node: cst.CSTNode, own: Reach, classes: Reach) -> Iterator[cst.CSTNode]:
    match node:
        case cst.FunctionDef() | cst.ClassDef() | cst.Lambda() | cst.AssignTarget(target=cst.Name()):
            return
        case cst.Match(subject=subject) if region.kind(subject) in _LEAVES:
            yield subject
        case cst.Try() if any(handlers(region, [node])) or _ends_loudly(node):
            yield node
        case cst.Call() if region.pure(node) is None and _takes_chunk(region, node):
            if not _gives_text(region, node) or any(_acts(region, node)):
                yield node
            return
        case cst.BaseExpression():
            pure = region.pure(node) if _is_asked(region, node) else None
            if pure is not None:
                if _shows(region, node, pure & classes, own, classes):
                    yield node
                return
        case _:
            pass
    for child in children(node):
        yield from _lost(region, child, own, classes)


def _is_asked(region: Region, node: cst.BaseExpression) -> bool:
    """Whether something of the chunk is in ``node``, which is not the chunk or a choice or delta itself."""
    return region.kind(node) not in SAME and any(
        isinstance(inner, cst.BaseExpression) and region.kind(inner) is not None for inner in walk(node)
    )


def _shows(region: Region, node: cst.BaseExpression, true: Reach, own: Reach, classes: Reach) -> bool:
    """Whether ``node``, true on ``true``, makes something happen on chunks that do not say ``own``."""
    if not true or true == classes:
        return False
    if region.kind(node) in _LEAVES and true <= own:
        return False  # the text itself, and "" or None elsewhere
    if isinstance(node, cst.Call) and is_call_of(node, "len"):
        return not true <= own
    parent = region.module.parents.get(node)
    match parent:
        case cst.If(body=body, orelse=orelse) if parent.test is node:
            other = [] if own & true else [body]
            if own & true and isinstance(orelse, cst.Else):
                other = [orelse.body]
            return any(not skips(suite, region.is_function) for suite in other)
        case cst.IfExp(body=body, orelse=orelse) if parent.test is node:
            return not _is_nothing(region, orelse if own & true else body, parent)
        case cst.BooleanOperation(operator=cst.And()):
            if not own <= true:
                return True
            asked = isinstance(region.module.parents.get(parent), (*_ASKING, cst.UnaryOperation))
            return asked and _shows(region, parent, true, own, classes)
        case cst.UnaryOperation(operator=cst.Not()):
            return _shows(region, parent, classes - true, own, classes)
        case cst.BooleanOperation(operator=cst.Or(), left=left, right=right):
            return not (true <= own and left is node and _is_nothing(region, right, parent))
        case cst.Assign() | cst.AnnAssign():
            return On.TEXT in own
        case _:
            return True


def _ends_loudly(node: cst.Try) -> bool:
    return node.finalbody is not None and not skips(node.finalbody.body, False)


def _takes_chunk(region: Region, call: cst.Call) -> bool:
    return region.kind(call) is None and any(region.kind(arg.value) in SAME for arg in call.args)


def _is_nothing(region: Region, node: cst.BaseExpression, choice: cst.BaseExpression) -> bool:
    """Whether ``node`` adds nothing where it is: ``""``, None, 0, or the name that gets it."""
    if is_empty(node) or is_zero(node):
        return True
    match region.module.parents.get(choice):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            return node.deep_equals(target)
        case _:
            return False


def _gives_text(region: Region, call: cst.Call) -> bool:
    shapes = region.context.project.shapes(call)
    return bool(shapes) and all(shape.kind is Kind.DELTA_TEXT for shape in shapes)


def _acts(region: Region, call: cst.Call) -> Iterator[cst.CSTNode]:
    """What a helper that gives the text of a chunk does with other parts of it."""
    for callee in region.context.project.values(call.func):
        function = callee.function if isinstance(callee, Bound) else callee
        if not isinstance(function, Function):
            continue
        nodes = list(walk(function.node.body))
        if any(_is_more(region, node) for node in nodes):
            yield from (node for node in nodes if _is_act(node))


def _is_more(region: Region, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.BaseExpression) and any(
        shape.kind in _MORE for shape in region.context.project.shapes(node)
    )


def _is_act(node: cst.CSTNode) -> bool:
    match node:
        case cst.Expr(value=cst.BaseString()):
            return False
        case cst.Expr() | cst.Raise() | cst.Global() | cst.Nonlocal():
            return True
        case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            return isinstance(target, (cst.Attribute, cst.Subscript))
        case _:
            return False

"""Dicts that are copied entry by entry: what is written are the entries of another, under their own keys."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from .modules import bound_by, walk


def copied_by_comprehension(node: cst.DictComp) -> cst.BaseExpression | None:
    """``d`` in ``{k: v for k, v in d.items() ...}``."""
    match node:
        case cst.DictComp(key=cst.Name(value=key), value=cst.Name(value=value), for_in=loop):
            names = _entry(loop.target)
            return _owner(loop.iter) if loop.inner_for_in is None and names == (key, value) else None
        case _:
            return None


def copied_by_loop(node: cst.For) -> tuple[cst.BaseExpression, cst.Subscript] | None:
    """``d`` and ``target[k]`` in ``for k, v in d.items(): target[k] = v``.

    There may be a test of ``v``, around the assignment or before it, with ``continue``.
    """
    source, names = _owner(node.iter), _entry(node.target)
    if source is None or names is None or node.orelse is not None:
        return None
    body = list(node.body.body)
    if len(body) == 2 and _goes_on(body[0], names[0]):
        body.pop(0)
    if len(body) == 1 and isinstance(body[0], cst.If) and body[0].orelse is None:
        body = [] if _names(body[0].test, names[0]) else list(body[0].body.body)
    line = body[0] if len(body) == 1 else None
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        line = line.body[0]
    match line:
        case cst.Assign(
            targets=[
                cst.AssignTarget(
                    target=cst.Subscript(
                        slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=key)))]
                    ) as target
                )
            ],
            value=cst.Name(value=value),
        ):
            return (source, target) if (key, value) == names and not _names(target.value, key) else None
        case _:
            return None


def is_copied(items: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> bool:
    """Whether the call ``d.items()`` is that of a copy."""
    loop = parents.get(items)
    if isinstance(loop, cst.For):
        return loop.iter is items and copied_by_loop(loop) is not None
    made = parents.get(loop) if isinstance(loop, cst.CompFor) else None
    return isinstance(made, cst.DictComp) and copied_by_comprehension(made) is not None


def _goes_on(statement: cst.CSTNode, key: str) -> bool:
    """``if v is None: continue``."""
    if not isinstance(statement, cst.If) or statement.orelse is not None or _names(statement.test, key):
        return False
    inner = statement.body.body
    if len(inner) == 1 and isinstance(inner[0], cst.SimpleStatementLine):
        inner = inner[0].body
    return len(inner) == 1 and isinstance(inner[0], cst.Continue)


def _owner(iterated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``d`` of ``d.items()``."""
    match iterated:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="items")), args=[]):
            return owner
        case _:
            return None


def _entry(target: cst.BaseExpression) -> tuple[str, str] | None:
    """``k`` and ``v`` of ``for k, v in``."""
    match target:
        case cst.Tuple(
            elements=[cst.Element(value=cst.Name(value=key)), cst.Element(value=cst.Name(value=value))]
        ):
            return key, value
        case _:
            return None


def _names(node: cst.CSTNode, name: str) -> bool:
    return any(isinstance(inner, cst.Name) and inner.value == name for inner in walk(node))


def entries_of_loop(
    target: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> cst.BaseExpression | None:
    """``d`` where ``target`` is ``p[k]`` in ``for k, v in d.items(): ... p[k] = v``, under whatever tests."""
    assignment = parents.get(parents[target])
    match target, assignment:
        case (
            cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=key)))]),
            cst.Assign(targets=[_], value=cst.Name(value=value)),
        ):
            pass
        case _:
            return None
    outer: cst.CSTNode | None = assignment
    while outer is not None and not isinstance(outer, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef)):
        outer = parents.get(outer)
    if not isinstance(outer, cst.For) or _entry(outer.target) != (key, value):
        return None
    changed = {name for node in walk(outer.body) for name in bound_by(node)}
    return _owner(outer.iter) if changed.isdisjoint((key, value)) else None

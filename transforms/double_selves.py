"""Fakes that are their own parts: ``self.chat = self.completions = self``, or properties that return self."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..know import modules as syntax
from .double_edits import its_line, new_name
from .double_fields import lines_of, method_of

if TYPE_CHECKING:
    from .double_classes import Fakes

_STEPS = frozenset({"chat", "completions", "beta"})


def plan(fakes: Fakes, node: cst.ClassDef) -> None:
    """One step instead of two, in the class ``node``."""
    init = method_of(node, "__init__")
    lines = list(lines_of(init.body)) if init is not None else []
    alone: dict[str, cst.Assign] = {}
    for small in lines:
        match small:
            case cst.Assign(targets=[_, _, *_] as targets, value=cst.Name(value="self")):
                if {"chat", "completions"} <= {_own(target.target) for target in targets}:
                    _chained(fakes, small)
            case cst.Assign(targets=[target], value=cst.Name(value="self")) if _own(target.target) in _STEPS:
                alone[_own(target.target)] = small
            case _:
                continue
    returning = {
        item.name.value: item
        for item in node.body.body
        if isinstance(item, cst.FunctionDef) and item.name.value in _STEPS and _returns_self(item)
    }
    if {"chat", "completions"} <= returning.keys():
        _properties(fakes, returning)
    elif "chat" in alone and "completions" in returning:
        _chained(fakes, alone["chat"])
        _properties(fakes, returning)
    elif "chat" in returning and "completions" in alone and len(lines) > len(alone):
        _properties(fakes, returning)
        for small in alone.values():
            fakes.known.update(syntax.walk(small))
            fakes.shapes.edit(its_line(fakes.module, small), lambda o, u: cst.RemovalSentinel.REMOVE)


def _properties(fakes: Fakes, returning: dict[str, cst.FunctionDef]) -> None:
    """``chat`` is ``responses`` now, and the steps below it are gone."""
    for name, item in returning.items():
        fakes.known.update(syntax.walk(item))
        if name == "chat":
            fakes.shapes.edit(item.name, new_name("responses"))
        else:
            fakes.shapes.edit(item, lambda o, u: cst.RemovalSentinel.REMOVE)


def _chained(fakes: Fakes, node: cst.Assign) -> None:
    fakes.known.update(syntax.walk(node))

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Assign)
        kept: list[cst.AssignTarget] = []
        for target in updated.targets:
            name = _own(target.target)
            if name == "chat":
                assert isinstance(target.target, cst.Attribute)
                attribute = target.target.with_changes(attr=cst.Name("responses"))
                kept.append(target.with_changes(target=attribute))
            elif name not in _STEPS:
                kept.append(target)
        return updated.with_changes(targets=kept)

    fakes.shapes.edit(node, apply)


def _own(target: cst.BaseExpression) -> str:
    """``x`` of ``self.x``."""
    match target:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
        case _:
            return ""


def _returns_self(node: cst.FunctionDef) -> bool:
    """Whether it is a property that is the object itself."""
    is_property = any(
        isinstance(item.decorator, cst.Name) and item.decorator.value == "property"
        for item in node.decorators
    )
    match list(lines_of(node.body)):
        case [cst.Return(value=cst.Name(value="self"))]:
            return is_property
        case _:
            return False

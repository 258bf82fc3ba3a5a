"""Mocks of an answer that are set up by attribute: ``mock.choices[0].message.content = X`` (MR802)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..know import modules as syntax
from .double_edits import (
    FINISH,
    USAGE,
    has_others,
    items_of,
    keywords_of,
    new_string,
    only,
    onto,
    path_of,
    set_fields,
    set_parsed,
)
from .double_trees import written_out

if TYPE_CHECKING:
    from .double_shapes import Shapes


class Attributes:
    """What one test file sets on mocks, and asks of them."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._module = shapes.module

    def plan(self) -> None:
        for node in self._module.of(cst.Attribute, cst.Assign):
            if self._shapes.gone.intersection(self._module.ancestors(node)):
                continue
            match node:
                case cst.Attribute():
                    self._attribute(node)
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="choices")))]
                ):
                    self._choices(node)
                case _:
                    continue

    def _attribute(self, node: cst.Attribute) -> None:
        """``mock.choices[0].message.content`` -> ``mock.output_text``; usage and finish reason likewise."""
        if node in self._shapes.known or self._shapes.context.project.shapes(node.value):
            return
        path, choices = path_of(node)
        parent = self._module.parents.get(node)
        stored = isinstance(parent, cst.AssignTarget)
        if choices is None:
            if node.attr.value in USAGE and stored:
                self._shapes.edit(node, onto(USAGE[node.attr.value], 1))
            return
        if path == ("message", "content"):
            self._shapes.known.add(choices)
            self._shapes.edit(node, onto("output_text", 4))
            if stored:
                self._shapes.text(self._module.parents.get(parent) if parent is not None else None)
        elif path == ("message", "parsed"):
            self._shapes.known.add(choices)
            self._shapes.edit(node, onto("output_parsed", 4))
        elif path == ("message", "tool_calls") and stored and isinstance(parent, cst.AssignTarget):
            assign = self._module.parents.get(parent)
            if isinstance(assign, cst.Assign) and self._shapes.calls.are_items(assign.value):
                self._shapes.known.add(choices)
                self._shapes.edit(node, onto("output", 4))
                may_be_none = self._shapes.calls.may_be_none(assign.value)
                self._shapes.edit(assign.value, lambda o, u: items_of(u, may_be_none))
        elif path == ("finish_reason",) and isinstance(parent, cst.AssignTarget):
            assign = self._module.parents.get(parent)
            value = assign.value if isinstance(assign, cst.Assign) else None
            if isinstance(value, cst.SimpleString) and FINISH.get(str(value.evaluated_value)) == "completed":
                self._shapes.known.add(choices)
                self._shapes.edit(node, onto("status", 3))
                self._shapes.edit(value, new_string("completed"))

    def _choices(self, node: cst.Assign) -> None:
        """``mock.choices = [MagicMock()]`` goes: there is nothing to set up before ``output_text``."""
        target = node.targets[0].target
        if node in self._shapes.known:
            return
        assert isinstance(target, cst.Attribute)
        choice = only(node.value)
        func = self._shapes.func_of(choice) if choice is not None else None
        if choice is None or func is None:
            return
        line = self._module.parents.get(node)
        inner = keywords_of(choice)
        if (
            not inner
            and isinstance(choice, cst.Call)
            and isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and has_others(self._module, line)
        ):
            if (self._shapes.reads_output or self._shapes.tests_choices) and not str(
                self._shapes.maker(choice)
            ).endswith("MagicMock"):
                return  # a plain mock has no items to iterate over
            self._shapes.known.add(target)
            self._shapes.edit(line, lambda o, u: cst.RemovalSentinel.REMOVE)
            return
        message = inner.get("message")
        parts = keywords_of(message or choice)
        if "parsed" in parts and parts.keys() <= {"parsed", "role"} and inner.keys() <= {"message", "index"}:
            self._shapes.known.add(target)
            self._shapes.edit(node, set_parsed)
        else:
            self._set_up(node, choice)

    def _set_up(self, node: cst.Assign, choice: cst.BaseExpression) -> None:
        """``mock.choices = [MagicMock(message=M)]`` sets what a response has of it."""
        line = self._module.parents.get(node)
        func = self._shapes.func_of(choice)
        if func is None or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return
        arg = cst.Arg(cst.List([cst.Element(choice)]), keyword=cst.Name("choices"))
        tree = written_out(self._module, cst.Call(func, [arg]), self._shapes.maker)
        edit = (
            self._shapes.response_of(tree.node, str(self._shapes.maker(tree.node)))
            if tree is not None
            else None
        )
        if tree is None or edit is None:
            return
        made = edit(tree.node, tree.node)
        assert isinstance(made, cst.Call)
        self._shapes.known.update((node, node.targets[0].target, *syntax.walk(node.value)))
        self._shapes.remove(tree.gone, node)
        self._shapes.edit(line, set_fields(keywords_of(made)))

"""Mocks of an answer that are set up by attribute: ``mock.choices[0].message.content = X`` (MR802)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..know import modules as syntax
from . import double_answers, double_finish
from .double_edits import (
    FINISH,
    USAGE,
    has_others,
    is_empty,
    items_of,
    new_string,
    only,
    onto,
    path_of,
    refused,
    set_fields,
    set_parsed,
)
from .double_forms import keywords_of
from .double_names import IDLE, MOCKS, is_idle
from .double_specs import has_spec
from .double_trees import binding, written_out

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
        elif stored and self._is_idle(path, node):
            self._remove(node, choices)
        elif path == ("message", "refusal") and stored:
            self._refusal(node, choices)
        elif path == ("message",) and stored:
            self._message(node, choices)
        elif path == ("finish_reason",) and isinstance(parent, cst.AssignTarget):
            assign = self._module.parents.get(parent)
            value = assign.value if isinstance(assign, cst.Assign) else None
            if (
                isinstance(value, cst.SimpleString)
                and FINISH.get(str(value.evaluated_value)) == "completed"
                and double_finish.agree(self._shapes, value, self._calls_beside(choices))
            ):
                self._shapes.known.add(choices)
                self._shapes.edit(node, onto("status", 3))
                self._shapes.edit(value, new_string("completed"))

    def _calls_beside(self, choices: cst.Attribute) -> cst.BaseExpression | None:
        """What the tool calls of the same mock are set to: ``mock.choices[0].message.tool_calls = X``."""
        whole = self._module.tree.code_for_node(choices)
        found: cst.BaseExpression | None = None
        for node in syntax.walk(self._module.function(choices) or self._module.tree):
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)], value=value):
                    path, other = path_of(target)
                    if other is None or path != ("message", "tool_calls"):
                        continue
                    if self._module.tree.code_for_node(other) == whole:
                        found = value
                case _:
                    continue
        return found

    def _is_like_a_class(self, target: cst.Attribute) -> bool:
        """Whether the mock whose attribute is set has nothing but what is set, or what a class has."""
        made = binding(self._module, target.value) if isinstance(target.value, cst.Name) else None
        return made is not None and has_spec(made.value)

    def _refusal(self, node: cst.Attribute, choices: cst.Attribute) -> None:
        """``mock.choices[0].message.refusal = X`` -> ``mock.output = [...]``, where the calls are not set."""
        assign = self._assigned(node)
        made = binding(self._module, choices.value) if isinstance(choices.value, cst.Name) else None
        calls = self._calls_beside(choices)
        if not isinstance(assign, cst.Assign) or made is None or calls is not None:
            return
        if self._shapes.maker(made.value) is None or has_spec(made.value):
            return
        maker = made.value
        assert isinstance(maker, cst.Call)
        self._shapes.known.add(choices)
        self._shapes.edit(node, onto("output", 4))
        self._shapes.edit(assign.value, lambda o, u: _refused(maker, u))

    def _is_idle(self, path: tuple[str, ...], node: cst.Attribute) -> bool:
        """Whether nothing reads that part of an answer any more."""
        if path == ("finish_reason",):
            return not self._shapes.reads_finish
        assign = self._assigned(node)
        if isinstance(assign, cst.Assign) and not is_idle(self._shapes, path[-1], assign.value):
            return False
        return path[-1] in IDLE and path[:-1] in ((), ("message",))

    def _message(self, node: cst.Attribute, choices: cst.Attribute) -> None:
        """``mock.choices[0].message = MagicMock(content=X)`` sets what a response has of it."""
        assign = self._assigned(node)
        if not isinstance(assign, cst.Assign) or self._shapes.func_of(assign.value) is None:
            return
        if isinstance(assign.value, cst.Call) and not assign.value.args:
            if str(self._shapes.maker(assign.value)).startswith(MOCKS):
                self._remove(node, choices)
            return
        func = self._shapes.func_of(assign.value)
        assert func is not None
        given = cst.Arg(assign.value, keyword=cst.Name("message"))
        if self._set_up(assign, cst.Call(func, [given]), choices.value):
            self._shapes.known.add(choices)

    def _assigned(self, node: cst.Attribute) -> cst.CSTNode | None:
        target = self._module.parents.get(node)
        return self._module.parents.get(target) if target is not None else None

    def _remove(self, node: cst.Attribute, choices: cst.Attribute) -> None:
        """Take the line away that sets ``node``."""
        assign = self._assigned(node)
        line = self._module.parents.get(assign) if assign is not None else None
        if (
            isinstance(assign, cst.Assign)
            and len(assign.targets) == 1
            and isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and has_others(self._module, line)
        ):
            self._shapes.known.update((choices, *syntax.walk(assign)))
            self._shapes.remove([assign], line)

    def _choices(self, node: cst.Assign) -> None:
        """``mock.choices = [MagicMock()]`` goes: there is nothing to set up before ``output_text``."""
        target = node.targets[0].target
        if node in self._shapes.known:
            return
        assert isinstance(target, cst.Attribute)
        choice = only(node.value)
        func = self._shapes.func_of(choice) if choice is not None else None
        if choice is None and is_empty(node.value) and self._shapes.asks_choices(node):
            self._shapes.known.add(target)
            self._shapes.edit(target, onto("output", 1))
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
            if (self._shapes.reads_output or self._shapes.tests_choices) and not (
                str(self._shapes.maker(choice)).endswith("MagicMock") and not self._is_like_a_class(target)
            ):
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

    def _set_up(
        self, node: cst.Assign, choice: cst.BaseExpression, owner: cst.BaseExpression | None = None
    ) -> bool:
        """``mock.choices = [MagicMock(message=M)]`` sets what a response has of it; whether that is known.

        ``owner`` is the mock, if it is not the one whose attribute ``node`` sets.
        """
        line = self._module.parents.get(node)
        func = self._shapes.func_of(choice)
        if owner is not None and isinstance(choice, cst.Call):
            func = choice.func
        if func is None or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return False
        arg = cst.Arg(cst.List([cst.Element(choice)]), keyword=cst.Name("choices"))
        tree = written_out(self._module, cst.Call(func, [arg]), self._shapes.maker)
        edit = (
            double_answers.response_of(self._shapes, tree.node, str(self._shapes.maker(tree.node)))
            if tree is not None
            else None
        )
        if tree is None or edit is None:
            return False
        made = self._shapes.put_together(edit, tree.node)
        self._shapes.known.update((node, node.targets[0].target, *syntax.walk(node.value)))
        self._shapes.remove(tree.gone, node)
        self._shapes.edit(line, set_fields(keywords_of(made), owner))
        return True


def _refused(maker: cst.Call, refusal: cst.CSTNode) -> cst.BaseExpression:
    assert isinstance(refusal, cst.BaseExpression)
    return refused(maker, refusal)

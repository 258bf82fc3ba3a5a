"""Mocks of a response, its choice and its message that have names of their own (MR802).

``message.content = X; choice.message = message; response.choices = [choice]`` sets up one object now: the
message's mock is the response, and the lines that put the three together are gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import External, Kind
from .double_edits import is_empty, new_name, only
from .double_specs import has_spec, without_spec
from .double_trees import is_read

if TYPE_CHECKING:
    from .double_shapes import Shapes

MOCKS = ("unittest.mock.", "mock.", "pytest_mock.", "types.SimpleNamespace")
# What a mock of the answer has no use for any more.
IDLE = frozenset({"role", "index", "logprobs", "refusal", "function_call"})


_ASKED = {"refusal": Kind.REFUSAL, "function_call": Kind.FUNCTION_CALL}


@dataclass
class _Parts:
    """The names of one answer in one function, and the statements that are about them."""

    response: str
    choice: str
    message: str | None
    made: dict[str, cst.Assign]
    uses: list[tuple[cst.Name, cst.Assign]] = field(default_factory=list)


def plan(shapes: Shapes) -> None:
    """Look at each function of a test file, and at its top level."""
    module = shapes.module
    linked = [
        node
        for node in module.of(cst.Assign)
        if isinstance(target := node.targets[0].target, cst.Attribute) and target.attr.value == "choices"
    ]
    for node in linked:
        scope = module.function(node) or module.tree
        parts = _parts(shapes, scope, node)
        if parts is not None:
            _rewrite(shapes, parts, node)


def is_idle(shapes: Shapes, name: str, value: cst.BaseExpression) -> bool:
    """Whether it is no loss if ``name``, one of ``IDLE``, is not set to ``value``."""
    kind = _ASKED.get(name)
    return kind is None or kind not in shapes.kinds or is_empty(value)


def _parts(shapes: Shapes, scope: cst.CSTNode, linked: cst.Assign) -> _Parts | None:
    """The three names, if nothing else is done with the choice and the message than to set them up."""
    target = linked.targets[0].target
    choice = only(linked.value)
    if (
        not isinstance(target, cst.Attribute)
        or not isinstance(target.value, cst.Name)
        or not isinstance(choice, cst.Name)
    ):
        return None
    response = target.value.value
    made: dict[str, cst.Assign] = {}
    message: str | None = None
    for node in syntax.walk(scope):
        if not isinstance(node, cst.Assign) or len(node.targets) != 1:
            continue
        match node.targets[0].target, node.value:
            case cst.Name(value=name), cst.Call() as call if _is_mock(shapes, call) and not without_spec(
                call
            ):
                if name in made:
                    return None
                made[name] = node
            case (
                cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="message")),
                cst.Name(value=name),
            ) if owner == choice.value:
                message = name
            case _:
                continue
    names = {response, choice.value, *([message] if message else [])}
    if not names <= made.keys() or len(names) != (3 if message else 2):
        return None
    if (shapes.reads_output or shapes.tests_choices) and not all(
        _is_mock(shapes, made[name].value, "MagicMock") and not has_spec(made[name].value) for name in names
    ):
        return None  # a plain mock has no items to iterate over
    parts = _Parts(response, choice.value, message, made)
    for node in syntax.walk(scope):
        if isinstance(node, cst.Name) and node.value in names - {response} and is_read(shapes.module, node):
            assign = _set_up(shapes, node)
            if assign is None:
                return None
            parts.uses.append((node, assign))
    return parts


def _is_mock(shapes: Shapes, node: cst.BaseExpression, ending: str = "") -> bool:
    """Whether a call makes a mock (of the class ``ending``)."""
    values = shapes.context.project.values(node.func) if isinstance(node, cst.Call) else ()
    return any(
        isinstance(value, External) and value.path.startswith(MOCKS) and value.path.endswith(ending)
        for value in values
    )


def _set_up(shapes: Shapes, node: cst.Name) -> cst.Assign | None:
    """The statement that sets a known part of the answer through ``node``, or puts it where it belongs."""
    current: cst.CSTNode = node
    names: list[str] = []
    while isinstance(parent := shapes.module.parents.get(current), cst.Attribute) and parent.value is current:
        names.append(parent.attr.value)
        current = parent
    holder = shapes.module.parents.get(current)
    if isinstance(holder, cst.AssignTarget):
        assign = shapes.module.parents.get(holder)
        if not isinstance(assign, cst.Assign):
            return None
        if names[:1] == ["message"] and len(names) > 1:
            names = names[1:]
        if names in (["content"], ["message"]):
            return assign
        if len(names) == 1 and names[0] in IDLE and is_idle(shapes, names[0], assign.value):
            return assign
        if names == ["tool_calls"] and is_empty(assign.value):
            return assign
        if names == ["finish_reason"] and not shapes.reads_finish:
            return assign
        return None
    if not names and isinstance(holder, (cst.Assign, cst.Element)):
        around: cst.CSTNode | None = holder
        while isinstance(around, (cst.Element, cst.List, cst.Tuple)):
            around = shapes.module.parents.get(around)
        if isinstance(around, cst.Assign):
            assign = around
            target = assign.targets[0].target
            if isinstance(target, cst.Attribute) and target.attr.value in ("message", "choices"):
                return assign
    return None


def _rewrite(shapes: Shapes, parts: _Parts, linked: cst.Assign) -> None:
    module = shapes.module
    names = [parts.response, parts.choice, *([parts.message] if parts.message else [])]
    order = {node: number for number, node in enumerate(module.parents)}
    first = min((parts.made[name] for name in names), key=lambda node: order[node])
    gone = {parts.made[name] for name in names if parts.made[name] is not first} | {linked}
    if first is not parts.made[parts.response]:
        target = first.targets[0].target
        shapes.edit(target, new_name(parts.response))
        own = parts.made[parts.response].value
        if has_spec(own) or has_spec(first.value):
            shapes.needs(("Response",), first.value)
            shapes.edit(first.value, _like(own))
            shapes.gone.add(first)
    for name, assign in parts.uses:
        target = assign.targets[0].target
        shapes.known.update(syntax.walk(assign))
        assert isinstance(target, cst.Attribute)
        if target.attr.value == "content":
            shapes.edit(target, _field(parts.response, "output_text"))
            shapes.text(assign)
        elif target.attr.value == "tool_calls":
            shapes.edit(target, _field(parts.response, "output"))
            shapes.edit(assign.value, lambda o, u: cst.List([]))
        elif assign is not linked:
            gone.add(assign)
        assert name.value != parts.response
    shapes.known.update(syntax.walk(linked))
    for assign in gone:
        shapes.gone.add(module.parents[assign])
        shapes.edit(module.parents[assign], lambda o, u: cst.RemovalSentinel.REMOVE)


def _like(made: cst.BaseExpression) -> Apply:
    """An edit that makes the mock that ``made`` makes, like a response where that is like a class."""
    assert isinstance(made, cst.Call)
    args = [arg.with_changes(value=cst.Name("Response")) for arg in made.args]
    return lambda original, updated: made.with_changes(args=args)


def _field(owner: str, name: str) -> Apply:
    """An edit that writes ``owner.name``."""
    return lambda original, updated: cst.Attribute(cst.Name(owner), cst.Name(name))

"""Mocks of chunks that are set up by attribute: ``chunk.choices[0].delta.content = X`` (MR802).

They are events now: ``chunk.type = "response.output_text.delta"; chunk.delta = X``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..decide.plan import Apply, Replacement
from ..know import modules as syntax
from ..know.kinds import Kind
from .double_edits import attribute_set, has_others, is_empty, path_of, set_fields
from .double_endings import LAST, NOTHING, Ending, ending
from .double_fields import assigned
from .double_forms import Keywords
from .double_names import MOCKS
from .double_streams import Reads, may_say_nothing, says_nothing, type_of
from .double_trees import binding
from .snippets import expr, is_simple

if TYPE_CHECKING:
    from .double_shapes import Shapes

_IDLE = frozenset(
    {("delta", "role"), ("delta", "tool_calls"), ("delta", "refusal"), ("delta", "function_call")}
)


def plan(shapes: Shapes) -> None:
    """Rewrite each chunk whose attributes are set one after the other in one block."""
    chunks: dict[tuple[cst.CSTNode, str], dict[tuple[str, ...], cst.Assign]] = {}
    module = shapes.module
    for node in module.of(cst.Assign):
        target = node.targets[0].target
        if len(node.targets) != 1 or not isinstance(target, cst.Attribute):
            continue
        path, choices = path_of(target)
        line = module.parents.get(node)
        if choices is None or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            continue
        key = module.parents[line], module.tree.code_for_node(choices)
        if path in chunks.setdefault(key, {}):
            chunks[key][("twice",)] = node
        chunks[key][path] = node
    for lines in chunks.values():
        if ("delta", "content") in lines:
            _chunk(shapes, lines)
    for node in module.of(cst.Assign):
        match node:
            case cst.Assign(
                targets=[
                    cst.AssignTarget(
                        target=cst.Attribute(value=cst.Name() as name, attr=cst.Name(value="choices"))
                    )
                ],
                value=value,
            ) if is_empty(value) and shapes.is_streamed(node):
                _without_choices(shapes, node, name)
            case _:
                continue


def _chunk(shapes: Shapes, lines: dict[tuple[str, ...], cst.Assign]) -> None:
    content = lines[("delta", "content")]
    finish = lines.get(("finish_reason",))
    reason = finish.value if finish is not None else None
    known = {("delta", "content"), ("finish_reason",)}
    if any(
        path not in known and not (path in _IDLE and _is_idle(path, at)) and not _is_made(shapes, lines, path)
        for path, at in lines.items()
    ):
        return
    reads = shapes.streams
    ends = reason is not None and not is_empty(reason)
    if Kind.DELTA_CALLS in reads.kinds:
        return
    if reads.usage and not (
        reads.asks_usage and _has_no_usage(shapes, content) and not _tells_end(reads, ends)
    ):
        return
    if not isinstance(reason, cst.SimpleString):
        if ends and Kind.CHUNK_FINISH in shapes.kinds:
            return
        reason = None
    fields: Keywords
    if says_nothing(content.value):
        end = Ending() if reads.usage else ending(shapes, reason)
        if end is None:
            return
        fields = {"type": end.kind, **_of_response(end)}
    elif ends and Kind.CHUNK_FINISH in shapes.kinds:
        return
    else:
        told_by = may_say_nothing(shapes.context, content.value)
        if told_by and not is_simple(content.value):
            return
        fields = {"type": type_of(content.value, told_by), "delta": content.value}
    module = shapes.module
    gone = [at for path, at in lines.items() if at is not content]
    if not all(has_others(module, _line(shapes, at)) for at in gone):
        return
    for at in lines.values():
        shapes.known.update(syntax.walk(at))
    shapes.remove(gone, content)
    shapes.edit(_line(shapes, content), _set(fields))


def _of_response(end: Ending) -> Keywords:
    """What is set of the response of the event, each by its path."""
    found = end.response(lambda fields: fields["reason"])
    return {
        f"response.{name}{'.reason' if name == 'incomplete_details' else ''}": value
        for name, value in found.items()
    }


def _tells_end(reads: Reads, ends: bool) -> bool:
    """Whether a chunk ends the stream for a program that asks for that."""
    return ends and Kind.CHUNK_FINISH in reads.kinds


def _usages(shapes: Shapes, owner: str, beside: cst.CSTNode) -> list[cst.Attribute]:
    """Where the usage of the mock ``owner`` is named, in the function around ``beside``."""
    module = shapes.module
    return [
        node
        for node in syntax.walk(module.function(beside) or module.tree)
        if isinstance(node, cst.Attribute)
        and node.attr.value == "usage"
        and isinstance(node.value, cst.Name)
        and node.value.value == owner
    ]


def _is_none(shapes: Shapes, node: cst.Attribute) -> bool:
    """Whether ``node`` is set to None there."""
    target = shapes.module.parents.get(node)
    assign = shapes.module.parents.get(target) if isinstance(target, cst.AssignTarget) else None
    return isinstance(assign, cst.Assign) and is_empty(assign.value)


def _has_no_usage(shapes: Shapes, content: cst.Assign) -> bool:
    """Whether the mock of a text says that it has no usage: else it makes one up."""
    owner: cst.BaseExpression = content.targets[0].target
    while isinstance(owner, (cst.Attribute, cst.Subscript)):
        owner = owner.value
    found = _usages(shapes, owner.value, content) if isinstance(owner, cst.Name) else []
    return bool(found) and all(_is_none(shapes, node) for node in found)


def _without_choices(shapes: Shapes, node: cst.Assign, name: cst.Name) -> None:
    """``chunk.choices = []``, and perhaps ``chunk.usage.total_tokens = 7``: the end of a stream."""
    reads = shapes.streams
    found = _usages(shapes, name.value, node)
    if not reads.usage:
        found = []
    elif not reads.asks_usage or not found or not _is_mock(shapes, name):
        return
    counted = [use for use in found if not _is_none(shapes, use)]
    if counted and (len(counted) != len(found) or Kind.CHUNK_FINISH in reads.kinds):
        return
    for use in counted:
        target = shapes.module.parents.get(use)
        if isinstance(target, cst.AssignTarget):
            assign = shapes.module.parents.get(target)
            if not isinstance(assign, cst.Assign) or shapes.may_be_none(assign.value):
                return
    shapes.known.update(syntax.walk(node))
    kind = LAST if counted else NOTHING
    shapes.edit(node, assigned("type", expr(f'"{kind}"')))
    for use in counted:
        shapes.edit(use, _through_response)


def _through_response(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``chunk.usage`` -> ``event.response.usage``."""
    assert isinstance(updated, cst.Attribute)
    return updated.with_changes(value=cst.Attribute(updated.value, cst.Name("response")))


def _is_mock(shapes: Shapes, name: cst.Name) -> bool:
    """Whether a name holds a mock, which has whatever is set in it."""
    made = binding(shapes.module, name)
    return made is not None and "mock" in str(shapes.maker(made.value))


def _line(shapes: Shapes, node: cst.CSTNode) -> cst.SimpleStatementLine:
    line = shapes.module.parents[node]
    assert isinstance(line, cst.SimpleStatementLine)
    return line


def _set(fields: Keywords) -> Apply:
    """``chunk.choices[0].delta.content = X`` as the fields of an event of ``chunk``."""
    write = set_fields(fields)

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        line, assign, target = attribute_set(updated)
        _, choices = path_of(target)
        assert choices is not None
        short = assign.with_changes(targets=[assign.targets[0].with_changes(target=choices)])
        return write(original, line.with_changes(body=[short]))

    return apply


def _is_made(shapes: Shapes, lines: dict[tuple[str, ...], cst.Assign], path: tuple[str, ...]) -> bool:
    """``chunk.choices[0].delta = MagicMock()`` before its text is set, which says nothing itself."""
    made, order = lines[path].value, list(lines)
    return (
        path == ("delta",)
        and order.index(path) < order.index(("delta", "content"))
        and isinstance(made, cst.Call)
        and not made.args
        and str(shapes.maker(made)).startswith(MOCKS)
    )


def _is_idle(path: tuple[str, ...], at: cst.Assign) -> bool:
    """Whether a field is set to what says nothing."""
    return path == ("delta", "role") or is_empty(at.value)

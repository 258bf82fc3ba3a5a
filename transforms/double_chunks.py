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
from .double_forms import Keywords
from .double_streams import end_of, may_say_nothing, says_nothing, type_of
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


def _chunk(shapes: Shapes, lines: dict[tuple[str, ...], cst.Assign]) -> None:
    content = lines[("delta", "content")]
    finish = lines.get(("finish_reason",))
    reason = finish.value if finish is not None else None
    known = {("delta", "content"), ("finish_reason",)}
    if any(path not in known and not (path in _IDLE and _is_idle(path, at)) for path, at in lines.items()):
        return
    if shapes.kinds & {Kind.USAGE, Kind.DELTA_CALLS}:
        return
    ends = reason is not None and not is_empty(reason)
    if ends and Kind.CHUNK_FINISH in shapes.kinds and not isinstance(reason, cst.SimpleString):
        return
    fields: Keywords
    if says_nothing(content.value):
        kind = end_of(reason if isinstance(reason, cst.SimpleString) else None)
        fields = {"type": expr(f'"{kind}"')}
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


def _is_idle(path: tuple[str, ...], at: cst.Assign) -> bool:
    """Whether a field is set to what says nothing."""
    return path == ("delta", "role") or is_empty(at.value)

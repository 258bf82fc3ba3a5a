"""Classes of a test whose objects stand for tool calls: the call and its function are one item now (MR802).

``self.id = id; self.function = FakeFunction(name, arguments)`` becomes ``self.call_id = id; self.name = name;
self.arguments = arguments``, and the class of the function is gone.
"""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import Instance
from .double_edits import its_line
from .double_fields import each_assigned, is_dataclass
from .double_forms import Keywords
from .double_objects import Field, Objects
from .snippets import expr

_FIELDS = frozenset({"id", "type", "function"})
_FUNCTION = frozenset({"name", "arguments"})


def plan(objects: Objects) -> None:
    """Edit the classes of one test file, and tell which they are."""
    for node in objects.module.of(cst.ClassDef):
        fields = objects.fields(node)
        if "function" in fields and fields.keys() <= _FIELDS and not node.bases and not is_dataclass(node):
            _class(objects, node, fields)


def _class(objects: Objects, node: cst.ClassDef, fields: dict[str, Field]) -> None:
    shapes, module = objects.shapes, objects.module
    held = fields["function"]
    function = objects.opened(held.value) if held.value is not None else None
    lines = {name: its_line(module, field.node) for name, field in fields.items()}
    if (
        held.function is None
        or held.value is None
        or function is None
        or function.keys() != _FUNCTION
        or not objects.does_nothing_else(node, fields)
        or any(lines[name] is field.node for name, field in fields.items())
        or _is_asked(objects, node)
    ):
        return
    new: Keywords = {name: function[name] for name in ("name", "arguments")}
    if "type" not in fields:
        new = {"type": expr('"function_call"'), **new}
    edits: dict[str, Apply] = {"function": each_assigned(new)}
    for name, field in fields.items():
        shapes.known.update(syntax.walk(field.node))
        if name == "id" and field.value is not None:
            edits["id"] = each_assigned({"call_id": field.value})
        elif name == "type":
            edits["type"] = each_assigned({"type": expr('"function_call"')})
    for name, edit in edits.items():
        shapes.edit(lines[name], edit)
    objects.consumed.add(held.value)
    shapes.calls.classes.add(node)


def _is_asked(objects: Objects, node: cst.ClassDef) -> bool:
    """Whether the tests ask something of such an object."""
    context = objects.shapes.context
    return any(
        isinstance(value, Instance) and value.type.node is node
        for module in context.plan.test_modules
        for read in module.of(cst.Attribute)
        if read.attr.value in _FIELDS and not _is_own(read)
        for value in context.project.values(read.value)
    )


def _is_own(read: cst.Attribute) -> bool:
    return isinstance(read.value, cst.Name) and read.value.value == "self"

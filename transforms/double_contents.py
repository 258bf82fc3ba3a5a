"""What the choices of a hand-written fake say, as the fields of a response (MR802).

``[FakeChoice(FakeMessage(text, calls), reason)]`` is ``output_text``, ``output`` where the program looks at
items, and ``status`` with its details where it asks how the answer ended.
"""

from __future__ import annotations

import sys

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import dotted
from . import double_finish
from .double_edits import DROPPED, is_empty, only, output_of
from .double_forms import Keywords, call_with
from .double_objects import Objects
from .double_shapes import Shapes
from .snippets import expr
from .tested import at

_ANSWER = frozenset({"content"}) | DROPPED
# What is not read as it was, once it is there: (field of a message, kind of a read)
_TOLD = (("refusal", Kind.REFUSAL), ("function_call", Kind.FUNCTION_CALL))


def fields_of(objects: Objects, choices: cst.BaseExpression) -> Keywords | None:
    """The fields for ``choices``, the first for the text or for what was parsed; None if not all is known.

    The text is the content as it stands, which may be None.
    """
    shapes = objects.shapes
    choice = objects.opened(only(choices) or choices)
    if choice is None or "message" not in choice:
        return None
    message = objects.opened(choice["message"])
    if message is None:
        return None
    fields = {**choice, **message}
    for name in ("message", "finish_reason", "tool_calls"):
        fields.pop(name, None)
    parsed = fields.pop("parsed", None)
    if fields.keys() - _ANSWER or (parsed is None) == ("content" not in message):
        return None
    if not double_finish.is_known(shapes, choice, message) or any(
        kind in shapes.kinds and not is_empty(fields.get(name, cst.Name("None"))) for name, kind in _TOLD
    ):
        return None
    found = {"output_text": message["content"]} if parsed is None else {"output_parsed": parsed}
    items = _items(shapes, message)
    if items is None:
        return None
    found |= items
    if shapes.reads_finish:
        found |= double_finish.status(shapes, choice, lambda given: _namespace(objects, choices, given))
    return found


def _items(shapes: Shapes, message: Keywords) -> Keywords | None:
    """The field for the items, if the program looks at any; None if the calls are not understood."""
    calls = message.get("tool_calls")
    if shapes.tests_choices:
        if shapes.reads_output or Kind.REFUSAL in shapes.kinds or not (calls is None or is_empty(calls)):
            return None
        return {"output": expr('[{"type": "message"}]')}
    if not shapes.reads_output:
        return {} if calls is None or double_finish.does_nothing(calls) else None
    if calls is None or is_empty(calls):
        return {"output": cst.List([])}
    if not shapes.calls.are_items(calls):
        return None
    return {"output": output_of(shapes.with_parts(calls), shapes.calls.may_be_none(calls))}


def _namespace(objects: Objects, around: cst.CSTNode, fields: Keywords) -> cst.BaseExpression:
    """``SimpleNamespace(...)`` under the name that the file has for it; imported where it has none."""
    module, context = objects.module, objects.shapes.context
    beside = ""
    for line in module.of(cst.ImportFrom):
        is_top = module.parents.get(module.parents[line]) is module.tree
        if not is_top or line.module is None or isinstance(line.names, cst.ImportStar):
            continue
        source = dotted(line.module)
        for alias in line.names:
            known = alias.evaluated_alias or alias.evaluated_name
            if (source, alias.evaluated_name) == ("types", "SimpleNamespace"):
                return call_with(cst.Call(cst.Name(known)), fields)
            if source.partition(".")[0] in sys.stdlib_module_names and source != "__future__":
                beside = known
    context.plan.need(module, "types", "SimpleNamespace", at(context, module, around), beside)
    return call_with(cst.Call(cst.Name("SimpleNamespace")), fields)

"""What a double of an answer becomes, whatever it is made of (MR802)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Kind
from . import double_finish
from .double_edits import flat, is_empty, only, refused
from .double_forms import Keywords, alike, keywords_of
from .double_models import details, model, usage
from .double_streams import event_of
from .snippets import is_simple

if TYPE_CHECKING:
    from .double_shapes import Shapes

RESPONSE_KEYS = frozenset({"choices", "usage", "id", "model", "created", "object", "service_tier"})
_CHOICE_KEYS = frozenset({"message", "index", "finish_reason", "logprobs"})
_MESSAGE_KEYS = frozenset({"content", "role", "tool_calls", "refusal", "function_call", "parsed"})
_USAGE = ("ResponseUsage", "response_usage.InputTokensDetails", "response_usage.OutputTokensDetails")


def response_of(shapes: Shapes, tree: cst.Call, path: str) -> Apply | None:
    """The edit that makes a response (or an event) of a double; None if it is not understood."""
    keywords = keywords_of(tree)
    choice = only(keywords["choices"])
    if "delta" in keywords_of(choice or tree):
        delta = keywords_of(choice or tree)["delta"]
        return event_of(shapes, tree, shapes.streams, path) if shapes.maker(delta) else None
    needs_items = shapes.tests_choices and not path.endswith("MagicMock") and not path.startswith("openai.")
    if needs_items and Kind.REFUSAL in shapes.kinds:
        return None
    if choice is None or shapes.maker(choice) is None or keywords.keys() - RESPONSE_KEYS:
        return None
    counts = keywords.get("usage")
    if isinstance(counts, cst.Call) and any(arg.star for arg in counts.args):
        return None
    inner = keywords_of(choice)
    message = inner.get("message")
    if message is None or inner.keys() - _CHOICE_KEYS:
        return None
    parts = keywords_of(message)
    if not double_finish.is_known(shapes, inner, parts):
        return None
    calls = parts.get("tool_calls")
    if shapes.maker(message) is None or parts.keys() - _MESSAGE_KEYS:
        return None
    refusal = _refusal(shapes, parts, tree)
    if refusal is None or not is_empty(parts.get("function_call", cst.Name("None"))):
        return None
    if calls is not None and not shapes.calls.are_items(calls):
        return None
    if calls is None or is_empty(calls):
        shapes.tell_none(parts.get("content"), choice)
    if path.startswith("openai.types."):
        return None if refusal else _model(shapes, choice, inner, parts)
    may_be_none = shapes.may_be_none(parts.get("content"))
    calls_may_be_none = calls is not None and shapes.calls.may_be_none(calls)
    if needs_items and calls_may_be_none:
        return None
    more = double_finish.status(shapes, inner, lambda fields: alike(tree, fields)) | refusal
    return flat(shapes.reads_output, may_be_none, calls_may_be_none, more, needs_items)


def _model(shapes: Shapes, choice: cst.BaseExpression, inner: Keywords, parts: Keywords) -> Apply | None:
    """The edit that makes a real response of a real completion; ``parts`` are those of its message."""
    calls, content = parts.get("tool_calls"), parts.get("content", cst.Name("None"))
    may_be_none = shapes.may_be_none(content)
    none_calls = calls is not None and not isinstance(calls, cst.List) and shapes.calls.may_be_none(calls)
    is_open = calls is not None and not isinstance(calls, cst.List) and not is_empty(calls)
    if is_open and (may_be_none or is_empty(content)):
        if not is_simple(content) or (none_calls and not (is_simple(calls or content))):
            return None
        if shapes.tests_choices and is_empty(content):
            return None
    ending = double_finish.status(shapes, inner, details) if shapes.reads_finish else {}
    ending = {name: value for name, value in ending.items() if not is_empty(value)}
    names = ["Response"]
    listed = list(calls.elements) if isinstance(calls, cst.List) else []
    if not is_empty(content) or not (listed or is_open):
        names += ["ResponseOutputMessage", "ResponseOutputText"]
    if any("function" in keywords_of(element.value) for element in listed):
        names.append("ResponseFunctionToolCall")
    if "incomplete_details" in ending:
        names.append("response.IncompleteDetails")
    shapes.needs(tuple(names), choice)
    return model(may_be_none, none_calls, shapes.tests_choices, ending)


def _refusal(shapes: Shapes, message: Keywords, maker: cst.Call) -> Keywords | None:
    """The field that says a refusal, none where nobody asks; None if it is not understood."""
    given = message.get("refusal")
    if given is None or is_empty(given):
        return {}
    if not isinstance(given, (cst.SimpleString, cst.Name, cst.Attribute)):
        return None
    if Kind.REFUSAL not in shapes.kinds:
        return {}
    calls = message.get("tool_calls")
    return {"output": refused(maker, given)} if calls is None or is_empty(calls) else None


def counted(shapes: Shapes, node: cst.Call) -> None:
    """``CompletionUsage(...)`` of the SDK: the details are not optional any more."""
    shapes.needs(_USAGE, node)
    shapes.edit_part(node, usage)

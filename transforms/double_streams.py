"""Doubles of chunks: namespaces, mocks and real ``ChatCompletionChunk``s become events (MR802)."""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Const, Kind
from .context import Context
from .double_edits import is_empty, only
from .double_forms import Keywords, call_with, keywords_of
from .snippets import expr

_CHUNK = frozenset({"choices", "id", "created", "model", "object", "usage"})
_CHOICE = frozenset({"delta", "index", "finish_reason", "logprobs"})
_DELTA = frozenset({"content", "role", "tool_calls", "refusal", "function_call"})
TEXT, NOTHING = "response.output_text.delta", "response.in_progress"
_ENDS = {"stop": "completed", "tool_calls": "completed", "length": "incomplete"}


def event_of(context: Context, node: cst.Call, kinds: set[Kind], is_model: bool) -> Apply | None:
    """The edit that makes an event of the chunk that ``node`` makes; None if it is not understood.

    ``kinds``: what the program reads of its streams; ``is_model``: a ``ChatCompletionChunk``.
    """
    chunk = keywords_of(node)
    choice = keywords_of(only(chunk.get("choices", node)) or node)
    delta = keywords_of(choice["delta"]) if "delta" in choice else {}
    if chunk.keys() - _CHUNK or choice.keys() - _CHOICE or delta.keys() - _DELTA or "delta" not in choice:
        return None
    if any(not is_empty(delta[name]) for name in delta.keys() - {"content", "role"}):
        return None
    if kinds & {Kind.USAGE, Kind.DELTA_CALLS} or ("usage" in chunk and not is_empty(chunk["usage"])):
        return None
    content, finish = delta.get("content"), choice.get("finish_reason")
    if Kind.CHUNK_FINISH not in kinds and not isinstance(finish, cst.SimpleString):
        finish = None  # nobody asks
    if content is None or says_nothing(content):
        if is_model or not (finish is None or is_empty(finish) or isinstance(finish, cst.SimpleString)):
            return None
        return _event(end_of(finish), {})
    if finish is not None and not is_empty(finish):
        return None
    if may_say_nothing(context, content):
        if is_model or not isinstance(content, (cst.Name, cst.Attribute)):
            return None
        return _event(TEXT, {"delta": content}, told_by=content)
    return _event(TEXT, {"delta": content}, is_model)


def says_nothing(content: cst.BaseExpression) -> bool:
    """Whether a content is written that is no text: None or ""."""
    return is_empty(content) or (isinstance(content, cst.SimpleString) and not content.evaluated_value)


def may_say_nothing(context: Context, content: cst.BaseExpression) -> bool:
    """Whether a content is None or "" at times: such chunks are no events of text."""
    return any(isinstance(v, Const) and v.value in (None, "") for v in context.project.values(content))


def end_of(finish: cst.BaseExpression | None) -> str:
    """The type of the event for a chunk without text."""
    if isinstance(finish, cst.SimpleString):
        return f"response.{_ENDS.get(str(finish.evaluated_value), 'completed')}"
    return NOTHING


def type_of(content: cst.BaseExpression, told_by: bool) -> cst.BaseExpression:
    """The type of the event for a chunk with ``content``, which is empty at times if ``told_by`` it."""
    if told_by:
        return expr(f'"{TEXT}" if text else "{NOTHING}"', text=content)
    return expr(f'"{TEXT}"')


def _event(
    kind: str, fields: Keywords, is_model: bool = False, told_by: cst.BaseExpression | None = None
) -> Apply:
    """An event of ``kind`` with ``fields``; of another kind where ``told_by`` is empty: no text then."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        found: Keywords = {"type": expr(f'"{kind}"')}
        if told_by is not None:
            found["type"] = type_of(told_by, told_by=True)
        for name, value in fields.items():
            found[name] = value
        if not is_model:
            return call_with(updated, found)
        found |= {"item_id": expr('"msg_1"'), "output_index": expr("0"), "content_index": expr("0")}
        found |= {"sequence_number": expr("0"), "logprobs": expr("[]")}
        return call_with(updated, found).with_changes(func=cst.Name("ResponseTextDeltaEvent"))

    return apply

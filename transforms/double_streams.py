"""Doubles of chunks: namespaces, mocks and real ``ChatCompletionChunk``s become events (MR802)."""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Const, Kind
from .context import Context
from .double_edits import Keywords, call_with, is_empty, keywords_of, only
from .snippets import expr

_CHUNK = frozenset({"choices", "id", "created", "model", "object", "usage"})
_CHOICE = frozenset({"delta", "index", "finish_reason", "logprobs"})
_DELTA = frozenset({"content", "role", "tool_calls", "refusal", "function_call"})
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
    if content is None or is_empty(content):
        if not isinstance(finish, cst.SimpleString) or finish.evaluated_value not in _ENDS or is_model:
            return None
        return _event(f"response.{_ENDS[str(finish.evaluated_value)]}", {})
    if finish is not None and not is_empty(finish):
        return None
    if any(isinstance(v, Const) and v.value is None for v in context.project.values(content)):
        return None
    return _event("response.output_text.delta", {"delta": content}, is_model)


def _event(kind: str, fields: Keywords, is_model: bool = False) -> Apply:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        found: Keywords = {"type": expr(f'"{kind}"')}
        for name, value in fields.items():
            found[name] = value
        if not is_model:
            return call_with(updated, found)
        found |= {"item_id": expr('"msg_1"'), "output_index": expr("0"), "content_index": expr("0")}
        found |= {"sequence_number": expr("0"), "logprobs": expr("[]")}
        return call_with(updated, found).with_changes(func=cst.Name("ResponseTextDeltaEvent"))

    return apply

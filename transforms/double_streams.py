"""Doubles of chunks: namespaces, mocks and real ``ChatCompletionChunk``s become events (MR802)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Const, Kind
from .context import Context
from .double_callers import given, resolved
from .double_edits import is_empty, only
from .double_endings import LAST, NOTHING, TEXT, Ending, ending
from .double_events import model_event
from .double_forms import Keywords, alike, call_with, keywords_of, laid_out
from .snippets import expr

if TYPE_CHECKING:
    from .double_shapes import Shapes

_CHUNK = frozenset({"choices", "id", "created", "model", "object", "usage"})
_CHOICE = frozenset({"delta", "index", "finish_reason", "logprobs"})
_DELTA = frozenset({"content", "role", "tool_calls", "refusal", "function_call"})


@dataclass(frozen=True)
class Reads:
    """What the program reads of its streams, whether all are asked for the usage, and any gets tools."""

    kinds: frozenset[Kind]
    asks_usage: bool
    has_tools: bool

    @property
    def usage(self) -> bool:
        return Kind.USAGE in self.kinds


@dataclass(frozen=True)
class Chunk:
    """The parts of a double of a chunk; ``listed_by`` tells whether it has a choice at all."""

    fields: Keywords
    choice: cst.BaseExpression | None
    listed_by: cst.BaseExpression | None = None

    @property
    def delta(self) -> cst.BaseExpression | None:
        return keywords_of(self.choice).get("delta") if self.choice is not None else None


def chunk_of(fields: Keywords) -> Chunk | None:
    """The parts of what is made with ``fields``, if it can be a chunk."""
    choices = fields.get("choices")
    listed_by: cst.BaseExpression | None = None
    match choices:
        case None:
            return None
        case cst.IfExp(body=body, test=test, orelse=orelse) if is_empty(orelse):
            choices, listed_by = body, test
        case _:
            pass
    choice = only(choices)
    if choice is None:
        return Chunk(fields, None) if is_empty(choices) else None
    return Chunk(fields, choice, listed_by) if "delta" in keywords_of(choice) else None


def event_of(shapes: Shapes, node: cst.Call, reads: Reads, path: str) -> Apply | None:
    """The edit that makes an event of the chunk that ``node`` makes, with ``path``; None if it is unclear."""
    chunk = chunk_of(keywords_of(node))
    if chunk is None:
        return None
    is_model = path.startswith("openai.types.")
    choice = keywords_of(chunk.choice) if chunk.choice is not None else {}
    delta = keywords_of(chunk.delta) if chunk.delta is not None else {}
    if chunk.fields.keys() - _CHUNK or choice.keys() - _CHOICE or delta.keys() - _DELTA:
        return None
    if any(not is_empty(delta[name]) for name in delta.keys() - {"content", "role"}):
        return None
    content, finish = delta.get("content"), choice.get("finish_reason")
    if Kind.CHUNK_FINISH not in reads.kinds and not isinstance(finish, cst.SimpleString):
        finish = None  # nobody asks
    usage = chunk.fields.get("usage")
    if Kind.DELTA_CALLS in reads.kinds or not _usage_is_known(reads, usage, finish, path):
        return None
    if usage is not None and (is_empty(usage) or not reads.usage):
        usage = None
    if Kind.CHUNK_FINISH not in reads.kinds and content is not None and not says_nothing(content):
        finish = None
    end = ending(shapes, finish)
    if end is None:
        return None
    if content is None or says_nothing(content):
        if usage is not None and is_model:
            known = not isinstance(usage, cst.Name) or not shapes.may_be_none(usage)
            return model_event(shapes, node, None, False, Ending((LAST,)), usage) if known else None
        if usage is not None:
            return _event(_counted(shapes.context, usage), {}, usage=usage)
        end = Ending() if reads.usage else end
        return model_event(shapes, node, None, False, end) if is_model else _event(end.kind, {}, end)
    told_by = chunk.listed_by is not None or may_say_nothing(shapes.context, content)
    if not told_by and usage is None:
        if end.kinds:
            return None  # a text that ends the stream: two events
        if is_model:
            return model_event(shapes, node, content, False, end)
        return _event(type_of(content, told_by=False), {"delta": content})
    if not isinstance(content, (cst.Name, cst.Attribute)):
        return None
    if chunk.listed_by is not None and not _is_about(chunk.listed_by, content):
        return None
    if usage is None:
        if end.kinds and (finish is None or not are_apart(shapes, content, finish)):
            return None
        if is_model:
            return model_event(shapes, node, content, True, end)
        return _event(type_of(content, told_by=True, other=end.kind), {"delta": content}, end)
    if is_model or end.kinds or not are_apart(shapes, content, usage):
        return None
    other = _counted(shapes.context, usage)
    return _event(type_of(content, told_by=True, other=other), {"delta": content}, usage=usage)


def _usage_is_known(
    reads: Reads, usage: cst.BaseExpression | None, finish: cst.BaseExpression | None, path: str
) -> bool:
    """Whether the usage of a chunk is read as it would be in an event, and where the stream ends."""
    if not reads.usage:
        return True
    if not reads.asks_usage or (usage is None and "mock" in path):
        return False  # the new code does not look for it; or a mock makes one up
    if Kind.CHUNK_FINISH in reads.kinds:  # an event ends the stream and says the usage: two chunks did
        return usage is not None and is_empty(usage) and (finish is None or is_empty(finish))
    return True


def _counted(context: Context, usage: cst.BaseExpression) -> cst.BaseExpression:
    """The type of the event that says ``usage``, where it says something."""
    if isinstance(usage, cst.Name) and any(
        isinstance(value, Const) and value.value is None for value in context.project.values(usage)
    ):
        return expr(f'"{LAST}" if usage else "{NOTHING}"', usage=usage)
    return expr(f'"{LAST}"')


def _is_about(test: cst.BaseExpression, content: cst.BaseExpression) -> bool:
    """Whether a test asks if there is a text: ``text``, ``text is not None``."""
    match test:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=cst.IsNot(), comparator=cst.Name(value="None"))],
        ):
            return left.deep_equals(content)
        case _:
            return test.deep_equals(content)


def are_apart(shapes: Shapes, content: cst.BaseExpression, usage: cst.BaseExpression) -> bool:
    """Whether no test makes a chunk with a text and a usage: an event has one of them."""
    calls = given(shapes.context, shapes.module, content)
    return calls is not None and all(
        any(is_empty(value) for value in (resolved(content, passed), resolved(usage, passed)) if value)
        for passed in calls
    )


def says_nothing(content: cst.BaseExpression) -> bool:
    """Whether a content is written that is no text: None or ""."""
    return is_empty(content) or (isinstance(content, cst.SimpleString) and not content.evaluated_value)


def may_say_nothing(context: Context, content: cst.BaseExpression) -> bool:
    """Whether a content is None or "" at times: such chunks are no events of text."""
    return any(isinstance(v, Const) and v.value in (None, "") for v in context.project.values(content))


def type_of(
    content: cst.BaseExpression, told_by: bool, other: cst.BaseExpression | None = None
) -> cst.BaseExpression:
    """The type of the event for a chunk with ``content``, which is empty at times if ``told_by`` it.

    It is ``other`` then, that of an event which says nothing where that is not given.
    """
    if told_by:
        other = other or expr(f'"{NOTHING}"')
        return expr(f'"{TEXT}" if text else other', text=content, other=other)
    return expr(f'"{TEXT}"')


def _event(
    kind: cst.BaseExpression,
    fields: Keywords,
    end: Ending | None = None,
    usage: cst.BaseExpression | None = None,
) -> Apply:
    """An event of ``kind`` with ``fields``, and a response with the ``usage`` or what it ended by."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        found: Keywords = {"type": kind, **fields}
        ended: Keywords = {}
        if usage is not None:
            ended["usage"] = keywords_of(updated)["usage"]
        elif end is not None:
            ended = end.response(lambda given: alike(updated, given))
        if not ended:
            return call_with(updated, found)
        found["response"] = alike(updated, ended)
        return laid_out(call_with(updated, found))

    return apply

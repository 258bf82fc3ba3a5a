"""Doubles that are chunks of the SDK itself: ``ChatCompletionChunk(...)`` becomes an event (MR802)."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import libcst as cst

from ..decide.plan import Apply
from .double_edits import REASON
from .double_endings import CUT, LAST, NOTHING, Ending
from .double_forms import Keywords, call_with, keywords_of
from .double_models import details, response
from .listing import append
from .snippets import TIGHT, expr

if TYPE_CHECKING:
    from .double_shapes import Shapes

_CLASSES = {
    LAST: "ResponseCompletedEvent",
    CUT: "ResponseIncompleteEvent",
    NOTHING: "ResponseInProgressEvent",
}
_TEXT = """\
ResponseTextDeltaEvent(
    type="response.output_text.delta",
    delta=text_,
    item_id="msg_1",
    output_index=0,
    content_index=0,
    sequence_number=0,
    logprobs=[],
)"""
_END = """\
class_(
    type=kind_,
    sequence_number=0,
    response=response_,
)"""


def model_event(
    shapes: Shapes,
    node: cst.Call,
    text: cst.BaseExpression | None,
    is_optional: bool,
    end: Ending,
    usage: cst.BaseExpression | None = None,
) -> Apply:
    """An event of the SDK for a chunk with ``text``; where there is none, one that tells how it ends."""
    kinds = [] if text is not None and not is_optional else [*end.kinds]
    if not kinds or end.finish is not None:
        kinds += [NOTHING] if text is None or is_optional else []
    names = ["ResponseTextDeltaEvent"] if text is not None else []
    names += [_CLASSES[kind] for kind in kinds]
    names += ["Response"] if kinds else []
    if CUT in kinds:
        names.append("response.IncompleteDetails")
    shapes.needs(tuple(names), node)

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        fields = keywords_of(updated)
        if text is not None and not is_optional:
            return _plain(updated, text)
        branches: list[tuple[str, cst.BaseExpression | None]] = []
        parts: Keywords = {}
        if text is not None:
            parts["text_"] = text
            branches.append((_TEXT, text))
        for kind in kinds:
            name, depth = _CLASSES[kind], 8 if len(kinds) > 1 or text is not None else 4
            parts[f"{name}_"] = _ended(fields, kind, end, usage is not None, depth)
            branches.append((f"{name}_", _test(end, kind) if kind is not kinds[-1] else None))
        return _chosen(branches, parts)

    return apply


def _chosen(branches: list[tuple[str, cst.BaseExpression | None]], parts: Keywords) -> cst.BaseExpression:
    """The first of ``branches`` whose test holds, each as a template for ``parts``."""
    if len(branches) == 1:
        return expr(branches[0][0], **parts)
    lines = []
    for number, (template, test) in enumerate(branches):
        word = "" if number == 0 else "else "
        lines.append(textwrap.indent(word + template, "    "))
        if test is not None:
            parts[f"test_{number}_"] = test
            lines.append(f"    if test_{number}_")
    return expr("(\n" + "\n".join(lines) + "\n)", **parts)


def _test(end: Ending, kind: str) -> cst.BaseExpression:
    """Whether the stream ends by an event of ``kind``."""
    assert end.finish is not None
    reasons = [reason for reason in end.reasons if (reason in REASON) == (kind == CUT)]
    if len(reasons) == 1:
        return expr(f'f == "{reasons[0]}"', f=end.finish)
    listed = ", ".join(f'"{reason}"' for reason in reasons)
    return expr(f"f in ({listed})", f=end.finish)


def _ended(fields: Keywords, kind: str, end: Ending, counted: bool, depth: int) -> cst.BaseExpression:
    """The event by which a stream ends, or one that says nothing; it stands ``depth`` further in."""
    made = response(fields, [], " " * depth)
    if kind == CUT:
        for name, value in end.response(details).items():
            if name != "output":
                made = append(made, cst.Arg(value, keyword=cst.Name(name), equal=TIGHT))
    if counted:
        made = append(made, cst.Arg(fields["usage"], keyword=cst.Name("usage"), equal=TIGHT))
    template = textwrap.indent(_END, " " * (depth - 4)).lstrip()
    return expr(template, class_=cst.Name(_CLASSES[kind]), kind_=expr(f'"{kind}"'), response_=made)


def _plain(node: cst.Call, text: cst.BaseExpression) -> cst.BaseExpression:
    """The event of a text, set out as the chunk was."""
    found: Keywords = {"type": expr('"response.output_text.delta"'), "delta": text}
    found |= {"item_id": expr('"msg_1"'), "output_index": expr("0"), "content_index": expr("0")}
    found |= {"sequence_number": expr("0"), "logprobs": expr("[]")}
    return call_with(node, found).with_changes(func=cst.Name("ResponseTextDeltaEvent"))

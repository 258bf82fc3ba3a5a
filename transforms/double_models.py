"""Doubles that are answers of the SDK itself: ``ChatCompletion(...)`` (MR802)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import libcst as cst

from .double_edits import USAGE, Edit, is_empty, only
from .double_forms import Keywords, call_with, keywords_of
from .listing import append
from .snippets import TIGHT, expr, operand


def usage(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``CompletionUsage(...)`` as ``ResponseUsage(...)``, whose details are not optional."""
    assert isinstance(updated, cst.Call)
    found: Keywords = {USAGE.get(name, name): value for name, value in keywords_of(updated).items()}
    found["input_tokens_details"] = expr("InputTokensDetails(cached_tokens=0, cache_write_tokens=0)")
    found["output_tokens_details"] = expr("OutputTokensDetails(reasoning_tokens=0)")
    return call_with(updated, found).with_changes(func=cst.Name("ResponseUsage"))


_MODEL = """\
Response(
    id=id_,
    object="response",
    created_at=created_,
    model=model_,
    output=[],
    parallel_tool_calls=True,
    tool_choice="auto",
    tools=[],
)
"""
_TEXT = """\
ResponseOutputMessage(
            id="msg_1",
            type="message",
            role="assistant",
            status="completed",
            content=[ResponseOutputText(type="output_text", text=text_, annotations=[])],
        )
"""
_MAYBE_TEXT = """\
[
        *(
            [
                ResponseOutputMessage(
                    id="msg_1",
                    type="message",
                    role="assistant",
                    status="completed",
                    content=[ResponseOutputText(type="output_text", text=text_, annotations=[])],
                )
            ]
            if test_
            else []
        )
]"""
_CALL = """\
ResponseFunctionToolCall(
            type="function_call",
            call_id=id_,
            name=name_,
            arguments=arguments_,
        )
"""


def details(fields: Keywords) -> cst.BaseExpression:
    """``IncompleteDetails`` with ``fields``."""
    return call_with(cst.Call(cst.Name("IncompleteDetails")), fields)


def model(may_be_none: bool, none_calls: bool, always: bool, ending: Keywords) -> Edit:
    """A real ``Response`` with the text and the calls of a real ``ChatCompletion``.

    The content and a list of calls that has a name may be None; ``ending`` says how it ended. ``always`` asks
    for an item where there is neither a text nor a call.
    """

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        keywords = keywords_of(updated)
        choice = keywords_of(only(keywords["choices"]) or updated)
        items = _items(keywords_of(choice["message"]), may_be_none, none_calls, always)
        result = response(keywords, items)
        for name, value in ending.items():
            result = append(result, cst.Arg(value, keyword=cst.Name(name), equal=TIGHT))
        if "usage" in keywords:
            value = _one_to_a_line(keywords["usage"])
            result = append(result, cst.Arg(value, keyword=cst.Name("usage"), equal=TIGHT))
        return result

    return apply


def response(keywords: Keywords, items: list[cst.BaseElement], indent: str = "") -> cst.Call:
    """A real ``Response`` with ``items``, that is called what the one with ``keywords`` was called."""
    parts = {
        "id_": keywords.get("id", expr('"resp_1"')),
        "created_": keywords.get("created", expr("0")),
        "model_": keywords.get("model", expr('"gpt-4o-mini"')),
    }
    result = expr(textwrap.indent(_MODEL, indent).strip(), **parts)
    assert isinstance(result, cst.Call)
    return result.with_changes(
        args=[
            arg.with_changes(value=_list(items)) if arg.keyword and arg.keyword.value == "output" else arg
            for arg in result.args
        ]
    )


def _items(message: Keywords, may_be_none: bool, none_calls: bool, always: bool) -> list[cst.BaseElement]:
    calls = message.get("tool_calls")
    content = message.get("content", cst.Name("None"))
    if calls is None or is_empty(calls) or isinstance(calls, cst.List):
        return _written(list(calls.elements) if isinstance(calls, cst.List) else [], content, may_be_none)
    items: list[cst.BaseElement] = []
    if not is_empty(content) and may_be_none:
        fields = {"text_": content, "test_": content}
        if always and none_calls:
            fields = {
                "text_": expr('c or ""', c=content),
                "test_": expr("c or not x", c=content, x=operand(calls)),
            }
        items.extend(_elements(_MAYBE_TEXT, **fields))
    elif not is_empty(content):
        items.append(cst.Element(expr(_TEXT.rstrip(), text_=content)))
    items.extend(_elements("[*(calls or [])]" if none_calls else "[*calls]", calls=operand(calls)))
    return items


def _elements(template: str, **parts: cst.BaseExpression) -> Sequence[cst.BaseElement]:
    made = expr(template, **parts)
    assert isinstance(made, cst.List)
    return made.elements


def _written(
    found: list[cst.BaseElement], content: cst.BaseExpression, may_be_none: bool
) -> list[cst.BaseElement]:
    """The items for calls that are listed there, and for the text."""
    items: list[cst.BaseElement] = []
    if not is_empty(content) or not found:
        text = expr('""') if is_empty(content) else content
        text = expr('c or ""', c=operand(text)) if may_be_none and not is_empty(content) else text
        items.append(cst.Element(expr(_TEXT.rstrip(), text_=text)))
    for element in found:
        call = keywords_of(element.value)
        if "function" not in call:
            items.append(cst.Element(element.value))
            continue
        function = keywords_of(call["function"])
        parts = {"id_": call["id"], "name_": function["name"], "arguments_": function["arguments"]}
        items.append(cst.Element(expr(_CALL.rstrip(), **parts)))
    return items


def _list(items: list[cst.BaseElement]) -> cst.List:
    """A list inside ``_MODEL``, set out like it."""
    if all(isinstance(item.value, cst.Name) for item in items):
        return cst.List(items)
    inner, outer = (
        cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(" " * depth))
        for depth in (8, 4)
    )
    elements = [item.with_changes(comma=cst.Comma(whitespace_after=inner)) for item in items]
    if len(items) == 1:
        return cst.List(
            items,
            lbracket=cst.LeftSquareBracket(whitespace_after=inner),
            rbracket=cst.RightSquareBracket(whitespace_before=outer),
        )
    elements[-1] = elements[-1].with_changes(comma=cst.Comma(whitespace_after=outer))
    return cst.List(elements, lbracket=cst.LeftSquareBracket(whitespace_after=inner))


def _one_to_a_line(node: cst.BaseExpression) -> cst.BaseExpression:
    """A call inside ``_MODEL``, set out like it."""
    if not isinstance(node, cst.Call) or isinstance(node.whitespace_before_args, cst.ParenthesizedWhitespace):
        return node
    inner, outer = (
        cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(" " * depth))
        for depth in (8, 4)
    )
    args = [arg.with_changes(comma=cst.Comma(whitespace_after=inner)) for arg in node.args]
    args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=outer))
    return node.with_changes(args=args, whitespace_before_args=inner)

"""What can be asked of a chunk, and which event of the new stream answers it.

A chunk stands for one of a few things (:class:`On`). Each test on a chunk is true for some of them;
:func:`event_test` writes the test of an event that is true for the same.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

import libcst as cst

from ..know.kinds import Const, DictValue, External, Kind, Site
from .context import Context, Request, constants


class On(enum.Enum):
    """What a chunk of the old stream says."""

    FIRST = "the first one, with the role"
    TEXT = "a piece of text"
    REFUSAL = "a piece of a refusal"
    CALL = "a piece of a tool call"
    PIECE = "a piece of a tool call that is not its first"  # where the two are told apart
    STOP = "the end of a text"
    CALLS = "the end of tool calls"
    LENGTH = "the end at the limit"
    FILTER = "the end by the filter"
    USAGE = "the usage, without choices"
    OTHER = "an event that no chunk said"


Reach = frozenset[On]

FINISH: Reach = frozenset({On.STOP, On.CALLS, On.LENGTH, On.FILTER})
REASONS: dict[object, Reach] = {
    "stop": frozenset({On.STOP}),
    "tool_calls": frozenset({On.CALLS}),
    "function_call": frozenset({On.CALLS}),
    "length": frozenset({On.LENGTH}),
    "content_filter": frozenset({On.FILTER}),
}

# Parts of a chunk that are the event itself now.
SAME = frozenset({Kind.CHUNK, Kind.CHUNK_CHOICE, Kind.DELTA})
# kind -> what a chunk says where that part is there.
THERE: dict[Kind, Reach] = {
    Kind.DELTA_TEXT: frozenset({On.TEXT}),
    Kind.DELTA_REFUSAL: frozenset({On.REFUSAL}),
    Kind.DELTA_ROLE: frozenset({On.FIRST}),
    Kind.DELTA_CALLS: frozenset({On.CALL, On.PIECE}),
    Kind.DELTA_CALL: frozenset({On.CALL, On.PIECE}),
    Kind.DELTA_FUNCTION: frozenset({On.CALL, On.PIECE}),
    Kind.CHUNK_FINISH: FINISH,
    Kind.USAGE: frozenset({On.USAGE}),
}

TEXT_TEST = 'v.type == "response.output_text.delta"'
REFUSAL_TEST = 'v.type == "response.refusal.delta"'
FIRST_TEST = 'v.type == "response.created"'
COMPLETED = 'v.type == "response.completed"'
INCOMPLETE = 'v.type == "response.incomplete"'
TERMINAL = f"{COMPLETED} or {INCOMPLETE}"
HAS_CALLS = 'any(item.type == "function_call" for item in v.response.output)'
FILTERED = "v.response.incomplete_details is not None and v.response.incomplete_details.reason == "

# How the pieces of tool calls are taken -> the test for one.
CALL_TESTS = {
    "whole": 'v.type == "response.output_item.done" and v.item.type == "function_call"',
    "opening": 'v.type == "response.output_item.added" and v.item.type == "function_call"',
    "arguments": 'v.type == "response.function_call_arguments.delta"',
}
CALL_TESTS["live"] = f"({CALL_TESTS['opening']}) or {CALL_TESTS['arguments']}"


def universe(context: Context, sites: Iterable[Site]) -> Reach:
    """What the chunks of ``sites`` can say."""
    found = {On.FIRST, On.TEXT, On.REFUSAL, On.STOP, On.LENGTH, On.FILTER}
    for site in sites:
        request = context.request(site)
        if request.passes_tools:
            found |= {On.CALL, On.CALLS}
        if True in asks_usage(request):
            found.add(On.USAGE)
    return frozenset(found)


def asks_usage(request: Request) -> frozenset[bool]:
    """What ``include_usage`` can be in the requests with ``stream_options``; both if that is not known."""
    found: set[bool] = set()
    for value in request.values("stream_options"):
        if isinstance(value, DictValue) and not value.others and not value.merged:
            asked = constants(value.fields["include_usage"]) if "include_usage" in value.places else [False]
            found |= {True, False} if asked is None else set(map(bool, asked))
        elif not (isinstance(value, Const) and value.value is None) and not isinstance(value, External):
            found.add(True)  # not followed, and held back for it
    return frozenset(found)


def event_test(wanted: Reach, reach: Reach, calls: str, usage: str = "") -> str | None:
    """The test of the event ``v`` that is true for what is ``wanted`` of ``reach``.

    None if there is no short one. ``usage`` is the guard on the usage itself, if the program had one.
    """
    tests = list(_tests(wanted - {On.OTHER}, reach, calls, usage))
    if not tests or len(tests) > 2:
        return None
    if len(tests) == 1:
        return tests[0]
    return " or ".join(f"({test})" if " and " in test else test for test in tests)


def _tests(wanted: Reach, reach: Reach, calls: str, usage: str) -> Iterable[str]:
    if On.TEXT in wanted:
        yield TEXT_TEST
    elif On.FIRST in wanted:
        yield FIRST_TEST
    if On.REFUSAL in wanted:
        yield REFUSAL_TEST
    if On.CALL in wanted:
        yield CALL_TESTS["opening" if calls == "live" else calls]
    if On.PIECE in wanted:
        yield CALL_TESTS["arguments"]
    ends = wanted & FINISH
    if ends:
        yield _end(ends, reach & FINISH)
    if (On.USAGE in wanted and ends != reach & FINISH) or (On.USAGE in wanted and not ends):
        yield f"({TERMINAL}) and {usage}" if usage else TERMINAL


def _end(wanted: Reach, reach: Reach) -> str:
    tests = []
    completed, incomplete = frozenset({On.STOP, On.CALLS}), frozenset({On.LENGTH, On.FILTER})
    if wanted & completed:
        if wanted & completed == reach & completed:
            tests.append(COMPLETED)
        else:
            tests.append(f"{COMPLETED} and {'' if On.CALLS in wanted else 'not '}{HAS_CALLS}")
    if wanted & incomplete:
        if wanted & incomplete == reach & incomplete:
            tests.append(INCOMPLETE)
        else:
            reason = "content_filter" if On.FILTER in wanted else "max_output_tokens"
            tests.append(f'{INCOMPLETE} and {FILTERED}"{reason}"')
    if len(tests) == 1:
        return tests[0]
    return " or ".join(f"({test})" if " and " in test else test for test in tests)


def negated(test: str) -> str:
    """The opposite of a test as text."""
    for word, other in ((" and ", " or "), (" or ", " and ")):
        parts = test.split(word)
        if len(parts) > 1 and all(part.count(" == ") == 1 and not set(part) & set("()") for part in parts):
            return other.join(part.replace(" == ", " != ") for part in parts)
    if " and " in test or " or " in test:
        return f"not ({test})"
    return test.replace(" == ", " != ", 1)


def skips(body: cst.BaseSuite, function: bool) -> bool:
    """Whether ``body`` only goes on to the next chunk (in a function: returns nothing)."""
    statements = [
        small
        for line in body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    ]
    for statement in statements:
        match statement:
            case cst.Pass():
                continue
            case cst.Continue():
                return len(statements) == 1 and not function
            case cst.Return(value=value):
                return function and len(statements) == 1 and (value is None or _is_empty(value))
            case _:
                return False
    return True


def skips_to_next(line: cst.CSTNode, function: bool) -> bool:
    """Whether a line is ``continue`` alone (in a function: a bare ``return``)."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Continue()]):
            return not function
        case cst.SimpleStatementLine(body=[cst.Return(value=None)]):
            return function
        case _:
            return False


def _is_empty(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.SimpleString):
        return node.evaluated_value == ""
    return isinstance(node, cst.Name) and node.value in ("None", "False")


def leaves(body: cst.BaseSuite) -> bool:
    """Whether the end of ``body`` is never reached."""
    last: cst.CSTNode | None = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, (cst.Continue, cst.Break, cst.Return, cst.Raise))

"""Responses: check a request as the endpoint does, and play a turn."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from .checks import Refused, choice, common, function_schema, json_schema_format, need, offered, only, typed
from .items import Memory, check_input
from .script import Call, Json, Turn, pieces, reasons, words

NULLABLE = words(
    """
    background context_management conversation include instructions max_output_tokens max_tool_calls
    metadata moderation parallel_tool_calls previous_response_id prompt prompt_cache_key
    prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature
    top_logprobs top_p truncation user
    """
)
PARAMS = NULLABLE | words("input model prompt_cache_options text tool_choice tools")
INCLUDES = words(
    """
    code_interpreter_call.outputs computer_call_output.output.image_url file_search_call.results
    message.input_image.image_url message.output_text.logprobs reasoning.encrypted_content
    web_search_call.action.sources web_search_call.results
    """
)
TOO_LONG = {
    "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "param": "input",
}
FUNCTION_KEYS = {"type", "name", "description", "parameters", "strict"}
BUILT_IN = words("web_search web_search_preview file_search code_interpreter image_generation mcp")


def check(body: Json, memory: Memory) -> None:
    """Raise ``Refused`` for a request that Responses would not take."""
    only(body, PARAMS)
    for key, value in body.items():
        if value is None and key not in NULLABLE:
            raise Refused(f"Invalid type for '{key}': got null.", key, "invalid_type")
    common(body)
    need(body, ["input"])
    _check_options(body)
    _check_text(body)
    _check_tools(body)
    if body.get("instructions") is not None:
        typed(body["instructions"], str, "instructions")
    if body.get("previous_response_id") is not None:
        message = f"Previous response with id '{body['previous_response_id']}' not found."
        raise Refused(message, "previous_response_id", "previous_response_not_found")
    check_input(body["input"], memory)


def _check_options(body: Json) -> None:
    limit = body.get("max_output_tokens")
    if limit is not None:
        typed(limit, int, "max_output_tokens")
        if limit < 16:
            message = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16"
            raise Refused(f"{message}, but got {limit}.", "max_output_tokens", "integer_below_min_value")
    if body.get("stream_options"):
        only(body["stream_options"], {"include_obfuscation"}, "stream_options")
    if body.get("reasoning") is not None:
        typed(body["reasoning"], dict, "reasoning")
        only(body["reasoning"], {"effort", "summary", "generate_summary"}, "reasoning")
    for value in body.get("include") or ():
        choice(value, INCLUDES, "include")
    if "reasoning.encrypted_content" in (body.get("include") or ()) and not reasons(body["model"]):
        raise Refused("Encrypted content is not supported with this model.", "include")
    top = body.get("top_logprobs")
    if top is not None:
        typed(top, int, "top_logprobs")


def _check_text(body: Json) -> None:
    text = body.get("text", {})
    typed(text, dict, "text")
    only(text, {"format", "verbosity"}, "text")
    fmt = text.get("format")
    if fmt is None:
        return
    typed(fmt, dict, "text.format")
    need(fmt, ["type"], "text.format")
    choice(fmt["type"], {"text", "json_object", "json_schema"}, "text.format.type")
    if fmt["type"] == "json_schema":
        only(fmt, {"type", "name", "schema", "strict", "description"}, "text.format")
        json_schema_format(fmt, "text.format", ["name", "schema"])
    else:
        only(fmt, {"type"}, "text.format")
    if fmt["type"] == "json_object" and "json" not in _words(body["input"]):
        raise Refused(
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
            "'json_object'.",
            "input",
        )


def _words(value: object) -> str:
    """All texts of an input, without its keys."""
    if isinstance(value, str):
        return value.lower()
    if isinstance(value, dict):
        return " ".join(_words(value[key]) for key in ("content", "text", "output") if key in value)
    return " ".join(map(_words, value)) if isinstance(value, list) else ""


def _check_tools(body: Json) -> None:
    for index, tool in enumerate(body.get("tools") or []):
        where = f"tools[{index}]"
        typed(tool, dict, where)
        need(tool, ["type"], where)
        choice(tool["type"], BUILT_IN | {"function", "custom"}, f"{where}.type")
        if tool["type"] == "function":
            need(tool, ["name"], where)
            only(tool, FUNCTION_KEYS, where)
            need(tool, ["parameters"], where)
            function_schema(tool, where)
        if tool["type"] == "custom":
            need(tool, ["name"], where)
            only(tool, {"type", "name", "description", "format"}, where)
            if "format" in tool:
                only(tool["format"], {"type", "definition", "syntax"}, f"{where}.format")
    _check_choice(body)


def _check_choice(body: Json) -> None:
    wanted = body.get("tool_choice")
    if wanted is None:
        return
    if isinstance(wanted, str):
        choice(wanted, {"none", "auto", "required"}, "tool_choice")
        return
    typed(wanted, (str, dict), "tool_choice")
    need(wanted, ["type"], "tool_choice")
    if wanted["type"] == "allowed_tools":
        only(wanted, {"type", "mode", "tools"}, "tool_choice")
        need(wanted, ["mode", "tools"], "tool_choice")
        for tool in wanted["tools"]:
            need(tool, ["name"], "tool_choice.tools")
            offered(tool["name"], tool_names(body), "tool_choice.tools")
    elif wanted["type"] in ("function", "custom"):
        need(wanted, ["name"], "tool_choice")
        only(wanted, {"type", "name"}, "tool_choice")
        offered(wanted["name"], tool_names(body))
    else:
        choice(wanted["type"], BUILT_IN, "tool_choice.type")


def tool_names(body: Json) -> set[str]:
    """The names of the tools a request offers."""
    return {tool["name"] for tool in body.get("tools") or () if "name" in tool}


def may_call_many(body: Json) -> bool:
    """Whether the answer may hold more than one call."""
    return body.get("parallel_tool_calls") is not False


def output(turn: Turn, body: Json) -> list[Json]:
    """The items of an answer: reasoning first where the model reasons, then text, then calls."""
    status = "incomplete" if turn.finish else "completed"
    items: list[Json] = []
    if reasons(body["model"]):
        name = f"{turn.index:03}"
        items.append(
            {
                "id": f"rs_{name}",
                "type": "reasoning",
                "summary": [],
                "encrypted_content": f"gAAAAA-sealed-{name}",
            }
        )
    if turn.text is not None or turn.refusal is not None:
        message = {"id": f"msg_{turn.index:03}", "type": "message", "status": status, "role": "assistant"}
        items.append({**message, "content": [_part(turn, body)]})
    return items + [_call(call, status) for call in turn.calls]


def _part(turn: Turn, body: Json) -> Json:
    if turn.refusal is not None:
        return {"type": "refusal", "refusal": turn.refusal}
    return {
        "type": "output_text",
        "annotations": [],
        "logprobs": _logprobs(turn.text or "", body),
        "text": turn.text or "",
    }


def _call(call: Call, status: str) -> Json:
    number = call.id.removeprefix("call_")
    if call.custom:
        kind = {"id": f"ctc_{number}", "type": "custom_tool_call", "status": status, "input": call.payload}
    else:
        kind = {"id": f"fc_{number}", "type": "function_call", "status": status, "arguments": call.payload}
    return {**kind, "call_id": call.id, "name": call.name}


def play(turn: Turn, body: Json) -> Json:
    """The whole answer."""
    answer = {**_frame(turn, body), "output": output(turn, body), "usage": _usage(turn)}
    if turn.failed is not None:
        return {**answer, "status": "failed", "error": _error(turn), "output": [], "usage": None}
    if turn.finish:
        reason = "max_output_tokens" if turn.finish == "length" else turn.finish
        return {**answer, "status": "incomplete", "incomplete_details": {"reason": reason}}
    return {**answer, "status": "completed", "completed_at": answer["created_at"] + 1}


def stream(turn: Turn, body: Json) -> Iterator[Json]:
    """The events of a streamed answer, numbered."""
    numbers = itertools.count()
    for event in _events(turn, body):
        yield {**event, "sequence_number": next(numbers)}


def _events(turn: Turn, body: Json) -> Iterator[Json]:
    frame = _frame(turn, body)
    yield {"type": "response.created", "response": frame}
    yield {"type": "response.in_progress", "response": frame}
    for index, item in enumerate(output(turn, body)):
        yield from _item_events(item, index)
    final = play(turn, body)
    yield {"type": f"response.{final['status']}", "response": final}


def _item_events(item: Json, index: int) -> Iterator[Json]:
    place = {"item_id": item["id"], "output_index": index}
    opening = {key: value for key, value in item.items() if key != "encrypted_content"}
    if "status" in item:
        opening["status"] = "in_progress"
    if item["type"] == "reasoning":
        inner: Iterator[Json] = iter(())
    elif item["type"] == "message":
        opening["content"] = []
        inner = _part_events(item["content"][0], {**place, "content_index": 0})
    else:
        field = "input" if item["type"] == "custom_tool_call" else "arguments"
        opening[field] = ""
        inner = _call_events(item[field], field, place)
    yield {"type": "response.output_item.added", "output_index": index, "item": opening}
    yield from inner
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _part_events(part: Json, place: Json) -> Iterator[Json]:
    field = "refusal" if part["type"] == "refusal" else "text"
    name = "response.refusal" if field == "refusal" else "response.output_text"
    extra: Json = {} if field == "refusal" else {"logprobs": []}
    empty = {**part, field: "", **extra}
    yield {"type": "response.content_part.added", **place, "part": empty}
    for piece in pieces(part[field]):
        logprobs = [entry for entry in part.get("logprobs", ()) if entry["token"] == piece][:1]
        yield {"type": f"{name}.delta", **place, "delta": piece, **({"logprobs": logprobs} if extra else {})}
    done = {"logprobs": part["logprobs"]} if extra else {}
    yield {"type": f"{name}.done", **place, field: part[field], **done}
    yield {"type": "response.content_part.done", **place, "part": part}


def _call_events(payload: str, field: str, place: Json) -> Iterator[Json]:
    name = "response.custom_tool_call_input" if field == "input" else "response.function_call_arguments"
    for piece in pieces(payload):
        yield {"type": f"{name}.delta", **place, "delta": piece}
    yield {"type": f"{name}.done", **place, field: payload}


def _frame(turn: Turn, body: Json) -> Json:
    """The response object before anything is said: ids and the request's settings, echoed."""
    text: Mapping[str, Any] = body.get("text") or {}
    reasoning = body.get("reasoning") or {}
    many = body.get("parallel_tool_calls")
    return {
        "id": f"resp_{turn.index:03}",
        "object": "response",
        "created_at": 1_700_000_000 + turn.index,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "model": turn.model or body["model"],
        "output": [],
        "parallel_tool_calls": True if many is None else many,
        "previous_response_id": None,
        "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")},
        "service_tier": "default",
        "store": body.get("store") is not False,
        "temperature": 1.0 if body.get("temperature") is None else body["temperature"],
        "text": {
            "format": text.get("format") or {"type": "text"},
            "verbosity": text.get("verbosity") or "medium",
        },
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": [_echo(tool) for tool in body.get("tools") or ()],
        "top_logprobs": body.get("top_logprobs") or 0,
        "top_p": 1.0 if body.get("top_p") is None else body["top_p"],
        "truncation": body.get("truncation") or "disabled",
        "usage": None,
        "user": body.get("user"),
    }


def _echo(tool: Json) -> Json:
    if tool["type"] != "function":
        return tool
    return {**tool, "strict": tool.get("strict") is not False, "description": tool.get("description")}


def _usage(turn: Turn) -> Json:
    usage = turn.usage
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def _error(turn: Turn) -> Json:
    return {"code": "server_error", "message": turn.failed}


def _logprobs(text: str, body: Json) -> list[Json]:
    if "message.output_text.logprobs" not in (body.get("include") or ()):
        return []
    alternatives = body.get("top_logprobs") or 0
    result: list[Json] = []
    for token in pieces(text):
        one = {"token": token, "logprob": -0.25, "bytes": list(token.encode())}
        result.append({**one, "top_logprobs": [one] * bool(alternatives)})
    return result

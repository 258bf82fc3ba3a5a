"""Chat Completions: check a request as the endpoint does, and play a turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks import Refused, choice, common, function_schema, json_schema_format, need, offered, only, typed
from .script import Call, Json, Turn, pieces, reasons, words

PARAMS = words(
    """
    audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty
    prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format
    safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
    top_logprobs top_p user verbosity web_search_options
    """
)
TOO_LONG = {
    "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000"
    " tokens. Please reduce the length of the messages.",
    "param": "messages",
}
MESSAGE_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {
        "role", "content", "name", "refusal", "annotations", "audio", "tool_calls", "function_call", "parsed",
    },
    "tool": {"role", "content", "tool_call_id", "name"},
    "function": {"role", "content", "name"},
}  # fmt: skip
PART_TYPES = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "file", "input_audio"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
    "function": {"text"},
}
PART_KEYS = {
    "text": {"type", "text", "prompt_cache_breakpoint"},
    "image_url": {"type", "image_url", "prompt_cache_breakpoint"},
    "file": {"type", "file", "prompt_cache_breakpoint"},
    "input_audio": {"type", "input_audio"},
    "refusal": {"type", "refusal"},
}


def check(body: Json) -> None:
    """Raise ``Refused`` for a request that Chat Completions would not take."""
    only(body, PARAMS)
    common(body)
    need(body, ["messages"])
    typed(body["messages"], list, "messages")
    if not body["messages"]:
        raise Refused("Invalid 'messages': empty array. Expected an array with minimum length 1.", "messages")
    _check_limits(body)
    _check_format(body)
    _check_tools(body)
    for index, message in enumerate(body["messages"]):
        _check_message(message, f"messages[{index}]")
    _check_pairs(body["messages"])


def _check_limits(body: Json) -> None:
    both = [key for key in ("max_tokens", "max_completion_tokens") if body.get(key) is not None]
    for key in both:
        typed(body[key], int, key)
        if body[key] < 1:
            raise Refused(f"Invalid '{key}': integer below minimum value.", key, "integer_below_min_value")
    if len(both) == 2:
        raise Refused("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    if "max_tokens" in both and reasons(body["model"]):
        raise Refused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        )
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        raise Refused(
            "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", "top_logprobs"
        )
    if body.get("stream_options"):
        only(body["stream_options"], {"include_usage", "include_obfuscation"}, "stream_options")


def _check_format(body: Json) -> None:
    fmt = body.get("response_format")
    if fmt is None:
        return
    typed(fmt, dict, "response_format")
    need(fmt, ["type"], "response_format")
    choice(fmt["type"], {"text", "json_object", "json_schema"}, "response_format.type")
    if fmt["type"] == "json_schema":
        only(fmt, {"type", "json_schema"}, "response_format")
        need(fmt, ["json_schema"], "response_format")
        only(fmt["json_schema"], {"name", "schema", "strict", "description"}, "response_format.json_schema")
        json_schema_format(fmt["json_schema"], "response_format.json_schema", ["name"])
    if fmt["type"] == "json_object" and "json" not in str(body["messages"]).lower():
        raise Refused(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type "
            "'json_object'.",
            "messages",
        )


def _check_tools(body: Json) -> None:
    tools = body.get("tools") or []
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        need(tool, ["type"], where)
        choice(tool["type"], {"function", "custom"}, f"{where}.type")
        only(tool, {"type", tool["type"]}, where)
        need(tool, [tool["type"]], where)
        inner = tool[tool["type"]]
        need(inner, ["name"], f"{where}.{tool['type']}")
        if tool["type"] == "function":
            only(inner, {"name", "description", "parameters", "strict"}, f"{where}.function")
            function_schema(inner, f"{where}.function")
    for index, function in enumerate(body.get("functions") or []):
        only(function, {"name", "description", "parameters"}, f"functions[{index}]")
        need(function, ["name"], f"functions[{index}]")
        function_schema(function, f"functions[{index}]")
    if not tools:
        for key in ("tool_choice", "parallel_tool_calls"):
            if body.get(key) is not None:
                raise Refused(f"'{key}' is only allowed when 'tools' are specified.", key)
    if body.get("function_call") is not None and not body.get("functions"):
        raise Refused("'function_call' is only allowed when 'functions' are specified.", "function_call")
    _check_choice(body)


def _check_choice(body: Json) -> None:
    names = tool_names(body)
    wanted = body.get("tool_choice")
    if isinstance(wanted, str):
        choice(wanted, {"none", "auto", "required"}, "tool_choice")
    elif wanted is not None:
        need(wanted, ["type"], "tool_choice")
        choice(wanted["type"], {"function", "custom", "allowed_tools"}, "tool_choice.type")
        only(wanted, {"type", wanted["type"]}, "tool_choice")
        need(wanted, [wanted["type"]], "tool_choice")
        if wanted["type"] != "allowed_tools":
            offered(wanted[wanted["type"]]["name"], names)
    legacy = body.get("function_call")
    if isinstance(legacy, str):
        choice(legacy, {"none", "auto"}, "function_call")
    elif legacy is not None:
        only(legacy, {"name"}, "function_call")
        offered(legacy["name"], names, "function_call")


def _check_message(message: Any, where: str) -> None:
    typed(message, dict, where)
    need(message, ["role"], where)
    role = message["role"]
    choice(role, MESSAGE_KEYS, f"{where}.role")
    only(message, MESSAGE_KEYS[role], where)
    content = message.get("content")
    if content is None:
        speaks = any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
        if not (role == "assistant" and speaks):
            raise Refused(
                f"Invalid value for '{where}.content': expected a string, got null.", f"{where}.content"
            )
    else:
        typed(content, (str, list), f"{where}.content")
    for index, part in enumerate(content if isinstance(content, list) else ()):
        inside = f"{where}.content[{index}]"
        typed(part, dict, inside)
        need(part, ["type"], inside)
        choice(part["type"], PART_TYPES[role], f"{inside}.type")
        only(part, PART_KEYS[part["type"]], inside)
        need(part, [part["type"]], inside)
    if role == "tool":
        need(message, ["tool_call_id"], where)
    if role == "function":
        need(message, ["name"], where)
    if message.get("tool_calls") is not None:
        typed(message["tool_calls"], list, f"{where}.tool_calls")
        for index, call in enumerate(message["tool_calls"]):
            need(call, ["id", "type"], f"{where}.tool_calls[{index}]")
            choice(call["type"], {"function", "custom"}, f"{where}.tool_calls[{index}].type")
            need(call, [call["type"]], f"{where}.tool_calls[{index}]")


def _check_pairs(messages: list[Json]) -> None:
    """Every call is answered by the tool messages right after it, and every tool message answers a call."""
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                raise Refused(
                    "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
                    f"messages[{index}].role",
                )
            waiting.discard(message["tool_call_id"])
            continue
        _none_waits(waiting)
        waiting = {call["id"] for call in message.get("tool_calls") or ()}
    _none_waits(waiting)


def _none_waits(waiting: set[str]) -> None:
    if waiting:
        raise Refused(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. Without response: {sorted(waiting)}.",
            "messages",
        )


def tool_names(body: Json) -> set[str]:
    """The names of the tools a request offers."""
    names = {tool[tool["type"]]["name"] for tool in body.get("tools") or ()}
    return names | {function["name"] for function in body.get("functions") or ()}


def may_call_many(body: Json) -> bool:
    """Whether the answer may hold more than one call."""
    return not body.get("functions") and body.get("parallel_tool_calls") is not False


def finish_reason(turn: Turn, body: Json) -> str:
    """Why the answer ended, in the words of Chat Completions."""
    if turn.finish:
        return turn.finish
    if turn.calls and body.get("functions"):
        return "stop" if isinstance(body.get("function_call"), dict) else "function_call"
    if turn.calls:
        return "stop" if isinstance(body.get("tool_choice"), dict) else "tool_calls"
    return "stop"


def play(turn: Turn, body: Json) -> Json:
    """The whole answer."""
    message: Json = {"role": "assistant", "content": turn.text, "refusal": turn.refusal, "annotations": []}
    if turn.calls and body.get("functions"):
        message["function_call"] = {"name": turn.calls[0].name, "arguments": turn.calls[0].payload}
    elif turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    logprobs = _logprobs([turn.text or ""], body)
    reason = finish_reason(turn, body)
    choices = [
        {"index": index, "message": message, "logprobs": logprobs, "finish_reason": reason}
        for index in range(body.get("n") or 1)
    ]
    return {**_head(turn, body, "chat.completion"), "choices": choices, "usage": _usage(turn)}


def stream(turn: Turn, body: Json) -> Iterator[Json]:
    """The chunks of a streamed answer."""
    options = body.get("stream_options") or {}
    head = _head(turn, body, "chat.completion.chunk")
    if options.get("include_usage"):
        head["usage"] = None
    for index in range(body.get("n") or 1):
        for delta in _deltas(turn, body):
            logprobs = _logprobs([delta["content"]], body) if delta.get("content") else None
            yield {
                **head,
                "choices": [{"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}],
            }
        if turn.failed is not None:
            yield {
                "error": {
                    "message": turn.failed,
                    "type": "server_error",
                    "param": None,
                    "code": "server_error",
                }
            }
            return
        last: Json = {
            "index": index,
            "delta": {},
            "logprobs": None,
            "finish_reason": finish_reason(turn, body),
        }
        yield {**head, "choices": [last]}
    if options.get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(turn)}


def _deltas(turn: Turn, body: Json) -> Iterator[Json]:
    spoken = turn.refusal if turn.refusal is not None else turn.text
    yield {"role": "assistant", "content": "" if turn.text is not None else None, "refusal": None}
    key = "refusal" if turn.refusal is not None else "content"
    for piece in pieces(spoken or ""):
        yield {key: piece}
    if turn.calls and body.get("functions"):
        yield {"function_call": {"name": turn.calls[0].name, "arguments": ""}}
        for piece in pieces(turn.calls[0].payload):
            yield {"function_call": {"arguments": piece}}
        return
    for index, call in enumerate(turn.calls):
        kind, field = ("custom", "input") if call.custom else ("function", "arguments")
        opening = {"index": index, "id": call.id, "type": kind, kind: {"name": call.name, field: ""}}
        yield {"tool_calls": [opening]}
        for piece in pieces(call.payload):
            yield {"tool_calls": [{"index": index, kind: {field: piece}}]}


def _call(call: Call) -> Json:
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.payload}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.payload}}


def _head(turn: Turn, body: Json, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{turn.index:03}",
        "object": kind,
        "created": 1_700_000_000 + turn.index,
        "model": turn.model or body["model"],
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }


def _usage(turn: Turn) -> Json:
    usage = turn.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _logprobs(texts: list[str], body: Json) -> Json | None:
    if not body.get("logprobs"):
        return None
    tokens = [piece for text in texts for piece in pieces(text)]
    alternatives = body.get("top_logprobs") or 0
    content = [
        {
            "token": token,
            "logprob": -0.25,
            "bytes": list(token.encode()),
            "top_logprobs": [{"token": token, "logprob": -0.25, "bytes": list(token.encode())}]
            * bool(alternatives),
        }
        for token in tokens
    ]
    return {"content": content, "refusal": None}

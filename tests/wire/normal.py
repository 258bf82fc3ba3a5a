"""A request in one form, whichever protocol it came by.

``from_chat`` and ``from_responses`` give equal values for requests that mean the same to the model and to
the account. Defaults that differ between the protocols are filled in (stored or not, strict or not); a value
equal to the default is left out; reasoning items, which only one protocol knows, do not count. Call ids are
replaced by the order of their first appearance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .script import Json, words

# Sent under the same name by both protocols, or known to one alone: compared as they are.
SAME = words(
    """
    audio frequency_penalty logit_bias metadata modalities model moderation prediction presence_penalty
    previous_response_id prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier seed
    service_tier stop temperature top_logprobs top_p user web_search_options background conversation
    max_tool_calls context_management prompt truncation
    """
)
NEUTRAL: Mapping[str, object] = {
    "frequency_penalty": 0,
    "presence_penalty": 0,
    "logit_bias": {},
    "metadata": {},
    "modalities": ["text"],
    "service_tier": "auto",
    "stop": [],
    "background": False,
    "truncation": "disabled",
}
NO_PARAMETERS: Json = {"type": "object", "properties": {}}


def from_chat(body: Json) -> Json:
    """A Chat Completions request in neutral form."""
    functions = body.get("functions") or []
    tools = [_tool(tool["type"], tool[tool["type"]], False) for tool in body.get("tools") or ()]
    tools += [_tool("function", function, False) for function in functions]
    fmt: Json = body.get("response_format") or {}
    wanted = body.get("tool_choice") if body.get("function_call") is None else body["function_call"]
    messages = body["messages"]
    return _finish(
        {
            **_same(body),
            "n": None if body.get("n") == 1 else body.get("n"),
            "turns": _renumber([turn for message in messages for turn in _chat_turns(message)]),
            "names": _names(messages),
            "tools": tools,
            "tool_choice": _choice(wanted),
            "parallel_tool_calls": not functions and body.get("parallel_tool_calls") is not False,
            "format": _format(fmt | (fmt.get("json_schema") or {})),
            "limit": body.get("max_completion_tokens") or body.get("max_tokens"),
            "effort": body.get("reasoning_effort"),
            "verbosity": body.get("verbosity"),
            "store": bool(body.get("store")),
            "logprobs": bool(body.get("logprobs")),
            "stream": bool(body.get("stream")),
            "obfuscation": (body.get("stream_options") or {}).get("include_obfuscation"),
        }
    )


def from_responses(body: Json) -> Json:
    """A Responses request in neutral form."""
    items = body["input"]
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    turns = [turn for item in items for turn in _item_turns(item)]
    if body.get("instructions"):
        turns.insert(0, {"role": "instructions", "parts": _parts(body["instructions"])})
    include = set(body.get("include") or ())
    reasoning = body.get("reasoning") or {}
    text = body.get("text") or {}
    return _finish(
        {
            **_same(body),
            "turns": _renumber(turns),
            "names": _names(items),
            "tools": [_tool(tool["type"], tool, True) for tool in body.get("tools") or ()],
            "tool_choice": _choice(body.get("tool_choice")),
            "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
            "format": _format(text.get("format") or {}),
            "limit": body.get("max_output_tokens"),
            "effort": reasoning.get("effort"),
            "reasoning_summary": reasoning.get("summary"),
            "verbosity": text.get("verbosity"),
            "store": body.get("store") is not False,
            "logprobs": "message.output_text.logprobs" in include,
            "include": sorted(include - {"message.output_text.logprobs", "reasoning.encrypted_content"}),
            "stream": bool(body.get("stream")),
            "obfuscation": (body.get("stream_options") or {}).get("include_obfuscation"),
        }
    )


def _same(body: Json) -> Json:
    return {key: body[key] for key in SAME if key in body and body[key] != NEUTRAL.get(key)}


def _finish(request: Json) -> Json:
    """Settle what depends on the presence of tools, and drop what says nothing."""
    tools = request["tools"]
    request["strict"] = {tool["name"]: tool.pop("strict") for tool in tools if "strict" in tool}
    if not tools:
        del request["parallel_tool_calls"], request["tool_choice"]
    if request["obfuscation"] is not False:
        del request["obfuscation"]
    if not request["logprobs"]:
        del request["logprobs"]
    return {key: value for key, value in request.items() if value is not None and value != [] and value != {}}


def _tool(kind: str, fields: Json, strict_by_default: bool) -> Json:
    if kind == "function":
        strict = fields.get("strict")
        return {
            "type": "function",
            "name": fields["name"],
            "description": fields.get("description"),
            "parameters": fields.get("parameters") or NO_PARAMETERS,
            "strict": strict_by_default if strict is None else strict,
        }
    if kind == "custom":
        fmt: Json = {**(fields.get("format") or {"type": "text"})}
        fmt.update(fmt.pop("grammar", {}))
        return {
            "type": "custom",
            "name": fields["name"],
            "description": fields.get("description"),
            "format": fmt,
        }
    return fields


def _choice(wanted: Any) -> Any:
    """``None`` for the default; the names where tools are named."""
    if wanted is None or wanted == "auto":
        return None
    if isinstance(wanted, str):
        return wanted
    inner = wanted.get(wanted.get("type", "function"), wanted)
    if wanted.get("type") == "allowed_tools":
        return {"allowed": [_named(tool) for tool in inner["tools"]], "mode": inner["mode"]}
    return {"named": _named(wanted)}


def _named(tool: Json) -> str:
    return tool.get("function", tool.get("custom", tool)).get("name", tool.get("type"))


def _format(fmt: Json) -> Json | None:
    if fmt.get("type") in (None, "text"):
        return None
    if fmt["type"] == "json_object":
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "name": fmt["name"],
        "description": fmt.get("description"),
        "schema": fmt.get("schema"),
        "strict": bool(fmt.get("strict")),
    }


def _chat_turns(message: Json) -> list[Json]:
    role = message["role"]
    if role == "tool":
        return [{"result": message["tool_call_id"], "parts": _joined(_parts(message["content"]))}]
    if role == "function":
        return [{"result": None, "name": message["name"], "parts": _joined(_parts(message["content"]))}]
    if role != "assistant":
        return [{"role": role, "parts": _parts(message["content"])}]
    calls = [_chat_call(call) for call in message.get("tool_calls") or ()]
    if message.get("function_call"):
        legacy = message["function_call"]
        calls.append({"call": None, "name": legacy["name"], "arguments": legacy["arguments"]})
    content = message.get("content")
    parts = _joined(_parts([] if content is None else content))
    if message.get("refusal"):
        parts.append({"refusal": message["refusal"]})
    if message.get("audio"):
        parts.append({"audio": message["audio"]})
    return _spoken(parts, bool(calls)) + calls


def _chat_call(call: Json) -> Json:
    inner = call[call["type"]]
    field = "input" if call["type"] == "custom" else "arguments"
    return {"call": call["id"], "name": inner["name"], field: inner[field]}


def _item_turns(item: Json) -> list[Json]:
    kind = item.get("type", "message")
    if kind == "reasoning":
        return []
    if kind == "message":
        parts = _parts(item["content"])
        if item["role"] != "assistant":
            return [{"role": item["role"], "parts": parts}]
        return _spoken(_joined(parts), False)
    if kind in ("function_call", "custom_tool_call"):
        field = "arguments" if kind == "function_call" else "input"
        return [{"call": item["call_id"], "name": item["name"], field: item[field]}]
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [{"result": item["call_id"], "parts": _joined(_parts(item["output"]))}]
    return [dict(item)]


def _spoken(parts: list[Json], with_calls: bool) -> list[Json]:
    """An assistant message, or nothing where only its calls speak."""
    if with_calls and all(part == {"text": ""} for part in parts):
        return []
    return [{"role": "assistant", "parts": parts}]


def _parts(content: Any) -> list[Json]:
    if isinstance(content, str):
        return [{"text": content}]
    return [_part(part) for part in content]


def _part(part: Json) -> Json:
    kind = part["type"]
    kept = {key: part[key] for key in ("prompt_cache_breakpoint",) if key in part}
    if kind in ("text", "input_text", "output_text"):
        return {"text": part["text"], **kept}
    if kind == "image_url":
        image = part["image_url"] if isinstance(part["image_url"], dict) else {"url": part["image_url"]}
        return {"image": image["url"], "detail": image.get("detail") or "auto", **kept}
    if kind == "input_image":
        source = part.get("image_url") or {"file_id": part.get("file_id")}
        return {"image": source, "detail": part.get("detail") or "auto", **kept}
    if kind == "file":
        return {"file": {key: value for key, value in part["file"].items() if value is not None}, **kept}
    if kind == "input_file":
        return {"file": {key: value for key, value in part.items() if key not in ("type", *kept)}, **kept}
    if kind == "refusal":
        return {"refusal": part["refusal"]}
    return dict(part)


def _joined(parts: Iterable[Json]) -> list[Json]:
    """Texts side by side as one text: what a tool or the assistant says is one text either way."""
    result: list[Json] = []
    for part in parts:
        if result and part.keys() == {"text"} and result[-1].keys() == {"text"}:
            result[-1] = {"text": result[-1]["text"] + part["text"]}
        else:
            result.append(part)
    return result


def _names(messages: Iterable[Json]) -> list[Json]:
    """The ``name`` of speakers, apart from the turns: Responses has no place for it."""
    speakers = ("user", "assistant", "system", "developer")
    return [
        {"turn": index, "name": message["name"]}
        for index, message in enumerate(messages)
        if message.get("role") in speakers and message.get("name")
    ]


def _renumber(turns: list[Json]) -> list[Json]:
    """Call ids by order of appearance. A legacy result has none: it answers the latest call of its name."""
    numbers: dict[object, str] = {}
    latest: dict[str, str] = {}
    for turn in turns:
        if "call" in turn:
            key = turn["call"] if turn["call"] is not None else object()
            turn["call"] = latest[turn["name"]] = numbers.setdefault(key, f"#{len(numbers) + 1}")
        elif "result" in turn:
            legacy = latest.get(turn.pop("name", ""))
            known = turn["result"] if turn["result"] is not None else legacy
            turn["result"] = numbers.get(known, known)
    return turns

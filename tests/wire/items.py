"""The ``input`` of a Responses request: which items the endpoint takes, and how they must fit together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .checks import Refused, choice, need, only, typed
from .script import Json

MESSAGE_KEYS = {"type", "role", "content", "id", "status", "phase"}
ROLES = {"user", "assistant", "system", "developer"}
STATUSES = {"in_progress", "completed", "incomplete"}
REQUIRED = {
    "function_call": {"call_id", "name", "arguments"},
    "function_call_output": {"call_id", "output"},
    "custom_tool_call": {"call_id", "name", "input"},
    "custom_tool_call_output": {"call_id", "output"},
    "reasoning": {"id", "summary"},
    "item_reference": {"id"},
}
OPTIONAL = {
    "function_call": {"id", "status"},
    "function_call_output": {"id", "status"},
    "custom_tool_call": {"id", "status"},
    "custom_tool_call_output": {"id", "status"},
    "reasoning": {"encrypted_content", "content", "status"},
    "item_reference": set[str](),
}
ID_PREFIX = {
    "message": "msg",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "reasoning": "rs",
    "function_call_output": "fc",
    "custom_tool_call_output": "ctc",
}
INPUT_PARTS = {
    "input_text": {"type", "text", "prompt_cache_breakpoint"},
    "input_image": {"type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"},
    "input_file": {
        "type", "file_id", "file_data", "file_url", "filename", "detail", "prompt_cache_breakpoint",
    },
}  # fmt: skip
OUTPUT_PARTS = {
    "output_text": {"type", "text", "annotations", "logprobs"},
    "refusal": {"type", "refusal"},
}
CALLS = {"function_call": "function call", "custom_tool_call": "custom tool call"}


@dataclass
class Memory:
    """What the endpoint remembers of its earlier answers in one run.

    ``thought``: the reasoning item behind a call (by call id) or a message (by item id).
    ``stored``: ids of items in answers that were stored, which may come back without their content.
    ``sealed``: the encrypted content of each reasoning item.
    """

    thought: dict[str, str] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    sealed: dict[str, str] = field(default_factory=dict)

    def keep(self, output: Sequence[Json], stored: bool) -> None:
        """Remember an answer."""
        reasoning = ""
        for item in output:
            if stored:
                self.stored.add(item["id"])
            if item["type"] == "reasoning":
                reasoning = item["id"]
                self.sealed[reasoning] = item["encrypted_content"]
            elif reasoning:
                self.thought[item.get("call_id") or item["id"]] = reasoning


def check_input(value: object, memory: Memory) -> None:
    """Raise ``Refused`` for an input that Responses would not take."""
    typed(value, (str, list), "input")
    if not isinstance(value, list):
        return
    if not value:
        raise Refused("Invalid 'input': empty array. Expected an array with minimum length 1.", "input")
    for index, item in enumerate(value):
        _check_item(item, f"input[{index}]")
    _check_ids(value)
    _check_pairs(value)
    _check_reasoning(value, memory)


def _check_item(item: Any, where: str) -> None:
    typed(item, dict, where)
    kind = item.get("type", "message")
    if kind == "message":
        need(item, ["role"], where)
        choice(item["role"], ROLES, f"{where}.role")
        only(item, MESSAGE_KEYS, where)
        need(item, ["content"], where)
        typed(item["content"], (str, list), f"{where}.content")
        if isinstance(item["content"], list):
            parts = OUTPUT_PARTS if item["role"] == "assistant" else INPUT_PARTS
            _check_parts(item["content"], parts, f"{where}.content")
    elif kind in REQUIRED:
        only(item, REQUIRED[kind] | OPTIONAL[kind] | {"type"}, where)
        need(item, sorted(REQUIRED[kind]), where)
        _check_fields(item, kind, where)
    else:
        raise Refused(f"Invalid value: '{kind}'.", f"{where}.type", "invalid_value")
    for key, value in item.items():
        if value is None:
            raise Refused(f"Unknown parameter: '{where}.{key}'.", f"{where}.{key}", "unknown_parameter")
    if "status" in item:
        choice(item["status"], STATUSES, f"{where}.status")
    prefix = ID_PREFIX.get(kind)
    if prefix and "id" in item and not str(item["id"]).startswith(f"{prefix}_"):
        message = f"Invalid '{where}.id': '{item['id']}'. Expected an ID that begins with '{prefix}'."
        raise Refused(message, f"{where}.id", "invalid_value")


def _check_fields(item: Mapping[str, Any], kind: str, where: str) -> None:
    for key in ("call_id", "name", "arguments", "input"):
        if key in item:
            typed(item[key], str, f"{where}.{key}")
    if not 0 < len(item.get("call_id", "?")) <= 64:
        raise Refused(f"Invalid '{where}.call_id': expected 1 to 64 characters.", f"{where}.call_id")
    if "output" in item:
        typed(item["output"], (str, list), f"{where}.output")
        if isinstance(item["output"], list):
            _check_parts(item["output"], INPUT_PARTS, f"{where}.output")
    if kind == "reasoning":
        typed(item["summary"], list, f"{where}.summary")


def _check_parts(parts: Sequence[Any], allowed: Mapping[str, set[str]], where: str) -> None:
    for index, part in enumerate(parts):
        inside = f"{where}[{index}]"
        typed(part, dict, inside)
        need(part, ["type"], inside)
        choice(part["type"], allowed, f"{inside}.type")
        only(part, allowed[part["type"]], inside)
        for key in ("text", "refusal", "image_url", "file_id", "file_data", "file_url", "filename"):
            if key in part:
                typed(part[key], str, f"{inside}.{key}")
        if part["type"] in ("input_text", "output_text"):
            need(part, ["text"], inside)
        if part["type"] == "refusal":
            need(part, ["refusal"], inside)
        if part["type"] == "input_image":
            if not part.keys() & {"image_url", "file_id"}:
                raise Refused(f"Missing required parameter: '{inside}.image_url'.", f"{inside}.image_url")
            choice(part.get("detail", "auto"), {"auto", "low", "high", "original"}, f"{inside}.detail")
        if part["type"] == "input_file" and not part.keys() & {"file_id", "file_data", "file_url"}:
            raise Refused(f"Missing required parameter: '{inside}.file_id'.", f"{inside}.file_id")


def _check_ids(items: Sequence[Json]) -> None:
    """No item twice: an answer that is added to the history by two ways is refused."""
    seen: set[tuple[str, str]] = set()
    for index, item in enumerate(items):
        keys = [("id", item["id"])] if "id" in item else []
        if "call_id" in item:
            keys.append((item["type"], item["call_id"]))
        for key in keys:
            if key in seen:
                raise Refused(f"Duplicate item found with id {key[1]}.", f"input[{index}]")
            seen.add(key)


def _check_pairs(items: Sequence[Json]) -> None:
    """Each call has its output, each output its call, and the call comes first."""
    for call, spoken in CALLS.items():
        waiting: dict[str, int] = {}
        for index, item in enumerate(items):
            if item.get("type") == call:
                waiting[item["call_id"]] = index
            elif item.get("type") == f"{call}_output" and waiting.pop(item["call_id"], None) is None:
                raise Refused(
                    f"No tool call found for {spoken} output with call_id {item['call_id']}.", "input"
                )
        if waiting:
            raise Refused(f"No tool output found for {spoken} {sorted(waiting)[0]}.", "input")


def _check_reasoning(items: Sequence[Json], memory: Memory) -> None:
    """Reasoning comes back whole, with what it led to, and not without it."""
    thoughts = [item["id"] for item in items if item.get("type") == "reasoning"]
    for index, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "reasoning":
            _check_thought(items, index, memory)
        if kind == "item_reference" and item["id"] not in memory.stored:
            _not_stored(item["id"], index)
        known = _reasoning_behind(item, memory)
        if known and known not in thoughts:
            name = item.get("id") or item["call_id"]
            raise Refused(
                f"Item '{name}' of type '{kind}' was provided without its required 'reasoning' item: "
                f"'{known}'.",
                f"input[{index}]",
            )


def _reasoning_behind(item: Json, memory: Memory) -> str | None:
    """The reasoning item that led to this call or message, as far as the endpoint knows both."""
    key = item.get("call_id") if item.get("type") in CALLS else item.get("id")
    return memory.thought.get(key or "")


def _check_thought(items: Sequence[Json], index: int, memory: Memory) -> None:
    item = items[index]
    following = items[index + 1] if index + 1 < len(items) else {}
    if _reasoning_behind(following, memory) != item["id"]:
        raise Refused(
            f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.",
            f"input[{index}]",
        )
    sealed = item.get("encrypted_content")
    if sealed is None and item["id"] not in memory.stored:
        _not_stored(item["id"], index)
    if sealed is not None and sealed != memory.sealed.get(item["id"]):
        raise Refused(
            f"The encrypted content for item {item['id']} could not be verified.", f"input[{index}]"
        )


def _not_stored(item_id: str, index: int) -> None:
    raise Refused(
        f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to false. Try "
        "again with `store` set to true, or remove this item from your input.",
        f"input[{index}]",
        status=404,
    )

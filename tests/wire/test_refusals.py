"""Each thing the server refuses, because the real endpoint does."""

from __future__ import annotations

import openai
import pytest
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

from tests.wire import chat, responses
from tests.wire.client import (
    CALL,
    CHAT_CALL,
    FLAT,
    NESTED,
    RESULT,
    SCHEMA,
    STRICT,
    TEXT,
    USER,
    Json,
    client_for,
    post,
    put,
)
from tests.wire.items import Memory

RESPONSES_REFUSALS = [
    # What Chat Completions knows and Responses does not.
    *[
        pytest.param({key: value}, f"Unknown parameter: '{key}'", id=key)
        for key, value in {
            "messages": [USER],
            "max_tokens": 99,
            "max_completion_tokens": 99,
            "stop": ["x"],
            "seed": 1,
            "n": 1,
            "logit_bias": {"1": 1},
            "frequency_penalty": 0.5,
            "presence_penalty": 0.5,
            "logprobs": True,
            "response_format": {"type": "json_object"},
            "reasoning_effort": "low",
            "verbosity": "low",
            "functions": [SCHEMA],
            "function_call": "auto",
            "modalities": ["text"],
            "audio": {},
            "prediction": {},
            "web_search_options": {},
            "top_k": 3,
        }.items()
    ],
    pytest.param(
        {"stream": True, "stream_options": {"include_usage": True}},
        "Unknown parameter: 'stream_options.include_usage'",
        id="include_usage",
    ),
    pytest.param(
        {"stream_options": {"include_obfuscation": False}}, "only allowed when 'stream'", id="no_stream"
    ),
    pytest.param({"max_output_tokens": 15}, "Expected a value >= 16, but got 15", id="limit"),
    pytest.param({"max_output_tokens": "20"}, "Invalid type for 'max_output_tokens'", id="limit_type"),
    pytest.param({"temperature": 3}, "Invalid 'temperature'", id="temperature"),
    pytest.param({"model": ...}, "Missing required parameter: 'model'", id="model"),
    pytest.param({"store": "no"}, "Invalid type for 'store'", id="store_type"),
    pytest.param({"metadata": {"k": 1}}, "Invalid type for 'metadata.k'", id="metadata"),
    pytest.param({"instructions": [USER]}, "Invalid type for 'instructions'", id="instructions"),
    pytest.param({"previous_response_id": "resp_x"}, "Previous response with id", id="previous"),
    pytest.param({"include": ["usage"]}, "Invalid value: 'usage'", id="include"),
    pytest.param(
        {"include": ["reasoning.encrypted_content"]}, "not supported with this model", id="encrypted"
    ),
    pytest.param({"reasoning": "low"}, "Invalid type for 'reasoning'", id="reasoning_type"),
    pytest.param({"reasoning": {"max_tokens": 1}}, "'reasoning.max_tokens'", id="reasoning_key"),
    pytest.param({"tools": None}, "Invalid type for 'tools'", id="null_tools"),
    pytest.param({"tool_choice": None}, "Invalid type for 'tool_choice'", id="null_choice"),
    pytest.param({"text": None}, "Invalid type for 'text'", id="null_text"),
    pytest.param({"tools": None}, "Invalid type for 'tools'", id="null_tools"),
    # Formats.
    pytest.param({"text": {"format": {"type": "xml"}}}, "Invalid value: 'xml'", id="format_type"),
    pytest.param(
        {"text": {"format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}}},
        "Unknown parameter: 'text.format.json_schema'",
        id="format_nested",
    ),
    pytest.param(
        {"text": {"format": {"type": "json_schema", "name": "a"}}},
        "Missing required parameter: 'text.format.schema'",
        id="format_schema",
    ),
    pytest.param(
        {"text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA, "strict": True}}},
        "Invalid schema for response_format 'a'",
        id="format_strict",
    ),
    pytest.param(
        {"text": {"format": {"type": "json_object"}}}, "must contain the word 'json'", id="json_word"
    ),
    pytest.param(
        {"text": {"format": {"type": "json_object"}}, "instructions": "Answer in JSON."},
        "must contain the word 'json'",
        id="json_word_in_instructions",
    ),
    # Tools.
    pytest.param({"tools": [NESTED]}, "Missing required parameter: 'tools[0].name'", id="nested_tool"),
    pytest.param(
        {"tools": [{**FLAT, **NESTED}]}, "Unknown parameter: 'tools[0].function'", id="half_nested_tool"
    ),
    pytest.param({"tools": [put(FLAT, {"parameters": ...})]}, "'tools[0].parameters'", id="no_parameters"),
    pytest.param(
        {"tools": [{**FLAT, "strict": True}]}, "'additionalProperties' is required", id="strict_tool"
    ),
    pytest.param(
        {"tools": [{**FLAT, "strict": True, "parameters": {**STRICT, "required": []}}]},
        "missing ['city']",
        id="strict_required",
    ),
    pytest.param(
        {"tools": [{"type": "custom", "custom": {"name": "sql"}}]},
        "Missing required parameter: 'tools[0].name'",
        id="nested_custom",
    ),
    pytest.param(
        {"tools": [FLAT], "tool_choice": {"type": "function", "function": {"name": "weather"}}},
        "Missing required parameter: 'tool_choice.name'",
        id="nested_choice",
    ),
    pytest.param(
        {"tools": [FLAT], "tool_choice": {"type": "function", "name": "time"}},
        "Tool choice 'time' not found",
        id="choice_unknown",
    ),
    pytest.param(
        {"tools": [FLAT], "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}},
        "Unknown parameter: 'tool_choice.allowed_tools'",
        id="allowed_nested",
    ),
    pytest.param({"tools": [FLAT], "tool_choice": "weather"}, "Invalid value: 'weather'", id="choice_word"),
]

INPUT_REFUSALS = [
    pytest.param(None, "Invalid type for 'input'", id="null"),
    pytest.param([], "empty array", id="empty"),
    pytest.param(["Hi"], "Invalid type for 'input[0]'", id="bare_text"),
    # Messages.
    pytest.param([{**USER, "name": "ann"}], "Unknown parameter: 'input[0].name'", id="name"),
    pytest.param([{"role": "user"}], "Missing required parameter: 'input[0].content'", id="no_content"),
    pytest.param(
        [{"role": "user", "content": None}], "Invalid type for 'input[0].content'", id="null_content"
    ),
    pytest.param(
        [{"role": "tool", "tool_call_id": "a", "content": "x"}], "Invalid value: 'tool'", id="tool_role"
    ),
    pytest.param(
        [{"role": "function", "name": "a", "content": "x"}], "Invalid value: 'function'", id="function"
    ),
    pytest.param(
        [{"role": "assistant", "content": "", "tool_calls": [CHAT_CALL]}],
        "Unknown parameter: 'input[0].tool_calls'",
        id="tool_calls",
    ),
    pytest.param(
        [{"role": "assistant", "content": "x", "refusal": None}],
        "Unknown parameter: 'input[0].refusal'",
        id="refusal_key",
    ),
    pytest.param([{**USER, "status": None}], "Unknown parameter: 'input[0].status'", id="null_status"),
    pytest.param([{**USER, "status": "done"}], "Invalid value: 'done'", id="status"),
    pytest.param([{**USER, "id": "item_1"}], "an ID that begins with 'msg'", id="message_id"),
    pytest.param([{"type": "text", "text": "x"}], "Invalid value: 'text'", id="item_type"),
    pytest.param(
        [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
        "Invalid value: 'text'. Supported values are: 'input_file', 'input_image', 'input_text'",
        id="chat_text",
    ),
    pytest.param(
        [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
        "Supported values are: 'output_text', 'refusal'",
        id="assistant_input_text",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}],
        "Invalid value: 'output_text'",
        id="user_output_text",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x"}}]}],
        "Invalid value: 'image_url'",
        id="chat_image",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "input_image", "image_url": {"url": "https://x"}}]}],
        "Invalid type for 'input[0].content[0].image_url'",
        id="image_object",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "input_image", "url": "https://x"}]}],
        "Unknown parameter: 'input[0].content[0].url'",
        id="image_key",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "input_image"}]}],
        "Missing required parameter: 'input[0].content[0].image_url'",
        id="image_missing",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "input_file", "file": {"file_id": "f"}}]}],
        "Unknown parameter: 'input[0].content[0].file'",
        id="nested_file",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "input_file", "filename": "a.pdf"}]}],
        "Missing required parameter: 'input[0].content[0].file_id'",
        id="file_missing",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}],
        "Invalid value: 'input_audio'",
        id="audio",
    ),
    pytest.param(
        [{"role": "user", "content": [{"type": "input_text", "text": "x", "cache_control": {}}]}],
        "Unknown parameter: 'input[0].content[0].cache_control'",
        id="foreign_part_key",
    ),
    # Calls and results.
    pytest.param([USER, RESULT], "No tool call found", id="orphan_output"),
    pytest.param([USER, CALL], "No tool output found", id="orphan_call"),
    pytest.param([USER, CALL, USER], "No tool output found", id="orphan_call_then_user"),
    pytest.param([RESULT, CALL], "No tool call found", id="output_before_call"),
    pytest.param([CALL, CALL, RESULT], "Duplicate item", id="call_twice"),
    pytest.param([CALL, RESULT, RESULT], "Duplicate item", id="result_twice"),
    pytest.param([{**CALL, "id": "call_9"}, RESULT], "an ID that begins with 'fc'", id="call_id_as_id"),
    pytest.param([{**CALL, "id": ""}, RESULT], "an ID that begins with 'fc'", id="empty_id"),
    pytest.param([{**CALL, "status": None}, RESULT], "Unknown parameter: 'input[0].status'", id="call_null"),
    pytest.param(
        [{**CALL, "parsed_arguments": {}}, RESULT],
        "Unknown parameter: 'input[0].parsed_arguments'",
        id="parsed_arguments",
    ),
    pytest.param(
        [{**CALL, "arguments": {}}, RESULT], "Invalid type for 'input[0].arguments'", id="arguments"
    ),
    pytest.param([put(CALL, {"name": ...}), RESULT], "'input[0].name'", id="call_without_name"),
    pytest.param([put(CALL, {"call_id": ...}), RESULT], "'input[0].call_id'", id="call_without_call_id"),
    pytest.param([{**CALL, "call_id": "c" * 65}], "expected 1 to 64 characters", id="long_call_id"),
    pytest.param(
        [CALL, {**RESULT, "name": "weather"}], "Unknown parameter: 'input[1].name'", id="result_name"
    ),
    pytest.param([CALL, put(RESULT, {"output": ...})], "'input[1].output'", id="no_output"),
    pytest.param(
        [CALL, {**RESULT, "output": {"sun": 1}}], "Invalid type for 'input[1].output'", id="output_type"
    ),
    pytest.param(
        [CALL, {**RESULT, "output": [{"type": "text", "text": "sun"}]}],
        "Invalid value: 'text'",
        id="output_text",
    ),
    pytest.param(
        [{**CHAT_CALL, "type": "function_call"}],
        "Unknown parameter: 'input[0].function'",
        id="chat_call_item",
    ),
    # Reasoning.
    pytest.param([{"type": "reasoning", "id": "rs_1"}], "'input[0].summary'", id="no_summary"),
    pytest.param(
        [USER, {"type": "reasoning", "id": "rs_1", "summary": []}],
        "without its required following item",
        id="reasoning_last",
    ),
    pytest.param(
        [{"type": "item_reference", "id": "msg_1"}], "Item with id 'msg_1' not found", id="reference"
    ),
]

CHAT_REFUSALS = [
    *[
        pytest.param({key: value}, f"Unknown parameter: '{key}'", id=key)
        for key, value in {"input": "Hi", "instructions": "x", "max_output_tokens": 99, "text": {}}.items()
    ],
    pytest.param({"model": ...}, "Missing required parameter: 'model'", id="model"),
    pytest.param({"messages": []}, "empty array", id="empty"),
    pytest.param({"max_tokens": 9, "max_completion_tokens": 9}, "at the same time", id="two_limits"),
    pytest.param({"max_tokens": 0}, "integer below minimum", id="limit"),
    pytest.param({"model": "o3", "max_tokens": 99}, "Use 'max_completion_tokens'", id="reasoning_limit"),
    pytest.param({"top_logprobs": 2}, "only allowed when 'logprobs'", id="top_logprobs"),
    pytest.param({"stream_options": {"include_usage": True}}, "only allowed when 'stream'", id="no_stream"),
    pytest.param({"tools": [FLAT]}, "Unknown parameter: 'tools[0].name'", id="flat_tool"),
    pytest.param({"tool_choice": "auto"}, "only allowed when 'tools'", id="choice_alone"),
    pytest.param({"parallel_tool_calls": False}, "only allowed when 'tools'", id="parallel_alone"),
    pytest.param({"function_call": "auto"}, "only allowed when 'functions'", id="function_call_alone"),
    pytest.param(
        {"tools": [NESTED], "tool_choice": {"type": "function", "name": "weather"}},
        "Unknown parameter: 'tool_choice.name'",
        id="flat_choice",
    ),
    pytest.param(
        {"tools": [NESTED], "tool_choice": {"type": "function", "function": {"name": "time"}}},
        "Tool choice 'time' not found",
        id="choice_unknown",
    ),
    pytest.param(
        {"response_format": {"type": "json_object"}}, "must contain the word 'json'", id="json_word"
    ),
    pytest.param(
        {"response_format": {"type": "json_schema", "name": "a", "schema": SCHEMA}},
        "Unknown parameter: 'response_format.name'",
        id="flat_format",
    ),
    pytest.param({"messages": [{"role": "user", "content": None}]}, "got null", id="null_content"),
    pytest.param({"messages": [{"role": "assistant", "content": None}]}, "got null", id="null_assistant"),
    pytest.param({"messages": [{"type": "function_call"}]}, "'messages[0].role'", id="item"),
    pytest.param({"messages": [{**USER, "mood": 1}]}, "Unknown parameter: 'messages[0].mood'", id="foreign"),
    pytest.param(
        {"messages": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}]},
        "Invalid value: 'input_text'",
        id="input_text",
    ),
    pytest.param(
        {"messages": [USER, {"role": "tool", "tool_call_id": "call_9", "content": "x"}]},
        "must be a response to a preceding message",
        id="orphan_tool",
    ),
    pytest.param(
        {"messages": [{"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}, USER]},
        "must be followed by tool messages",
        id="unanswered_call",
    ),
]


@pytest.mark.parametrize(("changes", "message"), RESPONSES_REFUSALS)
def test_responses_refuses(changes: Json, message: str) -> None:
    refused("/responses", put({"model": "gpt-4o", "input": "Hi"}, changes), message)


@pytest.mark.parametrize(("value", "message"), INPUT_REFUSALS)
def test_responses_refuses_input(value: object, message: str) -> None:
    refused("/responses", {"model": "gpt-4o", "input": value}, message)


@pytest.mark.parametrize(("changes", "message"), CHAT_REFUSALS)
def test_chat_refuses(changes: Json, message: str) -> None:
    refused("/chat/completions", put({"model": "gpt-4o", "messages": [USER]}, changes), message)


def refused(path: str, body: Json, message: str) -> None:
    with client_for(TEXT) as (client, session):
        with pytest.raises(openai.APIStatusError) as caught:
            post(client, path, body)
        assert message in str(caught.value)
        assert caught.value.status_code in (400, 404)
        assert len(session.refused) == 1
        assert session.requests == []
        assert session.unplayed == 1


def test_the_bodies_behind_the_refusals_are_fine() -> None:
    """Without the change that each case makes, the same requests are taken."""
    fine: list[Json] = [
        {"model": "gpt-4o", "input": "Hi"},
        {"model": "gpt-4o", "input": [USER, CALL, RESULT], "tools": [FLAT]},
        {"model": "gpt-4o", "input": "Hi", "tools": [{**FLAT, "parameters": STRICT, "strict": True}]},
        {"model": "gpt-4o", "input": "As JSON.", "text": {"format": {"type": "json_object"}}},
        {"model": "gpt-4o", "input": "Hi", "max_output_tokens": 16, "reasoning": None, "instructions": None},
        {"model": "o3", "input": "Hi", "include": ["reasoning.encrypted_content"]},
        {
            "model": "gpt-4o",
            "input": [
                {"role": "developer", "content": [{"type": "input_text", "text": "x"}]},
                {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
                {
                    "role": "user",
                    "content": [{"type": "input_image", "image_url": "https://x", "detail": "low"}],
                },
                {"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]},
            ],
        },
    ]
    for body in fine:
        responses.check(body, Memory())
    messages = [USER, {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}]
    chat.check(
        {
            "model": "gpt-4o",
            "messages": [*messages, {"role": "tool", "tool_call_id": "call_9", "content": "sun"}],
            "tools": [NESTED],
            "tool_choice": "auto",
            "stop": None,
        }
    )


def test_parameters_are_those_of_the_sdk() -> None:
    """The tables here name no parameter that the installed SDK does not send."""
    sdk = response_create_params.ResponseCreateParamsNonStreaming.__annotations__.keys()
    assert {"input", "instructions", "max_output_tokens", "text", "store"} <= responses.PARAMS
    assert not {"messages", "stop", "seed", "n", "response_format"} & responses.PARAMS
    assert responses.PARAMS - sdk <= {"context_management", "moderation", "prompt_cache_options"}
    sdk = completion_create_params.CompletionCreateParamsNonStreaming.__annotations__.keys()
    assert chat.PARAMS - sdk <= {"moderation", "prompt_cache_options"}

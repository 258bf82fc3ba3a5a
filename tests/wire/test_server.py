"""What the real client makes of the server's answers, over both protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI

from tests.wire import responses
from tests.wire.client import FLAT, NESTED, RESULT, TEXT, USER, Json, client_for, post, put
from tests.wire.script import pieces, turns
from tests.wire.server import serve


def test_no_key_no_answer() -> None:
    with serve(TEXT) as session, OpenAI(base_url=f"{session.url}/v1", api_key="x", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError):
            client.responses.create(model="gpt-4o", input="Hi", extra_headers={"authorization": "none"})
        assert session.unplayed == 1


def test_other_routes_do_not_exist() -> None:
    with client_for(TEXT) as (client, session):
        with pytest.raises(openai.NotFoundError):
            client.embeddings.create(model="m", input="x")
        with pytest.raises(openai.NotFoundError):
            client.models.list()
        assert len(session.refused) == 2


def test_a_script_ends() -> None:
    with client_for(TEXT) as (client, session):
        client.responses.create(model="gpt-4o", input="Hi")
        with pytest.raises(openai.BadRequestError, match="no turn left"):
            client.responses.create(model="gpt-4o", input="Hi")
        assert session.unplayed == 0


@pytest.mark.parametrize(
    ("version", "error"),
    [
        ("2025-03-01-preview", None),
        ("2025-04-01-preview", None),
        ("2024-12-01-preview", openai.BadRequestError),
        ("2024-10-21", openai.NotFoundError),
    ],
)
def test_azure_by_version(version: str, error: type[Exception] | None) -> None:
    with (
        serve(TEXT * 2) as session,
        openai.AzureOpenAI(
            azure_endpoint=session.url, api_key="k", api_version=version, max_retries=0
        ) as client,
    ):
        client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}])
        if error is None:
            assert client.responses.create(model="gpt-4o", input="Hi").output_text == "Hello there, friend."
        else:
            with pytest.raises(error):
                client.responses.create(model="gpt-4o", input="Hi")


def test_both_count_and_date_alike() -> None:
    script = [{"text": "A", "usage": {"input": 5, "output": 3, "cached": 2, "reasoning": 1}}] * 2
    with client_for(script) as (client, _):
        old = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}])
        new = client.responses.create(model="gpt-4o", input="Hi")
    assert old.usage is not None
    assert new.usage is not None
    assert (old.usage.prompt_tokens, old.usage.completion_tokens, old.usage.total_tokens) == (5, 3, 8)
    assert (new.usage.input_tokens, new.usage.output_tokens, new.usage.total_tokens) == (5, 3, 8)
    assert new.usage.input_tokens_details.cached_tokens == 2
    assert new.usage.output_tokens_details.reasoning_tokens == 1
    assert (old.created, int(new.created_at)) == (1_700_000_001, 1_700_000_002)
    assert (old.id, new.id) == ("chatcmpl-001", "resp_002")


@pytest.mark.parametrize(
    ("turn", "reason", "status", "detail"),
    [
        ({"text": "A"}, "stop", "completed", None),
        ({"text": "A", "finish": "length"}, "length", "incomplete", "max_output_tokens"),
        ({"text": "A", "finish": "content_filter"}, "content_filter", "incomplete", "content_filter"),
        ({"calls": [{"name": "weather"}]}, "tool_calls", "completed", None),
        ({"refusal": "No."}, "stop", "completed", None),
    ],
)
def test_how_an_answer_ends(turn: Json, reason: str, status: str, detail: str | None) -> None:
    with client_for([turn] * 2) as (client, _):
        old = post(client, "/chat/completions", {"model": "gpt-4o", "messages": [USER], "tools": [NESTED]})
        new = post(client, "/responses", {"model": "gpt-4o", "input": "Hi", "tools": [FLAT]})
    assert old["choices"][0]["finish_reason"] == reason
    assert new["status"] == status
    assert (new["incomplete_details"] or {}).get("reason") == detail
    assert old["choices"][0]["message"]["refusal"] == turn.get("refusal")


def test_one_call_where_many_are_not_wanted() -> None:
    turn = {"calls": [{"name": "weather"}, {"name": "weather"}]}
    body: Json = {"model": "gpt-4o", "input": "Hi", "tools": [FLAT]}
    with client_for([turn] * 3) as (client, _):
        assert len(post(client, "/responses", body)["output"]) == 2
        assert len(post(client, "/responses", {**body, "parallel_tool_calls": False})["output"]) == 1
        legacy = {"model": "gpt-4o", "messages": [USER], "functions": [NESTED["function"]]}
        message = post(client, "/chat/completions", legacy)["choices"][0]["message"]
    assert message["function_call"] == {"name": "weather", "arguments": "{}"}
    assert "tool_calls" not in message


@pytest.mark.parametrize("model", ["gpt-4o", "o3"])
@pytest.mark.parametrize(
    "turn",
    [
        {"text": "Hello there, friend."},
        {"text": "Oops", "finish": "length"},
        {"refusal": "I would rather not."},
        {"text": "Let me look.", "calls": [{"name": "weather", "arguments": {"city": "Rome"}}]},
        {"calls": [{"name": "weather", "arguments": {"city": c}} for c in ("Rome", "Oslo")]},
        {"calls": [{"name": "sql", "input": "select 1"}]},
    ],
)
def test_a_stream_adds_up_to_the_whole(turn: Json, model: str) -> None:
    """The SDK's own accumulator makes of the events what the plain answer is."""
    custom = {"type": "custom", "name": "sql"}
    with client_for([turn]) as (client, _):
        tools: Any = [FLAT, custom]
        with client.responses.stream(model=model, input="Hi", tools=tools) as events:
            seen: list[Json] = [event.to_dict(warnings=False) for event in events]
    numbers = [event["sequence_number"] for event in seen if "sequence_number" in event]
    assert numbers == sorted(set(numbers))
    body = {"model": model, "input": "Hi", "tools": [FLAT, custom], "stream": True}
    whole = responses.play(turns([turn])[0], body)
    last = seen[-1]
    assert last["type"] == f"response.{whole['status']}"
    assert [item["type"] for item in whole["output"]] == [item["type"] for item in last["response"]["output"]]
    texts = [event["delta"] for event in seen if event["type"] == "response.output_text.delta"]
    assert "".join(texts) == turn.get("text", "")
    for event in seen:
        if event["type"] == "response.output_item.done":
            assert event["item"] == whole["output"][event["output_index"]]


EVENTS = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.completed",
]


def test_the_events_of_a_stream() -> None:
    turn = {"text": "Let me.", "calls": [{"name": "weather", "arguments": {"city": "Rome"}}]}
    with client_for([turn]) as (client, session):
        tools: Any = [FLAT]
        with client.responses.create(model="gpt-4o", input="Hi", tools=tools, stream=True) as stream:
            assert [event.type for event in stream] == EVENTS
        assert session.requests[0]["stream"] is True


def test_the_chunks_of_a_stream() -> None:
    turn = {"text": "Let me.", "calls": [{"name": "weather", "arguments": {"city": "Rome"}}]}
    with client_for([turn]) as (client, _):
        tools: Any = [NESTED]
        with client.chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "user", "content": "Hi"}],
            tools=tools,
            stream=True,
            stream_options={"include_usage": True},
        ) as stream:
            chunks = list(stream)
    assert [len(chunk.choices) for chunk in chunks] == [1] * (len(chunks) - 1) + [0]
    assert [chunk.usage is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    deltas = [chunk.choices[0].delta for chunk in chunks[:-1]]
    assert "".join(delta.content or "" for delta in deltas) == "Let me."
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert calls[0].id == "call_1"
    assert calls[0].function is not None
    assert "".join(call.function.arguments or "" for call in calls if call.function) == '{"city":"Rome"}'
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]][-1] == "tool_calls"


def test_both_cut_a_text_alike() -> None:
    assert pieces("one two  three") == ["one ", "two  ", "three"]
    assert pieces("word") == ["wo", "rd"]
    assert pieces("x") == ["x"]
    assert pieces("") == []


def test_an_answer_that_breaks_off() -> None:
    """What the old protocol raises, the new one says."""
    script = [{"text": "Half", "failed": "The engine stopped."}] * 4
    messages: Any = [USER]
    with client_for(script) as (client, _):
        with pytest.raises(openai.InternalServerError, match="The engine stopped"):
            client.chat.completions.create(model="gpt-4o", messages=messages)
        with (
            client.chat.completions.create(model="gpt-4o", messages=messages, stream=True) as stream,
            pytest.raises(openai.APIError, match="The engine stopped"),
        ):
            list(stream)
        answer = client.responses.create(model="gpt-4o", input="Hi")
        assert answer.status == "failed"
        assert answer.error is not None
        assert answer.error.message == "The engine stopped."
        with client.responses.create(model="gpt-4o", input="Hi", stream=True) as events:
            assert [event.type for event in events][-1] == "response.failed"


def test_a_scripted_error_is_tried_again() -> None:
    script = [{"status": 429, "error": "Slow down."}, {"text": "Now."}]
    with serve(script) as session, OpenAI(base_url=f"{session.url}/v1", api_key="sk-test") as client:
        assert client.responses.create(model="gpt-4o", input="Hi").output_text == "Now."
        assert len(session.requests) == 2
        assert session.refused == []


def test_turns_by_what_is_asked() -> None:
    script = [{"text": "In Rome.", "when": "Rome"}, {"text": "In Oslo.", "when": "Oslo"}]
    with client_for(script) as (client, session):
        assert client.responses.create(model="gpt-4o", input="Oslo?").output_text == "In Oslo."
        assert client.responses.create(model="gpt-4o", input="Rome?").output_text == "In Rome."
        texts = [request["turns"][0]["parts"][0]["text"] for request in session.requests]
    assert texts == ["Rome?", "Oslo?"], "logged in the order of the script, whatever came first"


def test_a_compatible_endpoint_takes_foreign_parameters_on_chat_alone() -> None:
    with (
        serve(TEXT * 2, compatible=True) as session,
        OpenAI(base_url=f"{session.url}/v1", api_key="x", max_retries=0) as client,
    ):
        post(client, "/chat/completions", {"model": "m", "messages": [USER], "top_k": 3})
        with pytest.raises(openai.BadRequestError):
            post(client, "/responses", {"model": "m", "input": "Hi", "top_k": 3})


@pytest.mark.parametrize("raw", [{"txt": "A"}, {"text": "A", "finish": "stop"}, {"usage": {"prompt": 1}}])
def test_a_script_with_a_slip_is_no_script(raw: Json) -> None:
    with pytest.raises((ValueError, TypeError)):
        turns([raw])


REASONING: Json = {"model": "o3", "input": [USER], "tools": [FLAT], "store": False}
TWO_CALLS: list[Json] = [
    {"calls": [{"name": "weather"}, {"name": "weather"}]},
    {"text": "Sun."},
    {"text": "Bye."},
]


class TestReasoning:
    """A model that reasons gets its reasoning back with what it led to, or refuses."""

    @pytest.fixture
    def world(self) -> Iterator[tuple[OpenAI, list[Json], list[Json]]]:
        with client_for(TWO_CALLS) as (client, _):
            output = post(client, "/responses", REASONING)["output"]
            results = [{**RESULT, "call_id": f"call_{number}"} for number in (1, 2)]
            yield client, output, results

    def send(self, client: OpenAI, items: list[Json], **changes: Any) -> Json:
        return post(client, "/responses", {**REASONING, "input": [USER, *items], **changes})

    def test_the_whole_output_comes_back(self, world: tuple[OpenAI, list[Json], list[Json]]) -> None:
        client, output, results = world
        assert [item["type"] for item in output] == ["reasoning", "function_call", "function_call"]
        answer = self.send(client, [*output, *results])
        assert [item["type"] for item in answer["output"]] == ["reasoning", "message"]
        again = [*output, *results, *answer["output"], {"role": "user", "content": "Thanks"}]
        assert self.send(client, again)["status"] == "completed"

    def test_calls_alone_do_not(self, world: tuple[OpenAI, list[Json], list[Json]]) -> None:
        client, output, results = world
        with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item: 'rs_001'"):
            self.send(client, [*output[1:], *results])

    def test_calls_rebuilt_by_hand_do_not(self, world: tuple[OpenAI, list[Json], list[Json]]) -> None:
        client, output, results = world
        rebuilt = [put(item, {"id": ..., "status": ...}) for item in output[1:]]
        with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):
            self.send(client, [*rebuilt, *results])

    def test_reasoning_alone_does_not(self, world: tuple[OpenAI, list[Json], list[Json]]) -> None:
        client, output, _ = world
        with pytest.raises(openai.BadRequestError, match="without its required following item"):
            self.send(client, output[:1])

    def test_not_in_another_order(self, world: tuple[OpenAI, list[Json], list[Json]]) -> None:
        client, output, results = world
        with pytest.raises(openai.BadRequestError, match="without its required following item"):
            self.send(client, [*output[1:], output[0], *results])

    def test_not_without_its_content(self, world: tuple[OpenAI, list[Json], list[Json]]) -> None:
        client, output, results = world
        bare = put(output[0], {"encrypted_content": ...})
        with pytest.raises(openai.NotFoundError, match="not persisted when `store` is set to false"):
            self.send(client, [bare, *output[1:], *results])

    def test_not_with_other_content(self, world: tuple[OpenAI, list[Json], list[Json]]) -> None:
        client, output, results = world
        with pytest.raises(openai.BadRequestError, match="could not be verified"):
            self.send(client, [{**output[0], "encrypted_content": "x"}, *output[1:], *results])

    def test_a_stored_answer_is_known(self) -> None:
        with client_for(TWO_CALLS) as (client, _):
            output = post(client, "/responses", {**REASONING, "store": True})["output"]
            results = [{**RESULT, "call_id": f"call_{number}"} for number in (1, 2)]
            bare = put(output[0], {"encrypted_content": ...})
            assert self.send(client, [bare, *output[1:], *results])["status"] == "completed"

    def test_other_models_have_none(self) -> None:
        with client_for(TWO_CALLS) as (client, _):
            answer = post(client, "/responses", {**REASONING, "model": "gpt-4o"})
            assert [item["type"] for item in answer["output"]] == ["function_call", "function_call"]


def test_the_log_can_be_written_down() -> None:
    with client_for(TEXT) as (client, session):
        client.responses.create(
            model="gpt-4o", input="Hi", extra_headers={"X-Trace": "7"}, extra_query={"a": "1"}
        )
        request = session.requests[0]
    assert json.loads(json.dumps(request)) == request
    assert request["headers"] == {"x-trace": "7"}
    assert request["query"] == "a=1"
    assert request["timeout"] == "600"

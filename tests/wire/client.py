"""What the tests of the server share: a client for a script, and the pieces of requests."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from openai import OpenAI

from .script import Json
from .server import Session, serve

TEXT = [{"text": "Hello there, friend."}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
STRICT = {**SCHEMA, "additionalProperties": False}
NESTED = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}
USER = {"role": "user", "content": "Hi"}
CALL = {"type": "function_call", "call_id": "call_9", "name": "weather", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_9", "output": "sun"}
CHAT_CALL = {"id": "call_9", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


@contextmanager
def client_for(script: Sequence[Json]) -> Iterator[tuple[OpenAI, Session]]:
    with (
        serve(script) as session,
        OpenAI(base_url=f"{session.url}/v1", api_key="sk-test", max_retries=0) as client,
    ):
        yield client, session


def post(client: OpenAI, path: str, body: Json) -> Json:
    """Send a body as it is, past the SDK's own checks."""
    return client.post(path, body=body, cast_to=dict[str, Any])


def put(body: Json, changes: Json) -> Json:
    """``body`` with some keys set, and those set to ``...`` removed."""
    merged = {**copy.deepcopy(body), **changes}
    return {key: value for key, value in merged.items() if value is not ...}

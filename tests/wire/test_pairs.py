"""Programs written twice by hand, once for each protocol: the server must not tell them apart.

And with one slip in the second, it must.
"""

from __future__ import annotations

import pytest

from tests.wire.harness import Run, differences, run_program
from tests.wire.script import Json

HEAD = """\
import json

from openai import OpenAI

client = OpenAI()
MODEL = "gpt-4o-mini"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
"""

CHAT_LOOP = """
tools = [{"type": "function", "function": {"name": "weather", "description": "W", "parameters": PARAMETERS}}]
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"}]
while True:
    response = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    message = response.choices[0].message
    messages.append(message)
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        city = json.loads(call.function.arguments)["city"]
        print(call.id, call.function.name, city)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"sun in {city}"})
print(message.content, response.choices[0].finish_reason == "stop", response.usage.prompt_tokens)
"""

RESPONSES_LOOP = """
tool = {"type": "function", "name": "weather", "description": "W", "parameters": PARAMETERS, "strict": False}
tools = [tool]
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"}]
while True:
    response = client.responses.create(model=MODEL, input=messages, tools=tools, store=False)
    messages.extend(response.output)
    calls = [item for item in response.output if item.type == "function_call"]
    if not calls:
        break
    for call in calls:
        city = json.loads(call.arguments)["city"]
        print(call.call_id, call.name, city)
        messages.append({"type": "function_call_output", "call_id": call.call_id, "output": f"sun in {city}"})
print(response.output_text, response.status == "completed", response.usage.input_tokens)
"""

CHAT_STREAM = """
tools = [{"type": "function", "function": {"name": "weather", "description": "W", "parameters": PARAMETERS}}]
messages = [{"role": "user", "content": "Weather?"}]
while True:
    calls = {}
    for chunk in client.chat.completions.create(
        model=MODEL, messages=messages, tools=tools, stream=True, stream_options={"include_usage": True}
    ):
        if chunk.usage:
            print("tokens", chunk.usage.total_tokens)
        if not chunk.choices:
            continue
        delta = chunk.choices[0].delta
        if delta.content:
            print(repr(delta.content))
        for part in delta.tool_calls or []:
            call = calls.setdefault(part.index, {"id": part.id, "name": part.function.name, "arguments": ""})
            call["arguments"] += part.function.arguments or ""
    if not calls:
        break
    messages.append(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": c.pop("id"), "type": "function", "function": c} for c in map(dict, calls.values())
            ],
        }
    )
    for c in calls.values():
        messages.append({"role": "tool", "tool_call_id": c["id"], "content": c["arguments"]})
"""

RESPONSES_STREAM = """
tool = {"type": "function", "name": "weather", "description": "W", "parameters": PARAMETERS, "strict": False}
tools = [tool]
messages = [{"role": "user", "content": "Weather?"}]
while True:
    calls = {}
    for event in client.responses.create(model=MODEL, input=messages, tools=tools, stream=True, store=False):
        if event.type in ("response.completed", "response.incomplete"):
            print("tokens", event.response.usage.total_tokens)
        if event.type == "response.output_text.delta":
            print(repr(event.delta))
        if event.type == "response.output_item.added" and event.item.type == "function_call":
            item = event.item
            calls[event.output_index] = {"id": item.call_id, "name": item.name, "arguments": ""}
        if event.type == "response.function_call_arguments.delta":
            calls[event.output_index]["arguments"] += event.delta
    if not calls:
        break
    messages.extend(
        {"type": "function_call", "call_id": c["id"], "name": c["name"], "arguments": c["arguments"]}
        for c in calls.values()
    )
    for c in calls.values():
        messages.append({"type": "function_call_output", "call_id": c["id"], "output": c["arguments"]})
"""

CHAT_LEGACY = """
functions = [{"name": "weather", "parameters": PARAMETERS}]
messages = [{"role": "user", "content": "Weather?"}]
response = client.chat.completions.create(model=MODEL, messages=messages, functions=functions)
message = response.choices[0].message
call = message.function_call
print(call.name, call.arguments)
messages.append({"role": "assistant", "content": None, "function_call": call.to_dict()})
messages.append({"role": "function", "name": call.name, "content": "sun"})
print(
    client.chat.completions.create(model=MODEL, messages=messages, functions=functions, function_call="none")
    .choices[0].message.content
)
"""

RESPONSES_LEGACY = """
tools = [{"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": False}]
messages = [{"role": "user", "content": "Weather?"}]
more = {"model": MODEL, "tools": tools, "parallel_tool_calls": False, "store": False}
response = client.responses.create(input=messages, **more)
call = next((item for item in response.output if item.type == "function_call"), None)
print(call.name, call.arguments)
messages.extend(response.output)
messages.append({"type": "function_call_output", "call_id": call.call_id, "output": "sun"})
print(client.responses.create(input=messages, tool_choice="none", **more).output_text)
"""

CHAT_PARTS = """
from pydantic import BaseModel


class Animal(BaseModel):
    name: str


content = [
    {"type": "text", "text": "Which animal?"},
    {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
    {"type": "file", "file": {"file_id": "file-1"}},
]
messages = [{"role": "developer", "content": "Look well."}, {"role": "user", "content": content}]
completion = client.chat.completions.parse(
    model=MODEL, messages=messages, response_format=Animal, max_completion_tokens=50, temperature=0
)
print(completion.choices[0].message.parsed.name)
completion = client.chat.completions.create(
    model=MODEL,
    messages=messages,
    response_format={
        "type": "json_schema",
        "json_schema": {"name": "animal", "schema": {"type": "object"}},
    },
    user="u1",
    metadata={"k": "v"},
    service_tier="auto",
    n=1,
    stop=None,
)
print(completion.choices[0].message.content, completion.id)
"""

RESPONSES_PARTS = """
from pydantic import BaseModel


class Animal(BaseModel):
    name: str


content = [
    {"type": "input_text", "text": "Which animal?"},
    {"type": "input_image", "image_url": "https://example.org/cat.png", "detail": "auto"},
    {"type": "input_file", "file_id": "file-1"},
]
messages = [{"role": "user", "content": content}]
response = client.responses.parse(
    model=MODEL,
    instructions="Look well.",
    input=messages,
    text_format=Animal,
    max_output_tokens=50,
    temperature=0,
    store=False,
)
print(response.output_parsed.name)
response = client.responses.create(
    model=MODEL,
    instructions="Look well.",
    input=messages,
    text={"format": {"type": "json_schema", "name": "animal", "schema": {"type": "object"}}},
    user="u1",
    metadata={"k": "v"},
    store=False,
)
print(response.output_text, response.id)
"""


def call(city: str) -> Json:
    return {"name": "weather", "arguments": {"city": city}}


ONE = [{"calls": [call("Rome")]}, {"text": "Sun in Rome."}]
TWO = [{"calls": [call("Rome")]}, {"text": "And now Oslo.", "calls": [call("Oslo")]}, {"text": "Sun."}]
THREE = [{"calls": [call(city)]} for city in ("Rome", "Oslo", "Bern")] + [{"text": "Sun everywhere."}]
PARALLEL = [{"calls": [call("Rome"), call("Oslo"), call("Bern")]}, {"text": "Sun."}]
PARALLEL_TWICE = [PARALLEL[0], PARALLEL[0], {"text": "Still sun."}]
NONE = [{"text": "No need to look."}]
ROUNDS = {"none": NONE, "one": ONE, "two": TWO, "three": THREE, "parallel": PARALLEL, "again": PARALLEL_TWICE}

LOOP = (HEAD + CHAT_LOOP, HEAD + RESPONSES_LOOP)
STREAM = (HEAD + CHAT_STREAM, HEAD + RESPONSES_STREAM)
LEGACY = (HEAD + CHAT_LEGACY, HEAD + RESPONSES_LEGACY)
PARTS = (HEAD + CHAT_PARTS, HEAD + RESPONSES_PARTS)
CAT = [{"text": '{"name":"cat"}'}] * 2
PAIRS = [
    *[pytest.param(LOOP, script, id=f"loop-{name}") for name, script in ROUNDS.items()],
    *[
        pytest.param(
            tuple(code.replace("gpt-4o-mini", "o3") for code in LOOP), script, id=f"reasoning-{name}"
        )
        for name, script in ROUNDS.items()
    ],
    # The rebuilt history of the stream leaves out a text beside calls, on both sides.
    *[pytest.param(STREAM, script, id=f"stream-{name}") for name, script in ROUNDS.items()],
    pytest.param(LEGACY, ONE, id="legacy-one"),
    pytest.param(LEGACY, PARALLEL, id="legacy-parallel"),
    pytest.param(PARTS, CAT, id="parts"),
]


def run(code: str, script: list[Json]) -> Run:
    return run_program({"main.py": code.encode()}, {"turns": script})


@pytest.mark.parametrize(("pair", "script"), PAIRS)
def test_the_same_program_twice(pair: tuple[str, str], script: list[Json]) -> None:
    before, after = (run(code, script) for code in pair)
    assert before.exit_code == 0, before.stderr
    assert before.refused == []
    assert before.unplayed == 0
    assert before.stdout
    assert differences(before, after) == ""


SLIPS = [
    pytest.param(LOOP, ", store=False", "", '"store": false', id="stored"),
    pytest.param(LOOP, ', "strict": False', "", '"weather": false', id="strict"),
    pytest.param(LOOP, '"description": "W", ', "", '"description": "W"', id="description"),
    pytest.param(LOOP, "Be brief.", "Be quick.", "Be brief.", id="system"),
    pytest.param(LOOP, '"role": "system"', '"role": "developer"', '"role": "system"', id="role"),
    pytest.param(LOOP, "sun in", "rain in", "sun in Rome", id="result"),
    pytest.param(LOOP, "messages.extend(response.output)", "pass", "No tool call found", id="calls_dropped"),
    pytest.param(LOOP, "messages.extend", "messages.append", "refused by the server", id="nested"),
    pytest.param(
        LOOP, "response.output_text", "response.output[0].content[0].text + '!'", "Rome.", id="output"
    ),
    pytest.param(LOOP, "call.call_id, call.name", "call.id, call.name", "call_1", id="printed_id"),
    pytest.param(LOOP, "tools=tools, ", "", "script calls 'weather'", id="tools_dropped"),
    pytest.param(STREAM, "stream=True", "stream=False", "exit code", id="stream"),
    pytest.param(STREAM, 'c["arguments"]}\n        for', '"{}"}\n        for', "Rome", id="arguments"),
    pytest.param(LEGACY, ', "parallel_tool_calls": False', "", '"parallel_tool_calls"', id="parallel"),
    pytest.param(LEGACY, 'tool_choice="none", ', "", '"tool_choice": "none"', id="choice"),
    pytest.param(PARTS, '"detail": "auto"', '"detail": "low"', '"detail": "auto"', id="detail"),
    pytest.param(PARTS, "max_output_tokens=50", "max_output_tokens=500", '"limit": 50', id="limit"),
    pytest.param(PARTS, "temperature=0", "temperature=1", '"temperature": 0', id="temperature"),
    pytest.param(PARTS, '{"k": "v"}', "{}", '"k": "v"', id="metadata"),
    pytest.param(PARTS, '"name": "animal"', '"name": "beast"', '"name": "animal"', id="format_name"),
    pytest.param(
        PARTS, '"name": "animal"', '"strict": True, "name": "animal"', '"strict": false', id="format"
    ),
    pytest.param(PARTS, "file-1", "file-2", "file-1", id="file"),
    pytest.param(PARTS, 'user="u1"', 'user="u2"', '"user": "u1"', id="user"),
]


@pytest.mark.parametrize(("pair", "old", "new", "seen"), SLIPS)
def test_a_slip_is_seen(pair: tuple[str, str], old: str, new: str, seen: str) -> None:
    script = CAT if pair is PARTS else ONE
    head, body = pair[1][: len(HEAD)], pair[1][len(HEAD) :]
    assert old in body
    found = differences(run(pair[0], script), run(head + body.replace(old, new), script))
    assert seen in found


def test_reasoning_that_is_dropped_is_seen() -> None:
    code = LOOP[1].replace("gpt-4o-mini", "o3")
    drops = code.replace(
        "messages.extend(response.output)",
        "messages.extend(item for item in response.output if item.type != 'reasoning')",
    )
    after = run(drops, ONE)
    assert "without its required 'reasoning' item" in after.refused[0]


class TestHarness:
    def test_the_world_of_a_program(self) -> None:
        code = (
            b"import os, sys\nprint(sys.argv, __name__, os.path.basename(__file__), input())\n"
            b"print(os.environ['MINE'], os.environ['OPENAI_API_KEY'], os.environ.get('VIRTUAL_ENV'))\n"
            b"print(hash('a') == hash('a'), sorted(os.listdir('.')))\n"
            b"open('out.txt', 'w').write('kept')\nprint('oops', file=sys.stderr)\nsys.exit(3)\n"
        )
        for env in ({"MINE": "1"}, {"MINE": "{server}"}):
            script = {"turns": [], "argv": ["-x", "y"], "stdin": "line\n", "env": env}
            result = run_program({"main.py": code, "helper.py": b""}, script)
            assert result.exit_code == 3, result.stderr
            assert "['main.py', '-x', 'y'] __main__ main.py line" in result.stdout
            assert "sk-test None" in result.stdout
            assert "['helper.py', 'main.py']" in result.stdout
            assert result.stderr == "oops\n"
            assert result.files == {"out.txt": "kept"}

    def test_it_ends_as_a_program_ends(self) -> None:
        code = (
            b"import atexit, threading, time\natexit.register(print, 'bye')\n"
            b"threading.Thread(target=lambda: (time.sleep(1), print('thread'))).start()\nprint('main')\n"
        )
        assert run_program({"main.py": code}, {"turns": []}).stdout == "main\nthread\nbye\n"
        crash = run_program({"main.py": b"raise KeyError('x')"}, {"turns": []})
        assert crash.exit_code == 1
        assert "KeyError: 'x'" in crash.stderr

    def test_a_package_of_that_name_is_not_the_sdk(self) -> None:
        files = {"main.py": b"import openai\nprint(openai.HERE)", "openai/__init__.py": b"HERE = 'local'"}
        assert run_program(files, {"turns": []}).stdout == "local\n"

    def test_programs_do_not_see_each_other(self) -> None:
        first = b"import json, builtins\njson.mark = builtins.mark = 1\nimport helper\nprint(helper.NAME)"
        second = b"import json, builtins\nprint(hasattr(json, 'mark'), hasattr(builtins, 'mark'))\n"
        second += b"import helper\nprint(helper.NAME)"
        assert run_program({"main.py": first, "helper.py": b"NAME = 1"}, {"turns": []}).stdout == "1\n"
        assert (
            run_program({"main.py": second, "helper.py": b"NAME = 2"}, {"turns": []}).stdout
            == "False False\n2\n"
        )

    def test_a_program_that_hangs_is_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tests.wire.harness.TIMEOUT", 0.5)
        assert run_program({"main.py": b"import time\ntime.sleep(30)"}, {"turns": []}).exit_code == -9

    def test_a_script_with_unknown_keys_is_none(self) -> None:
        with pytest.raises(ValueError, match="arguments"):
            run_program({"main.py": b""}, {"turns": [], "arguments": []})

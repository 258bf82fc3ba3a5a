"""4xx: streams."""

from __future__ import annotations

from migrate_responses.rulebook.rule import MANUAL, NOTE, PROJECT, SAFE, STREAMING, UNSAFE, Rule

EVENT = "openai.types.responses.ResponseStreamEvent"

STREAMS: tuple[Rule, ...] = (
    Rule(
        "MR401",
        "Loop over text",
        SAFE,
        "Chunks become events; the text is the `delta` of `response.output_text.delta`. The loop's own guard"
        " becomes the test of the event's type.",
        "for chunk in client.chat.completions.create(model=MODEL, messages=messages, stream=True):\n"
        "    if chunk.choices[0].delta.content:\n"
        '        print(chunk.choices[0].delta.content, end="")',
        "for event in client.responses.create(model=MODEL, input=messages, stream=True, store=False):\n"
        '    if event.type == "response.output_text.delta":\n'
        '        print(event.delta, end="")',
        STREAMING,
    ),
    Rule(
        "MR402",
        "Chunk or stream escapes",
        UNSAFE,
        "Whole chunks, or the stream itself, are handed on (to a browser, a framework, another"
        " library). Whoever receives them gets events instead, and no closing `[DONE]`.",
        "for chunk in stream:\n    yield chunk.model_dump_json()",
        "for event in stream:\n    yield event.model_dump_json()  # an event: other keys",
        STREAMING,
        step="check who reads it, then use --unsafe-fixes",
    ),
    Rule(
        "MR403",
        "Streaming or not is undecided",
        MANUAL,
        "`stream=` is a variable, and the answer is used without testing it, so a whole answer and"
        " a stream cannot be told apart. Test the variable around each use, or make two calls.",
        "answer = client.chat.completions.create(model=MODEL, messages=messages, stream=stream)\n"
        "handle(answer)",
        "",
        PROJECT,
        step="test `stream=` around each use",
    ),
    Rule(
        "MR404",
        "Use of a chunk not understood",
        MANUAL,
        "The loop uses its chunks in a way that has no plain counterpart among events: counting"
        " them, timing the first, acting on those without text. Rewrite the loop by hand.",
        "for number, chunk in enumerate(stream):\n    progress(number)",
        "",
        EVENT,
        step="rewrite the loop by hand",
    ),
    Rule(
        "MR405",
        "Usage in a stream",
        SAFE,
        "The usage chunk becomes the usage of the response in the closing event.",
        "if chunk.usage:\n    report(chunk.usage.total_tokens)",
        'if event.type in ("response.completed", "response.incomplete") and event.response.usage:\n'
        "    report(event.response.usage.total_tokens)",
        "openai.types.responses.ResponseCompletedEvent",
    ),
    Rule(
        "MR406",
        "End of a stream",
        SAFE,
        "Tests of a chunk's `finish_reason` become tests for the closing events; `length` is told from"
        " `content_filter` by the reason that the event gives.",
        'if chunk.choices[0].finish_reason == "stop":\n    done()',
        'if event.type == "response.completed":\n    done()',
        EVENT,
    ),
    Rule(
        "MR407",
        "The stream helper",
        SAFE,
        "`chat.completions.stream` becomes `responses.stream`, its events take their new names, and"
        " `get_final_completion()` is `get_final_response()`.",
        "with client.chat.completions.stream(model=MODEL, messages=messages) as stream:\n"
        "    for event in stream:\n"
        '        if event.type == "content.delta":\n'
        "            print(event.delta)",
        "with client.responses.stream(model=MODEL, input=messages, store=False) as stream:\n"
        "    for event in stream:\n"
        '        if event.type == "response.output_text.delta":\n'
        "            print(event.delta)",
        "openai.lib.streaming.responses.ResponseStreamManager",
    ),
    Rule(
        "MR408",
        "Tool calls in a stream",
        SAFE,
        "Tool calls put together from deltas come from the events of output items: name and id when"
        " the item is added, arguments as they grow, or the whole call when it is done.",
        "for call in chunk.choices[0].delta.tool_calls or []:\n"
        '    arguments[call.index] += call.function.arguments or ""',
        'if event.type == "response.function_call_arguments.delta":\n'
        "    arguments[event.output_index] += event.delta",
        "openai.types.responses.ResponseFunctionCallArgumentsDeltaEvent",
    ),
    Rule(
        "MR409",
        "Failures inside a stream",
        NOTE,
        "A failure in the middle of an answer arrives as an event (`response.failed`, `error`) where Chat"
        " Completions raised. `--raise-on-failure` writes the branch that raises.",
        "for chunk in stream:\n    ...",
        'for event in stream:\n    if event.type in ("response.failed", "error"):\n'
        '        raise RuntimeError(f"the response failed: {event}")\n    ...',
        EVENT,
    ),
)

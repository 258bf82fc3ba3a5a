"""6xx to 8xx: structured output and parts, types and imports, tests and doubles."""

from __future__ import annotations

from migrate_responses.rulebook.rule import MANUAL, PROJECT, SAFE, STRUCTURED, UNSAFE, Rule

STRUCTURE: tuple[Rule, ...] = (
    Rule(
        "MR601",
        "text_format",
        SAFE,
        "`parse` takes the model as `text_format`, and `parsed` is `output_parsed`.",
        "answer = client.beta.chat.completions.parse(model=MODEL, messages=messages, response_format=Event)\n"
        "event = answer.choices[0].message.parsed",
        "answer = client.responses.parse(model=MODEL, input=messages, text_format=Event, store=False)\n"
        "event = answer.output_parsed",
        STRUCTURED,
    ),
    Rule(
        "MR602",
        "Handler for an error that changes",
        UNSAFE,
        "`LengthFinishReasonError` and `ContentFilterFinishReasonError` are not raised any more: an"
        " answer cut short raises `pydantic.ValidationError` in `parse`, which `except ValueError` takes,"
        " too, and `RuntimeError` in `stream`. And the server tells what is wrong in the words of the"
        " request: `messages` is called `input`, and a conversation that is too long has another text, of"
        " which MR607 mends what it can. Extend the handler.",
        "except openai.LengthFinishReasonError:\n    retry()",
        "except pydantic.ValidationError:\n    retry()",
        "https://github.com/openai/openai-python/issues/2486",
        step="extend the handler, then use --unsafe-fixes",
    ),
    Rule(
        "MR603",
        "response_format of unknown shape",
        MANUAL,
        "What `response_format` holds could not be followed, or it has no `schema`, which Responses"
        ' requires. Write it as `text={"format": ...}` by hand.',
        "client.chat.completions.create(model=MODEL, messages=messages, response_format=load_format())",
        'client.responses.create(model=MODEL, input=messages, text={"format": load_format()}, store=False)',
        STRUCTURED,
        step='write `text={"format": ...}` by hand',
    ),
    Rule(
        "MR604",
        "Parts",
        SAFE,
        "Text, image and file parts take their new names, and lose their inner level.",
        '{"type": "image_url", "image_url": {"url": url}}',
        '{"type": "input_image", "image_url": url, "detail": "auto"}',
        "https://developers.openai.com/api/docs/guides/images-vision",
    ),
    Rule(
        "MR605",
        "Audio part",
        MANUAL,
        "`input_audio` has no counterpart in Responses. Leave the call on Chat Completions.",
        '{"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}',
        "",
        "openai.types.responses.ResponseInputContentParam",
        step="leave the call here",
    ),
    Rule(
        "MR606",
        "Refusal",
        SAFE,
        "A refusal is a part of the answer's message, not a field of it.",
        "if answer.choices[0].message.refusal:\n    explain()",
        "if any(\n"
        '    part.type == "refusal"\n'
        "    for item in answer.output\n"
        '    if item.type == "message"\n'
        "    for part in item.content\n"
        "):\n    explain()",
        "openai.types.responses.ResponseOutputRefusal",
    ),
    Rule(
        "MR607",
        "Input that is too long",
        SAFE,
        "Chat Completions says of it that the `maximum context length` is passed, Responses that the input"
        " `exceeds the context window`; the code is the same. A test for the old words asks for the code too."
        " Where the error itself is not at hand, or may be an event of a stream, MR602 tells of it.",
        'except openai.BadRequestError as e:\n    if "maximum context length" in str(e):\n        shorten()',
        "except openai.BadRequestError as e:\n"
        '    if "maximum context length" in str(e) or e.code == "context_length_exceeded":\n'
        "        shorten()",
        "https://github.com/james-6-23/codex2api/issues/415",
    ),
    Rule(
        "MR701",
        "Annotations and imports",
        SAFE,
        "The types of a migrated flow move with it, and imports are added, kept or removed as they are used.",
        "from openai.types.chat import ChatCompletion\n\n\ndef ask() -> ChatCompletion: ...",
        "from openai.types.responses import Response\n\n\ndef ask() -> Response: ...",
        "openai.types.responses",
    ),
    Rule(
        "MR702",
        "Use of a type not understood",
        MANUAL,
        "A Chat Completions type is used as more than an annotation (subclassed, inspected,"
        " registered), in a way that has no plain counterpart; or a stub beside the module (`llm.pyi`), which"
        " is not rewritten, names one.",
        "class Answer(ChatCompletion): ...",
        "",
        PROJECT,
        step="migrate it by hand",
    ),
    Rule(
        "MR801",
        "Patch target",
        SAFE,
        "A patch of the SDK's method names the method that is called now; left, it would stop"
        " intercepting and the test would reach the network.",
        'patch("openai.resources.chat.completions.Completions.create")',
        'patch("openai.resources.responses.Responses.create")',
        "openai.resources.responses.Responses",
    ),
    Rule(
        "MR802",
        "Test double",
        SAFE,
        "A stand-in for a completion takes the shape of a response, with the same text, calls and usage.",
        'SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="Hi"))])',
        'SimpleNamespace(output_text="Hi", output=[])',
        PROJECT,
    ),
    Rule(
        "MR803",
        "Test double not understood",
        UNSAFE,
        "A test replaces the client or its answer in a way that is not understood. On request the"
        " flow is migrated all the same; expect this test to need a hand.",
        "client = make_fake(choices_from=recording)",
        "",
        PROJECT,
        step="check the test, then use --unsafe-fixes and change it by hand",
    ),
)

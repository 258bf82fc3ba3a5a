"""2xx: messages and the items of a conversation."""

from __future__ import annotations

from migrate_responses.rulebook.rule import GUIDE, MANUAL, PROJECT, SAFE, UNSAFE, Rule

STATE = "https://developers.openai.com/api/docs/guides/conversation-state"

MESSAGES: tuple[Rule, ...] = (
    Rule(
        "MR201",
        "input",
        SAFE,
        "`messages` becomes `input`. Plain messages with `role` and `content` are valid there as"
        " they are, with the roles system, developer, user and assistant alike.",
        "client.chat.completions.create(model=MODEL, messages=history)",
        "client.responses.create(model=MODEL, input=history, store=False)",
        GUIDE,
    ),
    Rule(
        "MR202",
        "instructions",
        SAFE,
        "The one system message at the head of a list used by this call alone becomes"
        " `instructions`. It stays in `input` wherever that could change its meaning.",
        "client.chat.completions.create(\n"
        "    model=MODEL,\n"
        '    messages=[{"role": "system", "content": "Be brief."}, *history],\n'
        ")",
        'client.responses.create(\n    model=MODEL,\n    instructions="Be brief.",\n    input=[*history],\n'
        "    store=False,\n)",
        GUIDE,
    ),
    Rule(
        "MR203",
        "A single user message",
        SAFE,
        "A list that holds one user message with text becomes that text.",
        'client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": f"Hi {name}"}])',
        'client.responses.create(model=MODEL, input=f"Hi {name}", store=False)',
        GUIDE,
    ),
    Rule(
        "MR204",
        "Messages of unknown origin",
        UNSAFE,
        "The messages come from outside the project, and the call passes tools or the project"
        " writes content parts: they may hold tool messages or parts in the old shape, which"
        " Responses refuses. If they hold plain messages only, `--unsafe-fixes` is right.",
        "def ask(messages):\n"
        "    return client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)",
        "def ask(messages):\n"
        "    return client.responses.create(model=MODEL, input=messages, tools=TOOLS, store=False)",
        "https://github.com/langchain-ai/langchain/issues/32679",
        step="use --unsafe-fixes if they are plain messages",
    ),
    Rule(
        "MR205",
        "name on a message",
        UNSAFE,
        "The server refuses `name` on a message. Dropped on request; put the name into the text if the model"
        " should see it.",
        '{"role": "user", "name": "alice", "content": text}',
        '{"role": "user", "content": text}',
        "https://github.com/theopenco/llmgateway/pull/2820",
        step="put it into the text, or drop it with --unsafe-fixes",
    ),
    Rule(
        "MR206",
        "Foreign key on a message",
        MANUAL,
        "A message carries a key that OpenAI does not know (`cache_control`, `reasoning_content`,"
        " `prefix`), or one that Responses refuses. It belongs to another provider, or must be"
        " taken out by hand.",
        '{"role": "assistant", "content": text, "reasoning_content": thoughts}',
        '{"role": "assistant", "content": text}',
        PROJECT,
        step="take it out, or leave the call here",
    ),
    Rule(
        "MR207",
        "History stored",
        UNSAFE,
        "The conversation is written away (`json.dump`, a database). After the migration it holds"
        " response items, not messages: whoever reads the store must expect them.",
        "history.append(answer.choices[0].message)\njson.dump(history, file, default=vars)",
        "history.extend(item.to_dict() for item in answer.output)\njson.dump(history, file, default=vars)",
        STATE,
        step="check its readers, then use --unsafe-fixes",
    ),
    Rule(
        "MR208",
        "History read back",
        UNSAFE,
        "The conversation is read back in a way that changes: an item of a response need not have"
        " the key, and one answer may be several items, which changes counts and slices.",
        'total = sum(len(message["content"]) for message in history)',
        'total = sum(len(item.get("content") or "") for item in history)',
        "https://github.com/Azure/azure-sdk-for-python/issues/46092",
        step="check it, then use --unsafe-fixes",
    ),
    Rule(
        "MR209",
        "The answer in the history",
        SAFE,
        "The answer's own message, appended to the history, becomes the response's output items:"
        " reasoning items stay with the calls they belong to, which the server checks. As nothing is stored,"
        " the request of a reasoning model asks for their encrypted content, which newer servers send unasked"
        " and other models refuse; where the model is known only at run time, a note says so. An answer that"
        " can have no calls becomes a plain message where the history is counted, cut or read by key.",
        "messages.append(answer.choices[0].message)",
        "messages.extend(answer.output)",
        STATE,
    ),
    Rule(
        "MR210",
        "Messages also go elsewhere",
        UNSAFE,
        "The list of messages is also given to code that is not part of the flow (another provider, a token"
        " counter, a logger), which may not understand response items.",
        "client.chat.completions.create(model=MODEL, messages=history)\ntracker.log(history)",
        "client.responses.create(model=MODEL, input=history, store=False)\ntracker.log(history)",
        PROJECT,
        step="check that code, then use --unsafe-fixes",
    ),
    Rule(
        "MR211",
        "Function message",
        MANUAL,
        'A message with role "function" has no id to pair it with its call, and the pairing could'
        " not be seen. Write a `function_call_output` with the call's `call_id`.",
        '{"role": "function", "name": "lookup", "content": result}',
        '{"type": "function_call_output", "call_id": call.call_id, "output": result}',
        "https://developers.openai.com/api/docs/guides/function-calling",
        step="write a `function_call_output` with its `call_id`",
    ),
    Rule(
        "MR212",
        "Tool result",
        SAFE,
        "A tool message becomes a `function_call_output`; its `name` is dropped.",
        '{"role": "tool", "tool_call_id": call.id, "content": result}',
        '{"type": "function_call_output", "call_id": call.call_id, "output": result}',
        "openai.types.responses.response_input_item_param.FunctionCallOutput",
    ),
    Rule(
        "MR213",
        "Assistant message with tool calls",
        SAFE,
        "An assistant message with `tool_calls` becomes its text, if there is any, and one"
        " `function_call` item for each call, without an `id` of its own.",
        "messages.append({\n"
        '    "role": "assistant",\n'
        '    "content": None,\n'
        '    "tool_calls": [{"id": ID, "type": "function", "function": {"name": NAME, "arguments": ARGS}}],\n'
        "})",
        "messages.extend([\n"
        '    {"type": "function_call", "call_id": ID, "name": NAME, "arguments": ARGS},\n'
        "])",
        "https://github.com/openai/openai-python/pull/2679",
    ),
)

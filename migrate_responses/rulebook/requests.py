"""1xx: the arguments of a request."""

from __future__ import annotations

from migrate_responses.rulebook.rule import CREATE, GUIDE, MANUAL, PROJECT, SAFE, STRUCTURED, UNSAFE, Rule

REQUESTS: tuple[Rule, ...] = (
    Rule(
        "MR101",
        "max_output_tokens",
        SAFE,
        "`max_tokens` and `max_completion_tokens` become `max_output_tokens`. Reasoning tokens"
        " count towards it, as they did in `max_completion_tokens`.",
        "client.chat.completions.create(model=MODEL, messages=messages, max_tokens=200)",
        "client.responses.create(model=MODEL, input=messages, max_output_tokens=200, store=False)",
        CREATE,
    ),
    Rule(
        "MR102",
        "Token limit below 16",
        UNSAFE,
        "The server refuses `max_output_tokens` under 16. On request the limit is raised to 16,"
        " which may return a few more words than before.",
        "client.chat.completions.create(model=MODEL, messages=messages, max_tokens=1)",
        "client.responses.create(model=MODEL, input=messages, max_output_tokens=16, store=False)",
        "https://github.com/vectorize-io/hindsight/issues/58",
        step="raise it, or let --unsafe-fixes write 16",
    ),
    Rule(
        "MR103",
        "reasoning.effort",
        SAFE,
        "`reasoning_effort` moves into `reasoning`.",
        'client.chat.completions.create(model=MODEL, messages=messages, reasoning_effort="low")',
        'client.responses.create(model=MODEL, input=messages, reasoning={"effort": "low"}, store=False)',
        "openai.types.shared_params.Reasoning",
    ),
    Rule(
        "MR104",
        "text.verbosity",
        SAFE,
        "`verbosity` moves into `text`, into the same one as a `response_format`.",
        'client.chat.completions.create(model=MODEL, messages=messages, verbosity="low")',
        'client.responses.create(model=MODEL, input=messages, text={"verbosity": "low"}, store=False)',
        "openai.types.responses.ResponseTextConfigParam",
    ),
    Rule(
        "MR105",
        "text.format",
        SAFE,
        "`response_format` moves to `text.format`; a JSON schema loses its inner `json_schema`"
        " level. The plain text format is the default and is dropped. For `json_object` the word"
        " JSON stays in `input`, where the server looks for it.",
        "client.chat.completions.create(\n"
        "    model=MODEL,\n"
        "    messages=messages,\n"
        '    response_format={"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA}},\n'
        ")",
        "client.responses.create(\n"
        "    model=MODEL,\n"
        "    input=messages,\n"
        '    text={"format": {"type": "json_schema", "name": "city", "schema": SCHEMA}},\n'
        "    store=False,\n"
        ")",
        STRUCTURED,
    ),
    Rule(
        "MR106",
        "stream_options",
        SAFE,
        "`include_usage` is dropped: usage always comes with the last event. `include_obfuscation` is kept.",
        "client.chat.completions.create(\n"
        '    model=MODEL, messages=messages, stream=True, stream_options={"include_usage": True}\n'
        ")",
        "client.responses.create(\n    model=MODEL, input=messages, stream=True, store=False\n)",
        "openai.types.responses.response_create_params.StreamOptions",
    ),
    Rule(
        "MR107",
        "store=False written out",
        SAFE,
        "Responses are kept by the server for 30 days unless the request says otherwise; chat completions"
        " only on newer accounts. With `store=False` nothing is kept, whatever the account."
        " `--api-defaults adopt` leaves it out.",
        "client.chat.completions.create(model=MODEL, messages=messages)",
        "client.responses.create(model=MODEL, input=messages, store=False)",
        CREATE,
    ),
    Rule(
        "MR108",
        "Parameter without effect dropped",
        SAFE,
        "A parameter that Responses does not know, given the value that means nothing (`n=1`, `stop=None`,"
        " `frequency_penalty=0`), is dropped. Kept, it would be a TypeError. `tools` and `tool_choice` that"
        ' may be None get `or []` and `or "auto"`: Responses refuses null there.',
        "client.chat.completions.create(model=MODEL, messages=messages, n=1, presence_penalty=0)",
        "client.responses.create(model=MODEL, input=messages, store=False)",
        CREATE,
    ),
    Rule(
        "MR110",
        "seed",
        UNSAFE,
        "Responses has no `seed`, on purpose. Dropped on request; answers then vary more from run to run.",
        "client.chat.completions.create(model=MODEL, messages=messages, seed=7)",
        "client.responses.create(model=MODEL, input=messages, store=False)",
        "https://github.com/openai/openai-node/issues/1613",
        step="remove it, or let --unsafe-fixes drop it",
    ),
    Rule(
        "MR111",
        "Penalties, logit_bias, prediction",
        UNSAFE,
        "`frequency_penalty`, `presence_penalty`, `logit_bias` and `prediction` have no equivalent."
        " Dropped on request; the model then answers without them.",
        "client.chat.completions.create(model=MODEL, messages=messages, frequency_penalty=0.5)",
        "client.responses.create(model=MODEL, input=messages, store=False)",
        CREATE,
        step="remove it, or let --unsafe-fixes drop it",
    ),
    Rule(
        "MR112",
        "stop",
        MANUAL,
        "Responses has no stop sequences: text after the stop would be shown to your user. Cut the answer"
        " yourself, or ask for a structured output.",
        'client.chat.completions.create(model=MODEL, messages=messages, stop=["END"])',
        "answer = client.responses.create(model=MODEL, input=messages, store=False)\n"
        'text = answer.output_text.split("END")[0]',
        "https://github.com/langchain-ai/langchain/pull/38336",
        step="trim the text yourself, then remove it",
    ),
    Rule(
        "MR113",
        "n > 1",
        MANUAL,
        "A response is one answer. Send the request several times, at once or in a loop.",
        "answers = client.chat.completions.create(model=MODEL, messages=messages, n=3).choices",
        "answers = [client.responses.create(model=MODEL, input=messages, store=False) for _ in range(3)]",
        GUIDE,
        step="call once per answer",
    ),
    Rule(
        "MR114",
        "Audio",
        MANUAL,
        "Spoken answers (`modalities`, `audio`) exist on Chat Completions only. Leave the call there.",
        "client.chat.completions.create(\n"
        '    model=MODEL, messages=messages, modalities=["text", "audio"], audio=VOICE\n'
        ")",
        "",
        GUIDE,
        step="leave the call here",
    ),
    Rule(
        "MR115",
        "logprobs",
        UNSAFE,
        "`logprobs=True` becomes an entry of `include`, and `top_logprobs` stays. They arrive in"
        " another place, so code that reads them is rewritten by hand: what was"
        " `answer.choices[0].logprobs.content` is `answer.output[i].content[j].logprobs`, where item i is"
        " a message and part j a text. Its elements are the same: `token`, `bytes`, `logprob`,"
        " `top_logprobs`.",
        "client.chat.completions.create(model=MODEL, messages=messages, logprobs=True, top_logprobs=3)",
        "client.responses.create(\n"
        "    model=MODEL,\n"
        "    input=messages,\n"
        '    include=["message.output_text.logprobs"],\n'
        "    top_logprobs=3,\n"
        "    store=False,\n"
        ")",
        "https://github.com/llm-d/llm-d-inference-sim/issues/462",
        step="use --unsafe-fixes if that is fine",
    ),
    Rule(
        "MR116",
        "web_search_options",
        MANUAL,
        "Search models always searched; the `web_search` tool searches when the model wants to, and"
        " needs another model. The user's location loses its inner `approximate` level.",
        "client.chat.completions.create(\n"
        '    model="gpt-4o-search-preview", messages=messages, web_search_options={}\n'
        ")",
        "client.responses.create(\n"
        '    model="gpt-4.1", input=messages, tools=[{"type": "web_search"}], store=False\n'
        ")",
        "https://developers.openai.com/api/docs/guides/tools-web-search",
        step="write both by hand",
    ),
    Rule(
        "MR117",
        "extra_body with foreign keys",
        MANUAL,
        "`extra_body` carries keys that OpenAI does not know: the server is another one, and what"
        " its `/responses` makes of them is unknown.",
        'client.chat.completions.create(model=MODEL, messages=messages, extra_body={"top_k": 40})',
        "",
        "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
        step="take them out, or leave the call here",
    ),
    Rule(
        "MR118",
        "Unknown keyword",
        MANUAL,
        "`responses.create` refuses keywords that it does not know, with a TypeError before"
        " anything is sent.",
        "client.chat.completions.create(model=MODEL, messages=messages, best_of=2)",
        "client.responses.create(model=MODEL, input=messages, store=False)",
        CREATE,
        step="take it out, or leave the call here",
    ),
    Rule(
        "MR119",
        "Arguments that cannot be followed",
        MANUAL,
        "The call takes `**arguments`, and what is in them could not be followed to where they are"
        " built. Write the arguments out, or build the dictionary next to the call.",
        "client.chat.completions.create(**json.load(open(path)))",
        "",
        PROJECT,
        step="write the arguments out at the call",
    ),
    Rule(
        "MR120",
        "Arguments used elsewhere too",
        MANUAL,
        "The dictionary of arguments also goes somewhere else, which expects Chat Completions'"
        " keys: rewriting it would change both. Give each its own.",
        "arguments = dict(model=MODEL, messages=messages)\n"
        "client.chat.completions.create(**arguments)\nlitellm.completion(**arguments)",
        "client.responses.create(model=MODEL, input=messages, store=False)\n"
        "litellm.completion(model=MODEL, messages=messages)",
        PROJECT,
        step="give each a dict of its own",
    ),
)

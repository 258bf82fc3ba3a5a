"""Programs of a larger plan: a class that talks, several callers of one wrapper, a flag for streams, and others."""

from __future__ import annotations

from .answers import readings
from .asking import Client
from .messages import options
from .writer import Lines, Writer, block

USER = '{"role": "user", "content": q}'


def client_lines(source: Client) -> Lines:
    """What a program begins with whose functions would take the client as a parameter."""
    return [f"client = {source.argument}"] if source.parameter else []


def given(w: Writer, *more: str, hard: bool = False) -> str:
    """Keywords of a request that may stand anywhere."""
    chosen = [(key, value) for key, value in options(w, hard) if key != "stream" and value[0] not in "2q"]
    return ", ".join([*(f"{key}={value}" for key, value in chosen), *more])


# What a function makes of its answer, and how its caller shows that.
_MADE: dict[str, tuple[Lines, Lines]] = {
    "text": (["return answer.choices[0].message.content"], ["print({})"]),
    "text_asked": (["return answer.choices[0].message.content"], ["text = {}", "print('none' if text is None else text)"]),
    "text_or": (["return answer.choices[0].message.content or ''"], ["print({} + '!')"]),
    "stripped": (["return (answer.choices[0].message.content or '').strip()"], ["print({}.split())"]),
    "pair": (["return answer.choices[0].message.content, answer.usage.total_tokens"], ["text, used = {}", "print(text, used)"]),
    "row": (['return {"text": answer.choices[0].message.content, "used": answer.usage.prompt_tokens}'], ["row = {}", 'print(row["text"], row.get("used"), row)']),
    "message": (["return answer.choices[0].message"], ["message = {}", "print(message.content, message.role)"]),
    "choice": (["return answer.choices[0]"], ["choice = {}", "print(choice.message.content, choice.finish_reason == 'stop')"]),
    "usage": (["return answer.usage"], ["usage = {}", "print(usage.prompt_tokens + usage.completion_tokens)"]),
    "whole": (["return answer"], ["answer = {}", "print(answer.choices[0].message.content, answer.usage.total_tokens)"]),
    "reason": (["return answer.choices[0].finish_reason"], ["print({} == 'stop')"]),
    "cut": (["return answer.choices[0].finish_reason == 'length'"], ["print({})"]),
    "object": (["return Said(answer.choices[0].message.content, answer.usage)"], ["said = {}", "print(said.text, said.usage.total_tokens)"]),
    "object_reason": (["return Said(answer.choices[0].message.content, answer.choices[0].finish_reason)"], ["said = {}", "print(said.text, said.usage == 'stop')"]),
    "raised": (["if answer.choices[0].finish_reason == 'length':", "    raise ValueError('cut')", "return answer.choices[0].message.content"], ["try:", "    print({})", "except ValueError as error:", "    print(error)"]),
    "checked": (["text = answer.choices[0].message.content", "if text is None:", "    return 'nothing'", "return text.upper()"], ["print({})"]),
    "json": (["return json.loads(answer.choices[0].message.content or '{{}}')"], ["print({})"]),
    "dumped": (["return answer.model_dump()"], ["data = {}", 'print(data["choices"][0]["message"]["content"], data["usage"]["total_tokens"])']),
    "listed": (["return [choice.message.content for choice in answer.choices]"], ["print({}[0])"]),
    "first": (["for choice in answer.choices:", "    if choice.message.content:", "        return choice.message.content"], ["print({})"]),
    "kept": (["KEPT.append(answer)", "return len(KEPT)"], ["{}", "print(KEPT[-1].choices[0].message.content)"]),
    "by_id": (["SEEN[answer.id] = answer.choices[0].message", "return answer.id"], ["print(SEEN[{}].content)"]),
    "counted": (["COUNT['tokens'] += answer.usage.total_tokens", "return answer.choices[0].message.content"], ["print({}, COUNT)"]),
}  # fmt: skip
_HEADS = {
    "object": [
        "from dataclasses import dataclass",
        "@dataclass",
        "class Said:",
        "    text: object",
        "    usage: object",
    ],
    "json": ["import json"],
    "kept": ["KEPT = []"],
    "by_id": ["SEEN = {}"],
    "counted": ["COUNT = {'tokens': 0}"],
}
_HEADS["object_reason"] = _HEADS["object"]


def made(w: Writer, source: Client) -> Lines:
    """Functions that make something of an answer, two of them perhaps on one way."""
    lines = client_lines(source)
    w.turns += [{"text": w.pick("Fine.", '{"n": 3}', "Cut")}, {"text": '{"n": 4}', "finish": "length"}]
    heads: list[str] = []
    shared = w.chance()
    if shared:
        w.add("main", *block("def last(value):", ["return value"]), "", "")
    for name, number in zip(w.some(list(_MADE), 2, 2), "12", strict=True):
        w.pieces.append(f"made:{name}")
        if "json" in name and not w.turns[int(number) - 1]["text"].startswith("{"):
            w.turns[int(number) - 1]["text"] = "{}"
        heads += [line for line in _HEADS.get(name, ()) if line not in heads or line.startswith("    ")]
        body, use = _MADE[name]
        keywords = given(w, f"messages=[{USER}]", hard=True)
        w.sites += 1
        ask = f"answer = {w.wait}{source.at('main')}.chat.completions.create({keywords})"
        inner = [line.replace("{{}}", "{}") for line in body]
        if shared:
            inner = [line.replace("return answer.", "return last(answer).") for line in inner]
        lines += block(f"{w.define} ask{number}(q):", [ask, *inner])
        call = f"{w.wait}ask{number}('Hi')"
        call = f"({call})" if w.asynchronous else call
        lines += [line.replace("{}", call) for line in use]
    return [*dict.fromkeys(heads), *lines]


def callers(w: Writer, source: Client) -> Lines:
    """A wrapper with ``**kw`` and what several callers pass."""
    w.sites += 1
    extra = w.pick("**kw", "model='gpt-4o-mini', **kw", "temperature=0.1, model='gpt-4o', **kw")
    named = "model" in extra
    head = w.pick("def ask(q, **kw):", "def ask(q, limit=None, **kw):", "def ask(q, *, user='me', **kw):")
    more = ", user=user" if "user" in head else ", max_tokens=limit" if "limit" in head else ""
    call = f"{source.at('main')}.chat.completions.create(messages=[{USER}]{more}, {extra})"
    body = w.pick(
        [f"return {w.wait}{call}"],
        ["kw.setdefault('top_p', 0.5)", f"return {w.wait}{call}"],
        ["store = kw.pop('store', False)", f"return {w.wait}{call[:-1]}, store=store)"],
        ["if 'seed' in kw:", "    del kw['seed']", f"return {w.wait}{call}"],
    )
    lines = [*client_lines(source), *block(head.replace("def", w.define), body)]
    for number in range(w.draw_int(2) + 1):
        passed = w.some(
            ["response_format={'type': 'json_object'}", "max_completion_tokens=60", "n=1", "stop=None",
             "metadata={'a': 'b'}", "timeout=9", "response_format={'type': 'text'}", "frequency_penalty=0"], 0, 3,
        )  # fmt: skip
        kinds = {
            item.partition("=")[0]: item for item in passed if not ("limit" in head and "tokens" in item)
        }
        arguments = [*kinds.values(), *([] if named else ["model='gpt-4o-mini'"])]
        as_dict = w.draw_int(2) == 2
        text = ", ".join(arguments)
        if as_dict:
            lines.append(f"options = dict({text})")
            text = "**options"
        w.turns.append({"text": f"Number {number}."})
        lines.append(f"answer = {w.wait}ask('Hi, json.'{', ' if text else ''}{text})")
        lines += readings(w, "answer", 1, 1)
    return lines


def flagged(w: Writer, source: Client) -> Lines:
    """A function whose parameter says whether to stream."""
    w.sites += 1
    keywords = given(w, f"messages=[{USER}]", "stream=stream")
    ask = f"answer = {w.wait}{source.at('main')}.chat.completions.create({keywords})"
    show = block(f"{w.looping} chunk in answer:", ['print(chunk.choices[0].delta.content or "", end="")'])
    way = w.piece("flag", "inside", "outside", "early")
    lines = client_lines(source)
    if way == "inside":
        arms = [*block("if stream:", show), *block("else:", ["print(answer.choices[0].message.content)"])]
        lines += block(f"{w.define} ask(q, stream=False):", [ask, *arms])
        lines += [f"{w.wait}ask('Hi')", f"{w.wait}ask('Hi', stream=True)"]
    elif way == "early":
        early = block("if not stream:", ["return answer.choices[0].message.content"])
        join = [
            "texts = []",
            *block(f"{w.looping} chunk in answer:", ['texts.append(chunk.choices[0].delta.content or "")']),
        ]
        lines += block(f"{w.define} ask(q, stream):", [ask, *early, *join, 'return "".join(texts)'])
        lines += [f"print({w.wait}ask('Hi', False))", f"print({w.wait}ask('Hi', True))"]
    else:
        lines += block(f"{w.define} ask(q, stream=False):", [ask, "return answer"])
        lines += [
            f"print(({w.wait}ask('Hi')).choices[0].message.content)",
            f"answer = {w.wait}ask('Hi', stream=True)",
        ]
        lines += show
    w.turns += [{"text": "Whole."}, {"text": "In two."}]
    return lines


def bot(w: Writer, source: Client) -> Lines:
    """A class that keeps its history, and counts."""
    w.sites += 1
    keywords = given(w, "messages=self.history")
    keep = w.pick(
        'self.history.append({"role": "assistant", "content": text})', "self.history.append(message)",
        'self.add("assistant", text)', "self.history = [*self.history, message]",
    )  # fmt: skip
    count = w.pick(
        "self.used += answer.usage.total_tokens",
        "self.used += answer.usage.prompt_tokens + answer.usage.completion_tokens",
        "self.count(answer.usage)",
    )
    system = w.pick('{"role": "system", "content": system}', 'dict(role="developer", content=system)')
    body = [
        'self.add("user", q)',
        f"answer = {w.wait}self.client.chat.completions.create({keywords})",
        "message = answer.choices[0].message",
        "text = message.content",
        keep,
        count,
        w.pick("return text", "return text or ''", "return message.content"),
    ]
    cls = [
        *block(
            "def __init__(self, system):",
            [
                f"self.client = {source.argument or source.at('main')}",
                f"self.history = [{system}]",
                "self.used = 0",
            ],
        ),
        *block("def add(self, role, content):", ['self.history.append({"role": role, "content": content})']),
        *block("def count(self, usage):", ["self.used += usage.completion_tokens if usage else 0"]),
        *block(f"{w.define} say(self, q):", body),
    ]
    trim = w.pick([], ["print(len(bot.history))"], ["bot.history = bot.history[:1]"], ["bot.history.clear()"])
    w.turns += [{"text": "One."}, {"text": "Two."}]
    return [
        *block("class Bot:", cls),
        "bot = Bot('Be brief.')",
        f"print({w.wait}bot.say('Hi'))",
        *trim,
        f"print({w.wait}bot.say('And?'), bot.used)",
    ]


def helper_stream(w: Writer, source: Client) -> Lines:
    """The events of ``.stream()``."""
    w.sites += 1
    keywords = given(w, 'messages=[{"role": "user", "content": "Hi"}]')
    w.turns.append({"text": "Two words."})
    body = w.pick(
        ['if event.type == "content.delta":', '    print(event.delta, end="")'],
        [
            'if event.type == "content.delta":',
            '    print(event.delta, end="")',
            'elif event.type == "content.done":',
            "    print(event.content)",
        ],
        ["match event.type:", '    case "content.delta":', '        print(event.delta, end="")'],
    )
    end = w.pick(
        [], [f"print(({w.wait}stream.get_final_completion()).choices[0].message.content)"],
        [f"final = {w.wait}stream.get_final_completion()", "print(final.id, final.choices[0].finish_reason == 'stop')"],
    )  # fmt: skip
    head = "async with" if w.asynchronous else "with"
    method = w.pick("chat.completions.stream", "beta.chat.completions.stream")
    loop = [*block(f"{w.looping} event in stream:", body), *end]
    return [
        *client_lines(source),
        *block(f"{head} {source.at('main')}.{method}({keywords}) as stream:", loop),
    ]


def deltas(w: Writer, source: Client) -> Lines:
    """Tool calls that come in pieces."""
    w.sites += 1
    tool = '{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}'
    keywords = given(w, 'messages=[{"role": "user", "content": "Hi"}]', f"tools=[{tool}]", "stream=True")
    call = {"name": "weather", "arguments": {"city": "Oslo"}}
    w.turns.append(
        w.pick(
            {"calls": [call]},
            {"calls": [call, {"name": "weather", "arguments": {"city": "Rome"}}]},
            {"text": "No calls."},
        )
    )
    text = w.pick([], ["if delta.content:", '    print(delta.content, end="")'])
    before, body, after = w.pick(
        (
            ["calls = {}"],
            ["for part in delta.tool_calls or []:", "    if part.index not in calls:",
             '        calls[part.index] = {"id": part.id, "name": part.function.name, "arguments": ""}',
             "    if part.function.arguments:", '        calls[part.index]["arguments"] += part.function.arguments'],
            ["for call in calls.values():", '    print(call["id"], call["name"], call["arguments"])'],
        ),
        (
            ["calls = []"],
            ["for part in delta.tool_calls or []:", "    if part.index >= len(calls):", '        calls.append({"id": "", "name": "", "arguments": ""})',
             "    call = calls[part.index]", "    if part.id:", '        call["id"] = part.id', "    if part.function.name:",
             '        call["name"] = part.function.name', "    if part.function.arguments:", '        call["arguments"] += part.function.arguments'],
            ["print(calls)"],
        ),
        (
            ["name = ''", "arguments = ''"],
            ["if delta.tool_calls:", "    part = delta.tool_calls[0]", "    if part.function.name:", "        name = part.function.name",
             "    if part.function.arguments:", "        arguments += part.function.arguments"],
            ["print(name, arguments)"],
        ),
    )  # fmt: skip
    body = ["delta = chunk.choices[0].delta", *text, *body]
    call_ = f"{w.wait}{source.at('main')}.chat.completions.create({keywords})"
    return [*client_lines(source), *before, *block(f"{w.looping} chunk in {call_}:", body), *after]


def functions(w: Writer, source: Client) -> Lines:
    """The functions of 2023."""
    w.sites += 1
    function = '{"name": "weather", "description": "W.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}'
    choice = w.pick([], ['function_call="auto"'], ['function_call={"name": "weather"}'])
    keywords = given(w, "messages=messages", "functions=FUNCTIONS", *choice)
    w.turns.append(
        w.pick({"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}, {"text": "None needed."})
    )
    read = w.pick(
        ["if message.function_call:", "    print(message.function_call.name, json.loads(message.function_call.arguments))", "else:", "    print(message.content)"],
        ["call = message.function_call", "print(call.name if call is not None else message.content)"],
        ["if message.function_call is None:", "    print(message.content)", "else:", '    print(message.function_call.arguments)'],
    )  # fmt: skip
    return [
        *client_lines(source),
        "import json",
        f"FUNCTIONS = [{function}]",
        'messages = [{"role": "user", "content": "Weather?"}]',
        f"message = ({w.wait}{source.at('main')}.chat.completions.create({keywords})).choices[0].message",
        *read,
    ]


def raw(w: Writer, source: Client) -> Lines:
    """Raw responses."""
    w.sites += 1
    keywords = given(w, 'messages=[{"role": "user", "content": "Hi"}]')
    w.turns.append({"text": "Raw."})
    call = f"raw = {w.wait}{source.at('main')}.chat.completions.with_raw_response.create({keywords})"
    return [
        *client_lines(source),
        call,
        "print(raw.status_code)",
        "answer = raw.parse()",
        *readings(w, "answer", 1, 2),
    ]

"""Messages and options of a request."""

from __future__ import annotations

from .asking import Options
from .writer import Lines, Writer, block


def messages(w: Writer, file: str) -> tuple[Lines, str]:
    """Lines that come first in a function with a parameter ``q``, and the messages."""
    way = w.piece("messages", *_SHAPES, "helper", "constant", "held")
    if way == "helper":
        w.add(file, *block("def build(q):", ['found = [{"role": "system", "content": "Be brief."}]',
              'found.append({"role": "user", "content": q})', "return found"]), "", "")  # fmt: skip
        return [], "build(q)"
    if way == "constant":
        w.add(file, 'SYSTEM = {"role": "system", "content": "Be brief, in JSON."}', "", "")
        return [], '[SYSTEM, {"role": "user", "content": q}]'
    if way == "held":
        w.add(file, "class Talk:", "    def __init__(self):", "        self.messages = []", "",
              "    def say(self, text):", '        self.messages.append({"role": "user", "content": text})', "", "")  # fmt: skip
        return ["talk = Talk()", "talk.say(q)"], "talk.messages"
    lines, expression = _SHAPES[way]
    return list(lines), expression


_USER = '{"role": "user", "content": q}'
_SHAPES: dict[str, tuple[Lines, str]] = {
    "user": ([], f"[{_USER}]"),
    "system": ([], f'[{{"role": "system", "content": "Be brief."}}, {_USER}]'),
    "developer": ([], f'[{{"role": "developer", "content": f"Be brief. {{len(q)}}"}}, {_USER}]'),
    "shots": (
        [],
        '[{"role": "system", "content": "Sum."}, {"role": "user", "content": "1+1"}, '
        f'{{"role": "assistant", "content": "2"}}, {_USER}]',
    ),
    "variable": ([f"messages = [{_USER}]"], "messages"),
    "appended": (["messages = []", f"messages.append({_USER})"], "messages"),
    "inserted": (
        [f"messages = [{_USER}]", 'messages.insert(0, {"role": "system", "content": "Be brief."})'], "messages",
    ),
    "extended": (["messages = []", f"messages.extend([{_USER}])", f"messages += [{_USER}]"], "messages"),
    "added": ([], f'[{{"role": "system", "content": "Be brief."}}] + [{_USER}]'),
    "starred": ([f"history = [{_USER}]"], '[*history, {"role": "user", "content": "Go on."}]'),
    "comprehension": (
        ['pairs = [("system", "Be brief."), ("user", q)]'],
        '[{"role": role, "content": text} for role, text in pairs]',
    ),
    "generator": (['texts = [q]'], '({"role": "user", "content": text} for text in texts)'),
    "looped": (
        ["messages = []", "for text in (q, 'And?'):", '    messages.append({"role": "user", "content": text})'],
        "messages",
    ),
    "dict_calls": ([], '[dict(role="system", content="Be brief."), dict(role="user", content=q)]'),
    "parts": ([], '[{"role": "user", "content": [{"type": "text", "text": q}]}]'),
    "picture": (
        ['url = "https://example.com/a.png"'],
        '[{"role": "user", "content": [{"type": "text", "text": q}, '
        '{"type": "image_url", "image_url": {"url": url, "detail": "low"}}]}]',
    ),
    "parts_built": (
        ['parts = [{"type": "text", "text": q}]',
         'parts.append({"type": "image_url", "image_url": {"url": "https://example.com/b.png"}})'],
        '[{"role": "user", "content": parts}]',
    ),
    "parts_chosen": (
        ['content = [{"type": "text", "text": q}] if len(q) > 3 else q'], '[{"role": "user", "content": content}]',
    ),
    "said_before": (
        ['messages = [{"role": "user", "content": "Hm."}]',
         'messages.append({"role": "assistant", "content": [{"type": "text", "text": "Yes?"}]})',
         f"messages.append({_USER})"],
        "messages",
    ),
    "read_back": (
        [f"messages = [{_USER}]", 'print(messages[-1]["role"], len(messages))'], "messages",
    ),
    "changed": (
        [f"messages = [{_USER}]", 'messages[0]["content"] = messages[0]["content"].strip()'], "messages",
    ),
    "copied": ([f"history = [{_USER}]", "messages = list(history)", f"messages.append({_USER})"], "messages"),
    "json": ([f"messages = [{_USER}]", "import json", "print(json.dumps(messages))"], "messages"),
}  # fmt: skip

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}'
_SAFE: list[tuple[str, str]] = [
    ("max_tokens", "50"), ("temperature", "0.2"), ("top_p", "0.9"), ("store", "False"), ("store", "True"),
    ("user", '"u1"'), ("metadata", '{"job": "a"}'), ("n", "1"), ("stop", "None"), ("seed", "None"),
    ("frequency_penalty", "0"), ("presence_penalty", "0.0"), ("logit_bias", "{}"), ("timeout", "30"),
    ("max_completion_tokens", "64"), ("service_tier", '"auto"'), ("response_format", '{"type": "text"}'),
    ("extra_headers", '{"X-Job": "a"}'), ("verbosity", '"low"'), ("logprobs", "False"), ("stream", "False"),
    ("max_tokens", "20 if len(q) > 99 else 30"), ("store", "None"), ("temperature", "None"), ("user", "q"),
    ("extra_body", '{"max_completion_tokens": 77}'),
]  # fmt: skip
_HARD = [("stop", '["END"]'), ("seed", "7"), ("n", "2"), ("max_tokens", "5"), ("frequency_penalty", "0.5")]
_FORMATS = [
    '{"type": "json_object"}',
    f'{{"type": "json_schema", "json_schema": {{"name": "num", "schema": {SCHEMA}, "strict": True}}}}',
    f'{{"type": "json_schema", "json_schema": {{"name": "num", "schema": {SCHEMA}}}}}',
]


def options(w: Writer, hard: bool = True) -> Options:
    """Arguments beside messages; the model first. A rare one has no counterpart."""
    thinks = w.draw_int(9) == 9
    found: dict[str, str] = {"model": '"gpt-5-mini"' if thinks else '"gpt-4o-mini"'}
    for key, value in w.some(_SAFE, 0, 3):
        found.setdefault(key, value)
    if thinks:
        found["reasoning_effort"] = '"low"'
        for key in ("max_tokens", "temperature", "top_p"):
            found.pop(key, None)
    elif "max_completion_tokens" in found or "extra_body" in found:
        found.pop("max_tokens", None)
    if "extra_body" in found:
        found.pop("max_completion_tokens", None)
    if hard and w.draw_int(19) == 19:
        key, value = w.pick(*_HARD)
        if key == "max_tokens":
            found.pop("max_completion_tokens", None)
            found.pop("extra_body", None)
        found[key] = value
        w.pieces.append(f"option:{key}")
    return list(found.items())


def response_format(w: Writer) -> str:
    """A format that asks for JSON."""
    return w.pick(*_FORMATS)

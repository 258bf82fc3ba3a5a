"""The ways that an answer goes, and what is read of it."""

from __future__ import annotations

from collections.abc import Callable

from .writer import Lines, Writer, block

Wrap = Callable[[Lines], Lines]


def deliver(w: Writer, call: str) -> tuple[Wrap, str]:
    """The answer of ``call`` on its way through ``main.py``: what to put around its readers, and its name."""
    way = w.piece(
        "goes",
        "directly", "function", "tuple", "unpacked", "dict", "dict_get", "dataclass", "namedtuple", "attribute",
        "listed", "generator", "callback", "method", "walrus", "mapped", "zipped", "conditional", "tried",
        "closure", "decorated", "lambda", "appended", "keyword", "stacked", "starred", "looped", "renamed",
    )  # fmt: skip
    call = f"{w.wait}{call}"
    match way:
        case "function":
            w.add("main", *block("def passed(value):", ["return value"]), "", "")
            return _after(f"r = passed({call})"), "r"
        case "tuple":
            return _after(f"pair = ({call}, 1)", "r = pair[0]"), "r"
        case "unpacked":
            return _after(f"r, number = {call}, 1"), "r"
        case "dict":
            return _after(f'box = {{"answer": {call}}}'), 'box["answer"]'
        case "dict_get":
            return _after(f'box = {{"answer": {call}}}', 'r = box.get("answer")'), "r"
        case "dataclass":
            w.need("main", "from dataclasses import dataclass")
            w.add("main", "@dataclass", "class Box:", "    answer: object", "    number: int = 0", "", "")
            return _after(f"box = Box({call})"), "box.answer"
        case "namedtuple":
            w.need("main", "from typing import Any, NamedTuple")
            w.add("main", "class Row(NamedTuple):", "    answer: Any", "    number: int", "", "")
            return _after(f"row = Row({call}, 1)"), "row.answer"
        case "attribute":
            w.add("main", "class Box:", "    last = None", "", "box = Box()", "", "")
            return _after(f"box.last = {call}", "r = box.last"), "r"
        case "listed":
            return _around(f"for r in [{call} for _ in range(1)]:"), "r"
        case "looped":
            return _around("for number in range(1):", f"r = {call}"), "r"
        case "generator" if not w.asynchronous:
            w.add("main", *block("def each(count):", ["for _ in range(count):", f"    yield {call}"]), "", "")
            return _around("for r in each(1):"), "r"
        case "callback":
            return _called_back(call), "r"
        case "method":
            body = [f"self.last = {call}", "return self.last"]
            w.add(
                "main",
                "class Asker:",
                *(f"    {line}" for line in block(f"{w.define} ask(self):", body)),
                "",
                "",
            )
            return _after(f"r = {w.wait}Asker().ask()"), "r"
        case "walrus":
            return _around(f"if (r := {call}):"), "r"
        case "mapped" if not w.asynchronous:
            return _around(f"for r in map(lambda number: {call}, [1]):"), "r"
        case "zipped":
            return _around(f"for name, r in zip(['a'], [{call}]):"), "r"
        case "conditional":
            return _after(f"r = {call} if len('x') else None"), "r"
        case "tried":
            lines = [
                "try:",
                f"    r = {call}",
                "except ValueError as error:",
                "    print(error)",
                "    raise",
            ]
            return _after(*lines), "r"
        case "closure":
            return _after(*block(f"{w.define} inner():", [f"return {call}"]), f"r = {w.wait}inner()"), "r"
        case "decorated" if not w.asynchronous:
            w.need("main", "import functools")
            inner = [
                "@functools.wraps(f)",
                *block("def inner(*args, **kwargs):", ["return f(*args, **kwargs)"]),
            ]
            w.add("main", *block("def again(f):", [*inner, "return inner"]), "", "")
            w.add("main", "@again", *block("def asked():", [f"return {call}"]), "", "")
            return _after("r = asked()"), "r"
        case "lambda" if not w.asynchronous:
            return _after(f"asked = lambda: {call}", "r = asked()"), "r"
        case "appended":
            return _after("answers = []", f"answers.append({call})"), "answers[0]"
        case "keyword":
            w.add("main", *block("def passed(*, value, number=0):", ["return value"]), "", "")
            return _after(f"r = passed(value={call})"), "r"
        case "stacked":
            return _after(f"answers = {{'a': [{call}]}}", "r = answers['a'][-1]"), "r"
        case "starred":
            return _after(f"first, *others = [{call}]"), "first"
        case "renamed":
            return _after(f"response = {call}", "r = response"), "r"
        case _:
            return _after(f"r = {call}"), "r"


def _after(*lines: str) -> Wrap:
    return lambda body: [*lines, *body]


def _around(head: str, *first: str) -> Wrap:
    return lambda body: block(head, [*first, *body])


def _called_back(call: str) -> Wrap:
    """The readers stand in a function that another one calls with the answer."""

    def wrap(body: Lines) -> Lines:
        lines = [*block("def handle(r):", body), *block("def run(on_answer, got):", ["on_answer(got)"])]
        return [*lines, f"run(handle, {call})"]

    return wrap


# What is read: {r} the answer, {c} its choice, {m} its message, {t} its text, {u} its usage.
READINGS: dict[str, Lines] = {
    "print": ["print({t})"],
    "or": ['print({t} or "nothing")'],
    "fstring": ['print(f"said: {{{t}}}")'],
    "strip": ['print(({t} or "").strip().upper())'],
    "none": ["if {t} is None:", '    print("none")', "else:", "    print(len({t}))"],
    "not_none": ["text = {t}", "if text is not None:", "    print(text.split())"],
    "truth": ["text = {t}", "print(text if text else 0)"],
    "row": ['row = {{"text": {t}, "tokens": {u}.total_tokens}}', "print(row)"],
    "pair": ["text, tokens = {t}, {u}.prompt_tokens", "print(text, tokens)"],
    "json": ["import json", 'print(json.dumps({{"text": {t}, "id": {r}.id}}))'],
    "listed": ["texts = [choice.message.content for choice in {r}.choices]", "print(texts)"],
    "joined": ['print("".join(choice.message.content or "" for choice in {r}.choices))'],
    "choices": ["for number, choice in enumerate({r}.choices):", "    print(number, choice.index, choice.message.content)"],
    "count": ["print(len({r}.choices))"],
    "any_choices": ["if {r}.choices:", "    print({t})"],
    "finish": ['if {c}.finish_reason == "stop":', '    print("ended")', "else:", '    print("cut")'],
    "finish_in": ['print({c}.finish_reason in ("stop", "length"))'],
    "finish_not": ['if {c}.finish_reason != "length":', "    print({t})"],
    "finish_chain": [
        "reason = {c}.finish_reason", 'if reason == "length":', '    print("long")',
        'elif reason == "content_filter":', '    print("bad")', 'elif reason == "tool_calls":',
        '    print("calls")', 'elif reason == "stop":', '    print("fine")',
    ],
    "finish_match": [
        "match {c}.finish_reason:", '    case "stop":', '        print("fine")', '    case "length" | "content_filter":',
        '        print("bad")', "    case other:", '        print("else")',
    ],
    "finish_bare": ["print({c}.finish_reason)"],
    "usage": ["print({u}.prompt_tokens, {u}.completion_tokens)"],
    "usage_if": ["usage = {u}", "if usage:", "    print(usage.prompt_tokens + usage.completion_tokens)"],
    "usage_and": ["print({u} and {u}.total_tokens)"],
    "usage_details": [
        "details = {u}.prompt_tokens_details", "print(details.cached_tokens if details else 0)",
        "print({u}.completion_tokens_details.reasoning_tokens)",
    ],
    "usage_row": ['print(dict(prompt={u}.prompt_tokens, answer={u}.completion_tokens))'],
    "usage_getattr": ['print(getattr({u}, "completion_tokens", 0))'],
    "usage_sum": ["total = 0", "total += {u}.total_tokens if {u} else 0", "print(total)"],
    "usage_dump": ['print({u}.model_dump()["prompt_tokens"])'],
    "ids": ["print({r}.id, {r}.model)"],
    "created": ["print({r}.created > 0)"],
    "role": ["print({m}.role, {t})"],
    "calls_if": ["if {m}.tool_calls:", '    print("calls")', "else:", "    print({t})"],
    "calls_none": ["print({m}.tool_calls is None)"],
    "refusal": ["if {m}.refusal:", "    print({m}.refusal)", "else:", "    print({t})"],
    "dumped": ['print({r}.model_dump()["choices"][0]["message"]["content"])'],
    "to_dict": ["data = {r}.to_dict()", 'print(data["usage"]["total_tokens"], data["choices"][0]["finish_reason"] == "stop")'],
    "loaded": ["import json", "data = json.loads({r}.model_dump_json())", 'print(data["choices"][0]["message"]["content"])'],
    "hasattr": ['if hasattr({r}, "choices") and {r}.choices:', "    print({t})"],
    "isinstance": ["print(isinstance({t}, str))"],
    "compared": ['print({t} == "Fine.", "i" in ({t} or ""))'],
    "sliced": ["text = {t}", 'print(text[:3] if text else "")'],
    "caught": ["try:", "    print(len({t}))", "except TypeError:", '    print("nothing")'],
    "json_caught": [
        "import json", "try:", "    data = json.loads({t})", "except (TypeError, ValueError):", "    data = None",
        "print(data)",
    ],
    "type_caught": [
        "import json", "try:", "    print(json.loads({t}))", "except TypeError:", '    print("nothing")',
        "except json.JSONDecodeError:", '    print("no json")',
    ],
    "asserted": ["assert {r}.choices", "print({t})"],
    "raised": ["if not {t}:", '    print("empty")', "else:", "    print({t}.title())"],
    "collected": ["texts = []", "texts.append({t})", "print(texts, texts[0])"],
    "keyed": ["seen = {{}}", "seen[{r}.id] = {t}", "print(list(seen.values()))"],
    "percent": ['print("%s by %s" % ({t}, {r}.model))'],
    "format": ['print("{{}} ({{}})".format({t}, {u}.total_tokens))'],
    "shown": ['import sys', 'sys.stdout.write(str({t}) + "\\n")'],
    "lambda": ["show = lambda value: print(value.choices[0].message.content)", "show({r})"],
    "sorted": ["print(sorted([{u}.prompt_tokens, {u}.completion_tokens]))"],
    "ternary": ['label = "cut" if {c}.finish_reason == "length" else "whole"', "print(label)"],
    "flag": ['done = {c}.finish_reason == "stop" and bool({t})', "print(done)"],
    "getattr": ['print(getattr({m}, "content", None))'],
    "set": ["print({c}.finish_reason in {{'stop', 'tool_calls'}}, not {c}.finish_reason)"],
}  # fmt: skip
_FUNCTIONS: dict[str, tuple[Lines, str]] = {
    "text_of": (["def text_of(answer):", "    return answer.choices[0].message.content"], "print(text_of({r}))"),
    "tokens_of": (["def tokens_of(usage):", "    return usage.prompt_tokens, usage.completion_tokens"], "print(tokens_of({u}))"),
    "is_done": (["def is_done(choice):", '    return choice.finish_reason == "stop"'], "print(is_done({c}))"),
    "summary": (
        ["def summary(answer):", "    message = answer.choices[0].message",
         '    return {{"role": message.role, "text": message.content, "used": answer.usage.total_tokens}}'],
        'print(summary({r})["text"], summary({r}))',
    ),
    "said": (["def said(message):", '    return (message.content or "").strip()'], "print(said({m}))"),
    "or_none": (["def or_none(answer):", "    if not answer.choices:", "        return None", "    return answer.choices[0].message.content"], "print(or_none({r}))"),
    "split": (["def split(answer):", "    choice = answer.choices[0]", "    return choice.message.content, choice.finish_reason"], "print(split({r})[0])"),
    "reason_of": (["def reason_of(answer):", "    return answer.choices[0].finish_reason"], 'print(reason_of({r}) == "stop")'),
}  # fmt: skip


# Ways of a part of the answer, inside the code that reads it: lines, and where the part {x} is afterwards.
_WAYS: dict[str, tuple[Lines, str]] = {
    "name": (["part = {x}"], "part"),
    "dict": (["box = {{'part': {x}}}"], "box['part']"),
    "dict_call": (["box = dict(part={x}, size=1)"], "box['part']"),
    "stored": (["box = {{}}", "box['part'] = {x}"], "box['part']"),
    "updated": (["box = {{'size': 1}}", "box.update(part={x})"], "box['part']"),
    "got": (["box = {{'part': {x}}}", "part = box.get('part')"], "part"),
    "list": (["parts = [{x}]"], "parts[0]"),
    "last": (["parts = []", "parts.append({x})"], "parts[-1]"),
    "tuple": (["part, size = {x}, 1"], "part"),
    "nested": (["(part, size), rest = ({x}, 1), 2"], "part"),
    "lambda": (["same = lambda value: value", "part = same({x})"], "part"),
    "called": (["part = (lambda: {x})()"], "part"),
    "next": (["part = next(iter([{x}]))"], "part"),
    "comprehension": (["part = [value for value in [{x}]][0]"], "part"),
    "dict_comprehension": (["box = {{name: value for name, value in [('a', {x})]}}"], "box['a']"),
    "namespace": (["from types import SimpleNamespace", "holder = SimpleNamespace(part={x})"], "holder.part"),
    "class": (["class Holder:", "    part = None", "Holder.part = {x}"], "Holder.part"),
    "instance": (
        ["class Holder:", "    def __init__(self, part):", "        self.part = part", "holder = Holder({x})"], "holder.part",
    ),
    "property": (
        ["class Holder:", "    def __init__(self, part):", "        self._part = part", "    @property",
         "    def part(self):", "        return self._part", "holder = Holder({x})"],
        "holder.part",
    ),
    "conditional": (["part = {x} if {r} else None"], "part"),
    "or": (["part = None or {x}"], "part"),
    "starred": (["part, *rest = [{x}]"], "part"),
    "default": (["def shown(part={x}):", "    return part", "part = shown()"], "part"),
    "keywords": (["def shown(**kw):", "    return kw['part']", "part = shown(part={x})"], "part"),
    "arguments": (["def shown(*args):", "    return args[0]", "part = shown({x})"], "part"),
    "splat": (["def shown(part, size):", "    return part", "part = shown(**{{'part': {x}, 'size': 1}})"], "part"),
    "generator": (["def each():", "    yield {x}", "part = list(each())[0]"], "part"),
    "zip": (["for part, size in zip([{x}], [1]):", "    pass"], "part"),
    "map": (["part = list(map(lambda value: value, [{x}]))[0]"], "part"),
    "sorted": (["part = sorted([{x}], key=lambda value: 1)[0]"], "part"),
    "walrus": (["if (part := {x}) is not None:", "    pass"], "part"),
    "partial": (["from functools import partial", "shown = partial(lambda value, size: value, {x})", "part = shown(1)"], "part"),
    "reduce": (["from functools import reduce", "part = reduce(lambda one, other: other, [{x}], None)"], "part"),
    "setattr": (["class Holder:", "    pass", "holder = Holder()", "setattr(holder, 'part', {x})"], "getattr(holder, 'part')"),
    "enumerate": (["for number, part in enumerate([{x}]):", "    pass"], "part"),
    "slice": (["parts = [{x}, {x}][1:]"], "parts[0]"),
    "copied": (["import copy", "part = copy.copy({x})"], "part"),
    "match": (["match [{x}]:", "    case [part]:", "        pass"], "part"),
    "setdefault": (["box = {{}}", "part = box.setdefault('part', {x})"], "part"),
    "pop": (["parts = [{x}]", "part = parts.pop()"], "part"),
    "try": (["try:", "    part = {x}", "except Exception:", "    part = None"], "part"),
    "queue": (["from queue import Queue", "queue = Queue()", "queue.put({x})", "part = queue.get()"], "part"),
    "context": (
        ["from contextlib import contextmanager", "@contextmanager", "def held():", "    yield {x}", "with held() as part:", "    pass"],
        "part",
    ),
}  # fmt: skip


def routed(w: Writer, part: str, r: str) -> tuple[Lines, str]:
    """A part of the answer on a way of its own."""
    name = w.pick(*_WAYS)
    w.pieces.append(f"way:{name}")
    lines, end = _WAYS[name]
    return [line.format(x=part, r=r) for line in lines], end


def readings(w: Writer, r: str, least: int = 1, most: int = 3) -> Lines:
    """Lines of ``main.py`` that read the answer ``r``."""
    lines: Lines = []
    c, m, t, u = f"{r}.choices[0]", f"{r}.choices[0].message", "", f"{r}.usage"
    match w.draw_int(9):
        case 1:
            lines, c, m = [f"choice = {c}"], "choice", "choice.message"
        case 2:
            lines, m = [f"message = {m}"], "message"
        case 3:
            lines, t = [f"content = {m}.content"], "content"
        case 4:
            lines, c = routed(w, c, r)
            m = f"{c}.message"
        case 5:
            lines, m = routed(w, m, r)
        case 6:
            lines, t = routed(w, f"{m}.content", r)
        case 7:
            lines, u = routed(w, u, r)
    t = t or f"{m}.content"
    for name in w.some([*READINGS, *_FUNCTIONS], least, most):
        w.pieces.append(f"reads:{name}")
        body, use = _FUNCTIONS.get(name, ([], ""))
        w.add("main", *(line.format() for line in body), *(["", ""] if body else []))
        lines += [line.format(r=r, c=c, m=m, t=t, u=u) for line in ([use] if body else READINGS[name])]
    return lines

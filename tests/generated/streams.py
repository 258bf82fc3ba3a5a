"""Streams: how they are asked for, where they go, and what is done with their chunks."""

from __future__ import annotations

from .asking import Client
from .messages import options
from .writer import Lines, Writer, block

_TEXT = "chunk.choices[0].delta.content"
# What is done with a chunk, and what is shown after the last; `before` comes first.
_BODIES: dict[str, tuple[Lines, Lines, Lines]] = {
    "print": ([], [f"if {_TEXT}:", f'    print({_TEXT}, end="")'], ["print()"]),
    "not_none": ([], [f"if {_TEXT} is not None:", f'    print({_TEXT}, end="")'], ["print()"]),
    "or": ([], [f'print({_TEXT} or "", end="")'], ["print()"]),
    "delta": ([], ["delta = chunk.choices[0].delta", "if delta.content:", '    print(delta.content, end="")'], ["print()"]),
    "walrus": ([], [f"if text := {_TEXT}:", '    print(text, end="")'], ["print()"]),
    "added": (['whole = ""'], [f"text = {_TEXT}", "if text:", "    whole += text"], ["print(whole)"]),
    "added_or": (['whole = ""'], [f'whole += {_TEXT} or ""'], ["print(whole)"]),
    "collected": (["texts = []"], [f"if {_TEXT}:", f"    texts.append({_TEXT})"], ['print("".join(texts), len(texts))']),
    "skip": (["texts = []"], ["if not chunk.choices:", "    continue", "delta = chunk.choices[0].delta", "if delta and delta.content:", "    texts.append(delta.content)"], ['print("".join(texts))']),
    "continue": (["texts = []"], [f"text = {_TEXT}", "if not text:", "    continue", "texts.append(text)", "print(text)"], ["print(texts)"]),
    "choices_and": ([], [f"if chunk.choices and {_TEXT}:", f'    print({_TEXT}, end="")'], ["print()"]),
    "finish": ([], [f"if {_TEXT}:", f'    print({_TEXT}, end="")', 'if chunk.choices[0].finish_reason == "stop":', '    print("!")'], []),
    "finish_break": ([], ["choice = chunk.choices[0]", "if choice.finish_reason:", "    break", 'print(choice.delta.content or "", end="")'], ["print()"]),
    "finish_kept": (["reason = None"], [f'print({_TEXT} or "", end="")', "if chunk.choices[0].finish_reason is not None:", "    reason = chunk.choices[0].finish_reason"], ['print(reason == "length")']),
    "role": ([], ["delta = chunk.choices[0].delta", "if delta.role:", "    print(delta.role)", "if delta.content:", "    print(delta.content)"], []),
    "each_choice": ([], ["for choice in chunk.choices:", "    if choice.delta.content:", '        print(choice.delta.content, end="")'], ["print()"]),
    "getattr": ([], ['text = getattr(chunk.choices[0].delta, "content", None)', "if text:", "    print(text)"], []),
    "counted": (["number = 0"], [f"if {_TEXT}:", "    number += 1"], ["print(number)"]),
    "try": ([], ["try:", f'    print({_TEXT} or "", end="")', "except IndexError:", "    pass"], ["print()"]),
}  # fmt: skip
_USAGE: tuple[Lines, Lines, Lines] = (
    ["usage = None"],
    ["if chunk.usage:", "    usage = chunk.usage", "if chunk.choices and chunk.choices[0].delta.content:", '    print(chunk.choices[0].delta.content, end="")'],
    ["print()", "print(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)"],
)  # fmt: skip
_USAGE_SHOWN: tuple[Lines, Lines, Lines] = (
    [],
    ["if chunk.choices:", f'    print({_TEXT} or "", end="")', "if chunk.usage is not None:", "    print(chunk.usage.total_tokens)"],
    [],
)  # fmt: skip
_YIELDS = ("print", "or", "delta", "walrus", "not_none", "choices_and")


def stream(w: Writer, source: Client) -> Lines:
    """A streamed answer."""
    w.turns.append(
        w.pick({"text": "Once upon a time."}, {"text": "One"}, {"text": "Cut off here", "finish": "length"})
    )
    given = [*options(w), ("messages", '[{"role": "user", "content": q}]'), ("stream", "True")]
    given = [item for number, item in enumerate(given) if item[0] != "stream" or number == len(given) - 1]
    way = w.piece("chunks", *_BODIES, "usage", "usage_shown")
    if way.startswith("usage"):
        given.append(("stream_options", '{"include_usage": True}'))
    before, body, after = _BODIES.get(way) or (_USAGE if way == "usage" else _USAGE_SHOWN)
    w.sites += 1
    keywords = ", ".join(f"{key}={value}" for key, value in given)
    route = w.piece(
        "streamed", "inline", "variable", "function", "with", "yielded", "passed", "returned_text"
    )
    home = "main" if source.wraps or source.parameter else w.home("service")
    call = f"{w.wait}{source.at(home)}.chat.completions.create({keywords})"
    top = ['q = "Tell."', *([f"client = {source.argument}"] if source.parameter else [])]
    here = ['q = "Tell."'] if home != "main" else []
    match route:
        case "variable" if home == "main":
            return [*top, *before, f"stream = {call}", *block(f"{w.looping} chunk in stream:", body), *after]
        case "with" if home == "main" and not w.asynchronous:
            return [
                *top,
                *before,
                *block(f"with {call} as stream:", block("for chunk in stream:", body)),
                *after,
            ]
        case "passed" if home == "main":
            lines = [*before, *block(f"{w.looping} chunk in stream:", body), *after]
            w.add("main", *block(f"{w.define} show(stream):", lines), "", "")
            return [*top, f"{w.wait}show({call})"]
        case "returned_text" if (
            not source.parameter and not source.wraps and way in ("added", "added_or", "collected")
        ):
            value = "whole" if way != "collected" else '"".join(texts)'
            lines = [*before, *block(f"{w.looping} chunk in {call}:", body), f"return {value}"]
            w.add(home, *block(f"{w.define} told(q):", lines), "", "")
            return [f'print({w.wait}{w.at("main", "told", home)}("Tell."))']
        case "yielded" if not source.parameter and not source.wraps and way in _YIELDS:
            lines = [_yielding(line) for line in body]
            w.add(home, *block(f"{w.define} told(q):", block(f"{w.looping} chunk in {call}:", lines)), "", "")
            name = w.at("main", "told", home)
            return block(f'{w.looping} text in {name}("Tell."):', ['print(text, end="")'])
        case "function" if not source.parameter and not source.wraps:
            w.add(home, *block(f"{w.define} told(q):", [f"return {call}"]), "", "")
            name = w.at("main", "told", home)
            return [*before, *block(f'{w.looping} chunk in {w.wait}{name}("Tell."):', body), *after]
        case _:
            call = f"{w.wait}{source.at('main')}.chat.completions.create({keywords})"
            assert here is not None
            return [*top, *before, *block(f"{w.looping} chunk in {call}:", body), *after]


def _yielding(line: str) -> str:
    """``print(x, end="")`` as ``yield x``."""
    indent = line[: len(line) - len(line.lstrip())]
    inner = line.strip()
    if not inner.startswith("print("):
        return line
    return f"{indent}yield {inner.removeprefix('print(').rpartition(', end=')[0]}"

"""Whole programs."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import scenes, streams, tools
from .answers import deliver, readings
from .asking import Client, Options, ask, client
from .messages import messages, options, response_format
from .writer import Lines, Program, Turn, Writer, block


@st.composite
def programs(draw: Any) -> Program:
    """A program that asks for something and shows what it gets."""
    w = Writer(draw)
    source = client(w)
    scene = w.piece(
        "scene",
        "text", "text", "stream", "text", "tools", "loop", "parsed", "talk", "made", "made", "callers", "flagged",
        "bot", "helper", "deltas", "functions", "raw",
    )  # fmt: skip
    body = {
        "text": _text, "stream": streams.stream, "tools": tools.calls, "loop": tools.loop, "parsed": _parsed,
        "talk": _talk, "made": scenes.made, "callers": scenes.callers, "flagged": scenes.flagged, "bot": scenes.bot,
        "helper": scenes.helper_stream, "deltas": scenes.deltas, "functions": scenes.functions, "raw": scenes.raw,
    }[scene](w, source)  # fmt: skip
    _main(w, source, body)
    return w.program()


def _main(w: Writer, source: Client, body: Lines) -> None:
    for head in reversed(source.wraps):
        body = block(head, body)
    if w.asynchronous:
        w.need("main", "import asyncio")
        w.add("main", *block("async def main():", body), "", "", "asyncio.run(main())")
    elif w.chance() and not source.wraps:
        w.add("main", *block("def main():", body), "", "", 'if __name__ == "__main__":', "    main()")
    else:
        w.add("main", *body)


TEXTS = ("Fine.", "A longer answer, in words.", '{"n": 3}')
USAGE = {"input": 21, "output": 9, "cached": 4, "reasoning": 2}


def turn(w: Writer, as_json: bool, may_refuse: bool) -> Turn:
    """What the server says."""
    way = w.draw_int(9)
    found: Turn = {"text": '{"n": 3}' if as_json else w.pick(*TEXTS)}
    if way == 7:
        found["finish"] = "length"
    elif way == 8:
        found["finish"] = "content_filter"
    elif way == 9 and may_refuse:
        found = {"refusal": "No."}
    if w.chance():
        found["usage"] = USAGE
    return found


def _is_schema(extra: Options) -> bool:
    return any("json_schema" in value for _, value in extra)


def fetch(w: Writer, source: Client, extra: Options, method: str = "chat.completions.create") -> str:
    """A function that asks, and the call of it in ``main.py``; or what asks, where it must stand there."""
    given = [item for item in options(w) if item[0] not in dict(extra)]
    if method != "chat.completions.create":
        given = [item for item in given if item[0] != "stream"]
    if source.wraps:
        w.sites += 1
        given += [("messages", '[{"role": "user", "content": "Hi, json."}]'), *extra]
        keywords = ", ".join(f"{key}={value}" for key, value in given if value[0] not in "2q")
        return f"{source.at('main')}.{method}({keywords})"
    home = w.home("service")
    lines, sent = messages(w, home)
    given = [given[0], ("messages", sent), *given[1:], *extra]
    before, call = ask(w, home, f"{source.at(home)}.{method}", given)
    parameters = ", ".join(filter(None, [source.parameter, "q"]))
    w.add(
        home, *block(f"{w.define} fetch({parameters}):", [*lines, *before, f"return {w.wait}{call}"]), "", ""
    )
    arguments = ", ".join(filter(None, [source.argument, '"Hi, json."']))
    return f"{w.at('main', 'fetch', home)}({arguments})"


def _text(w: Writer, source: Client) -> Lines:
    as_json = w.draw_int(4) == 4
    extra = [("response_format", response_format(w))] if as_json else []
    w.turns.append(turn(w, as_json, _is_schema(extra)))
    wrap, r = deliver(w, fetch(w, source, extra))
    return wrap(readings(w, r))


def _parsed(w: Writer, source: Client) -> Lines:
    home = "main" if source.wraps else w.home("service")
    w.need(home, "from pydantic import BaseModel")
    w.add(home, "class Num(BaseModel):", "    n: int", "", "")
    w.turns.append(w.pick({"text": '{"n": 3}'}, {"text": '{"n": 4}', "usage": USAGE}, {"refusal": "No."}))
    method = w.pick("chat.completions.parse", "beta.chat.completions.parse")
    wrap, r = deliver(w, fetch(w, source, [("response_format", "Num")], method))
    lines = w.pick(
        [f"print({r}.choices[0].message.parsed)"],
        [f"message = {r}.choices[0].message", "if message.parsed:", "    print(message.parsed.n)", "else:",
         "    print(message.refusal)"],
        [f"event = {r}.choices[0].message.parsed", "print(event.n if event is not None else None)"],
    )  # fmt: skip
    return wrap(lines + readings(w, r, 0, 1))


def _talk(w: Writer, source: Client) -> Lines:
    """A history that grows by the answers."""
    w.turns += [{"text": "One."}, {"text": "Two.", "usage": USAGE}]
    kept = w.piece(
        "keeps", "content", "message", "dumped", "rebuilt", "or_empty", "plus",
    )  # fmt: skip
    given = [*options(w), ("messages", "history")]
    w.sites += 1
    keywords = ", ".join(f"{key}={value}" for key, value in given)
    keep = {
        "content": 'history.append({"role": "assistant", "content": message.content})',
        "or_empty": 'history.append({"role": "assistant", "content": message.content or ""})',
        "message": "history.append(message)",
        "dumped": "history.append(message.model_dump(exclude_none=True))",
        "rebuilt": 'history.append({"role": message.role, "content": message.content})',
        "plus": "history = history + [message]",
    }[kept]
    body = [
        'history.append({"role": "user", "content": q})',
        f"answer = {w.wait}{source.at('main')}.chat.completions.create({keywords})",
        "message = answer.choices[0].message",
        keep,
        *readings(w, "answer", 0, 2),
        "print(message.content)",
    ]
    lines = [
        'history = [{"role": "system", "content": "Be brief."}]',
        *block("for q in ('Hi', 'Well?'):", body),
    ]
    if source.parameter:
        lines = [f"client = {source.argument}", *lines]
    return lines + w.pick(
        [], ["print(len(history))"], ['print(history[0]["role"], history[-1])'] if kept == "content" else []
    )

"""Tools: how they are written, calls that are read, and loops that answer them."""

from __future__ import annotations

from .asking import Client, ask
from .messages import options
from .writer import Lines, Turn, Writer, block

_PARAMETERS = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'
_FUNCTION = f'{{"name": "weather", "description": "The weather.", "parameters": {_PARAMETERS}}}'
_TOOL = f'{{"type": "function", "function": {_FUNCTION}}}'
_CALLS: list[Turn] = [
    {"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]},
    {
        "calls": [
            {"name": "weather", "arguments": {"city": "Oslo"}},
            {"name": "weather", "arguments": {"city": "Rome"}},
        ]
    },
    {"text": "Let me see.", "calls": [{"name": "weather", "arguments": {"city": "Bonn"}}]},
]


def offered(w: Writer, file: str) -> str:
    """Tools, and the expression for them in ``file``."""
    match w.piece(
        "tools", "inline", "constant", "helper", "appended", "comprehension", "dict_call", "class_held"
    ):
        case "inline":
            return f"[{_TOOL}]"
        case "helper":
            lines = block("def tool(name, text, parameters):", [
                'return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}'
            ])  # fmt: skip
            w.add(file, *lines, "", "")
            return f'[tool("weather", "The weather.", {_PARAMETERS})]'
        case "appended":
            w.add(file, "TOOLS = []", f"TOOLS.append({_TOOL})", "", "")
        case "comprehension":
            w.add(file, f"FUNCTIONS = [{_FUNCTION}]", "", "")
            return '[{"type": "function", "function": function} for function in FUNCTIONS]'
        case "dict_call":
            w.add(
                file,
                f'TOOLS = [dict(type="function", function=dict(name="weather", parameters={_PARAMETERS}))]',
                "",
                "",
            )
        case "class_held":
            w.add(file, "class Kit:", f"    tools = [{_TOOL}]", "", "")
            return "Kit.tools"
        case _:
            w.add(file, f"TOOLS = [{_TOOL}]", "", "")
    return "TOOLS"


def _choice(w: Writer) -> list[tuple[str, str]]:
    return w.pick(
        [], [], [("tool_choice", '"auto"')], [("tool_choice", '"required"')],
        [("parallel_tool_calls", "True")],
        [("tool_choice", '{"type": "function", "function": {"name": "weather"}}')],
    )  # fmt: skip


_READS: dict[str, Lines] = {
    "each": ["for call in {m}.tool_calls or []:", "    print(call.id, call.function.name, call.function.arguments)"],
    "first": ["call = {m}.tool_calls[0]", "print(call.function.name, json.loads(call.function.arguments)['city'])"],
    "if": ["if {m}.tool_calls:", "    for call in {m}.tool_calls:", "        print(call.function.name)", "else:", "    print({m}.content)"],
    "count": ["print(len({m}.tool_calls or []))"],
    "names": ["print([call.function.name for call in {m}.tool_calls or []])"],
    "dict": ["found = {{call.id: json.loads(call.function.arguments) for call in {m}.tool_calls or []}}", "print(found)"],
    "none": ["calls = {m}.tool_calls", "if calls is None:", "    calls = []", "print(len(calls))"],
    "content": ["print({m}.content)"],
    "finish": ['if {c}.finish_reason == "tool_calls":', '    print("calls")', "else:", '    print("text")'],
    "type": ['for call in {m}.tool_calls or []:', '    if call.type == "function":', "        print(call.function.arguments)"],
    "function": ["call = {m}.tool_calls[0]", "function = call.function", "print(function.name, call.id)"],
    "helper": ["def run(call):", "    return call.function.name, json.loads(call.function.arguments)", "print([run(call) for call in {m}.tool_calls or []])"],
    "enumerate": ["for number, call in enumerate({m}.tool_calls or []):", "    print(number, call.function.name)"],
    "unpacked": ["[call] = {m}.tool_calls[:1]", "print(call.function.name)"],
    "any": ["print(any(call.function.name == 'weather' for call in {m}.tool_calls or []))"],
    "while": ["calls = list({m}.tool_calls or [])", "while calls:", "    print(calls.pop(0).function.name)"],
}  # fmt: skip


def calls(w: Writer, source: Client) -> Lines:
    """One request whose calls are read."""
    w.need("main", "import json")
    w.turns.append(w.pick(*_CALLS))
    home = "main" if source.wraps or source.parameter else w.home("service")
    given = [
        *options(w),
        ("messages", '[{"role": "user", "content": "Weather?"}]'),
        ("tools", offered(w, home)),
    ]
    if source.wraps or source.parameter:
        w.sites += 1
        keywords = ", ".join(f"{key}={value}" for key, value in [*given, *_choice(w)])
        lines = [f"client = {source.argument}"] if source.parameter else []
        lines.append(f"answer = {w.wait}{source.at('main')}.chat.completions.create({keywords})")
    else:
        given[1:1] = [given.pop(-2)]
        before, call = ask(w, home, f"{source.at(home)}.chat.completions.create", [*given, *_choice(w)])
        q = ['q = "?"'] if any("q" in value for _, value in given) else []
        w.add(home, *block(f"{w.define} fetch():", [*q, *before, f"return {w.wait}{call}"]), "", "")
        lines = [f"answer = {w.wait}{w.at('main', 'fetch', home)}()"]
    if any(value in ("q", "20 if len(q) > 99 else 30") for _, value in given):
        lines.insert(0, 'q = "?"')
    c, m = "answer.choices[0]", "answer.choices[0].message"
    if w.chance():
        lines.append(f"message = {m}")
        m = "message"
    for name in w.some(list(_READS), 1, 3):
        w.pieces.append(f"calls:{name}")
        lines += [line.format(c=c, m=m) for line in _READS[name]]
    return lines


def loop(w: Writer, source: Client) -> Lines:
    """Ask, run the calls, and ask again."""
    w.need("main", "import json")
    w.turns += [w.pick(*_CALLS), {"text": "Sunny."}]
    w.sites += 1
    tools = offered(w, "main")
    w.add("main", "def weather(city):", '    return {"city": city, "sky": "clear"}', "", "")
    given = [*options(w), ("messages", "messages"), ("tools", tools)]
    keywords = ", ".join(f"{key}={value}" for key, value in given)
    keep = w.piece("kept", "message", "dumped", "rebuilt", "plus", "dict", "extended")
    kept = {
        "message": ["messages.append(message)"],
        "dumped": ["messages.append(message.model_dump(exclude_none=True))"],
        "plus": ["messages += [message]"],
        "extended": ["messages.extend([message])"],
        "dict": ["messages.append(message.to_dict())"],
        "rebuilt": [
            'messages.append({"role": "assistant", "content": message.content, "tool_calls": [{"id": call.id, '
            '"type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}} '
            "for call in message.tool_calls]})"
        ],
    }[keep]
    result = w.pick(
        'messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})',
        'messages.append({"tool_call_id": call.id, "role": "tool", "name": call.function.name, "content": str(result)})',
        'messages.append(dict(role="tool", tool_call_id=call.id, content=json.dumps(result)))',
    )
    run = w.pick(
        ["result = weather(**json.loads(call.function.arguments))"],
        ["arguments = json.loads(call.function.arguments)", 'result = weather(city=arguments.get("city"))'],
        ["result = {'weather': weather}[call.function.name](**json.loads(call.function.arguments))"],
    )
    answer = block("for call in message.tool_calls:", [*run, "print(result)", result])
    ask_again = [
        f"answer = {w.wait}{source.at('main')}.chat.completions.create({keywords})",
        "message = answer.choices[0].message",
    ]
    match w.piece("loop", "while", "if_not", "for", "finish"):
        case "while":
            body = [*ask_again, *block("while message.tool_calls:", [*kept, *answer, *ask_again])]
            w.sites += 1
        case "for":
            stop = block("if not message.tool_calls:", ["break"])
            body = block("for step in range(4):", [*ask_again, *stop, *kept, *answer])
        case "finish":
            stop = block('if answer.choices[0].finish_reason != "tool_calls":', ["break"])
            body = block("while True:", [*ask_again, *stop, *kept, *answer])
        case _:
            stop = block("if not message.tool_calls:", ["print(message.content)", "break"])
            body = block(
                "while True:",
                [
                    *ask_again,
                    *([] if keep == "rebuilt" else kept),
                    *stop,
                    *(kept if keep == "rebuilt" else []),
                    *answer,
                ],
            )
    lines = ['messages = [{"role": "user", "content": "Weather?"}]', *body, "print(message.content)"]
    if any(value in ("q", "20 if len(q) > 99 else 30") for _, value in given):
        lines.insert(0, 'q = "?"')
    return [f"client = {source.argument}", *lines] if source.parameter else lines

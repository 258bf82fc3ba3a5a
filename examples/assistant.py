"""A small operations assistant, written against Chat Completions.

migrate-responses diff examples/
"""

import json

from openai import OpenAI

client = OpenAI()
MODEL = "gpt-4.1-mini"

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "disk_usage",
            "description": "How full a disk is, in percent.",
            "parameters": {
                "type": "object",
                "properties": {"host": {"type": "string"}},
                "required": ["host"],
            },
        },
    }
]


def disk_usage(host: str) -> str:
    return f"{host}: {len(host) * 7 % 100}%"


def explain(line: str) -> str:
    completion = client.chat.completions.create(
        model=MODEL,
        messages=[
            {"role": "system", "content": "You are an operations assistant."},
            {"role": "user", "content": f"Explain this log line: {line}"},
        ],
        max_tokens=200,
    )
    return completion.choices[0].message.content or ""


def investigate(question: str) -> None:
    messages = [{"role": "user", "content": question}]
    while True:
        response = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
        message = response.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            print(message.content)
            return
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": disk_usage(**arguments)})


def stream(question: str) -> None:
    for chunk in client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": question}], stream=True
    ):
        if chunk.choices[0].delta.content:
            print(chunk.choices[0].delta.content, end="", flush=True)


def classify(line: str) -> str:
    # Responses has no stop sequences, so this call stays behind, with a TODO that says so.
    completion = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": f"One word for: {line}"}], stop=["\n"]
    )
    return completion.choices[0].message.content or ""

"""Pieces of code that use OpenAI, to be put anywhere in other code.

Each is complete: it names its own client, and what it reads of the answer. ``{c}`` is a client.
"""

from __future__ import annotations

CLIENT = "import openai as spliced_openai"
_C = "spliced_openai.OpenAI()"

SNIPPETS = (
    f'{_C}.chat.completions.create(model="gpt-4o", messages=[{{"role": "user", "content": "Hi"}}])',
    f'print({_C}.chat.completions.create(model="gpt-4o", messages=[{{"role": "system", "content": "Be brief."}}, '
    '{"role": "user", "content": "Hi"}], max_tokens=50).choices[0].message.content)',
    f"""spliced_client = {_C}
spliced_answer = spliced_client.chat.completions.create(
    model="gpt-4o",  # which
    messages=[
        {{"role": "system", "content": "Be brief."}},
        {{"role": "user", "content": "Hi"}},
    ],
    response_format={{"type": "json_object"}},
)
if spliced_answer.choices[0].finish_reason == "length":
    print("cut")
print(spliced_answer.choices[0].message.content, spliced_answer.usage.prompt_tokens)""",
    f"""for spliced_chunk in {_C}.chat.completions.create(model="gpt-4o", messages=[{{"role": "user", "content": "Hi"}}], stream=True):
    if spliced_chunk.choices[0].delta.content:
        print(spliced_chunk.choices[0].delta.content, end="")""",
    f"""spliced_tools = [{{"type": "function", "function": {{"name": "f", "parameters": {{"type": "object", "properties": {{}}}}}}}}]
spliced_message = {_C}.chat.completions.create(model="gpt-4o", messages=[{{"role": "user", "content": "Hi"}}], tools=spliced_tools).choices[0].message
for spliced_call in spliced_message.tool_calls or []:
    print(spliced_call.function.name, spliced_call.id)""",
    f"""def spliced_ask(text, **spliced_kw):
    return {_C}.chat.completions.create(model="gpt-4o", messages=[{{"role": "user", "content": text}}], **spliced_kw)
print(spliced_ask("Hi", max_tokens=50).choices[0].message.content)""",
    f"""spliced_params = {{"model": "gpt-4o", "messages": [{{"role": "user", "content": "Hi"}}]}}
spliced_params["stop"] = ["END"]
print({_C}.chat.completions.create(**spliced_params).choices[0].message.content)""",
    """with spliced_openai.OpenAI() as spliced_other:
    spliced_text = spliced_other.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}]).choices[0].message.content
    if spliced_text is None: spliced_text = ""
""",
    f'try: spliced_x = {_C}.chat.completions.create(model="gpt-4o", messages=[{{"role": "user", "content": "Hi"}}]).choices[0]\nexcept Exception: pass',
    f'spliced_a = 1; spliced_b = {_C}.chat.completions.create(model="gpt-4o", messages=[{{"role": "user", "content": "Hi"}}]); print(spliced_b.id)',
)
ASYNC_SNIPPETS = (
    """spliced_async = spliced_openai.AsyncOpenAI()
print((await spliced_async.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}])).choices[0].message.content)""",
    """async for spliced_chunk in await spliced_openai.AsyncOpenAI().chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}], stream=True):
    print(spliced_chunk.choices[0].delta.content or "", end="")""",
)

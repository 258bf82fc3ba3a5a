"""Keys are shown nowhere but in the code and its diff, and a key in the code is told of."""

from __future__ import annotations

import io

import pytest

from migrate_responses.config import Settings
from migrate_responses.run import migrate
from migrate_responses.secrets import is_openai_key, masked
from migrate_responses.show.formats import NAMES, show
from tests.reports import HEAD, report

PROJECT = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
CLASSIC = "sk-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
AZURE = "0123456789abcdef0123456789abcdef"
AZURE_NEW = "4fGh7jK2" * 10 + "AbC1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (CLASSIC, "sk-***"),
        (PROJECT, "sk-proj-***"),
        (f'OpenAI(api_key="{PROJECT}")', 'OpenAI(api_key="sk-proj-***")'),
        (f"key {PROJECT}, and", "key sk-proj-***, and"),
        (PROJECT[:20] + "…", "sk-proj-***…"),
        (f'AzureOpenAI(api_key="{AZURE}")', 'AzureOpenAI(api_key="***")'),
        (f"AzureOpenAI(api_key = '{AZURE_NEW}')", "AzureOpenAI(api_key = '***')"),
        (f'api_key="{AZURE[:20]}…', 'api_key="***…'),
        (f'API_KEY: str = "{AZURE}"', 'API_KEY: str = "***"'),
        (f'API_KEY: "str | None" = "{AZURE}"', 'API_KEY: "str | None" = "***"'),
        (f'os.environ["AZURE_OPENAI_KEY"] = "{AZURE}"', 'os.environ["AZURE_OPENAI_KEY"] = "***"'),
        (f'os.getenv("API_KEY", "{AZURE}")', 'os.getenv("API_KEY", "***")'),
        (f'os.getenv("API_KEY") or "{AZURE}"', 'os.getenv("API_KEY") or "***"'),
        (f'{{"api-key": "{AZURE}"}}', '{"api-key": "***"}'),
        (f'(\n    api_key=(\n        "{AZURE}"\n    ))', '(\n    api_key=(\n        "***"\n    ))'),
        ('headers={"Authorization": "Bearer abcdef.ghijk-123"}', 'headers={"Authorization": "Bearer ***"}'),
        ('f"Bearer {token}"', 'f"Bearer {token}"'),
        (f'"OpenAI(api_key=\\"{AZURE}\\")"', '"OpenAI(api_key=\\"***\\")"'),
        (f'"os.environ[\\"API_KEY\\"] = \\"{AZURE}\\""', '"os.environ[\\"API_KEY\\"] = \\"***\\""'),
        ('password = "hunter2hunter2hunter2"', 'password = "***"'),
        ("gsk_Ab3dEf6hIj9kLm2nOp5q ghp_Ab3dEf6hIj9kLm2nOp5q", "gsk_*** ghp_***"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ", "eyJ***"),
    ],
)
def test_keys_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        'client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])',
        'OpenAI(api_key="EMPTY", base_url="http://localhost:8000/v1")',
        'api_key="your-api-key-goes-here"',
        "max_tokens=1000, model='gpt-4o-mini-2024-07-18'",
        'tokenizer = get("cl100k_base_tokenizer_name")',
        "the task-oriented risk-adjusted desk-1234567890123456789",
        'token_url = "https://login.example.com/oauth2/v2.0/token"',
        f'commit = "{AZURE}"',
        "a sk-ip in the river",
        'key=lambda item: item["name"], reverse=True',
    ],
)
def test_other_text_is_not(text: str) -> None:
    assert masked(text) == text


def test_lines_stay_lines() -> None:
    text = f'x = 1\r\napi_key = (\n  "{AZURE}"\n)\n"{PROJECT}"\n'
    assert masked(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "works"),
    [
        (PROJECT, True),
        (CLASSIC, True),
        (AZURE, True),
        (AZURE_NEW, True),
        ("sk-your-api-key-goes-here-please", False),
        ("sk-" + "x" * 40, False),
        ("sk-" + "0" * 40, False),
        ("0" * 32, False),
        ("ollama", False),
        (f" {CLASSIC}", False),
    ],
)
def test_what_looks_like_a_key_of_openai(text: str, works: bool) -> None:
    assert is_openai_key(text) is works


# -- the finding

CALL = 'client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])\n'
PLACES = {
    "argument": f'from openai import OpenAI\nclient = OpenAI(api_key="{PROJECT}")\n',
    "constant": f'from openai import OpenAI\nKEY = "{CLASSIC}"\nclient = OpenAI(api_key=KEY)\n',
    "default": "import os\nfrom openai import OpenAI\n"
    f'client = OpenAI(api_key=os.getenv("K", "{CLASSIC}"))\n',
    "azure": "from openai import AzureOpenAI\n"
    f'client = AzureOpenAI(api_key="{AZURE}", azure_endpoint=URL, api_version="2025-04-01-preview")\n',
    "attribute": f'from openai import OpenAI\nclient = OpenAI()\nclient.api_key = "{CLASSIC}"\n',
    "module": f'import openai\nopenai.api_key = "{CLASSIC}"\nclient = openai\n',
    "environment": "import os\nfrom openai import OpenAI\n"
    f'os.environ["OPENAI_API_KEY"] = "{CLASSIC}"\nclient = OpenAI()\n',
    "no call": f'from openai import OpenAI\nembedder = OpenAI(api_key="{PROJECT}").embeddings\n',
}


def noted(text: str, **chosen: frozenset[str]) -> list[tuple[str, int]]:
    found = migrate({"a.py": text.encode()}, Settings(**chosen))  # type: ignore[arg-type]
    return [(note.code, note.line) for note in found.notes if note.code == "MR015"]


@pytest.mark.parametrize("place", PLACES)
def test_a_key_in_the_code_is_noted(place: str) -> None:
    text = PLACES[place] + ("" if place == "no call" else CALL)
    line = next(
        number
        for number, row in enumerate(text.split("\n"), 1)
        if any(k in row for k in (CLASSIC, PROJECT, AZURE))
    )
    assert noted(text) == [("MR015", line)]
    assert noted(text, ignore=frozenset({"MR015"})) == []
    assert noted(text, ignore=frozenset({"MR0"})) == []
    assert noted(text, select=frozenset({"MR1"})) == []


@pytest.mark.parametrize(
    "text",
    [
        HEAD + CALL,
        'from openai import OpenAI\nclient = OpenAI(api_key="EMPTY", base_url="http://localhost/v1")\n'
        + CALL,
        f'from groq import Groq\nclient = Groq(api_key="{CLASSIC}")\n' + CALL,
        f'from openai import OpenAI\nclient = OpenAI()\nprint("{CLASSIC}")\n' + CALL,
    ],
)
def test_other_code_is_not(text: str) -> None:
    assert noted(text) == []


# -- the formats


@pytest.mark.parametrize("form", NAMES)
def test_no_format_shows_a_key(form: str) -> None:
    text = (
        f'from openai import OpenAI\n\nclient = OpenAI(api_key="{PROJECT}")\n\n\n'
        "def ask(question):\n"
        f'    answer = client.with_options(api_key="{CLASSIC}").chat.completions.create(\n'
        f'        model="m", messages=[{{"role": "user", "content": question}}], stop="{CLASSIC}",\n'
        f'        extra_headers={{"Authorization": "Bearer {AZURE}"}},\n'
        "    )\n"
        "    return answer.choices[0].message.content\n"
    )
    stream = io.StringIO()
    found = report({"a.py": text, "b.py": text.replace(f', stop="{CLASSIC}"', "")})
    show(found, form, stream, True)
    assert stream.getvalue()
    for key in (PROJECT, CLASSIC, AZURE):
        assert key[12:24] not in stream.getvalue()


def test_a_todo_shows_no_key_and_the_code_keeps_it() -> None:
    call = f'client.chat.completions.create(model="m", messages=[], **json.loads("{PROJECT}"))'
    (file,) = report({"a.py": f"import json\n{HEAD}{call}\n"}).outcome.changed
    after = file.after.decode()
    (todo,) = (line for line in after.splitlines() if line.startswith("# TODO(migrate-responses): MR119"))
    assert 'json.loads("sk-proj-***")' in todo
    assert after.replace(f"{todo}\n", "") == file.before.decode()


def test_the_password_of_an_address_is_masked() -> None:
    assert masked("https://me:hunter2pass@gateway.example/v1") == "https://me:***@gateway.example/v1"
    assert masked("see http://localhost:8080/a@b") == "see http://localhost:8080/a@b"

"""One large application, made up: teams with clients, wrappers and readers, among much other code.

All that matters hangs together: one configuration, one base class, one way to read answers. Each team has
ten modules that have to do with calls, and its part of the ordinary ones, some of which use the others.
"""

from __future__ import annotations

from collections.abc import Iterator

TEAM = 10  # modules of a team that matter


def monolith(modules: int, matter: int) -> dict[str, str]:
    """The files of an application of ``modules`` modules, of which about ``matter`` have to do with calls."""
    teams = max(matter // TEAM, 1)
    files = dict(_COMMON)
    ordinary = (modules - matter) // teams
    for team in range(teams):
        other = (team + 1) % teams
        for name, text in _TEAM.items():
            files[f"app/team{team}/{name}"] = _filled(text, team, other)
        for number in range(ordinary):
            files[f"app/team{team}/plain/{_plain_name(number)}.py"] = _plain(team, number)
        files[f"app/team{team}/plain/__init__.py"] = ""
    return files


def _filled(text: str, team: int, other: int) -> str:
    return text.replace("TEAM", f"team{team}").replace("OTHER", f"team{other}").replace("Team", f"Team{team}")


def _plain_name(number: int) -> str:
    return f"module{number}"


def _plain(team: int, number: int) -> str:
    """Ordinary code; one in ten of these modules uses what matters."""
    return "".join(_plain_lines(team, number))


def _plain_lines(team: int, number: int) -> Iterator[str]:
    yield '"""Some work."""\n\nimport json\nimport logging\n'
    if number:
        yield f"from .{_plain_name(number // 2)} import Record{number // 2}\n"
    if number % 10 == 0:
        yield f"from app.team{team}.service import Team{team}Service\n"
    yield _PLAIN.replace("NUMBER", str(number)).replace(
        "BASE", f"Record{number // 2}" if number else "object"
    )
    if number % 10 == 0:
        yield _USER.replace("NUMBER", str(number)).replace("Team", f"Team{team}")


_PLAIN = """
logger = logging.getLogger(__name__)
LIMITS = {"small": 1, "large": NUMBER}


class RecordNUMBER(BASE):
    def __init__(self, name="", values=(), options=None):
        self.name = name
        self.values = list(values)
        self.options = options or {}

    def add(self, value, **options):
        self.values.append(value)
        self.options.update(options)
        return self

    def total(self):
        result = 0
        for value in self.values:
            if value > LIMITS["small"]:
                result += value
            else:
                logger.debug("skipped %s", value)
        return result

    def as_dict(self):
        return {"name": self.name, "values": self.values, **self.options}


def load_NUMBER(path):
    with open(path) as file:
        rows = json.load(file)
    records = [RecordNUMBER(row["name"], row["values"]) for row in rows]
    return sorted(records, key=lambda record: record.total())


def merge_NUMBER(first, second, by="name"):
    known = {getattr(record, by): record for record in first}
    for record in second:
        known.setdefault(record.name, record).add(record.total(), source=by)
    return list(known.values())
"""
_USER = """

def report_NUMBER(record):
    service = TeamService()
    text = service.run(record.name)
    return {"text": text, "length": len(text), "total": record.total()}
"""

_COMMON = {
    "pyproject.toml": "",
    "app/__init__.py": "",
    "app/common/__init__.py": "",
    "app/common/config.py": '''"""Settings and the client that all use."""

import os

from openai import OpenAI

MODEL = "gpt-4o-mini"
DEFAULTS = {"temperature": 0.2, "max_tokens": 300}

_client = None


def get_client():
    global _client
    if _client is None:
        _client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])
    return _client
''',
    "app/common/base.py": '''"""What the services of all teams build on."""

from .config import DEFAULTS, MODEL, get_client
from .reading import text_of


class Service:
    name = "service"
    model = MODEL

    def __init__(self, **options):
        self.client = get_client()
        self.options = {**DEFAULTS, **options}

    def messages(self, question):
        raise NotImplementedError

    def complete(self, messages):
        return self.client.chat.completions.create(model=self.model, messages=messages, **self.options)

    def run(self, question):
        return text_of(self.complete(self.messages(question)))
''',
    "app/common/reading.py": '''"""How answers are read."""


def text_of(answer):
    return answer.choices[0].message.content or ""


def spent(answer):
    return answer.usage.prompt_tokens + answer.usage.completion_tokens
''',
}

_TEAM = {
    "__init__.py": "",
    "wrapper.py": '''"""A wrapper of our own."""

from app.common.config import DEFAULTS, MODEL, get_client


def ask(messages, **options):
    settings = {**DEFAULTS, **options}
    return get_client().chat.completions.create(model=MODEL, messages=messages, **settings)
''',
    "prompts.py": '''"""What is asked."""

SYSTEM = "You work for TEAM."


def build(question, examples=()):
    messages = [{"role": "system", "content": SYSTEM}]
    for asked, answered in examples:
        messages.append({"role": "user", "content": asked})
        messages.append({"role": "assistant", "content": answered})
    messages.append({"role": "user", "content": question})
    return messages
''',
    "service.py": '''"""The service of TEAM."""

from app.common.base import Service

from .prompts import build


class TeamService(Service):
    name = "TEAM"

    def messages(self, question):
        return build(question)
''',
    "answers.py": '''"""Questions and answers."""

from app.common.reading import spent, text_of

from .prompts import build
from .wrapper import ask


def answer(question):
    found = ask(build(question), temperature=0)
    return text_of(found), spent(found)
''',
    "tools.py": '''"""Tools that the model may call."""

import json

from app.common.config import MODEL, get_client

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "find",
            "description": "Find a record of TEAM",
            "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    }
]


def find(name):
    return {"name": name}


def work(question):
    messages = [{"role": "user", "content": question}]
    while True:
        response = get_client().chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
        message = response.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message)
        for call in message.tool_calls:
            result = find(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
''',
    "streaming.py": '''"""Answers that come bit by bit."""

from app.common.config import MODEL, get_client

from .prompts import build


def pieces(question):
    stream = get_client().chat.completions.create(model=MODEL, messages=build(question), stream=True)
    for chunk in stream:
        text = chunk.choices[0].delta.content
        if text:
            yield text


def show(question):
    for piece in pieces(question):
        print(piece, end="")
''',
    "chat.py": '''"""A conversation."""

from app.common.config import MODEL, get_client


class TeamChat:
    def __init__(self):
        self.history = [{"role": "system", "content": "You chat for TEAM."}]
        self.client = get_client()

    def say(self, text):
        self.history.append({"role": "user", "content": text})
        response = self.client.chat.completions.create(model=MODEL, messages=self.history, max_tokens=200)
        reply = response.choices[0].message.content
        self.history.append({"role": "assistant", "content": reply})
        return reply
''',
    "jobs.py": '''"""What runs at night, with the help of OTHER."""

from app.OTHER.answers import answer as answer_of_others
from app.OTHER.prompts import build as build_of_others

from .chat import TeamChat
from .service import TeamService
from .wrapper import ask


def run(questions):
    service = TeamService(temperature=0.5)
    chat = TeamChat()
    found = []
    for question in questions:
        found.append(service.run(question))
        found.append(chat.say(question))
        found.append(answer_of_others(question)[0])
        found.append(ask(build_of_others(question)).choices[0].message.content)
    return found
''',
    "test_answers.py": '''"""Tests of TEAM."""

from types import SimpleNamespace
from unittest.mock import patch

from app.TEAM import answers


def fake(text):
    message = SimpleNamespace(content=text)
    usage = SimpleNamespace(prompt_tokens=1, completion_tokens=2)
    return SimpleNamespace(choices=[SimpleNamespace(message=message)], usage=usage)


def test_answer():
    with patch("app.TEAM.wrapper.get_client") as get:
        get.return_value.chat.completions.create.return_value = fake("yes")
        assert answers.answer("Really?") == ("yes", 3)
''',
}

"""What a test may ask of a recorded request, as a whole, so that the call can still move."""

from __future__ import annotations

import pytest

from migrate_responses.config import Settings
from migrate_responses.results import Verdict
from migrate_responses.run import migrate

LLM = """from openai import OpenAI

client = OpenAI()


def ask(question):
    answer = client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": question}], temperature=1
    )
    return answer.choices[0].message.content
"""
TEST = """from unittest.mock import MagicMock, call

import llm
import pytest


@pytest.fixture
def create(monkeypatch):
    create = MagicMock()
    create.return_value.choices[0].message.content = "hello"
    monkeypatch.setattr(llm.client.chat.completions, "create", create)
    return create


def sent(mock, what):
    return mock.call_args{asked}


def test_ask(create):
    assert llm.ask("q") == "hello"
    {question}
"""
HARMLESS = [
    "assert create.called",
    "assert create.call_args is not None",
    "assert len(create.call_args_list) == 1",
    "assert create.mock_calls",
    "kwargs = create.call_args.kwargs; assert kwargs['messages'][0]['content'] == 'q'",
    "assert create.call_args[1].get('model') == 'gpt-4o'",
    "last = create.call_args_list[-1]; assert last.kwargs['model'] == last[1]['model']",
    "(_, kw), = create.call_args_list; assert kw['messages'][0]['role'] == 'user'",
    "args, kwargs = create.call_args; assert args == () and 'messages' in kwargs",
    "assert [one.kwargs['model'] for one in create.call_args_list] == ['gpt-4o']",
]
WHOLE = [
    "assert set(create.call_args.kwargs) == {'model', 'messages', 'temperature'}",
    "assert len(create.call_args[1]) == 3",
    "assert create.call_args.kwargs.keys() >= {'messages'}",
    "kwargs = create.call_args.kwargs; assert all(key in kwargs for key in ('model', 'messages'))",
    "args, kwargs = create.call_args; assert sorted(kwargs)[1] == 'model'",
    "name = 'messages'; assert create.call_args.kwargs[name]",
    "assert dict(create.call_args.kwargs, model=1) == {}",
    "assert create.call_args.kwargs | {'model': 1} == {}",
    "assert 'messages=' in str(create.call_args)",
    "assert 'messages=' in f'{create.mock_calls[0]}'",
    "for one in create.call_args_list: assert list(one.kwargs)",
    "assert [one.kwargs for one in create.call_args_list] == []",
    "assert (kwargs := create.call_args.kwargs)",
]


def verdict(question: str, asked: str = ".kwargs['model']") -> Verdict:
    test = TEST.format(question=question, asked=asked)
    results = migrate({"llm.py": LLM.encode(), "test_llm.py": test.encode()}, Settings())
    [site] = [site for site in results.sites if site.path == "llm.py"]
    assert {reason.code for reason in site.reasons} <= {"MR803"}
    return site.verdict


@pytest.mark.parametrize("question", HARMLESS)
def test_what_shows_no_names(question: str) -> None:
    assert verdict(question) is Verdict.MIGRATED


@pytest.mark.parametrize("question", WHOLE)
def test_what_may_show_names(question: str) -> None:
    assert verdict(question) is Verdict.UNSAFE


def test_a_helper_that_takes_any_name() -> None:
    question = "assert sent(create, 'messages')[0]['content'] == 'q'"
    assert verdict(question, asked=".kwargs[what]") is Verdict.UNSAFE
    assert verdict("pass") is Verdict.MIGRATED

"""What is told of mocks in tests: they go with their calls, unless they are the reason themselves."""

from __future__ import annotations

from migrate_responses.config import Settings
from migrate_responses.results import Results, SiteResult, Verdict
from migrate_responses.run import migrate

APP = """from openai import OpenAI

client = OpenAI()


def ask(text):
    answer = client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": text}]%s
    )
    return answer.choices[0].message.content
"""
TEST = """from types import SimpleNamespace
from unittest.mock import patch

import app


def test_ask():
    with patch("app.client") as client:
        client.chat.completions.create.return_value = %s
        assert app.ask("hello") == "hi"
"""
ANSWER = "SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content='hi'))])"


def run(more: str, answer: str, settings: Settings | None = None) -> Results:
    sources = {"app.py": (APP % more).encode(), "tests/test_app.py": (TEST % answer).encode()}
    return migrate(sources, settings or Settings())


def told(results: Results) -> tuple[SiteResult, SiteResult]:
    call, double = results.sites
    assert double.verdict is Verdict.DOUBLE
    return call, double


def test_a_double_goes_with_its_call_and_has_no_reason_of_its_own() -> None:
    call, double = told(run(", seed=7", ANSWER))
    assert [reason.code for reason in call.reasons] == ["MR110"]
    assert (double.reasons, double.flow, double.about) == ((), 0, (call.flow,))


def test_nothing_is_told_of_a_double_that_is_migrated() -> None:
    assert [site.verdict for site in run("", ANSWER).sites] == [Verdict.MIGRATED]


def test_a_double_that_is_not_understood_says_why() -> None:
    call, double = told(run("", "make_answer(choices=open('recorded').read())"))
    assert {reason.code for reason in call.reasons} == {"MR803"}
    assert double.about == (call.flow,)
    assert double.reasons
    assert set(double.reasons) <= set(call.reasons)


def test_leaving_out_a_rule_that_a_double_does_not_need_changes_nothing() -> None:
    settings = Settings(file_ignores=(("tests/test_app.py", frozenset({"MR803"})),))
    told(run(", seed=7", ANSWER, settings))


def test_a_double_for_no_call_in_sight_is_no_matter_of_unsafe_fixes() -> None:
    sources = {"tests/test_app.py": (TEST.replace("import app", "import elsewhere") % ANSWER).encode()}
    (double,) = migrate(sources, Settings()).sites
    assert (double.verdict, double.about) == (Verdict.DOUBLE, ())
    (reason,) = double.reasons
    assert "for no call in sight" in reason.message
    assert "--unsafe-fixes" not in reason.next_step

"""Limits below 16, which the server refuses, raised with ``--unsafe-fixes`` (MR102)."""

from __future__ import annotations

import pytest

from migrate_responses.config import Settings
from migrate_responses.run import migrate

PROGRAM = """\
from openai import OpenAI

client = OpenAI()


def complete(text, limit):
    messages = [{{"role": "user", "content": text}}]
    response = client.chat.completions.create(model="m", messages=messages, max_tokens={})
    return response.choices[0].message.content


complete("a word", 1)
complete("many words", {})
"""


def migrated(program: str) -> str:
    result = migrate({"main.py": program.encode()}, Settings(unsafe_fixes=True), frozenset({"main.py"}))
    return result.changed[0].after.decode()


@pytest.mark.parametrize(
    ("passed", "other", "now"),
    [
        ("limit", "1500", "max(limit, 16)"),
        ("limit", "None", "max(limit, 16) if limit is not None else None"),
        ("limit or 8", "None", "max(limit or 8, 16)"),
        ("5 if text else None", "None", "16 if text else None"),
        ("5 if text else 1500", "None", "16 if text else 1500"),
    ],
)
def test_what_is_passed_on(passed: str, other: str, now: str) -> None:
    assert f"max_output_tokens={now}, store" in migrated(PROGRAM.format(passed, other))


def test_each_caller_keeps_a_limit_that_is_enough() -> None:
    program = PROGRAM.replace("text, limit)", "text, **kwargs)").replace("max_tokens={})", "**kwargs)")
    program = program.replace('"a word", 1', '"a word", max_tokens=1').replace(
        'words", {}', 'words", max_tokens=1500'
    )
    after = migrated(program.replace("{{", "{").replace("}}", "}"))
    assert 'complete("a word", max_output_tokens=16)' in after
    assert 'complete("many words", max_output_tokens=1500)' in after

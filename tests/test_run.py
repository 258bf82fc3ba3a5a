"""The pipeline over bytes: encodings, faults, files that may not change, comments that suppress."""

from __future__ import annotations

import codecs

import pytest

from migrate_responses import limits
from migrate_responses.config import Settings
from migrate_responses.results import FileResult, Level, Results, Verdict
from migrate_responses.run import migrate

CALL = """from openai import OpenAI

client = OpenAI()
response = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}])
print(response.choices[0].message.content)
"""
MOVED = CALL.replace(
    'client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}])',
    'client.responses.create(model="gpt-4o", input="Hi", store=False)',
).replace("response.choices[0].message.content", "response.output_text")
STOP = CALL.replace('model="gpt-4o", ', 'model="gpt-4o", stop=["x"], ')
TODO = "# TODO(migrate-responses): MR112"


def one(source: str | bytes, settings: Settings | None = None) -> tuple[FileResult, Results]:
    data = source.encode() if isinstance(source, str) else source
    results = migrate({"a.py": data}, settings or Settings())
    return results.files[0], results


def test_text_is_moved() -> None:
    assert one(CALL)[0].after.decode() == MOVED


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (codecs.BOM_UTF8 + CALL.encode(), codecs.BOM_UTF8 + MOVED.encode()),
        (CALL.replace("\n", "\r\n").encode(), MOVED.replace("\n", "\r\n").encode()),
        (CALL.rstrip("\n").encode(), MOVED.rstrip("\n").encode()),
        (
            f"# coding: latin-1\n# é\n{CALL}".encode("latin-1"),
            f"# coding: latin-1\n# é\n{MOVED}".encode("latin-1"),
        ),
        (f"\f\n{CALL}".encode(), f"\f\n{MOVED}".encode()),
    ],
    ids=["bom", "crlf", "no final newline", "latin-1", "form feed"],
)
def test_bytes_around_the_change_stay(before: bytes, after: bytes) -> None:
    assert one(before)[0].after == after


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (b"def f(:\n    openai\n", "MR901"),
        (b"print 'openai'\n", "MR901"),
        (b"# coding: utf-7\nopenai = '+AGE-'\n", "MR902"),
        (b"openai = '\xff'\n", "MR902"),
        (b"# coding: no-such-code\nopenai\n", "MR902"),
    ],
)
def test_a_bad_file_is_an_error_and_stops_nothing(source: bytes, code: str) -> None:
    results = migrate({"bad.py": source, "good.py": CALL.encode()}, Settings())
    assert [(error.path, error.code) for error in results.errors] == [("bad.py", code)]
    assert {file.path: file.changed for file in results.files} == {"bad.py": False, "good.py": True}


def test_a_long_sum_is_no_hindrance() -> None:
    total = " + ".join(["1"] * min(800, limits.deepest() - 100))
    file, results = one(f"{CALL}total = {total}\n")
    assert not results.errors
    assert file.after.decode() == f"{MOVED}total = {total}\n"


def test_messages_from_outside_are_told_of() -> None:
    source = CALL.replace('messages=[{"role": "user", "content": "Hi"}]', "messages=json.load(sys.stdin)")
    file, results = one(f"import json, sys\n{source}")
    assert file.changed
    [note] = [note for note in results.notes if note.code == "MR204"]
    assert (note.line, note.message) == (
        5,
        "messages come from `json.load`: texts pass as they are, pictures and tool calls would not",
    )


def test_what_was_taken_is_told() -> None:
    reader = CALL.replace("print(", "print(response.system_fingerprint, ")
    _, held = one(reader, Settings(unsafe_fixes=True))
    assert [note for note in held.notes if note.level is Level.UNSAFE] == []
    seeded = CALL.replace('model="gpt-4o", ', 'model="gpt-4o", seed=1, ')
    _, taken = one(seeded, Settings(unsafe_fixes=True))
    [note] = [note for note in taken.notes if note.level is Level.UNSAFE]
    assert (note.code, note.line, note.next_step) == ("MR110", 4, "")


def test_what_may_not_be_written_holds_the_flow() -> None:
    sources = {
        "client.py": b"from openai import OpenAI\n\n\ndef ask(messages):\n"
        b"    return OpenAI().chat.completions.create(model='gpt-4o', messages=messages)\n",
        "main.py": b"from client import ask\n\n"
        b"print(ask([{'role': 'user', 'content': 'a'}]).choices[0].message.content)\n",
    }
    results = migrate(sources, Settings(), {"client.py"})
    assert [site.verdict for site in results.sites] == [Verdict.MANUAL]
    assert [reason.code for reason in results.sites[0].reasons] == ["MR907"]
    assert not results.changed  # not even by a TODO: naming both files migrates them
    both = migrate(sources, Settings(), {"client.py", "main.py"})
    assert [site.verdict for site in both.sites] == [Verdict.MIGRATED]


def test_a_todo_is_the_same_whatever_was_named() -> None:
    sources = {
        "client.py": b"from openai import OpenAI\n\n\ndef ask(messages):\n"
        b"    return OpenAI().chat.completions.create(model='gpt-4o', messages=messages, seed=1)\n",
        "main.py": b"from client import ask\n\n"
        b"print(ask([{'role': 'user', 'content': 'a'}]).choices[0].message.content)\n",
    }
    whole = {file.path: file.after for file in migrate(sources, Settings()).files}
    assert b"MR110" in whole["client.py"]
    assert b"or let --unsafe-fixes drop it" in whole["client.py"]
    for named in sources:
        assert not migrate(whole, Settings(), {named}).changed


def test_todo_comes_once_and_goes_with_its_reason() -> None:
    held = one(STOP)[0].after
    assert held.decode().count(TODO) == 1
    assert one(held)[0].after == held
    healed = held.decode().replace('stop=["x"], ', "")
    assert one(healed)[0].after.decode() == MOVED


def test_todo_above_the_first_statement_is_kept_in_step() -> None:
    source = "import openai; openai.chat.completions.create(model='m', stop='x', messages=[])\n"
    held = one(source)[0].after
    assert held.startswith(TODO.encode())
    assert one(held)[0].after == held


@pytest.mark.parametrize("comment", ["# migrate-responses: skip", "# migrate-responses: skip-file"])
def test_suppressed(comment: str) -> None:
    source = CALL.replace('"Hi"}])', f'"Hi"}}])  {comment}')
    file, results = one(source)
    assert not file.changed
    assert [site.verdict for site in results.sites] == [Verdict.SKIPPED]


def test_ignored_and_selected_rules() -> None:
    assert not one(STOP, Settings(ignore=frozenset({"MR112"})))[0].changed
    assert not one(CALL, Settings(select=frozenset({"MR4"})))[0].changed
    assert one(CALL, Settings(ignore=frozenset({"MR4"})))[0].changed


def test_a_fault_of_the_tool_costs_a_migration_and_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from migrate_responses.transforms import call

    def broken(original: object, updated: object) -> object:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(call, "_responses", broken)
    file, results = one(CALL)
    assert [reason.code for reason in results.sites[0].reasons] == ["MR910"]
    assert file.after.decode().replace(file.after.decode().splitlines()[3] + "\n", "") == CALL


def test_a_comment_says_the_same_whatever_was_named() -> None:
    sources = {
        "client.py": b"from openai import OpenAI\n\n\ndef ask(messages):\n"
        b"    return OpenAI().chat.completions.create(model='gpt-4o', messages=messages, stop=['x'])\n",
        "main.py": b"from client import ask\n\n"
        b"print(ask([{'role': 'user', 'content': 'a'}]).choices[0].message.content)\n",
    }
    (whole,) = migrate(sources, Settings()).changed
    (part,) = migrate(sources, Settings(), {"client.py"}).changed
    assert part.after == whole.after
    assert "MR112" in whole.after.decode()


def test_a_stub_that_names_old_types_holds_its_module() -> None:
    module = CALL.replace("print(", "def ask():\n    return response\n\nprint(").encode()
    stub = b"from openai.types.chat import ChatCompletion\n# ...\ndef ask() -> ChatCompletion: ...\n"
    held = migrate({"a.py": module, "a.pyi": stub, "b.py": CALL.encode()}, Settings())
    assert [site.verdict for site in held.sites] == [Verdict.MANUAL, Verdict.MIGRATED]
    (reason,) = held.sites[0].reasons
    assert (reason.code, reason.message) == ("MR702", "a.pyi:3 declares `def ask() -> ChatCompletion: ...`")
    assert [file.path for file in held.files] == ["a.py", "b.py"]
    plain = migrate({"a.py": module, "a.pyi": b"def ask() -> object: ...  # of openai\n"}, Settings())
    assert [site.verdict for site in plain.sites] == [Verdict.MIGRATED]


def test_more_than_can_be_followed_is_refused_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    large = {"a.py": CALL.encode() + b"import b\n", "b.py": b"text = 'x'\n" * 100}
    monkeypatch.setattr(limits, "LARGEST_PART", 1_000)
    results = migrate({**large, "alone.py": CALL.encode()}, Settings())
    assert [(error.code, error.path) for error in results.errors] == [("MR914", "a.py")]
    assert [site.path for site in results.sites] == ["alone.py"]
    assert [file.path for file in results.changed] == ["alone.py"]

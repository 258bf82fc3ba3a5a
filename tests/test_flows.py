"""Flows: sites that share an edit or a reason stand or fall together; the strictest reason decides."""

from __future__ import annotations

from migrate_responses.config import Settings
from migrate_responses.results import Level, Results, Verdict
from migrate_responses.run import migrate

HEAD = "from openai import OpenAI\nclient = OpenAI()\n"


def run(body: str, settings: Settings | None = None) -> Results:
    return migrate({"a.py": (HEAD + body).encode()}, settings or Settings())


def verdicts(results: Results) -> list[Verdict]:
    return [site.verdict for site in results.sites]


def numbers(results: Results) -> list[int]:
    return [site.flow for site in results.sites]


MESSAGES = "[{'role': 'user', 'content': 'x'}]"


def call(arguments: str = "") -> str:
    return f"client.chat.completions.create(model='gpt-4o', messages={MESSAGES}{arguments})"


def test_calls_that_share_nothing_are_flows_of_their_own() -> None:
    results = run(f"a = {call()}\nb = {call(', stop=chr(10)')}\nprint(a.choices[0].message.content)\n")
    assert verdicts(results) == [Verdict.MIGRATED, Verdict.MANUAL]
    assert numbers(results) == [1, 2]


def test_answers_that_meet_in_one_read_go_together() -> None:
    results = run(
        f"if fast:\n    r = {call()}\nelse:\n    r = {call(', stop=chr(10)')}\n"
        "print(r.choices[0].message.content)\n"
    )
    assert verdicts(results) == [Verdict.MANUAL, Verdict.MANUAL]
    assert numbers(results) == [1, 1]
    assert results.files[0].after.count(b"TODO") == 2


def test_a_helper_joins_the_calls_whose_answers_it_reads() -> None:
    results = run(
        "def text(r):\n    return r.choices[0].message.content\n"
        f"print(text({call()}))\nprint(text({call(', n=2')}))\n"
    )
    assert verdicts(results) == [Verdict.MANUAL, Verdict.MANUAL]


def test_a_shared_argument_joins_the_calls_that_pass_it() -> None:
    results = run(
        "options = {'max_tokens': 99}\n"
        f"print({call(', **options')}.choices[0].message.content)\n"
        f"print({call(', n=2, **options')}.choices[0].message.content)\n"
    )
    assert numbers(results) == [1, 1]
    assert verdicts(results) == [Verdict.MANUAL, Verdict.MANUAL]


def test_a_note_joins_nothing_and_holds_nothing() -> None:
    results = run(f"a = {call()}\nb = {call(', n=2')}\nprint(a)\n")
    assert verdicts(results) == [Verdict.MIGRATED, Verdict.MANUAL]
    assert {note.level for note in results.notes} == {Level.NOTE}


def test_a_note_is_told_only_of_calls_that_move() -> None:
    loop = "for chunk in {}:\n    print(chunk.choices[0].delta.content or '', end='')\n"
    assert "MR409" in {note.code for note in run(loop.format(call(", stream=True"))).notes}
    assert not run(loop.format(call(", stream=True, stop=['x']"))).notes


def test_what_joins_calls_is_told_where_nothing_that_they_share_does() -> None:
    head = "import json\nfrom jobs import queue\nhistory = json.load(open('h.json'))\n"
    asks = f"a = {call().replace(MESSAGES, 'history')}\nprint(a.choices[0].message.content)\n"
    keeps = f"b = {call()}\nqueue.put(b"
    assert numbers(run(f"{head}{asks}{keeps}.object)\n")) == [1, 2]
    joined = run(f"{head}{asks}{keeps}.choices[0].message)\n")
    assert numbers(joined) == [1, 1]
    (joint,) = joined.flows[0].joints
    assert joint.why.startswith("where these messages come from is not known")


def test_the_strictest_reason_decides() -> None:
    seeded = f"print({call(', seed=1')}.choices[0].message.content)\n"
    both = f"print({call(', seed=1, n=2')}.choices[0].message.content)\n"
    assert verdicts(run(seeded)) == [Verdict.UNSAFE]
    assert verdicts(run(seeded, Settings(unsafe_fixes=True))) == [Verdict.MIGRATED]
    assert verdicts(run(both)) == [Verdict.MANUAL]
    assert verdicts(run(both, Settings(unsafe_fixes=True))) == [Verdict.MANUAL]


def test_a_held_flow_gets_all_its_reasons_and_one_todo() -> None:
    results = run(f"print({call(', seed=1, n=2, stop=chr(10)')}.choices[0].message.content)\n")
    (site,) = results.sites
    assert {reason.code for reason in site.reasons} == {"MR110", "MR112", "MR113"}
    assert site.reasons[-1].level is Level.UNSAFE  # the strictest come first
    assert results.files[0].after.count(b"TODO(migrate-responses)") == 1

"""What a person asks to leave alone, by comments and options, and that misspelt requests are told about."""

from __future__ import annotations

import pytest

from migrate_responses.config import Settings
from migrate_responses.results import Results, Verdict
from migrate_responses.run import migrate

HEAD = "from openai import OpenAI\n\nclient = OpenAI()\n"
CALL = 'client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "Hi"}]'
PLAIN, STOP = f"{CALL})", f'{CALL}, stop=["x"])'
HTTP = 'import httpx\n\nhttpx.post("https://api.openai.com/v1/chat/completions", json={})'


def run(*statements: str, settings: Settings | None = None, path: str = "a.py") -> Results:
    text = HEAD + "".join(f"{statement}\n" for statement in statements)
    return migrate({path: text.encode()}, settings or Settings())


def verdicts(results: Results) -> list[tuple[str, list[str]]]:
    return [(site.verdict.value, [reason.code for reason in site.reasons]) for site in results.sites]


LEFT, READY, HELD = ("skipped", ["MR908"]), ("migrated", []), ("manual", ["MR112"])
MEANT = ("skipped", ["MR912"])


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        (f"{PLAIN}  # migrate-responses: skip", LEFT),
        (f"{PLAIN}  #migrate-responses:skip -- the vendor asked for it", LEFT),
        (f"# migrate-responses: skip\n{PLAIN}", LEFT),
        (f"# migrate-responses: skip-file\n{PLAIN}", LEFT),
        (f"{STOP}  # migrate-responses: skip=MR112", LEFT),
        (f"{STOP}  # migrate-responses: skip=mr110, MR112", LEFT),
        (f"{STOP}  # migrate-responses: skip=MR110", HELD),
        (f"{PLAIN}  # migrate-responses: skip=MR112", READY),
        (f"{PLAIN}  # migrate-responses: skpi", MEANT),
        (f"{STOP}  # migrate-responses: skip=MR999", MEANT),
        (f"{PLAIN}  # migrate-response: skip", MEANT),
        (f"{PLAIN}  # migrate-responses skip", MEANT),
        (f"# migrate-responses: ignore\nimport os\n{PLAIN}", MEANT),  # about nothing else than the file
        (f"print(1)  # migrate-responses: skipfile\n{PLAIN}", MEANT),
        (f"print(1)  # migrate-responses: skpi\n{PLAIN}", READY),
        (f"{PLAIN}  # responses of a server", READY),
        (f"def ask():  # migrate-responses: skip\n    return {PLAIN}", LEFT),
        (f"# migrate-responses: skip\nif True:\n    print({PLAIN})", LEFT),
        (f"r = {PLAIN}\nprint(r.choices[0].message.content)  # migrate-responses: skip", LEFT),
        (f"r = {PLAIN}\nprint(r.id)\nprint(1)  # migrate-responses: skip", READY),
        (f'{PLAIN}\nprint("# migrate-responses: skip")', READY),
        (f"{HTTP}  # migrate-responses: skip", LEFT),
    ],
)
def test_comments(statement: str, verdict: tuple[str, list[str]]) -> None:
    assert verdicts(run(statement)) == [verdict]


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("migrate-responses: skpi", "`skpi` asks for nothing; did you mean `skip`?"),
        ("migrate-responses: skipfile", "`skipfile` asks for nothing; did you mean `skip-file`?"),
        ("migrate-responses: ignore", "`ignore` asks for nothing; did you mean `skip`?"),
        ("migrate-responses:", "`` asks for nothing; did you mean `skip`?"),
        ("migrate-responses: skip=MR999", "there is no rule MR999"),
        ("migrate_responses: skip", "it is written `# migrate-responses: skip`"),
    ],
)
def test_misspelt_comments_are_told_about(comment: str, told: str) -> None:
    results = run("x = 1", f"{PLAIN}  # {comment}")
    (note,) = [note for note in results.notes if note.code == "MR912"]
    assert (note.path, note.line, note.message) == ("a.py", 5, told)
    assert note.column == len(PLAIN) + 3


def test_nothing_is_told_about_what_is_understood() -> None:
    results = run(
        f"{PLAIN}  # migrate-responses: skip",
        "# TODO(migrate-responses): MR112 x.",
        'x = "# migrate-responses: no"',
    )
    assert [note.code for note in results.notes] == []


@pytest.mark.parametrize(
    ("settings", "statement", "why"),
    [
        (Settings(ignore=frozenset({"MR107"})), PLAIN, "it needs MR107, which --ignore leaves out"),
        (Settings(ignore=frozenset({"MR11"})), STOP, "it needs MR112, which --ignore leaves out"),
        (
            Settings(select=frozenset({"MR1"})),
            PLAIN,
            "it also needs MR001, MR203, which --select does not name",
        ),
        (
            Settings(file_ignores=(("a.py", frozenset({"MR112"})),)),
            STOP,
            "it needs MR112, which per-file-ignores leaves out in a.py",
        ),
        (Settings(ignore=frozenset({"MR032"})), HTTP, "it needs MR032, which --ignore leaves out"),
    ],
)
def test_options_are_named_as_the_reason(settings: Settings, statement: str, why: str) -> None:
    results = run(statement, settings=settings)
    (site,) = results.sites
    assert site.verdict is Verdict.SKIPPED
    (reason,) = site.reasons
    assert (reason.code, reason.message, reason.line > 3) == ("MR911", why, True)
    assert results.changed == ()


def test_ignores_of_one_file_are_about_its_calls_alone() -> None:
    settings = Settings(file_ignores=(("b.py", frozenset({"MR112"})),))
    assert verdicts(run(STOP, settings=settings)) == [HELD]
    assert verdicts(run(STOP, settings=settings, path="b.py")) == [("skipped", ["MR911"])]


def test_select_of_all_that_is_needed() -> None:
    chosen = frozenset({"MR0", "MR1", "MR2"})
    assert verdicts(run(PLAIN, settings=Settings(select=chosen))) == [READY]
    assert verdicts(run(f"print({PLAIN}.choices[0].message.content)", settings=Settings(select=chosen))) == [
        ("skipped", ["MR911"])
    ]


def test_a_note_that_is_left_out_is_not_told_and_leaves_nothing() -> None:
    shown = f"r = {PLAIN}\nprint(r)"
    assert [note.code for note in run(shown).notes] == ["MR314"]
    for settings in (
        Settings(ignore=frozenset({"MR314"})),
        Settings(file_ignores=(("a.py", frozenset({"MR3"})),)),
    ):
        results = run(shown, settings=settings)
        assert not results.notes
        assert verdicts(results) == [READY]

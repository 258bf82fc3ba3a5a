"""Comparing with an earlier report, from a file or from git, and what each format tells of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from migrate_responses import cli
from migrate_responses.show.document import document
from migrate_responses.show.moved import responses_calls
from migrate_responses.show.since import Entry, Since, SinceError, compare
from tests.reports import HEAD, MOVED, READY, STOPPED, call, report


def since(before: dict[str, str], after: dict[str, str], **chosen: Any) -> Since:
    return compare("then", document(report(before)), document(report(after, **chosen)))


def scopes(entries: tuple[Entry, ...]) -> list[str]:
    return [f"{entry.path}:{entry.scope}" for entry in entries]


def test_nothing_changed() -> None:
    found = since({"a.py": READY}, {"a.py": "# moved down\n\n\n" + READY})
    assert [entries for _, entries in found.groups if entries] == []
    assert found.before["migrated"] == 2


def test_migrated_and_gone_are_told_apart() -> None:
    moved = MOVED.replace("def moved", "def one")
    found = since({"a.py": HEAD + call("one") + call("two")}, {"a.py": moved})
    assert (scopes(found.migrated), scopes(found.gone)) == (["a.py:one"], ["a.py:two"])


def test_what_was_migrated_under_another_name_counts_for_its_file() -> None:
    found = since({"a.py": HEAD + call("one")}, {"a.py": MOVED})
    assert (scopes(found.migrated), found.gone) == (["a.py:one"], ())


def test_one_more_call_on_responses_stands_for_one_that_went() -> None:
    found = since({"a.py": HEAD + call("one") + call("two") + MOVED}, {"a.py": MOVED})
    assert (found.migrated, scopes(found.gone)) == ((), ["a.py:one", "a.py:two"])


def test_new_calls_and_new_reasons() -> None:
    found = since(
        {"a.py": HEAD + call("one") + call("two", '        stop="x",\n')},
        {
            "a.py": HEAD
            + call("one", '        stop="x",\n')
            + call("two")
            + call("three", '        stop="x",\n')
        },
    )
    assert (scopes(found.held), scopes(found.freed)) == (["a.py:one"], ["a.py:two"])
    assert (scopes(found.new), found.new[0].codes) == (["a.py:three"], ("MR112",))
    assert (found.gone, found.migrated) == ((), ())


def test_the_rules_of_what_was_migrated_are_counted() -> None:
    one, two = call("one", "        max_tokens=20,\n"), call("two")
    found = since({"a.py": HEAD + one + two}, {"a.py": MOVED.replace("def moved", "def one") + two})
    assert scopes(found.migrated) == ["a.py:one"]
    assert (found.rules["MR001"], found.rules["MR101"]) == (1, 1)
    assert since({"a.py": HEAD + one}, {"a.py": HEAD + one}).rules == {}
    assert since({"a.py": STOPPED}, {"a.py": MOVED.replace("def moved", "def stopped")}).rules == {}


def test_an_option_frees_what_was_held() -> None:
    text = {"a.py": HEAD + call("one", "        seed=7,\n")}
    found = since(text, text, unsafe_fixes=True)
    assert (scopes(found.freed), found.options) == (["a.py:one"], ("unsafe_fixes",))
    assert since(text, text).options == ()


def test_the_same_call_twice_in_a_function() -> None:
    one = '    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "a"}]STOP)\n'
    body = HEAD + "\n\ndef both():\n"
    held, ready = one.replace("STOP", ', stop="x"'), one.replace("STOP", "")
    found = since({"a.py": body + ready + held}, {"a.py": body + held})
    assert (scopes(found.gone), found.gone[0].codes, found.held, found.new) == (["a.py:both"], (), (), ())


def test_renamed_functions_and_moved_files_are_the_same_calls() -> None:
    found = since(
        {"a.py": HEAD + call("one"), "old/b.py": STOPPED}, {"a.py": HEAD + call("uno"), "new/b.py": STOPPED}
    )
    assert [entries for _, entries in found.groups if entries] == []


@pytest.mark.parametrize(
    "wrong", [{}, {"sites": 1}, {"sites": [], "files": [], "summary": {}}, {"sites": [{}]}]
)
def test_something_else_is_no_report(wrong: dict[str, Any]) -> None:
    with pytest.raises(SinceError, match="then is not a report"):
        compare("then", wrong, document(report({})))


@pytest.mark.parametrize("code", ["MR1", "x](javascript:alert(1))", 7, None])
def test_codes_of_a_report_are_codes(code: object) -> None:
    wrong = document(report({"a.py": STOPPED}))
    wrong["sites"][0]["reasons"][0]["code"] = code
    with pytest.raises(SinceError, match="then is not a report"):
        compare("then", wrong, document(report({})))


# -- from the command line


def run(*arguments: str, status: int = 0) -> Result:
    result = CliRunner().invoke(cli.cli, ["report", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a committed state that the work tree has left."""
    monkeypatch.chdir(tmp_path)
    for path, text in {"app/a.py": HEAD + call("one") + call("two"), "app/b.py": STOPPED}.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "before")
    Path("app/a.py").write_text(HEAD + call("two"), encoding="utf-8")
    Path("app/b.py").unlink()
    Path("app/c.py").write_text(HEAD + call("three"), encoding="utf-8")
    return tmp_path


def told(result: Result) -> dict[str, list[str]]:
    found = json.loads(result.stdout)["since"]
    return {
        name: [f"{entry['path']}:{entry['scope']}" for entry in found[name]]
        for name in ("migrated", "gone", "new")
    }


def test_since_a_revision(repository: Path) -> None:
    wanted = {"migrated": [], "gone": ["app/a.py:one", "app/b.py:stopped"], "new": ["app/c.py:three"]}
    before = {
        path: path.read_bytes()
        for path in repository.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert told(run("--since", "HEAD", "--format", "json")) == wanted
    after = {
        path: path.read_bytes()
        for path in repository.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert before == after
    assert told(run("app", "--since", "HEAD", "--format", "json")) == wanted


def test_paths_are_as_seen_from_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "app")
    assert told(run("--since", "HEAD", "--format", "json"))["gone"] == ["a.py:one", "b.py:stopped"]
    os.mkdir("../other")
    monkeypatch.chdir(repository / "other")
    assert told(run("../app", "--since", "HEAD", "--format", "json"))["new"] == ["../app/c.py:three"]


def test_since_a_report_is_the_same(repository: Path) -> None:
    by_revision = told(run("--since", "HEAD", "--format", "json"))
    git("stash", "-q", "--include-untracked")
    run("--format", "json", "--output", "../before.json")
    git("stash", "pop", "-q")
    assert told(run("--since", "../before.json", "--format", "json")) == by_revision


def test_links_and_odd_names_at_the_revision_are_left_out(repository: Path) -> None:
    os.symlink("/etc", "link")
    os.symlink("app/a.py", "also.py")
    Path("ta\tb é.py").write_text(READY, encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "odd")
    Path("ta\tb é.py").unlink()
    found = told(run("--since", "HEAD", "--format", "json"))
    assert found == {"migrated": [], "gone": ["ta\tb é.py:plain", "ta\tb é.py:second"], "new": []}


def test_notebooks_and_documentation_at_the_revision(repository: Path) -> None:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": [READY]}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("n.ipynb").write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    Path("t.rst").write_text(".. code-block:: python\n\n" + READY.replace("\n", "\n   "), encoding="utf-8")
    git("add", "-A")
    git("commit", "-qm", "documents")
    assert told(run("--include-docs", "--since=HEAD", "--format=json"))["new"] == []
    Path("n.ipynb").unlink()
    assert "n.ipynb:plain" in told(run("--since=HEAD", "--format=json"))["gone"]


def test_the_terminal_tells(repository: Path) -> None:
    lines = run("--since", "HEAD", "--quiet").stdout.splitlines()
    assert lines[lines.index("Since HEAD") :] == [
        "Since HEAD",
        "  1 call new",
        "    app/c.py:7  client.chat.completions.create in three",
        "  2 calls gone",
        "    app/a.py:7  client.chat.completions.create in one",
        "    app/b.py:7  client.chat.completions.create in stopped  MR112",
    ]
    git("add", "-A")
    git("commit", "-qm", "after")
    assert run("--since", "HEAD", "--quiet").stdout.endswith("Since HEAD\n  Nothing has changed.\n")


def test_other_options_are_told(repository: Path) -> None:
    run("--format=json", "--output=before.json")
    for form in ("terminal", "markdown"):
        assert "with other options" not in run("--since=before.json", f"--format={form}").stdout
        assert (
            "with other options: " in run("--since=before.json", f"--format={form}", "--unsafe-fixes").stdout
        )


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_the_pages_tell(repository: Path, form: str) -> None:
    text = run("--since", "HEAD", "--format", form).stdout
    assert "three" in text
    assert re.search(r"Since (`HEAD`|\d{4}-\d\d-\d\d)", text)
    assert "stopped" in text
    assert "stopped" not in run("--format", form).stdout


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("nowhere", "neither a file nor a git revision"),
        ("--output=x", "neither a file nor a git revision"),
        ("app/a.py", "is not JSON"),
        ("other.json", "is not a JSON report of version 1"),
    ],
)
def test_what_cannot_be_compared_with(repository: Path, given: str, text: str) -> None:
    Path("other.json").write_text("[1]", encoding="utf-8")
    error = " ".join(run(f"--since={given}", status=2).stderr.split())
    assert text in error
    assert not Path("x").exists()


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(READY, encoding="utf-8")
    assert "not in one git work tree" in run("--since", "HEAD", status=2).stderr


def test_the_date_is_that_of_the_build(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    assert json.loads(run("--date", "--format=json").stdout)["date"] == "2026-01-01"
    assert json.loads(run("--format=json").stdout)["date"] is None


def test_calls_of_a_notebook_are_counted() -> None:
    cells = [
        {"cell_type": "markdown", "source": "client.responses.create()"},
        {
            "cell_type": "code",
            "source": ["%pip install openai\n", "a = client.responses.create()\n"],
        },
        {"cell_type": "code", "source": "def f():\n    return client.responses.parse(input='y')"},
        {"cell_type": "code", "source": "not python at all client.responses.create"},
    ]
    data = json.dumps({"cells": cells, "nbformat": 4}).encode()
    assert responses_calls("a.ipynb", data) == {"": 1, "f": 1}
    assert responses_calls("a.ipynb", b'{"cells": 1, "x": ".responses."}') == {}


def test_calls_in_what_ipython_understands_are_counted() -> None:
    code = "files = !ls\nfor _ in files:\n    %matplotlib inline\n    client.responses.create()\n"
    cells = [{"cell_type": "code", "source": code}]
    assert responses_calls("a.ipynb", json.dumps({"cells": cells, "nbformat": 4}).encode()) == {"": 1}


def test_calls_of_a_text_are_counted() -> None:
    text = b"```python\nclient.responses.create()\n```\n`client.responses.create()`\n"
    assert responses_calls("a.md", text) == {"": 1}

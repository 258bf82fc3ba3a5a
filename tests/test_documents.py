"""Code blocks in texts, and documents of all sorts on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from migrate_responses.cli import cli
from migrate_responses.config import Settings
from migrate_responses.documents.blocks import Text
from migrate_responses.find.candidates import searchable
from migrate_responses.find.project import find
from migrate_responses.results import Verdict
from migrate_responses.run import migrate
from tests.test_notebooks import CALL, HEAD, MOVED, notebook

README = f"# Tool\n\n```python\n{HEAD}\n{CALL}\n```\n"


def blocks(text: str, path: str = "a.md") -> list[str]:
    """The programs of a text, each with its blocks separated by a line."""
    programs = Text(path, text.encode()).programs
    return ["\n---\n".join(program.split(program.text)) for program in programs]


# -- which blocks


@pytest.mark.parametrize(
    "fence",
    [
        "```python\nx = 1\n```",
        "~~~~ py\nx = 1\n~~~~",
        "```Python title='a.py' {1,3}\nx = 1\n```",
        "```{python}\nx = 1\n```",
        "``` {.python .numberLines}\nx = 1\n```",
        "```{code-cell} ipython3\nx = 1\n```",
        "* item\n\n  ```python\n  x = 1\n  ```",
        "> ```python\n> x = 1\n> ```",
        "!!! note\n    ```python\n    x = 1\n    ```",
        "```python\nx = 1",
        "```{code-cell} python\n:tags: [hide]\n:name: a\nx = 1\n```",
        "```{code-cell}\tpython3\n---\ntags: [hide]\n---\nx = 1\n```",
    ],
)
def test_fences_of_python(fence: str) -> None:
    assert blocks(f"text\n\n{fence}\n") == ["x = 1"]


@pytest.mark.parametrize(
    "text",
    [
        "```\nx = 1\n```",
        "```bash\nx = 1\n```",
        "    x = 1",
        "`x = 1`",
        "```python\n```",
        "```python\n>>> x\n```",
    ],
)
def test_what_is_no_block_of_python(text: str) -> None:
    assert blocks(f"text\n\n{text}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        ".. code-block:: python\n\n    x = 1\n",
        ".. code:: python\n   :number-lines:\n   :class: a\n\n   x = 1\n\ntext",
        "* item\n\n  .. sourcecode:: py\n\n      x = 1\n\n* item",
        ".. testcode:: group\n\n\tx = 1\n",
        ".. jupyter-execute::\n   :hide-code:\n\n   x = 1\n",
        ".. code-block:: python\n\n    x = 1\n\n\n.. note:: x = 2",
    ],
)
def test_directives_of_python(text: str) -> None:
    assert blocks(text, "a.rst") == ["x = 1"]


@pytest.mark.parametrize(
    "text", [".. code-block:: bash\n\n    x = 1\n", "text::\n\n    x = 1\n", ".. ipython::\n\n    x = 1\n"]
)
def test_other_directives(text: str) -> None:
    assert blocks(text, "a.rst") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "```pycon\n>>> {}\n```\n"),
        ("a.md", "```python\n>>> {}\n1\n```\n"),
        ("a.rst", "text\n\n>>> {}\n1\n\ntext\n"),
        ("a.rst", ".. doctest::\n\n   >>> {}\n   1\n"),
    ],
)
def test_sessions_are_told_and_left(path: str, text: str) -> None:
    results = migrate({path: text.format(CALL).encode()}, Settings())
    (site,) = results.sites
    assert (site.verdict, site.reasons[0].code) == (Verdict.MANUAL, "MR913")
    assert text.split("\n")[site.line - 1].strip() == ">>> {}"
    assert not migrate({path: text.format("print(1)").encode()}, Settings()).sites


def fenced(*codes: str) -> str:
    return "\n".join(f"```python\n{code}\n```\n" for code in codes)


@pytest.mark.parametrize(
    ("codes", "programs"),
    [
        (["x = 1", "y = 2"], ["x = 1", "y = 2"]),
        (["x = 1", "y = 2", "print(x)"], ["x = 1\n---\nprint(x)", "y = 2"]),
        (["x = 1", "x = 2", "print(x)"], ["x = 1\n---\nx = 2\n---\nprint(x)"]),
        (["x = 1", "x = 2\nprint(x)"], ["x = 1", "x = 2\nprint(x)"]),
        (["x = 1", "x += 2"], ["x = 1\n---\nx += 2"]),
        (["x = 1", "x = x + 2"], ["x = 1\n---\nx = x + 2"]),
        (["x = 1", "def f(): return x"], ["x = 1\n---\ndef f(): return x"]),
        (["x = 1", "def f(x): return x"], ["x = 1", "def f(x): return x"]),
        (["x = 1", "[x for x in range(3)]"], ["x = 1", "[x for x in range(3)]"]),
        (["x = 1", "for x in range(3): print(x)"], ["x = 1", "for x in range(3): print(x)"]),
        (["import x", "x.y"], ["import x\n---\nx.y"]),
        (["print(x)", "x = 1"], ["print(x)", "x = 1"]),
    ],
)
def test_blocks_that_need_one_another_are_one_program(codes: list[str], programs: list[str]) -> None:
    assert blocks(fenced(*codes)) == programs


# -- what is written


def test_no_comment_is_written_into_a_text() -> None:
    text = README.replace('"Hi"}]', '"Hi"}], n=2').encode()
    results = migrate({"a.md": text}, Settings())
    assert [(site.verdict, site.line, site.column) for site in results.sites] == [(Verdict.MANUAL, 7, 5)]
    assert not results.changed


def test_places_count_what_stands_before_a_line() -> None:
    text = "".join(f"  > {line}\n" for line in README.splitlines())
    (site,) = migrate({"a.md": text.encode()}, Settings()).sites
    line = text.split("\n")[site.line - 1]
    assert line[site.column - 1 :].startswith("client.chat")


def test_a_module_and_the_text_about_it_are_one_flow() -> None:
    helper = f"{HEAD}\ndef ask():\n    return {CALL[4:]}\n".encode()
    guide = fenced("from helper import ask", "print(ask().choices[0].message.content)").encode()
    results = migrate({"helper.py": helper, "guide.md": guide}, Settings())
    assert {file.path for file in results.changed} == {"helper.py", "guide.md"}
    held = migrate({"helper.py": helper, "guide.md": guide}, Settings(), {"helper.py"})
    assert [reason.code for reason in held.sites[0].reasons] == ["MR907"]


def test_bytes_that_are_no_text_are_told() -> None:
    results = migrate({"a.md": b"\xff```python"}, Settings())
    assert [(error.path, error.code) for error in results.errors] == [("a.md", "MR902")]


# -- the command line


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with a notebook and a README."""
    (tmp_path / "a b.ipynb").write_bytes(notebook(HEAD, CALL + "\nprint('é')"))
    (tmp_path / "README.md").write_bytes(README.encode())
    (tmp_path / "plain.ipynb").write_bytes(notebook("x = 1"))
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    return tmp_path


def run(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == status, result.output
    return result.stdout


def test_the_diff_is_a_patch_for_git(project: Path) -> None:
    patch = run("diff", "--include-docs")
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True)
    assert (project / "a b.ipynb").read_bytes() == notebook(HEAD, MOVED + "\nprint('é')")
    assert (project / "README.md").read_text(encoding="utf-8") == README.replace(CALL, MOVED)
    assert run("diff", "--include-docs") == ""


def test_texts_are_read_where_they_are_asked_for(project: Path) -> None:
    assert "README.md" not in run("report")
    assert "README.md" in run("report", "--include-docs")
    assert "README.md" in run("report", "README.md")
    (project / "pyproject.toml").write_text("[tool.migrate-responses]\ninclude-docs = true\n")
    assert "README.md" in run("report")


def test_reports_name_the_cell(project: Path) -> None:
    (project / "a b.ipynb").write_bytes(
        notebook(HEAD, "# one\n" + CALL.replace("Hi", "Hi\\n").replace(")", ", n=2)"))
    )
    assert "a b.ipynb:cell 3:2:" in run("check", status=1)
    site = json.loads(run("report", "--format", "json"))["sites"][0]
    assert site["cell"] == {"number": 3, "line": 2, "column": 5}
    assert site["reasons"][0]["cell"]["number"] == 3


def test_a_broken_notebook_does_not_stop_the_others(project: Path) -> None:
    (project / "broken.ipynb").write_text('{"cells": [ openai')
    result = CliRunner().invoke(cli, ["apply", "--allow-dirty"])
    assert result.exit_code == 2
    assert "broken.ipynb" in result.output
    assert "MR901" in result.output
    assert b"client.responses.create" in (project / "a b.ipynb").read_bytes()


def test_only_files_that_can_matter_are_taken_in(project: Path) -> None:
    (project / ".ipynb_checkpoints").mkdir()
    (project / ".ipynb_checkpoints" / "a b-checkpoint.ipynb").write_bytes(notebook(HEAD, CALL))
    (found,) = find([str(project)])
    assert set(found.sources) == {"a b.ipynb"}
    (found,) = find([str(project)], include_docs=True)
    assert set(found.sources) == {"a b.ipynb", "README.md"}


def test_a_notebook_that_only_reads_an_answer_is_taken_in(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "helper.py").write_text(f"{HEAD}\ndef ask():\n    return {CALL[4:]}\n")
    (tmp_path / "use.ipynb").write_bytes(
        notebook("from helper import ask", "answer = ask()", "answer.choices[0]")
    )
    (tmp_path / "other.ipynb").write_bytes(notebook("from elsewhere import ask"))
    (found,) = find([str(tmp_path / "helper.py")])
    assert set(found.sources) == {"helper.py", "use.ipynb"}
    assert set(found.writable) == {"helper.py"}


def test_a_notebook_is_searched_line_by_line() -> None:
    text = searchable("a.ipynb", notebook("import os\nfrom a import b", '    x = "y"'))
    assert text == b'# Title\nimport os\nfrom a import b\n    x = "y"\n'
    book = json.loads(notebook("import os"))
    book["cells"][1]["outputs"] = [{"text": ["from out import put\n"]}]
    assert b"put" not in searchable("a.ipynb", json.dumps(book, indent=2).encode())
    book["cells"][1]["source"] = "import os\nimport re"
    assert searchable("a.ipynb", json.dumps(book, indent=2).encode()) == b"# Title\nimport os\nimport re\n"
    assert b"\nimport re" in searchable("a.ipynb", json.dumps(book).encode())
    assert searchable("a.py", b'"\\n') == b'"\\n'

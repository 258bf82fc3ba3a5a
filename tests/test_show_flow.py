"""``report --explain-flow FILE:LINE``: one flow with all its places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from migrate_responses import cli

FILES = {
    "pyproject.toml": "",
    "app/__init__.py": "",
    "app/config.py": "from openai import OpenAI\n\nclient = OpenAI()\n",
    "app/tools.py": 'TOOLS = [{"type": "function", "function": {"name": "now"}}]\n',
    "app/llm.py": (
        "from .config import client\nfrom .tools import TOOLS\n\n\n"
        "def ask(question):\n"
        '    history = [{"role": "user", "content": question}]\n'
        "    return client.chat.completions.create(\n"
        '        model="gpt-4o", messages=history, tools=TOOLS, stop=["."]\n'
        "    )\n"
    ),
    "app/main.py": 'from .llm import ask\n\nanswer = ask("x")\nprint(answer.choices[0].message.content)\n',
    "app/other.py": (
        "from .config import client\n\n"
        'text = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "x"}])\n'
        "print(text.choices[0].message.content)\n"
    ),
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def explain(place: str, status: int = 0) -> Result:
    result = CliRunner().invoke(cli.cli, ["report", "--explain-flow", place])
    assert result.exit_code == status, result.output
    return result


def parts(text: str) -> dict[str, list[str]]:
    """The places under each heading."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("    "):
            continue
        if line.startswith("  "):
            found.setdefault(heading, []).append(line.split()[0])
        else:
            heading = line
    return found


def test_all_places_of_a_flow() -> None:
    result = explain("app/llm.py:7")
    assert result.stdout.startswith("app/llm.py:7  client.chat.completions.create  held back")
    found = parts(result.stdout)
    assert found["Client"] == ["app/config.py:3"]
    assert found["What is sent"] == ["app/llm.py:6", "app/llm.py:8", "app/tools.py:1"]
    assert found["Where the answer goes"] == ["app/llm.py:7", "app/main.py:3", "app/main.py:4"]
    assert found["What holds it back"] == ["MR112"]
    assert "trim the text yourself" in result.stdout


@pytest.mark.parametrize("place", ["app/main.py:4", "./app/tools.py:1", "app/llm.py:6", "app/llm.py:7:12"])
def test_any_line_of_a_flow_will_do(place: str) -> None:
    assert explain(place).stdout == explain("app/llm.py:7").stdout


def test_a_line_of_two_flows_shows_both() -> None:
    text = explain("app/config.py:3").stdout
    assert "app/llm.py:7  client.chat.completions.create  held back" in text
    assert "app/other.py:3  client.chat.completions.create  can be migrated" in text


def test_no_call_there() -> None:
    assert "it has calls at line 3" in explain("app/other.py:1", status=2).stderr
    assert "no call in that file" in explain("app/__init__.py:1", status=2).stderr
    assert "such as app/llm.py:42" in explain("app/llm.py", status=2).stderr


def test_a_place_in_a_notebook_is_taken_as_it_is_printed() -> None:
    call = FILES["app/other.py"].splitlines(keepends=True)[2].replace("client", "OpenAI()", 1)
    source = ["from openai import OpenAI\n", call]
    code = {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [], "source": source}
    cells = [{"cell_type": "markdown", "metadata": {}, "source": []}, code]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("play.ipynb").write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    assert "OpenAI().chat.completions.create" in explain("play.ipynb:cell 2:2:8").stdout
    assert f"  play.ipynb:cell 2:2  {call.strip()}\n" in explain("play.ipynb:cell 2:2").stdout
    missed = explain("play.ipynb:cell 2:1", status=2).stderr
    assert "no call has to do with line 1 of cell 2 of play.ipynb; it has calls at cell 2:2." in missed
    source[1:] = [f"%time text = {call.partition('=')[2].strip()}"]
    Path("play.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    assert "MR913 play.ipynb:cell 2:2  `%time`" in explain("play.ipynb:cell 2:2").stdout


SHARED = {
    "llm.py": "from openai import OpenAI\nclient = OpenAI()\n"
    "def one(q):\n"
    '    r = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": q}])\n'
    "    return r.choices[0].message.content\n"
    "def two(q):\n"
    '    r = client.chat.completions.create(model="m", messages=[{"role": "user", "content": q}], stop=q)\n'
    "    return r.choices[0].message.content\n",
    "test_llm.py": "from unittest.mock import MagicMock, patch\nimport llm\n"
    "def answer(text):\n"
    "    return MagicMock(choices=[MagicMock(message=MagicMock(content=text))])\n"
    '@patch("llm.client")\ndef test_one(client):\n'
    '    client.chat.completions.create.return_value = answer("a")\n'
    '    assert llm.one("x") == "a"\n'
    '@patch("llm.client")\ndef test_two(client):\n'
    '    client.chat.completions.create.return_value = answer("a")\n'
    '    assert llm.two("x") == "a"\n',
}


def test_what_joins_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    for name, text in SHARED.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    lines = explain("llm.py:4").stdout.splitlines()
    assert [line.endswith("(asked for)") for line in lines[:2]] == [True, False]
    start = lines.index("What joins these calls")
    assert lines[start + 1].startswith("  test_llm.py:4  return MagicMock(")
    assert lines[start + 2] == "    Test double (MR802): llm.py:4 (one), llm.py:7 (two)"


def test_a_call_alone_is_joined_to_none() -> None:
    assert "joins" not in explain("app/llm.py:7").stdout


def test_unsafe_fixes_are_no_advice_where_they_do_not_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = "def test_one(monkeypatch):\n    made = llm.make(choices=[1])\n"
    double += '    monkeypatch.setattr(llm.client.chat.completions, "create", lambda **given: made)\n'
    double += "    llm.one('x')\n"
    for stop, advised in ((', stop=["x"]', False), ("", True)):
        folder = tmp_path / str(advised)
        folder.mkdir()
        (folder / "pyproject.toml").write_text("", encoding="utf-8")
        own = SHARED["llm.py"].split("def two")[0].replace("}])", f"}}]{stop})")
        (folder / "llm.py").write_text(own, encoding="utf-8")
        (folder / "test_llm.py").write_text(f"import llm\n{double}", encoding="utf-8")
        monkeypatch.chdir(folder)
        text = explain("llm.py:4").stdout
        assert "MR803 test_llm.py:3  `choices=[1]` in a test is not understood" in text
        assert ("--unsafe-fixes" in text) is advised

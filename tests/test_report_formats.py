"""The table of formats, and what the command line gives to each of them."""

from __future__ import annotations

import json
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from migrate_responses import cli
from migrate_responses.show import formats
from tests.reports import EVERYTHING, READY, report


def run(*arguments: str, status: int = 0) -> Result:
    result = CliRunner().invoke(cli.cli, ["report", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q"], check=True)
    for path, text in EVERYTHING.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_formats_that_there_are() -> None:
    assert set(formats.NAMES) == {"terminal", "json", "sarif", "github", "markdown", "html", "prompt"}
    page = (Path(__file__).resolve().parent.parent / "docs" / "reports.md").read_text(encoding="utf-8")
    for name in formats.NAMES:
        assert f"| `{name}` |" in page
    for module, function in formats._FORMATS.values():
        assert getattr(import_module(module), function).__doc__


@pytest.mark.parametrize("form", formats.NAMES)
def test_a_report_is_the_same_each_time(form: str, project: Path) -> None:
    first = run("--format", form, status=2).stdout  # a file is broken
    assert first.endswith("\n")
    assert run("--format", form, status=2).stdout == first
    assert run("--format", form, "--output", "out.txt", status=2).stdout == ""
    assert Path("out.txt").read_text(encoding="utf-8") == first


@pytest.mark.parametrize("form", formats.NAMES)
def test_a_report_on_nothing(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = run("--format", form).stdout
    assert text == "" or text.endswith("\n")


def test_paths_are_from_the_root_of_the_repository(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "app")
    sites = json.loads(run("--format=json").stdout)["sites"]
    assert {site["path"] for site in sites} == {"ready.py", "seeded.py", "stopped.py"}
    assert "file=app/stopped.py," in run("--format=github").stdout
    assert "](app/stopped.py#L7)" in run("--format=markdown").stdout
    results = json.loads(run("--format=sarif").stdout)["runs"][0]["results"]
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results]
    assert set(places) == {"app/ready.py", "app/seeded.py", "app/stopped.py"}


def test_links_lead_to_the_commit_in_actions(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "o/r")
    assert "](app/stopped.py#L7)" in run("app", "--format=markdown").stdout
    monkeypatch.setenv("GITHUB_SHA", "abc")
    assert (
        "](https://github.example/o/r/blob/abc/app/stopped.py#L7)" in run("app", "--format=markdown").stdout
    )


def test_excerpts() -> None:
    found = report({"a.py": "x = 1\r\ny = '\x0c\u2028'\rz = 3\n", "b.py": b"# \xff\n", "c.py": READY})
    assert found.excerpt("a.py", 1, 9) == [(1, "x = 1"), (2, "y = '\x0c\u2028'"), (3, "z = 3")]
    assert found.excerpt("a.py", -5, 1) == [(1, "x = 1")]
    assert found.excerpt("a.py", 4, 9) == []
    assert found.excerpt("b.py", 1, 9) == []
    assert found.excerpt("nowhere.py", 1, 9) == []


def test_the_work_order_of_one_call(project: Path) -> None:
    text = run("--format=prompt", "--explain-flow=app/stopped.py:10", status=2).stdout
    assert text.startswith("# 1 work order: ")
    assert "## Order 1: `app/stopped.py:7:14` in `stopped`" in text
    assert (
        run("--format=prompt", "--explain-flow=app/ready.py:7", status=2).stdout == "Nothing is held back.\n"
    )
    assert (
        "no call has to do with line 1"
        in run("--format=prompt", "--explain-flow=moved.py:1", status=2).stderr
    )
    error = run("--format=sarif", "--explain-flow=app/stopped.py:7", status=2).stderr
    assert "--explain-flow goes with --format terminal or prompt" in error

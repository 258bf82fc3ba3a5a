"""The pages in docs/ and the README: links lead somewhere, commands are understood, examples parse."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from migrate_responses.cli import cli
from migrate_responses.rules import RULES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
FENCES = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, *languages: str) -> list[str]:
    """The code blocks of a page, without the indentation of the list they may stand in."""
    found = BLOCK.findall(text(page))
    return [re.sub(rf"(?m)^{indent}", "", code) for indent, language, code in found if language in languages]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", FENCES.sub("", text(page)), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


@EACH_PAGE
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCES.sub("", text(page))):
        if link.startswith(("http", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


@EACH_PAGE
def test_codes_that_are_named_exist(page: Path) -> None:
    known = {rule.code for rule in RULES}
    named = set(re.findall(r"\bMR\d{3}\b", text(page)))
    invented = {"MR109"} if page.name in ("writing-a-rule.md", "architecture.md") else set()
    assert named - invented <= known


def commands(page: Path) -> list[str]:
    """Every call of the program in the shell blocks and the YAML of a page, and between backticks."""
    shell = [code.replace("\\\n", " ") for code in blocks(page, "sh", "yaml", "ini")]
    found = [line for code in shell for line in code.splitlines()]
    found += re.findall(r"`(migrate-responses [^`]*)`", FENCES.sub("", text(page)))
    calls = []
    for line in found:
        match = re.search(r"(?:^|[\s|&])(migrate-responses [a-z].*?)(?:$|\s#|\s\||\s>|\s<)", line)
        if match and not re.search(r"\b[A-Z]{4,}\b|\.\.\.|\{|\[", match.group(1)):
            calls.append(match.group(1))
    return calls


def test_there_are_commands_to_check() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 30


@EACH_PAGE
def test_commands_are_understood(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in commands(page):
        _, name, *arguments = shlex.split(words)
        for argument in arguments:
            if re.fullmatch(r"[\w./-]+(/|\.py|\.json|/\w+)|src|tests", argument) and "-" not in argument[:1]:
                path = tmp_path / argument
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.suffix in (".py", ".json"):
                    path.touch()
                else:
                    path.mkdir(exist_ok=True)
        around = click.Context(cli, **cli.context_settings)  # as in a call of the program
        context = cli.commands[name].make_context(name, arguments, parent=around)
        assert isinstance(context, click.Context), words


@EACH_PAGE
def test_blocks_parse(page: Path) -> None:
    for code in blocks(page, "python"):
        if page.name in ("rules.md", "rewrites.md", "stays.md"):
            continue  # made from the rule book, which has a test of its own
        lines = code.rstrip().rstrip(",").splitlines()
        indent = len(lines[0]) - len(lines[0].lstrip())
        row = "\n".join(line[indent:] for line in lines).replace("(...)", "()").replace("(..., ", "(")
        ast.parse(f"{{{row}}}" if re.match(r"[\"(].*: ", row) else row)
    for code in blocks(page, "json"):
        json.loads(code)
    for code in blocks(page, "toml"):
        tomllib.loads(code)


def test_the_quick_start_shows_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary in the quick start has the words and the layout of the real one."""
    (shown,) = blocks(ROOT / "docs" / "quickstart.md", "text")
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(text(ROOT / "examples" / "assistant.py"), encoding="utf-8")
    told = CliRunner().invoke(cli, ["diff"]).stderr
    for line in ("     N ready to migrate", "          N MRN stop", "Nothing was written.", "Next:"):
        assert line in re.sub(r"\d+", "N", told).splitlines()
        assert line in re.sub(r"\d+", "N", shown).splitlines()
    following = re.findall(r"^  migrate-responses apply.*$", told, re.MULTILINE)
    assert len(following) == 2
    assert all(line in shown.splitlines() for line in following)


def test_what_it_survives_is_proved_by_tests_that_exist() -> None:
    named = re.findall(r"`(\w+)::(\w+)`", text(ROOT / "docs" / "reliability.md"))
    assert named
    known: set[tuple[str, str]] = set()
    for short in {short for short, _ in named}:
        path = ROOT / "tests" / f"{short if short.startswith('test_') else f'test_reliability_{short}'}.py"
        known |= {(short, name) for name in re.findall(r"^def (test_\w+)", text(path), re.MULTILINE)}
    assert set(named) <= known
    shorts = ("writing", "surroundings", "reading", "paths", "hostile")
    own = {(short, name) for short, name in known if short in shorts}
    assert own - set(named) == set(), "a test without a row"

"""Help, examples and completion: what the command line says about itself is so."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from migrate_responses.cli import cli
from migrate_responses.examples import EXAMPLES, examples

COMMANDS = list(cli.commands)
ROOT = Path(__file__).resolve().parent.parent


def said(*arguments: str) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_in_its_help(command: str) -> None:
    text = said(command, "--help")
    assert text == said(command, "-h")
    for words, purpose in EXAMPLES[command]:
        assert re.search(rf"migrate-responses {re.escape(words)} +{re.escape(purpose)}\n", text)
    assert all(len(line) <= 100 for line in text.splitlines())


def test_commands_are_listed_in_the_order_of_use() -> None:
    listed = re.search(r"Commands:\n((?:  \w.*\n)+)", said("--help"))
    assert listed is not None
    names = [line.split()[0] for line in listed.group(1).splitlines()]
    assert names[:2] == ["diff", "apply"]
    assert sorted(names) == sorted(COMMANDS)


def test_what_is_special_about_a_command_comes_first() -> None:
    text = said("apply", "--help")
    assert text.index("--interactive") < text.index("--unsafe-fixes")


@pytest.mark.parametrize(
    "words", [words for command, rows in EXAMPLES.items() if command for words, _ in rows]
)
def test_every_example_is_understood(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is parsed as the shell would hand it over, beside files of the names it uses."""
    monkeypatch.chdir(tmp_path)
    for name in ("src/app.py", "tests/test_app.py", "app.py", "old.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    command = words.split(" | ")[0].split(" < ")[0]
    name, *arguments = shlex.split(command)
    around = click.Context(cli, **cli.context_settings)  # as in a call of the program
    context = cli.commands[name].make_context(name, arguments, parent=around)
    assert isinstance(context, click.Context)


def test_examples_line_up() -> None:
    assert examples("explain").splitlines()[2:4] == [
        "  migrate-responses explain        all rules, one a line",
        "  migrate-responses explain MR112  one rule; 112 will do",
    ]


# -- explain


def test_a_number_or_a_beginning_will_do() -> None:
    assert said("explain", "112") == said("explain", "mr112") == said("explain", "MR112")
    listed = said("explain", "MR40")
    assert "MR401" in listed
    assert "MR301" not in listed
    assert said("explain", "112", "MR001") == said("explain", "112") + "\n" + said("explain", "MR001")
    assert said("explain", "4") == said("explain", "MR4")
    assert said("explain", "Stop") == said("explain", "MR112")
    assert {"MR105", "MR603"} <= set(said("explain", "response_format").split())
    for wrong in ("MR999", "x", "1122"):
        result = CliRunner().invoke(cli, ["explain", wrong])
        assert result.exit_code == 2
        assert f"There is no rule '{wrong}'" in result.output


# -- completion

COMPLETE = "_MIGRATE_RESPONSES_COMPLETE"
SHELLS = {
    "bash": (
        'eval "$({complete}=bash_source migrate-responses)"\n'
        "COMP_WORDS=(migrate-responses explain MR11); COMP_CWORD=2\n"
        "_migrate_responses_completion migrate-responses\n"
        'printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    ),
    "zsh": (
        "autoload -Uz compinit; compinit -D\n"
        'eval "$({complete}=zsh_source migrate-responses)"\n'
        "(( $+_comps[migrate-responses] )) && print registered\n"
        'COMP_WORDS="migrate-responses explain MR11" COMP_CWORD=2 {complete}=zsh_complete migrate-responses\n'
    ),
    "fish": (
        "{complete}=fish_source migrate-responses | source\n"
        'complete --do-complete "migrate-responses explain MR11"\n'
    ),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_completes_codes(shell: str, tmp_path: Path) -> None:
    """The lines of docs/options.md, in the shell itself."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    scripts = tmp_path / "bin"
    scripts.mkdir()
    starter = scripts / "migrate-responses"
    starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m migrate_responses "$@"\n', encoding="utf-8")
    starter.chmod(0o755)
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    script = SHELLS[shell].format(complete=COMPLETE)
    done = subprocess.run(
        [program, "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    offered = set(re.findall(r"MR\d{3}", done.stdout))
    assert {"MR110", "MR112", "MR119"} <= offered
    assert all(code.startswith("MR11") for code in offered)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("migrate-responses ap", ["apply"]),
        ("migrate-responses diff --unsafe", ["--unsafe-fixes"]),
        ("migrate-responses diff --select MR001,MR10", [f"MR001,MR10{digit}" for digit in range(1, 9)]),
        ("migrate-responses report --format js", ["json"]),
    ],
)
def test_what_is_completed(words: str, offered: list[str]) -> None:
    environment = {
        **os.environ,
        COMPLETE: "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from migrate_responses.cli import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split(",", 1)[1] for line in done.stdout.splitlines()] == offered

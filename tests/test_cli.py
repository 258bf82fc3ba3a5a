"""The commands, their output and their exit status, with a stand-in for the engine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from migrate_responses import __version__, cli
from migrate_responses.config import KEYS, load
from tests import engine_double

CALL = "client.chat.completions.create(messages=m)\n"
DONE = "client.responses.create(input=m)\n"
STOP = 'client.chat.completions.create(messages=m, stop="x")\n'
SEED = "client.chat.completions.create(messages=m, seed=1)\n"
GROQ = "client.chat.completions.create(messages=m)  # groq\n"
SKIP = "client.chat.completions.create(messages=m)  # migrate-responses: skip\n"
DYNAMIC = "client.chat.completions.create(messages=m)  # dynamic\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project to stand in."""
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("migrate_responses.request.engine", lambda jobs: engine_double.migrate)
    return tmp_path


def put(**files: str) -> None:
    for name, text in files.items():
        path = Path(name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run(*arguments: str, input: bytes | None = None, status: int = 0) -> Result:
    result = CliRunner().invoke(cli.cli, arguments, input=input)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


# -- diff


def test_diff_is_a_patch_on_standard_output() -> None:
    put(a=CALL, pkg__b=f"# caf\u00e9\n{CALL}", c=STOP, plain="x = 1\n")
    result = run("diff")
    assert result.stdout == (
        f"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-{CALL}+{DONE}"
        f"--- a/pkg/b.py\n+++ b/pkg/b.py\n@@ -1,2 +1,2 @@\n # caf\u00e9\n-{CALL}+{DONE}"
    )
    assert "3 Chat Completions calls in 3 files (parsed 3 files of 4)" in result.stderr
    assert re.search(r"migrate-responses apply +write it\n", result.stderr)
    assert Path("a.py").read_text(encoding="utf-8") == CALL


def test_diff_from_a_folder_below(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    put(pkg__a=CALL, b=CALL)
    git("init", "-q")
    monkeypatch.chdir(here / "pkg")
    patch = run("diff").stdout_bytes
    assert patch.startswith(b"--- a/a.py\n")
    subprocess.run(["git", "apply", "-"], input=patch, check=True)
    assert Path("a.py").read_text(encoding="utf-8") == DONE


def test_diff_exit_code() -> None:
    put(a=CALL)
    run("diff", status=0)
    run("diff", "--exit-code", status=1)
    put(a=STOP)
    run("diff", "--exit-code", status=0)


def test_diff_quiet() -> None:
    put(a=CALL)
    result = run("diff", "-q")
    assert result.stdout.startswith("---")
    assert result.stderr == ""


def test_next_command_keeps_the_options() -> None:
    put(a__b=SEED)
    result = run("diff", "a", "--unsafe-fixes", "--exclude", "x y", "--exit-code", status=1)
    assert "  migrate-responses apply a --unsafe-fixes --exclude 'x y'\n        write it\n" in result.stderr


# -- apply


def test_texts_with_calls_are_told_of(here: Path) -> None:
    put(llm=SEED)
    (here / "docs").mkdir()
    (here / "docs" / "use.md").write_text("```python\nclient.chat.completions.create(model=MODEL)\n```\n")
    (here / "docs" / "http.md").write_text("curl https://api.openai.com/v1/chat/completions\n")
    (here / "docs" / "other.md").write_text("Nothing here.\n")
    told = "code in 2 texts that name"
    assert told in run("diff", ".").stderr
    assert "code in 1 text that names" in run("diff", ".", "--exclude", "use.md").stderr
    assert told not in run("diff", ".", "--include-docs").stderr
    assert told not in run("diff", "llm.py").stderr


def test_apply_writes() -> None:
    put(a=CALL, b=STOP, c=GROQ)
    result = run("apply")
    assert Path("a.py").read_text(encoding="utf-8") == DONE
    assert Path("b.py").read_text(encoding="utf-8") == STOP
    assert "1 migrated" in result.stdout
    assert "1 held back" in result.stdout
    assert "1 file changed." in result.stdout
    assert "0 files changed." in run("apply").stdout


def test_apply_writes_only_named_files() -> None:
    put(a=CALL, b=CALL)
    run("apply", "a.py")
    assert Path("b.py").read_text(encoding="utf-8") == CALL


def test_apply_refuses_unstaged_changes() -> None:
    put(a=CALL, b=CALL)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "x")
    put(a=CALL + "# edited\n")
    result = run("apply", status=2)
    assert "a.py: MR906 has unstaged changes" in result.stderr
    assert "--allow-dirty" in result.stderr
    assert "Nothing was written, because of a.py (commit or stage these changes, or" in result.stderr
    assert Path("b.py").read_text(encoding="utf-8") == CALL
    run("apply", "b.py")
    run("apply", "--allow-dirty")
    assert Path("a.py").read_text(encoding="utf-8") == DONE + "# edited\n"


def test_diff_says_what_apply_would_refuse() -> None:
    put(a=CALL)
    git("init", "-q")
    put(**{"-b": CALL})
    git("add", "a.py")
    assert "`apply` will refuse this, because of -b.py (git add ./-b.py, or use" in run("diff").stderr
    git("add", "./-b.py")
    assert "will refuse" not in run("diff").stderr


def test_a_file_that_cannot_be_written_takes_its_flows_along_and_no_more() -> None:
    tied = CALL.replace("\n", "  # flow-with locked.py\n")
    put(a=tied, b=CALL, locked=CALL)
    Path("locked.py").chmod(0o444)
    result = run("apply", "-v", status=2)
    assert "locked.py: MR903 is read-only; make it writable" in result.stderr
    assert Path("a.py").read_text(encoding="utf-8") == tied
    assert Path("b.py").read_text(encoding="utf-8") == DONE
    assert Path("locked.py").read_text(encoding="utf-8") == CALL
    assert "a.py:1:1: MR907 locked.py:1:1 would have to change too" in result.stdout
    assert "1 file changed." in result.stdout


# -- check


@pytest.mark.parametrize(
    ("text", "status", "with_todo"),
    [(CALL, 1, 1), (STOP, 1, 0), (SEED, 1, 0), (GROQ, 0, 0), (SKIP, 0, 0), (DONE, 0, 0), (CALL + STOP, 1, 1)],
)
def test_check(text: str, status: int, with_todo: int) -> None:
    put(a=text)
    run("check", status=status)
    run("check", "--allow-todo", status=with_todo)
    assert Path("a.py").read_text(encoding="utf-8") == text


def test_check_lists_what_remains() -> None:
    put(a=GROQ + CALL + STOP)
    result = run("check", status=1)
    assert result.stdout.splitlines() == [
        "a.py:2:1: can be migrated: client.chat.completions.create",
        "a.py:3:1: MR112 `stop=` is there; see to it",
    ]
    assert run("check", "-q", status=1).stderr == ""


# -- report


def test_report() -> None:
    put(a=CALL + STOP)
    result = run("report")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["a.py"],
        ["1:1", "ready", engine_double.CALL],
        ["2:1", "held", "back", engine_double.CALL],
        ["MR112", "`stop=`", "is", "there"],
    ]


def test_report_json_to_a_file() -> None:
    put(a=CALL + STOP)
    result = run("report", "--format", "json", "--output", "out.json")
    assert result.stdout == ""
    document = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert document["summary"]["sites"] == 2
    assert json.loads(run("report", "--format=json").stdout) == document
    assert "no/such" in run("report", "--output", "no/such/file", status=2).stderr


def test_flow_numbers_of_two_projects_differ() -> None:
    for name in ("one", "two"):
        put(**{f"{name}__a": CALL})
        Path(name, ".git").mkdir()
    sites = json.loads(run("report", "one", "two", "--format=json").stdout)["sites"]
    assert [site["path"] for site in sites] == ["one/a.py", "two/a.py"]
    assert sites[0]["flow"] != sites[1]["flow"]


# -- explain and help


def test_explain() -> None:
    result = run("explain", "mr112")
    assert result.stdout.startswith("MR112 stop\nmanual: held back with a TODO\n")
    assert "\nBefore\n    client.chat.completions.create(" in result.stdout
    assert "\nSource: https://" in result.stdout
    listed = run("explain").stdout
    assert "MR112  manual  stop" in listed
    assert "There is no rule 'MR999'" in run("explain", "MR999", status=2).stderr


def test_nothing_at_all_shows_the_help() -> None:
    command = [sys.executable, "-m", "migrate_responses"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("Usage: migrate-responses [OPTIONS] COMMAND")
    assert "Error" not in result.stderr
    assert "\\n" not in result.stderr


def test_help() -> None:
    text = run("-h").output
    assert text == run("--help").output
    assert "Exit status:" in text
    assert "migrate-responses diff src | git apply" in text
    for name in cli.cli.commands:
        assert "--no-color" in run(name, "-h").output


OPTIONS = Path(__file__).resolve().parent.parent / "docs" / "options.md"


def test_the_documented_configuration_is_complete() -> None:
    block = re.findall(r"```toml\n(.*?)```", OPTIONS.read_text(encoding="utf-8"), re.DOTALL)[0]
    Path("pyproject.toml").write_text(block, encoding="utf-8")
    assert load("pyproject.toml").exclude
    assert re.findall(r"^([\w-]+) = ", block, re.MULTILINE) == list(KEYS)


def test_every_option_is_documented() -> None:
    page = OPTIONS.read_text(encoding="utf-8")
    for command in cli.cli.commands.values():
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert re.search(rf"[` ]{parameter.opts[-1]}\b", page), parameter.opts


def test_version() -> None:
    assert __version__ in run("--version").output


# -- options


def test_configuration_is_read_and_overridden() -> None:
    put(a=SEED, b=CALL)
    Path("pyproject.toml").write_text(
        '[tool.migrate-responses]\nunsafe-fixes = true\nexclude = ["b.py"]\n', encoding="utf-8"
    )
    assert "--- a/a.py" in run("diff").stdout
    assert "--- a/b.py" not in run("diff").stdout
    Path("other.toml").write_text("unsafe-fixes = false\n", encoding="utf-8")
    result = run("diff", "--config", "other.toml")
    assert "--- a/a.py" not in result.stdout
    assert "--- a/b.py" in result.stdout
    assert (
        "diff --config other.toml --unsafe-fixes\n        1 more call, if this is fine: MR110"
        in result.stderr
    )


def test_bad_configuration() -> None:
    put(a=CALL)
    Path("pyproject.toml").write_text("[tool.migrate-responses]\nunsafe-fix = true\n", encoding="utf-8")
    result = run("apply", status=2)
    assert "did you mean 'unsafe-fixes'?" in result.stderr
    assert Path("a.py").read_text(encoding="utf-8") == CALL


@pytest.mark.parametrize(
    "arguments",
    [
        ["diff", "missing.py"],
        ["diff", "--select", "MR999"],
        ["diff", "--ignore", ""],
        ["diff", "--api-defaults", "other"],
        ["diff", "-", "a.py"],
        ["diff", "--stdin-filename", "a.py"],
        ["nothing"],
    ],
)
def test_wrong_usage(arguments: list[str]) -> None:
    put(a=CALL)
    run(*arguments, status=2)


def test_dynamic_endpoints_take_one_line() -> None:
    put(a=DYNAMIC * 3)
    text = run("diff").stderr
    assert text.count("--assume-responses dynamic") == 1
    assert "if the server of 3 calls, whose base URL is known only at run time, has /responses\n" in text


def test_verbose_names_each_call_with_its_reason() -> None:
    put(a=STOP + GROQ + CALL)
    text = run("diff", "-v").stderr
    assert "a.py:1:1: MR112 `stop=` is there; see to it" in text
    assert "a.py:2:1: MR011" in text
    assert "a.py:3:1" not in text
    assert "a.py:1:1" not in run("diff").stderr


# -- config


def shown(*arguments: str) -> dict[str, str]:
    """The lines of ``config`` by their first word."""
    lines = run("config", *arguments).stdout.splitlines()
    return {line.split(" ", 1)[0]: " ".join(line.split()[1:]) for line in lines if line}


def test_config_tells_where_each_value_comes_from() -> None:
    put(src__a=CALL, src__gen=CALL)
    Path("pyproject.toml").write_text(
        '[tool.migrate-responses]\nignore = ["MR110"]\nassume-responses = ["azure"]\nexclude = ["gen.py"]\n'
        '[tool.migrate-responses.per-file-ignores]\n"src/*" = ["MR803"]\n',
        encoding="utf-8",
    )
    given = shown("src/a.py", "--assume-responses", "dynamic", "--unsafe-fixes", "--ignore", "MR111")
    assert given["configuration"] == "pyproject.toml [tool.migrate-responses]"
    assert given["project"] == ". (folder of pyproject.toml)"
    assert given["unsafe-fixes"] == "true command line"
    assert given["api-defaults"] == '"preserve" default'
    assert given["ignore"] == '["MR111"] command line'
    assert given["assume-responses"] == (
        '["azure", "dynamic"] pyproject.toml [tool.migrate-responses], command line'
    )
    assert given["src/a.py:"] == "calls that need MR803 are left out (per-file-ignores 'src/*')"
    assert set(KEYS) <= set(given)
    assert "src/gen.py: read, never written (exclude 'gen.py')\n" in run("config", "src/gen.py").stdout


def test_config_tells_of_the_nearest_file_and_of_packages() -> None:
    put(services__a__x=CALL)
    Path(".git").mkdir()
    Path("services/a/pyproject.toml").write_text(
        '[project]\nname = "x"\n[tool.migrate-responses]\nunsafe-fixes = true\n', encoding="utf-8"
    )
    given = shown("services/a/x.py")
    assert given["unsafe-fixes"] == "true services/a/pyproject.toml [tool.migrate-responses]"
    assert given["callers"].startswith("packaged for others")
    assert shown(".")["callers"].startswith("an application")
    assert shown(".", "--config", "services/a/pyproject.toml")["unsafe-fixes"].startswith("true")


def test_config_of_a_bad_file_is_refused() -> None:
    Path("pyproject.toml").write_text("[tool.migrate-responses]\nexcludes = []\n", encoding="utf-8")
    assert "did you mean 'exclude'?" in run("config", status=2).stderr


# -- standard input


def test_standard_input() -> None:
    assert run("apply", "-", input=CALL.encode()).stdout == DONE
    assert run("apply", "-", input=b"x = 1\r\n").stdout_bytes == b"x = 1\r\n"
    assert run("diff", "-", input=CALL.encode()).stdout.startswith("--- a/stdin.py")
    run("check", "-", input=CALL.encode(), status=1)


def test_standard_input_in_the_place_of_a_file() -> None:
    put(pkg__a="x = 1\n")
    result = run("diff", "-", "--stdin-filename", "pkg/a.py", input=CALL.encode())
    assert result.stdout.startswith("--- a/pkg/a.py")
    result = run("diff", "-", "--stdin-filename", "pkg/new.py", input=CALL.encode())
    assert result.stdout.startswith("--- a/pkg/new.py")
    assert not Path("pkg/new.py").exists()
    assert Path("pkg/a.py").read_text(encoding="utf-8") == "x = 1\n"


# -- errors


def test_one_bad_file_stops_nothing() -> None:
    put(a=CALL, bad="import openai\ndef broken(\n", c=CALL)
    result = run("apply", status=2)
    assert "bad.py:1:12: MR901 is not valid Python; mend it" in result.stderr
    assert Path("a.py").read_text(encoding="utf-8") == DONE
    assert Path("c.py").read_text(encoding="utf-8") == DONE
    for command in ("diff", "check", "report"):
        run(command, status=2)


def test_a_bad_file_elsewhere_is_no_error_of_this_run() -> None:
    put(a=CALL, bad="import openai\ndef broken(\n")
    result = run("apply", "a.py")
    assert "MR901" not in result.stderr


def test_files_that_were_named_are_counted() -> None:
    put(a="x = 1\n", b="y = 1\n")
    Path("empty").mkdir()
    Path("notes.txt").write_text("x", encoding="utf-8")
    assert run("diff", "notes.txt").stderr == "No Chat Completions calls in 1 file.\n"
    assert run("diff", "a.py").stderr == "No Chat Completions calls in 1 file.\n"
    assert run("diff").stderr == "No Chat Completions calls in 2 files.\n"
    assert run("diff", "empty").stderr == "No Python files there.\n"


def test_odd_names_and_escapes_are_made_visible() -> None:
    name = os.fsdecode(b"\x1b[31m\xff.py")
    Path(name).write_text(STOP, encoding="utf-8")
    result = run("check", status=1)
    assert "\x1b" not in result.output
    assert "\\x1b[31m\\udcff.py:1:1: MR112" in result.stdout


def test_an_assumption_that_fits_nothing_is_told() -> None:
    put(a=CALL + "import os\nclient = OpenAI(base_url=os.environ['LLM'])\ndef f(llm): return llm\n")
    wrong = run("diff", "--assume-responses", "dynamyc", "--assume-client", "lllm").stderr
    assert "--assume-responses dynamyc: no address in this code has that host; did you mean dynamic?" in wrong
    assert "--assume-client lllm: nothing in this code has that name." in wrong
    right = run("diff", "--assume-responses", "dynamic", "--assume-client", "llm").stderr
    assert "in this code" not in right


def test_files_with_calls_that_are_left_out_are_named() -> None:
    put(a=CALL, gen=CALL, quiet="x = 1\n")
    told = run("diff", "--exclude", "gen.py", "--exclude", "quiet.py").stderr
    assert "1 file left out by exclude: gen.py (names Chat Completions)" in told
    assert "left out" not in run("diff").stderr

"""``apply --interactive``: flow by flow on a real terminal, whole or nothing, and safe to interrupt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from migrate_responses.choice import Choice
from migrate_responses.config import Settings
from migrate_responses.run import migrate
from tests.terminal import PROGRAM, Terminal

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
ASK = "Migrate this flow? [y,n,a,q,e,p,?] "
TODO = "Write a TODO comment at each, with the reason? [y,n,p,?] "

HEAD = "from openai import OpenAI\n\nclient = OpenAI()\n"
MESSAGES = 'messages=[{"role": "user", "content": q}]'


def call(name: str, more: str = "") -> str:
    return (
        f"\n\ndef {name}(q: str) -> str:\n"
        f'    r = client.chat.completions.create(model="gpt-4o", {MESSAGES}{more})\n'
        f'    return r.choices[0].message.content or ""\n'
    )


def moved(name: str) -> str:
    return (
        f"\n\ndef {name}(q: str) -> str:\n"
        f'    r = client.responses.create(model="gpt-4o", input=q, store=False)\n'
        f"    return r.output_text\n"
    )


STOP = ', stop=["x"]'
SEED = ", seed=7"
STREAM = """

def stream(q: str) -> None:
    for chunk in client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": q}], stream=True
    ):
        print(chunk.choices[0].delta.content or "", end="")
"""
TOOLS = """\
TOOLS = [
    {"type": "function", "function": {"name": "now", "description": "The time.", "parameters": {}}},
]
"""
AGENT = (
    "from openai import OpenAI\n\nfrom tools import TOOLS\n\nclient = OpenAI()\n\n\n"
    "def agent(q: str) -> str:\n"
    '    messages = [{"role": "user", "content": q}]\n'
    '    r = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)\n'
    "    for call in r.choices[0].message.tool_calls or []:\n"
    "        print(call.function.name)\n"
    '    return r.choices[0].message.content or ""\n'
)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    return tmp_path


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def get(folder: Path, name: str) -> str:
    return (folder / f"{name}.py").read_text(encoding="utf-8")


def piped(folder: Path, answers: str, *options: str, status: int = 0) -> str:
    done = subprocess.run(
        [*PROGRAM, "apply", "-i", *options],
        cwd=folder,
        input=answers,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


# -- the answers


@POSIX
def test_yes_no_and_explain_on_a_terminal(here: Path) -> None:
    put(here, a=HEAD + call("one") + call("two"), b=HEAD + call("three"))
    terminal = Terminal("apply", "-i", cwd=here)
    terminal.wait_for(ASK)
    assert "Flow 1 of 3: a.py:7" in terminal.plain
    assert "+    r = client.responses.create(" in terminal.plain
    assert "\x1b[1;32m+" in terminal.seen
    terminal.type("n\n")
    terminal.wait_for(ASK)
    assert "Flow 2 of 3: a.py:12" in terminal.plain
    terminal.type("e\n")
    terminal.wait_for("MR203 A single user message: ")
    terminal.wait_for(ASK)
    terminal.type("?\n")
    terminal.wait_for("n - no, leave it as it is")
    terminal.wait_for(ASK)
    terminal.type("y\n")
    terminal.wait_for("Flow 3 of 3: b.py:7")
    terminal.wait_for(ASK)
    terminal.type("n\n")
    assert terminal.end() == 0
    assert "1 of 3 flows migrated, 2 left" in terminal.plain
    assert get(here, "a") == HEAD + call("one") + moved("two")
    assert get(here, "b") == HEAD + call("three")


@POSIX
@pytest.mark.parametrize("keys", ["\x03", "y\n\x03"])
def test_ctrl_c_writes_nothing(here: Path, keys: str) -> None:
    text = HEAD + call("one") + call("two")
    put(here, a=text)
    terminal = Terminal("apply", "-i", cwd=here)
    for key in keys.splitlines(keepends=True):
        terminal.wait_for(ASK)
        terminal.type(key)
    assert terminal.end() == 130
    assert "Interrupted; nothing was written." in terminal.plain
    assert "Traceback" not in terminal.plain
    assert get(here, "a") == text
    assert sorted(path.name for path in here.iterdir()) == ["a.py", "pyproject.toml"]


@POSIX
def test_ctrl_d_ends_as_q_does(here: Path) -> None:
    put(here, a=HEAD + call("one") + call("two"))
    terminal = Terminal("apply", "-i", cwd=here)
    terminal.wait_for(ASK)
    terminal.type("y\n")
    terminal.wait_for(ASK)
    terminal.type("\x04")
    assert terminal.end() == 0
    assert get(here, "a") == HEAD + moved("one") + call("two")


def test_quit_keeps_what_was_accepted(here: Path) -> None:
    put(here, a=HEAD + call("one") + call("two") + call("three", STOP))
    told = piped(here, "y\nq\n")
    assert "what was accepted before is written, the rest is left as it was" in told
    assert "1 of 2 flows migrated, 1 left\n1 file changed." in told
    assert get(here, "a") == HEAD + moved("one") + call("two") + call("three", STOP)


def test_always_covers_what_needs_no_other_rule(here: Path) -> None:
    put(here, a=HEAD + call("one") + call("two") + STREAM + call("four", SEED) + call("five"))
    told = piped(here, "a\nn\nn\n", "--unsafe-fixes")
    assert told.count(ASK) == 3
    assert told.count("yes, as it needs no other rules") == 2
    assert get(here, "a") == HEAD + moved("one") + moved("two") + STREAM + call("four", SEED) + moved("five")


def test_unsafe_flows_are_marked_and_asked_for_only_on_request(here: Path) -> None:
    text = HEAD + call("one", SEED)
    put(here, a=text)
    assert "There is no flow to ask about." in piped(here, "n\n")
    told = piped(here, "n\n", "--unsafe-fixes")
    assert "Flow 1 of 1: a.py:7  may change behaviour" in told
    assert "a.py:7:99: MR110 `seed` has no Responses equivalent; answers stop being repeatable\n" in told
    assert get(here, "a") == text
    piped(here, "y\n", "--unsafe-fixes")
    assert get(here, "a") == HEAD + moved("one")


# -- whole or nothing


def test_a_flow_over_two_files_is_one_question(here: Path) -> None:
    put(here, agent=AGENT, tools=TOOLS, other=HEAD + call("one"))
    told = piped(here, "n\nn\n")
    assert told.count(ASK) == 2
    assert "\ntools.py\n@@" in told
    assert (get(here, "agent"), get(here, "tools")) == (AGENT, TOOLS)
    piped(here, "y\nn\n")
    assert "client.responses.create(" in get(here, "agent")
    assert '"function"' in get(here, "tools")
    assert '"function": {' not in get(here, "tools")
    assert get(here, "other") == HEAD + call("one")


def test_comments_of_calls_that_stay_are_asked_for_too(here: Path) -> None:
    text = HEAD + call("one") + call("two", STOP)
    put(here, a=text)
    told = piped(here, "n\nn\n")
    assert told.count(TODO) == 1
    assert "a.py:12:99: MR112 `stop` has no Responses equivalent" in told
    assert get(here, "a") == text
    piped(here, "n\ny\n")
    assert get(here, "a").count("TODO(migrate-responses): MR112") == 1
    assert "client.responses" not in get(here, "a")
    assert TODO not in piped(here, "n\n")


def test_only_calls_that_can_have_a_comment_are_counted_for_one(here: Path) -> None:
    put(
        here,
        a=f"import httpx\n{HEAD}{call('one', STOP)}\n\nhttpx.post('https://api.openai.com/v1/chat/completions')\n",
    )
    told = piped(here, "n\n")
    assert "2 calls held back\n" in told
    assert "Write a TODO comment at 1 of them, with the reason? [y,n,p,?] " in told
    assert told.count("(no comment can be written there)") == 1


def test_notes_are_shown_with_their_flow(here: Path) -> None:
    put(here, a=HEAD + STREAM)
    assert "a.py:7:18: MR409 a failure inside this stream is an event now" in piped(here, "n\n")


def test_no_leaves_even_an_old_comment(here: Path) -> None:
    old = "    # TODO(migrate-responses): MR112 as it was once.\n"
    first, rest = call("one").split("    r = ")
    text = f"{HEAD}{first}{old}    r = {rest}" + call("two")
    put(here, a=text)
    piped(here, "n\ny\n")
    assert get(here, "a") == text.replace(call("two"), moved("two"))
    piped(here, "y\n")
    assert get(here, "a") == HEAD + moved("one") + moved("two")


def test_a_file_that_cannot_be_written_takes_only_its_flows_along(here: Path) -> None:
    put(here, agent=AGENT, tools=TOOLS, other=HEAD + call("one"))
    (here / "tools.py").chmod(0o444)
    told = piped(here, "y\ny\n", status=2)
    assert "tools.py: MR903 is read-only" in told
    assert "1 of 2 flows migrated, 1 left" in told
    assert (get(here, "agent"), get(here, "tools")) == (AGENT, TOOLS)
    assert get(here, "other") == HEAD + moved("one")


def test_standard_input_cannot_be_both(here: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "apply", "-i", "-"], cwd=here, input=b"", capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"--interactive" in done.stderr


# -- the engine's part


def test_a_choice_of_everything_is_what_migrate_does() -> None:
    sources = {
        "agent.py": AGENT.encode(),
        "tools.py": TOOLS.encode(),
        "other.py": (HEAD + call("one", STOP)).encode(),
    }
    choice = Choice(sources, Settings())
    whole = migrate(sources, Settings())
    assert choice.results.sites == whole.sites
    chosen = {offer.flow for offer in choice.offers()}
    assert choice.only(chosen, todos=True) == whole.changed
    assert choice.only((), todos=False) == ()


def test_flows_that_share_a_file_are_right_without_each_other() -> None:
    text = HEAD + call("one") + call("two", SEED) + call("three")
    choice = Choice({"a.py": text.encode()}, Settings(unsafe_fixes=True))
    offers = {offer.flow: offer for offer in choice.offers()}
    assert [bool(offer.doubts) for offer in offers.values()] == [False, True, False]
    for number, flow in enumerate(offers):
        parts = [call("one"), call("two", SEED), call("three")]
        parts[number] = moved(("one", "two", "three")[number])
        (file,) = choice.only({flow}, todos=False)
        assert file.after.decode() == HEAD + "".join(parts)

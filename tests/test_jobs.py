"""Parts of a project that have nothing to do with each other, and several processes for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from migrate_responses import jobs
from migrate_responses.components import components
from migrate_responses.config import Settings
from migrate_responses.run import migrate

CALL = b"""\
from openai import OpenAI

client = OpenAI()
answer = client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hi"}]%s)
print(answer.choices[0].message.content)
"""
HELPER = b"def show(text):\n    print(text)\n"


def _paths(sources: dict[str, bytes]) -> list[list[str]]:
    return [list(part) for part in components(sources)]


def test_files_that_nothing_joins_are_parts_of_their_own() -> None:
    sources = {"one.py": CALL % b"", "two.py": CALL % b"", "deep/er/three.py": CALL % b""}
    assert _paths(sources) == [["deep/er/three.py"], ["one.py"], ["two.py"]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.py", b"import a\n"),
        ("b.py", b"from a import show as s\n"),
        ("sub/b.py", b"def f():\n    from a import show\n"),
        ("tests/test_a.py", b"def test(mocker):\n    mocker.patch('a.show')\n"),
        ("tests/run.py", b'import importlib\nimportlib.import_module("a.show")\n'),
        ("conftest.py", b"import os\n"),
    ],
)
def test_what_a_file_has_to_do_with_stays_with_it(name: str, text: bytes) -> None:
    parts = _paths({"a.py": HELPER, name: text, "alone/z.py": b"import json\n"})
    assert any({"a.py", name} <= set(part) for part in parts)
    assert (len(parts) == 1) is (name == "conftest.py")


@pytest.mark.parametrize(
    ("text", "together"),
    [
        (b"from unittest.mock import patch\nwith patch('client.ask'):\n    pass\n", True),
        (b"from kit import *\nwith patch.multiple(\n    'client.ask', run=None\n):\n    pass\n", True),
        (b"monkeypatch.setattr('client.ask', None)\n", True),
        (b"session.patch('/v1', json={'event': 'client.update'})\nsetattr(session, name, 1)\n", False),
    ],
)
def test_a_module_that_is_named_by_a_patch_stays_with_it(text: bytes, together: bool) -> None:
    """Wherever the module stands: what counts as the project's is any module that is called so."""
    parts = _paths({"src/llm/client/core.py": HELPER, "other/test_a.py": text})
    assert (len(parts) == 1) is together


def test_a_package_stays_together() -> None:
    sources = {"p/__init__.py": b"", "p/a.py": HELPER, "p/q/b.py": HELPER, "z.py": HELPER}
    assert _paths(sources) == [["p/__init__.py", "p/a.py", "p/q/b.py"], ["z.py"]]


def _several(lines: int) -> dict[str, bytes]:
    """Programs that are apart, some of them held back and one broken, with so many lines of no interest."""
    filler = b"".join(b"value_%d = [%d, 'text', {'key': None}]\n" % (n, n) for n in range(lines))
    sources = {f"p{n}/main.py": CALL % (b', stop=["x"]' if n % 3 == 0 else b"") + filler for n in range(12)}
    return {**sources, "p5/helper.py": HELPER, "broken.py": b"from openai import OpenAI\ndef (:\n"}


def test_several_processes_come_to_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_WORTH", 0)
    sources = _several(10)
    assert migrate(sources, Settings(), jobs=2) == migrate(sources, Settings(), jobs=1)


def test_small_projects_get_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_at_once", None)  # calling it would fail
    results = migrate({"one.py": CALL % b"", "two.py": CALL % b""}, Settings(), jobs=8)
    assert len(results.changed) == 2


def _die(part: jobs.Part) -> int:
    if os.getpid() != int(part["parent"]):
        os.kill(os.getpid(), signal.SIGTERM)
    return len(part)


def test_work_is_done_here_if_another_process_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_WORTH", 0)
    parts = [{"parent": str(os.getpid()).encode()}] * 3
    assert jobs.spread(_die, parts, 2, lambda done: None) == [1, 1, 1]


def _children(pid: int) -> set[int]:
    """All processes below ``pid``."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    found: set[int] = set()
    stack = [pid]
    while stack:
        parent = stack.pop()
        new = {child for child, above in pairs if above == parent} - found
        found |= new
        stack.extend(new)
    return found


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_run(tmp_path: Path, how: signal.Signals) -> None:
    before = {}
    for n in range(40):
        for name, data in _several(600).items():
            if name.endswith("main.py"):
                path = tmp_path / f"copy{n}" / name
                path.parent.mkdir(parents=True)
                path.write_bytes(data)
                before[path] = data
    command = [sys.executable, "-m", "migrate_responses", "apply", "--jobs", "2", str(tmp_path)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while len(children := _children(run.pid)) < 3 and time.monotonic() < deadline:
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)
    os.kill(run.pid, how)
    _, said = run.communicate(timeout=60)
    assert b"Traceback" not in said
    deadline = time.monotonic() + 30
    while any(map(_is_alive, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in children if _is_alive(pid)]
    assert all(path.read_bytes() == data for path, data in before.items())


INTERRUPTED = """\
import os, signal, sys
from multiprocessing import forkserver, util
from migrate_responses import cli, jobs

def work(part):
    signal.pause()

def just_then(module, name, before):
    call = getattr(module, name)
    def interrupted(*args):
        if before:
            os.kill(os.getpid(), number)
        result = call(*args)
        os.kill(os.getpid(), number)
        return result
    setattr(module, name, interrupted)

def run():
    if moment == "while a process is asked for":
        just_then(forkserver, "connect_to_new_process", True)
    elif moment == "before it is told what to do":
        just_then(forkserver, "connect_to_new_process", False)
    elif moment == "when it has been told":
        just_then(forkserver, "read_signed", True)
    else:
        just_then(util, "spawnv_passfds", False)
    return jobs.spread(work, [{"a": b"x" * 500_000}, {"b": b"x" * 500_000}], 2, lambda done: None)

if __name__ == "__main__":
    number, moment = getattr(signal, sys.argv[1]), sys.argv[2]
    cli._run = run
    cli.main()
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize(
    "moment",
    [
        "while a process is asked for",
        "before it is told what to do",
        "when it has been told",
        "while what makes processes is started",
    ],
)
def test_a_signal_while_processes_start(tmp_path: Path, how: str, moment: str) -> None:
    """Whatever has been started by then ends, and none of it prints how."""
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED, encoding="utf-8")
    top = str(Path(__file__).resolve().parent.parent)
    said = subprocess.run(  # which waits until nobody is left who could say anything
        [sys.executable, str(program), how, moment],
        env={**os.environ, "PYTHONPATH": top},
        capture_output=True,
        text=True,
        timeout=60,
    )
    words = {"SIGINT": "Interrupted", "SIGTERM": "Terminated"}
    if how in words:
        expected = (128 + getattr(signal, how), f"{words[how]}; nothing was written.\n")
    else:
        expected = (-signal.SIGKILL, "")
    assert (said.returncode, said.stderr) == expected


def test_many_small_files_are_worth_other_processes() -> None:
    few, many = [{f"{n}.py": CALL} for n in range(3)], [{f"{n}.py": CALL} for n in range(500)]
    assert not jobs._is_worth_it(few, 2)
    assert jobs._is_worth_it(many, 2)
    assert not jobs._is_worth_it([{"a.py": CALL * 10_000}, *few], 2)  # one part is nearly all there is

"""Run programs against the server, and compare what they show and what they ask for."""

from __future__ import annotations

import atexit
import difflib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .documents import ENTRY
from .script import Json
from .server import Session, serve

TIMEOUT = 60.0
# The two protocols number their answers under different prefixes, and the SDK's log names the route.
MASKS = (
    (re.compile(r"\b(?:chatcmpl-|resp_)(\d{3})\b"), r"<answer \1>"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"(<server>\S*)/(?:chat/completions|responses)\b"), r"\1/<route>"),
)


@dataclass(frozen=True)
class Run:
    """What one run of a program showed and asked for."""

    stdout: str
    stderr: str
    exit_code: int
    requests: list[Json]
    refused: list[str] = field(default_factory=list)
    unplayed: int = 0
    files: dict[str, str] = field(default_factory=dict)  # what it wrote beside itself


def run_program(
    program: Path | Mapping[str, bytes], script: Mapping[str, Any], extra: Path | None = None
) -> Run:
    """Run a program (a file, a folder with ``main.py``, or its files by name) against a ``script.json``.

    ``extra``: a folder whose files are put beside the program first.
    """
    with tempfile.TemporaryDirectory(prefix="wire-") as scratch, open_session(script) as session:
        folder = Path(scratch, "program")
        folder.mkdir()
        if extra is not None:
            shutil.copytree(extra, folder, dirs_exist_ok=True)
        sources = read_sources(program) if isinstance(program, Path) else program
        if "main.py" not in sources:
            sources = {**sources, "main.py": ENTRY.encode()}
        for name, data in sources.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        before = _files(folder)
        own = {name: value.replace("{server}", session.url) for name, value in script.get("env", {}).items()}
        streams = {name: str(Path(scratch, name)) for name in ("stdin", "stdout", "stderr")}
        Path(streams["stdin"]).write_text(script.get("stdin", ""), encoding="utf-8")
        job = {
            "folder": str(folder),
            "argv": script.get("argv", []),
            "env": {**_environment(session.url, scratch), **own},
            "fresh": bool(own),
            **streams,
        }
        exit_code = _warm().run(job)
        shown = {name: _read(Path(streams[name])) for name in ("stdout", "stderr")}
        written = {name: text for name, text in _files(folder).items() if before.get(name) != text}
        return Run(
            shown["stdout"],
            shown["stderr"],
            exit_code,
            session.requests,
            session.refused,
            session.unplayed,
            written,
        )


def open_session(script: Mapping[str, Any]) -> AbstractContextManager[Session]:
    """The server for a ``script.json``."""
    unknown = script.keys() - {"turns", "argv", "stdin", "env", "compatible"}
    if unknown:
        raise ValueError(f"script.json: unknown keys {sorted(unknown)}")
    return serve(script["turns"], script.get("compatible", False))


def read_sources(program: Path) -> dict[str, bytes]:
    """The files of a program by name: a single file counts as ``main.py``, or ``main.ipynb`` ..."""
    if program.is_file():
        return {f"main{program.suffix}": program.read_bytes()}
    return {
        path.relative_to(program).as_posix(): path.read_bytes()
        for path in sorted(program.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def differences(before: Run, after: Run, gives_up: Collection[str] = ()) -> str:
    """What a reader must see if two runs are not the same; empty if they are.

    ``gives_up``: parts of a request (``seed``, ``store``, ``strict``, ...) or ``stdout`` that a migration is
    allowed to change, because the person who ran it asked for that.
    """
    found = [f"refused by the server:\n  {line}" for line in after.refused]
    if before.exit_code != after.exit_code:
        found.append(f"exit code: {before.exit_code} before, {after.exit_code} after\n{after.stderr[-4000:]}")
    if "stdout" not in gives_up:
        found += _diff("stdout", mask(before.stdout), mask(after.stdout))
    if before.exit_code == 0 and "stderr" not in gives_up:
        found += _diff("stderr", mask(before.stderr), mask(after.stderr))
    for name in sorted(before.files.keys() | after.files.keys()):
        if name not in gives_up:
            found += _diff(f"file {name}", mask(before.files.get(name, "")), mask(after.files.get(name, "")))
    if len(before.requests) != len(after.requests):
        found.append(f"requests: {len(before.requests)} before, {len(after.requests)} after")
    for number, old, new in _unpaired(before.requests, after.requests, gives_up):
        found += _diff(f"request {number}", _pretty(old), _pretty(new))
    return "\n\n".join(found)


def kept_after_all(before: Run, after: Run, gives_up: Collection[str]) -> list[str]:
    """The parts named in ``gives_up`` that do not differ after all, so the note is out of date."""
    used = {name for name in ("stdout", "stderr") if getattr(before, name) != getattr(after, name)}
    used |= {name for name in gives_up if before.files.get(name) != after.files.get(name)}
    for old, new in zip(before.requests, after.requests, strict=False):
        old, new = _aligned(old, new)
        used |= {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    return sorted(set(gives_up) - used)


def mask(text: str) -> str:
    """A text without what must differ between the protocols: ids of answers, and routes in logs."""
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


def _unpaired(
    before: Sequence[Json], after: Sequence[Json], gives_up: Collection[str]
) -> list[tuple[int, Json, Json]]:
    """Requests without an equal on the other side, with their number before, as far as they can be paired.

    The order does not count: programs that ask for several things at once send them in any order, and a
    change of order where it matters shows in what a program prints.
    """
    rest = list(after)
    lonely: list[tuple[int, Json]] = []
    for number, old in enumerate(before, 1):
        twins = (new for new in rest if len(set(map(_pretty, _compared(old, new, gives_up)))) == 1)
        twin = next(twins, None)
        if twin is None:
            lonely.append((number, old))
        else:
            rest.remove(twin)
    return [
        (number, *_compared(old, new, gives_up)) for (number, old), new in zip(lonely, rest, strict=False)
    ]


def _compared(old: Json, new: Json, gives_up: Collection[str]) -> tuple[Json, Json]:
    old, new = _aligned(old, new)
    return _without(old, gives_up), _without(new, gives_up)


def _aligned(old: Json, new: Json) -> tuple[Json, Json]:
    """``instructions`` is worth a system or a developer message, whichever the old request began with."""
    if new["turns"] and old["turns"] and new["turns"][0].get("role") == "instructions":
        role = old["turns"][0].get("role")
        if role in ("system", "developer"):
            first = {**new["turns"][0], "role": role}
            new = {**new, "turns": [first, *new["turns"][1:]]}
    return old, new


def _without(request: Json, keys: Collection[str]) -> Json:
    return {key: value for key, value in request.items() if key not in keys}


def _pretty(value: Json) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _diff(what: str, old: str, new: str) -> list[str]:
    if old == new:
        return []
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"{what} before", f"{what} after", n=6
    )
    return ["".join(line if line.endswith("\n") else f"{line}\n\\ no newline at end\n" for line in lines)]


def _environment(url: str, home: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": home,
        "LANG": "C.UTF-8",
        "NO_PROXY": "*",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "sk-test",
    }


def _files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): _read(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "backslashreplace") if path.exists() else ""


class _Warm:
    """The forking process of ``warm.py``, one for each test process."""

    def __init__(self) -> None:
        command: Sequence[str] = [sys.executable, str(Path(__file__).with_name("warm.py"))]
        env = {**_environment("http://127.0.0.1:9", tempfile.gettempdir())}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=env
        )
        self._lock = threading.Lock()
        atexit.register(self.close)

    def run(self, job: Json) -> int:
        """Run a job to its end. Gives its exit code: negative if a signal ended it, as after ``TIMEOUT``."""
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            pid = int(self._line())
            timer = threading.Timer(TIMEOUT, _kill, (pid,))
            timer.start()
            try:
                return int(self._line())
            finally:
                timer.cancel()
                timer.join()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs the programs has died")
        return line

    def close(self) -> None:
        """End the process, whose input ends with this."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(timeout=10)


@functools.cache
def _warm() -> _Warm:
    return _Warm()


def _kill(pid: int) -> None:
    # The program leads a process group of its own, so its children go with it.
    os.killpg(pid, signal.SIGKILL)

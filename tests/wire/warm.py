"""A process that has imported ``openai`` once, and forks for each program it is asked to run.

Started by ``harness``. Reads one job a line from descriptor 0, writes the child's process id and then its
exit status to descriptor 1. The child becomes the program: its own session, directory, environment, arguments
and streams, ``__main__`` replaced, the interpreter left to finish by itself. A program that needs variables
of its own, or holds a module that is already imported here, gets a fresh interpreter instead.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import types
from typing import Any

Job = dict[str, Any]


def main() -> None:
    """Serve jobs until the input ends; in a child, run the program."""
    own = sys.path.pop(0)
    _import_once()
    gc.freeze()
    pending = b""
    while True:
        while b"\n" not in pending:
            data = os.read(0, 65536)
            if not data:
                return
            pending += data
        line, _, pending = pending.partition(b"\n")
        pid = os.fork()
        if pid == 0:
            assert own not in sys.path
            _become(json.loads(line))
            return
        os.write(1, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))


def _import_once() -> None:
    # Each program would build the models that it meets again.
    os.environ["DEFER_PYDANTIC_BUILD"] = "false"
    import asyncio  # noqa: F401
    import concurrent.futures  # noqa: F401

    import openai
    import pytest  # noqa: F401

    # What the SDK imports only when it is asked for.
    for client in (openai.OpenAI(api_key="none"), openai.AsyncOpenAI(api_key="none")):
        assert client.chat.completions
        assert client.responses
        assert client.beta


def _become(job: Job) -> None:
    os.setsid()
    os.chdir(job["folder"])
    for target, path in enumerate((job["stdin"], job["stdout"], job["stderr"])):
        descriptor = os.open(path, os.O_RDONLY if target == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, target)
        os.close(descriptor)
    if job["fresh"] or _shadows(job["folder"]):
        os.execve(sys.executable, [sys.executable, "main.py", *job["argv"]], job["env"])
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv = ["main.py", *job["argv"]]
    sys.path.insert(0, job["folder"])
    program = types.ModuleType("__main__")
    program.__file__ = os.path.join(job["folder"], "main.py")
    sys.modules["__main__"] = program
    with open(program.__file__, "rb") as file:
        code = compile(file.read(), program.__file__, "exec", dont_inherit=True)
    exec(code, program.__dict__)


def _shadows(folder: str) -> bool:
    """Whether a module beside the program has the name of one that is already imported."""
    return any(entry.partition(".")[0] in sys.modules for entry in os.listdir(folder))


if __name__ == "__main__":
    main()

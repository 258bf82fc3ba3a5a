"""A program with one call, before and after, and the tool as a process on a folder that holds it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BEFORE = """\
from openai import OpenAI

client = OpenAI()
answer = client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "Hi"}])
print(answer.choices[0].message.content)
"""
AFTER = """\
from openai import OpenAI

client = OpenAI()
answer = client.responses.create(model="gpt-4.1", input="Hi", store=False)
print(answer.output_text)
"""


def run(
    *arguments: str, cwd: Path, status: int = 0, first: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """The program as a process, which must not wait for anything."""
    done = subprocess.run(
        [*first, sys.executable, "-m", "migrate_responses", *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done


def project(folder: Path, data: str = BEFORE) -> Path:
    """A folder with a file that can be migrated."""
    (folder / "good.py").write_text(data, encoding="utf-8")
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    return folder


def is_migrated(folder: Path) -> bool:
    return (folder / "good.py").read_text(encoding="utf-8") == AFTER

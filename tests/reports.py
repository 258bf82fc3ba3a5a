"""Reports of small projects, made by the real engine, for the tests of the formats."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from migrate_responses.config import Options, Settings
from migrate_responses.find.project import Project
from migrate_responses.run import migrate
from migrate_responses.session import migrate_project, outcome, sources
from migrate_responses.show.formats import Report

HEAD = "from openai import OpenAI\n\nclient = OpenAI()\n"


def call(name: str, arguments: str = "", before: str = "") -> str:
    """A function that makes one call and returns its text."""
    return (
        f"\n\ndef {name}(question: str) -> str:\n{before}"
        "    answer = client.chat.completions.create(\n"
        '        model="gpt-4o-mini",\n'
        '        messages=[{"role": "user", "content": question}],\n'
        f"{arguments}"
        "    )\n"
        '    return answer.choices[0].message.content or ""\n'
    )


def report(files: Mapping[str, str | bytes], about: Mapping[str, Any] | None = None, **chosen: Any) -> Report:
    """The report on ``files``, as if they stood in the working directory."""
    data = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
    project = Project(os.getcwd(), dict(sorted(data.items())), frozenset(data), seen=len(data))
    options = Options(Settings(**chosen))
    runs = [migrate_project(project, options, migrate, project.writable)]
    return Report(outcome(runs), options, sources(runs), **(about or {}))


READY = HEAD + call("plain") + call("second", "        temperature=0,\n")
STOPPED = HEAD + call("stopped", '        stop=["END"],\n')
SEEDED = HEAD + call("seeded", "        seed=7,\n")
OTHERS = (
    "from groq import Groq\n\n"
    'Groq().chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])\n'
)
SKIPPED = HEAD + call("skipped", before="    # migrate-responses: skip\n")
BROKEN = "import openai\n\ndef broken(:\n"
MOVED = (
    HEAD
    + '\n\ndef moved(question: str) -> str:\n    return client.responses.create(model="m", input=question'
    ", store=False).output_text\n"
)
EVERYTHING = {
    "app/ready.py": READY,
    "app/stopped.py": STOPPED,
    "app/seeded.py": SEEDED,
    "others.py": OTHERS,
    "skipped.py": SKIPPED,
    "broken.py": BROKEN,
    "moved.py": MOVED,
}

"""Taking a project apart into programs that only a framework joins."""

from __future__ import annotations

import pytest

from migrate_responses.config import Settings
from migrate_responses.programs import split
from migrate_responses.results import Verdict
from migrate_responses.run import migrate

FRAMEWORK = b"class Node:\n    def run(self, shared):\n        return self.work(shared)\n"
PROGRAM = b"""\
from frame import Node
from openai import OpenAI


class Ask(Node):
    def work(self, shared):
        response = OpenAI().chat.completions.create(model="gpt-4o-mini", messages=shared["messages"]%s)
        return response.choices[0].message.content


if __name__ == "__main__":
    print(Ask().run({"messages": [{"role": "user", "content": "Hi"}]}))
"""
TWO = {"frame.py": FRAMEWORK, "one/main.py": PROGRAM % b"", "two/main.py": PROGRAM % b', stop=["x"]'}


def test_programs_with_folders_of_their_own_are_taken_apart() -> None:
    programs = split(TWO)
    assert [sorted(part) for part in programs.parts] == [
        ["frame.py", "one/main.py"],
        ["frame.py", "two/main.py"],
        ["frame.py"],
    ]
    assert programs.common == {"frame.py"}


@pytest.mark.parametrize(
    "more",
    [
        {"two/main.py": b"import one.main\n" + TWO["two/main.py"]},
        {"frame.py": FRAMEWORK + b"from openai import OpenAI\n"},
        {
            "one/main.py": TWO["one/main.py"].replace(b"__main__", b"main"),
            "two/main.py": b"import openai, frame",
        },
        {"tests/test_all.py": b'patch("one.main.OpenAI"); patch("two.main.OpenAI")\n'},
        {"conftest.py": b"import pytest\n"},
        {"client.py": b"from openai import OpenAI\n"},
    ],
    ids=["import", "framework of OpenAI", "no program", "named in a test", "conftest", "file above"],
)
def test_what_may_run_together_stays_together(more: dict[str, bytes]) -> None:
    sources = TWO | more
    assert split(sources).parts == (sources,)


def test_flows_of_different_programs_have_different_numbers() -> None:
    results = migrate(TWO, Settings())
    assert [site.verdict for site in results.sites] == [Verdict.MIGRATED, Verdict.MANUAL]
    assert len({site.flow for site in results.sites}) == 2
    assert [file.path for file in results.files] == sorted(TWO)


def test_a_framework_that_would_change_is_looked_at_with_all_its_programs() -> None:
    framework = FRAMEWORK.replace(b"work(shared)", b"work(shared).choices[0].message.content")
    program = PROGRAM.replace(b"response.choices[0].message.content", b"response")
    sources = {"frame.py": framework, "one/main.py": program % b"", "two/main.py": program % b', stop=["x"]'}
    results = migrate(sources, Settings())
    assert [site.verdict for site in results.sites] == [Verdict.MANUAL, Verdict.MANUAL]
    assert framework in {file.after for file in results.files}


NOTEBOOK = b"from openai import OpenAI\n"


def test_a_notebook_is_in_nobodys_way() -> None:
    programs = split({**TWO, "demo.ipynb": NOTEBOOK, "one/use.ipynb": b"import main, openai\n"})
    assert [sorted(part) for part in programs.parts] == [
        ["frame.py", "one/main.py", "one/use.ipynb"],
        ["frame.py", "two/main.py"],
        ["demo.ipynb"],
        ["frame.py"],
    ]


def test_notebooks_that_import_nothing_of_the_project_are_looked_at_alone() -> None:
    sources = {"a.ipynb": NOTEBOOK, "b.ipynb": NOTEBOOK + b"import m\n", "m.py": b"import openai\n"}
    assert split(sources).parts == (
        {"a.ipynb": NOTEBOOK},
        {name: sources[name] for name in ("b.ipynb", "m.py")},
    )
    assert split({"a.ipynb": NOTEBOOK}).parts == ({"a.ipynb": NOTEBOOK},)

"""Files that calls reach through imports, although they never mention OpenAI."""

from __future__ import annotations

import pytest

from migrate_responses.find.candidates import matters
from migrate_responses.find.imports import Files, Import, imports
from migrate_responses.find.reach import reach

CALL = """
from openai import OpenAI

client = OpenAI()


def ask(question):
    return client.chat.completions.create(model="m", messages=question)


def unrelated():
    return 1
"""


def reached(files: dict[str, str]) -> list[str]:
    data = {name: text.encode() for name, text in files.items()}
    candidates = {name: text for name, text in data.items() if matters(text)}
    return sorted(reach(candidates, list(data), data.get))


@pytest.mark.parametrize(
    "reader",
    [
        "from llm import ask\nprint(ask('x').choices[0])\n",
        "from llm import (  # all of them\n    unrelated,\n    ask as a,\n)\nprint(a('x'))\n",
        "import llm\nprint(llm.ask('x'))\n",
        "import llm as l\nprint(l.ask('x'))\n",
        "from llm import *\nprint(ask('x'))\n",
        "def late():\n    from llm import ask\n    return ask('x')\n",
        "try:\n    from llm import ask\nexcept ImportError: ask = None\n",
        "from llm import \\\n    ask\n",
        "import os; from llm import ask\n",
        "from llm import(ask)\n",
    ],
)
def test_who_imports_a_call(reader: str) -> None:
    assert reached({"llm.py": CALL, "reader.py": reader}) == ["reader.py"]


@pytest.mark.parametrize(
    "other",
    [
        "from llm import unrelated\nprint(unrelated())\n",
        "import llm\nprint(llm.unrelated())\n",
        "import json\n",
        "from elsewhere import ask\n",
    ],
)
def test_who_has_nothing_to_do_with_it(other: str) -> None:
    assert reached({"llm.py": CALL, "other.py": other}) == []


def test_a_chain_of_files_that_hand_the_answer_on() -> None:
    files = {
        "pkg/__init__.py": "from .llm import ask\n",
        "pkg/llm.py": CALL,
        "app/one.py": "import pkg\n\ndef one():\n    return pkg.ask('x')\n\ndef side():\n    pass\n",
        "app/two.py": "from app.one import one\n\nclass Two:\n    def go(self):\n        return one()\n",
        "app/three.py": "from .two import Two\nprint(Two().go().choices[0])\n",
        "app/side.py": "from app.one import side\nside()\n",
    }
    assert reached(files) == ["app/one.py", "app/three.py", "app/two.py", "pkg/__init__.py"]


def test_a_decorated_and_a_conditional_definition() -> None:
    files = {
        "llm.py": CALL,
        "tools.py": "def retry(f):\n    return f\n",
        "deco.py": "from llm import ask\nfrom tools import retry\n\n"
        "@retry(\n    3,\n)\ndef deco():\n    return ask(1)\n",
        "user.py": "from deco import deco\ndeco()\n",
        "cond.py": "from llm import ask\nif True:\n    def inner():\n        return ask(1)\n",
        "user2.py": "from cond import inner\ninner()\n",
    }
    assert reached(files) == ["cond.py", "deco.py", "tools.py", "user.py", "user2.py"]


def test_text_at_the_margin_does_not_cut_a_function_short() -> None:
    wrapped = 'from llm import ask\n\n\ndef wrap():\n    text = """\nhello there\n"""\n    return ask(text)\n'
    files = {"llm.py": CALL, "wrap.py": wrapped, "user.py": "from wrap import wrap\nwrap()\n"}
    assert reached(files) == ["user.py", "wrap.py"]


def test_what_a_call_uses_is_read_and_so_is_who_shares_it() -> None:
    call = CALL.replace("messages=question", "messages=question, tools=TOOLS")
    files = {
        "llm.py": "from schemas import TOOLS, VERSION\n" + call,
        "schemas.py": 'VERSION = 1\nTOOLS = [{"type": "function", "function": {"name": "add"}}]\n',
        "table.py": 'from schemas import TOOLS\nNAMES = [tool["function"]["name"] for tool in TOOLS]\n',
        "about.py": "from schemas import VERSION\nprint(VERSION)\n",
    }
    assert reached(files) == ["schemas.py", "table.py"]


def test_what_is_handed_to_a_call_is_made_elsewhere() -> None:
    files = {
        "llm.py": CALL,
        "app.py": "from llm import ask\nfrom convert import tools_of\nfrom text import title\n\n"
        "def load():\n    return tools_of({})\n\nTOOLS = load()\nTITLE = title()\n\n"
        "def chat():\n    return ask(TOOLS)\n",
        "convert.py": 'def tools_of(spec):\n    return [{"type": "function", "function": spec}]\n',
        "text.py": "def title():\n    return 'T'\n",
    }
    assert reached(files) == ["app.py", "convert.py"]


def test_the_closest_of_several_modules_is_meant() -> None:
    files = {
        "one/llm.py": CALL,
        "one/app.py": "from llm import ask\nask(1)\n",
        "two/llm.py": "def ask(x):\n    pass\n",
        "two/app.py": "from llm import ask\nask(1)\n",
    }
    assert reached(files) == ["one/app.py"]


def test_source_folders() -> None:
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/llm.py": CALL,
        "src/pkg/deep/__init__.py": "",
        "src/pkg/deep/user.py": "from ..llm import ask\nask(1)\n",
        "tests/test_llm.py": "from pkg.llm import ask\nask(1)\n",
        "src/pkg/json.py": "def dumps(x):\n    pass\n",
    }
    assert reached(files) == ["src/pkg/deep/user.py", "tests/test_llm.py"]


def test_a_folder_far_away_is_not_on_the_path() -> None:
    files = {
        "llm.py": CALL,
        "cases/one/vendored/openai/__init__.py": "class OpenAI: ...\n",
        "cases/one/vendored/llm.py": "def ask(x):\n    pass\n",
        "packages/core/src/core/__init__.py": CALL,
        "packages/app/src/app/main.py": "from core import ask\nask(1)\n",
        "cases/one/user.py": "from core import ask\nask(1)\n",
    }
    assert reached(files) == ["packages/app/src/app/main.py"]


def test_circles_end() -> None:
    files = {
        "llm.py": "import a\n" + CALL,
        "a.py": "from b import two\nfrom llm import ask\n\ndef one():\n    return two() or ask(1)\n",
        "b.py": "from a import one\n\ndef two():\n    return one()\n",
    }
    assert reached(files) == ["a.py", "b.py"]


def test_nothing_to_start_from() -> None:
    assert reached({"a.py": "# openai is mentioned\n", "b.py": "import a\n"}) == []


def test_imports() -> None:
    source = b"import a.b as c, d.e\nfrom . import x\nfrom .y import (z as w, # no\n v)\n"
    source += b"# from q import r\nimportant = 1\n"
    assert list(imports(source)) == [
        Import("a.b", alias=b"c"),
        Import("d.e", alias=b"d"),
        Import(".", ((b"x", b"x"),)),
        Import(".y", ((b"z", b"w"), (b"v", b"v"))),
        Import("q", ((b"r", b"r"),)),
    ]


def test_targets() -> None:
    files = Files(["a/__init__.py", "a/b.py", "a/c/__init__.py", "b.py"])
    assert files.targets("a/b.py", ".c") == ["a/c/__init__.py"]
    assert files.targets("a/c/__init__.py", "..b") == ["a/b.py"]
    assert files.targets("a/c/__init__.py", ".") == ["a/c/__init__.py"]
    assert files.targets("x.py", "a.b") == ["a/b.py"]
    assert files.targets("x.py", "b") == ["b.py"]
    assert files.targets("x.py", "nothing.at.all") == []


DOUBLES = """
from unittest.mock import MagicMock


def completion(text):
    response = MagicMock()
    response.choices = [MagicMock(message=MagicMock(content=text))]
    return response
"""


@pytest.mark.parametrize(
    ("conftest", "found"),
    [
        (DOUBLES, ["conftest.py"]),
        ("import pytest\n", []),
        ("from doubles import completion\n", ["conftest.py", "doubles.py"]),
        ("from doubles import *\n", ["conftest.py", "doubles.py"]),
        ('pytest_plugins = ["doubles"]\n', ["conftest.py", "doubles.py"]),
        (
            'pytest_plugins: tuple = (\n    "other",\n    "doubles",\n)\n',
            ["conftest.py", "doubles.py"],
        ),
        ('pytest_plugins = "doubles"\n', ["conftest.py", "doubles.py"]),
    ],
)
def test_the_conftest_of_a_test(conftest: str, found: list[str]) -> None:
    files = {
        "llm.py": CALL,
        "doubles.py": DOUBLES,
        "elsewhere/conftest.py": DOUBLES,
        "conftest.py": conftest,
        "tests/test_llm.py": "import llm\n\n\ndef test_it(completion):\n    assert llm.ask(completion)\n",
    }
    assert reached(files) == [*found, "tests/test_llm.py"]

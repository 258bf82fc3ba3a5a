"""Imports: which module of the project is meant, and what its names are."""

from __future__ import annotations

import pytest

from tests.programs import revealed

ONE = {"lib.py": "x = 1\n"}
PACKAGE = {
    "pkg/__init__.py": "from .deep import x as y\nfrom . import deep\n",
    "pkg/deep.py": "x = 1\n_z = 2\n",
}


@pytest.mark.parametrize(
    ("main", "others", "expected"),
    [
        ("import lib\nreveal(lib.x)\n", ONE, ["1"]),
        ("import lib as l\nreveal(l.x)\n", ONE, ["1"]),
        ("from lib import x\nreveal(x)\n", ONE, ["1"]),
        ("from lib import x as y\nreveal(y)\n", ONE, ["1"]),
        ("from lib import *\nreveal(x)\n", ONE, ["1"]),
        ("def f():\n    from lib import x\n    reveal(x)\n", ONE, ["1"]),
        ("from lib import nothing\nreveal(nothing)\n", ONE, ["nothing"]),
        ("from pkg import y\nreveal(y)\n", PACKAGE, ["1"]),
        ("import pkg.deep\nreveal(pkg.deep.x)\n", PACKAGE, ["1"]),
        ("from pkg import deep\nreveal(deep.x)\n", PACKAGE, ["1"]),
        ("from pkg.deep import *\nreveal(x)\nreveal(_z)\n", PACKAGE, ["1", "nothing"]),
        ("import json\nreveal(json.loads)\n", {"json.py": "loads = 1\n"}, ["<json.loads>"]),
        ("import elsewhere\nreveal(elsewhere.x)\n", ONE, ["<elsewhere.x>"]),
        ("from elsewhere import *\nreveal(name)\n", ONE, ["<elsewhere.name>"]),
    ],
)
def test_imports(main: str, others: dict[str, str], expected: list[str]) -> None:
    assert revealed(main, others) == expected


@pytest.mark.parametrize(
    ("path", "main", "expected"),
    [
        ("pkg/main.py", "from .deep import x\nreveal(x)\n", ["1"]),
        ("pkg/main.py", "from . import deep\nreveal(deep.x)\n", ["1"]),
        ("pkg/sub/main.py", "from ..deep import x\nreveal(x)\n", ["1"]),
        ("pkg/sub/__init__.py", "from ..deep import x\nreveal(x)\n", ["1"]),
        ("pkg/main.py", "from pkg.deep import x\nreveal(x)\n", ["1"]),
        ("main.py", "from ..deep import x\nreveal(x)\n", ["<..deep.x>"]),
    ],
)
def test_relative_imports(path: str, main: str, expected: list[str]) -> None:
    assert revealed(main, PACKAGE, path) == expected


def test_modules_that_import_each_other() -> None:
    others = {"a.py": "from b import y\nx = 1\n", "b.py": "from a import x\ny = 'b'\n"}
    assert revealed(
        "from a import x, y\nfrom b import x as z\nreveal(x)\nreveal(y)\nreveal(z)\n", others
    ) == ["1", "'b'", "1"]


def test_the_nearest_of_two_modules_is_meant() -> None:
    others = {"one/lib.py": "x = 1\n", "two/lib.py": "x = 2\n"}
    assert revealed("from lib import x\nreveal(x)\n", others, "one/main.py") == ["1"]
    assert revealed("from lib import x\nreveal(x)\n", others, "two/main.py") == ["2"]


def test_a_vendored_package_is_not_meant_by_code_elsewhere() -> None:
    others = {"app/vendor/openai/__init__.py": "class OpenAI: pass\n", "app/__init__.py": ""}
    assert revealed("from openai import OpenAI\nreveal(OpenAI())\n", others, "examples/main.py") == ["client"]


def test_a_source_folder_is_on_the_path() -> None:
    others = {"src/app/__init__.py": "", "src/app/core.py": "x = 1\n"}
    assert revealed("from app.core import x\nreveal(x)\n", others, "tests/test_core.py") == ["1"]


def test_a_module_of_the_project_sees_what_others_store_in_it() -> None:
    others = {"state.py": "x = None\n", "setup.py": "import state\nstate.x = 1\n"}
    assert revealed("import state, setup\nreveal(state.x)\n", others) == ["1 | None"]

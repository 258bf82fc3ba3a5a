"""Names: which definition reaches a use, through branches, loops, scopes and definitions that are reused."""

from __future__ import annotations

import pytest

from tests.programs import HEAD, revealed


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\nreveal(x)\nx = 'a'\nreveal(x)\n", ["1", "'a'"]),
        ("x = y = 1\nreveal(x)\nreveal(y)\n", ["1", "1"]),
        ("x, (y, z) = 1, (2, 3)\nreveal(x)\nreveal(y)\nreveal(z)\n", ["1", "2", "3"]),
        ("x, *rest = 1, 2\nreveal(rest)\nfor r in rest:\n    reveal(r)\n", ["list", "1 | 2"]),
        ("if (x := 1):\n    reveal(x)\n", ["1"]),
        ("x = 1\nx += 2\nreveal(x)\n", ["1 | number"]),
        ("x = 1 if c else 'a'\nreveal(x)\n", ["'a' | 1"]),
        ("x = None or 1\nreveal(x)\n", ["1 | None"]),
        ("x: int = 1\nreveal(x)\n", ["1"]),
        ("reveal(unheard_of)\n", ["nothing"]),
        ("reveal(len)\n", ["<builtins.len>"]),
    ],
)
def test_a_use_sees_the_definition_before_it(body: str, expected: list[str]) -> None:
    assert revealed(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if c:\n    x = 1\nelse:\n    x = 2\nreveal(x)\n", ["1 | 2"]),
        ("x = 0\nif c:\n    x = 1\nreveal(x)\n", ["0 | 1"]),
        ("if c:\n    x = 1\n    reveal(x)\nelif d:\n    x = 2\n    reveal(x)\n", ["1", "2"]),
        ("def f():\n    x = 1\n    if c:\n        x = 2\n        return\n    reveal(x)\n", ["1"]),
        ("x = 0\nfor i in [1]:\n    reveal(x)\n    x = 2\nreveal(x)\n", ["0 | 2", "0 | 2"]),
        ("x = 0\nwhile True:\n    x = 1\n    if c:\n        break\n    x = 2\nreveal(x)\n", ["1"]),
        ("x = 0\nwhile c:\n    x = 1\n    continue\nelse:\n    reveal(x)\n", ["0 | 1"]),
        (
            "x = 0\ntry:\n    x = 1\n    g()\n    x = 2\nexcept E:\n    reveal(x)\nreveal(x)\n",
            ["0 | 1 | 2", "0 | 1 | 2"],
        ),
        ("try:\n    x = 1\nexcept E as e:\n    raise\nelse:\n    reveal(x)\nfinally:\n    pass\n", ["1"]),
        ("match c:\n    case 1:\n        x = 1\n    case _:\n        x = 2\nreveal(x)\n", ["1 | 2"]),
        ("match 1:\n    case y:\n        reveal(y)\n", ["1"]),
        ("with open('f') as x:\n    reveal(x)\n", ["<builtins.open()>"]),
    ],
)
def test_branches_and_loops_join(body: str, expected: list[str]) -> None:
    assert revealed(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\ndef f():\n    reveal(x)\nx = 2\n", ["1 | 2"]),
        ("x = 1\ndef f():\n    x = 2\n    reveal(x)\nreveal(x)\n", ["2", "1"]),
        ("x = None\ndef f():\n    global x\n    x = 1\ndef g():\n    reveal(x)\n", ["1 | None"]),
        (
            "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    g()\n    reveal(x)\n",
            ["1 | 2"],
        ),
        ("def f():\n    x = 1\n    return lambda: x\nreveal(f()())\n", ["1"]),
        ("x = 1\ny = [x for x in ['a']]\nreveal(x)\n", ["1"]),
        ("class A:\n    x = 1\n    def f(self):\n        reveal(x)\nx = 2\n", ["2"]),
        ("class A:\n    x = 1\n    y = x\nreveal(A.y)\n", ["1"]),
    ],
)
def test_scopes(body: str, expected: list[str]) -> None:
    assert revealed(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "def f(stream):\n    r = ask(stream=stream)\n    if stream:\n        reveal(r)\n    else:\n"
            "        reveal(r)\n",
            ["stream", "completion"],
        ),
        (
            "def f(stream):\n    r = ask(stream=stream)\n    if not stream:\n        return reveal(r)\n"
            "    reveal(r)\n",
            ["completion", "stream"],
        ),
        (
            "def f(stream):\n    r = ask(stream=stream)\n"
            "    return reveal(r) if stream is True else reveal(r)\n",
            ["stream", "completion"],
        ),
        (
            "def f(stream, other):\n    r = ask(stream=stream)\n    if other:\n        reveal(r)\n",
            ["completion | stream"],
        ),
        (
            "reveal(ask())\nreveal(ask(stream=True))\nreveal(ask(stream=False))\n",
            ["completion", "stream", "completion"],
        ),
    ],
)
def test_a_test_of_the_stream_flag_says_which_answer_it_is(body: str, expected: list[str]) -> None:
    direct = body.replace("ask(", 'client.chat.completions.create(model="m", messages=[], ')
    assert revealed(HEAD + direct) == expected

"""Values: what comes out of dicts, sequences, functions, classes and the code of others."""

from __future__ import annotations

import pytest

from tests.programs import HEAD, revealed


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("d = {'a': 1, 'b': 'x'}\nreveal(d['a'])\nreveal(d.get('b'))\n", ["1", "'x'"]),
        ("d = {'b': 'x'}\nreveal(d.get('b'))\nd.pop('b')\n", ["'x' | None"]),
        ("d = {}\nd['a'] = 1\nreveal(d['a'])\n", ["1"]),
        ("d = {'a': 1, **{'b': 2}}\nreveal(d['b'])\n", ["2"]),
        (
            "d = dict(a=1)\nd.update(b=2)\nd |= {'c': 3}\nreveal([d['a'], d['b'], d['c']][0])\n"
            "reveal(d['c'])\n",
            ["1", "3"],
        ),
        ("d = {'a': 1} | {'b': 2}\nreveal(d['b'])\n", ["2"]),
        ("d = {}\nreveal(d.setdefault('a', 1))\nreveal(d['a'])\n", ["1", "1"]),
        ("d = {'a': 1, 'b': 2}\nfor k, v in d.items():\n    reveal(v)\n", ["1 | 2"]),
        ("d = {k: v for k, v in {'a': 1}.items()}\nreveal(d['a'])\n", ["1"]),
        ("l = [1, 'a']\nreveal(l[0])\nreveal(l[1])\nreveal(l[i])\n", ["1", "'a'", "'a' | 1"]),
        (
            "l = []\nl.append(1)\nl.extend([2])\nl.insert(0, 3)\nl += [4]\nfor x in l:\n    reveal(x)\n",
            ["1 | 2 | 3 | 4"],
        ),
        ("l = [1] + [2]\nfor x in l[1:]:\n    reveal(x)\n", ["1 | 2"]),
        ("l = sorted([1], key=f)\nreveal(l.pop())\n", ["1"]),
        ("reveal(next(iter([1])))\nreveal(next((x for x in ['a']), None))\n", ["1", "'a' | None"]),
        ("for i, x in enumerate(['a']):\n    reveal(x)\n", ["'a'"]),
        ("for a, b in zip([1], ['x']):\n    reveal(a)\n    reveal(b)\n", ["1", "'x'"]),
        ("import copy\nreveal(copy.deepcopy({'a': 1})['a'])\n", ["1"]),
        (
            "reveal('a'.upper())\nreveal(f'{1}')\nreveal('a' + b)\nreveal('a %s' % b)\n",
            ["str", "str", "str", "str"],
        ),
    ],
)
def test_containers(body: str, expected: list[str]) -> None:
    assert revealed(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def f(a, *, b=2):\n    reveal(a)\n    reveal(b)\nf(1)\nf('x', b=3)\n", ["'x' | 1", "2 | 3"]),
        ("def f(*args, **kwargs):\n    reveal(args[0])\n    reveal(kwargs['k'])\nf(1, k=2)\n", ["1", "2"]),
        ("def f(a, b):\n    reveal(b)\nf(*[1, 2])\nf(**{'b': 3})\n", ["2 | 3"]),
        ("def f(**kw):\n    return g(**kw)\ndef g(a=None):\n    reveal(a)\nf(a=1)\n", ["1 | None"]),
        ("def f(**kw):\n    reveal(kw['kw'])\nf(kw=1)\n", ["1"]),
        ("def f(a, **kw):\n    reveal(a)\n    reveal(kw['kw'])\nf(**{'kw': 2, 'a': 1})\n", ["1", "2"]),
        ("def f(a, b):\n    reveal(b)\nd = {'a': 1}\ne = {**d}\nf(**e)\nd['b'] = 2\n", ["2"]),
        ("def f(a, b):\n    reveal(b)\nd = {'b': 1}\nd[name()] = 2\nf(**{**d})\n", ["1 | 2"]),
        ("def f(a, *rest, **kw):\n    reveal(a)\nf(1, **{'a': 2, 'rest': 3, 'kw': 4})\n", ["1 | 2"]),
        ("def f():\n    return 1\ndef g():\n    return f()\nreveal(g())\n", ["1"]),
        ("def f(n):\n    return f(n - 1) if n else 'end'\nreveal(f(3))\n", ["'end'"]),
        ("def odd(x):\n    return even(x)\ndef even(x):\n    return odd(x) or x\nreveal(odd(1))\n", ["1"]),
        ("def f():\n    yield 1\n    yield from ['a']\nfor x in f():\n    reveal(x)\n", ["'a' | 1"]),
        ("async def f():\n    return 1\nasync def g():\n    reveal(await f())\n", ["1"]),
        (
            "from functools import partial\ndef f(a, b):\n    reveal(b)\n    return a\n"
            "reveal(partial(f, 1)(b=2))\n",
            ["2", "1"],
        ),
        ("def twice(g):\n    return g(1)\nreveal(twice(lambda x: x))\n", ["1"]),
        (
            "def deco(f):\n    def inner(*a, **k):\n        return f(*a, **k)\n    return inner\n"
            "@deco\ndef f(x):\n    return x\nreveal(f(1))\n",
            ["1"],
        ),
        ("import functools\n@functools.lru_cache()\ndef f():\n    return 1\nreveal(f())\n", ["1"]),
        (
            "import asyncio\nasync def g():\n    reveal(await asyncio.to_thread(f, 1))\ndef f(x):\n"
            "    return x\n",
            ["1"],
        ),
        (
            "import asyncio\nasync def f(x):\n    return x\nasync def g():\n"
            "    a, b = await asyncio.gather(f(1), f(2))\n    reveal(a)\n",
            ["1 | 2"],
        ),
        ("def f(x):\n    return x\nfor y in map(f, [1]):\n    reveal(y)\n", ["1"]),
        ("handlers = {'a': lambda: 1}\nreveal(handlers[k]())\n", ["1"]),
    ],
)
def test_functions(body: str, expected: list[str]) -> None:
    assert revealed(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("class A:\n    def __init__(self, x):\n        self.x = x\nreveal(A(1).x)\n", ["1"]),
        ("class A:\n    x = 1\nclass B(A):\n    pass\nreveal(B().x)\nreveal(B.x)\n", ["1", "1"]),
        (
            "class A:\n    def f(self):\n        return self.g()\nclass B(A):\n    def g(self):\n"
            "        return 1\nreveal(B().f())\n",
            ["1"],
        ),
        (
            "class A:\n    def f(self):\n        return 1\nclass B(A):\n    def f(self):\n"
            "        return super().f()\nreveal(B().f())\n",
            ["1"],
        ),
        ("class A:\n    @property\n    def p(self):\n        return 1\nreveal(A().p)\n", ["1"]),
        (
            "class A:\n    @classmethod\n    def make(cls):\n        return cls()\n    @staticmethod\n"
            "    def one():\n        return 1\nreveal(A.make())\nreveal(A.one())\n",
            ["A()", "1"],
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n    y: str = 'a'\n"
            "reveal(A(1).x)\nreveal(A(1, y='b').y)\n",
            ["1 | int", "'a' | 'b' | str"],
        ),
        ("class A:\n    def __call__(self, x):\n        return x\nreveal(A()(1))\n", ["1"]),
        (
            "class A:\n    def __enter__(self):\n        return 1\nwith A() as a:\n    reveal(a)\n",
            ["1 | A()"],
        ),
        ("class A:\n    def __iter__(self):\n        yield 1\nfor x in A():\n    reveal(x)\n", ["1"]),
        (
            "class A:\n    def __iter__(self):\n        return self\n    def __next__(self):\n"
            "        return 1\nfor x in A():\n    reveal(x)\n",
            ["1"],
        ),
        (
            "class A:\n    def __iter__(self):\n        return B()\nclass B:\n    def __iter__(self):\n"
            "        return A()\nfor x in A():\n    reveal(x)\n",
            ["nothing"],
        ),
        (
            "class A:\n    pass\na = A()\na.x = 1\nsetattr(a, 'y', 2)\nreveal(a.x)\n"
            "reveal(getattr(a, 'y'))\n",
            ["1", "2"],
        ),
        (
            "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\na = A(1)\nreveal(a.x)\n"
            "reveal(a[0])\n",
            ["1 | int", "1 | int"],
        ),
        ("class A:\n    x: int = 1\nreveal(A()[0])\n", ["nothing"]),
    ],
)
def test_classes(body: str, expected: list[str]) -> None:
    assert revealed(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("r = ask()\nm = r.choices[0].message\nreveal(m)\nreveal(m.content)\n", ["message", "content"]),
        ("for c in ask().choices:\n    reveal(c.finish_reason)\n", ["finish"]),
        ("reveal(ask().usage.prompt_tokens)\nreveal(ask().no_such_field)\n", ["leaf", "other"]),
        (
            "for c in client.chat.completions.create(model='m', messages=[], stream=True):\n"
            "    reveal(c.choices[0].delta.content)\n",
            ["delta_text"],
        ),
        ("d = ask().model_dump()\nreveal(d['choices'][0]['message'])\n", ["message as dict"]),
        ("import json\nreveal(json.loads(ask().model_dump_json())['usage'])\n", ["usage as dict"]),
        (
            "r = client.chat.completions.with_raw_response.create(model='m', messages=[])\nreveal(r)\n"
            "reveal(r.parse())\n",
            ["raw", "completion"],
        ),
        (
            "with client.chat.completions.stream(model='m', messages=[]) as s:\n    for e in s:\n"
            "        reveal(e)\n    reveal(s.get_final_completion())\n",
            ["event", "completion"],
        ),
        ("create = client.chat.completions.create\nreveal(create(model='m', messages=[]))\n", ["completion"]),
        ("import openai\nreveal(openai.chat.completions.create(model='m', messages=[]))\n", ["completion"]),
        (
            "reveal(client.with_options(timeout=1).chat.completions.create(model='m', messages=[]))\n",
            ["completion"],
        ),
        (
            "def use(c: OpenAI):\n    reveal(c.chat.completions.create(model='m', messages=[]))\n",
            ["completion"],
        ),
        ("reveal(client.responses.create(model='m', input='x'))\n", ["<openai.OpenAI().responses.create()>"]),
    ],
)
def test_parts_of_an_answer(body: str, expected: list[str]) -> None:
    assert revealed(HEAD + body) == expected

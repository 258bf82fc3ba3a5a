"""Escapes: where the answer gets into the hands of code that this tool does not see."""

from __future__ import annotations

import pytest

from migrate_responses.decide.escapes import Escapes, Way
from migrate_responses.know.kinds import Kind, Shape
from tests.programs import HEAD, known


def ways(body: str, packaged: bool = False) -> list[tuple[Way, str]]:
    """How the whole answer of the one call leaves."""
    project = known({"main.py": f"{HEAD}{body}"})
    (site,) = project.sites.values()
    return [(found.way, found.to) for found in Escapes(project, packaged).of(Shape(Kind.COMPLETION, site))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("print(ask())\n", [(Way.DISPLAY, "print")]),
        ("import logging\nlogging.info('%s', ask())\n", [(Way.DISPLAY, "logging.info")]),
        ("print(f'{ask()}')\n", [(Way.DISPLAY, "an f-string")]),
        ("text = f'{ask()}'\n", [(Way.TEXT, "an f-string")]),
        ("text = str(ask())\n", [(Way.TEXT, "str")]),
        ("print(str(ask()))\n", [(Way.DISPLAY, "str")]),
        ("text = '%s' % ask()\n", [(Way.TEXT, "a format string")]),
        ("print('%s' % ask())\n", [(Way.DISPLAY, "a format string")]),
        ("print('%(id)s' % ask())\n", [(Way.TEXT, "a format string")]),
        ("import logging\nlogging.info('%(id)s', ask())\n", [(Way.ARGUMENT, "logging.info")]),
        ("import logging\nlogging.info('x', extra=ask())\n", [(Way.ARGUMENT, "logging.info")]),
        ("import sys\nprint(ask(), file=sys.stderr)\n", [(Way.DISPLAY, "print")]),
        ("print(ask(), file=open('log', 'w'))\n", [(Way.ARGUMENT, "print")]),
        ("import pickle\npickle.dumps(ask())\n", [(Way.ARGUMENT, "pickle.dumps")]),
        ("import pickle\npickle.dumps({'r': [ask()]})\n", [(Way.ARGUMENT, "pickle.dumps")]),
        ("import cache\ncache.store['k'] = ask()\n", [(Way.STORE, "cache.store['k']")]),
        ("def keep(r):\n    return r\nkeep(ask())\n", []),
        ("found = [ask()]\nfound.append(ask())\nlen(found)\n", []),
        ("import functools\nfunctools.partial(print, 1)\nask().choices\n", []),
    ],
)
def test_what_is_handed_on(body: str, expected: list[tuple[Way, str]]) -> None:
    assert ways(body) == expected


@pytest.mark.parametrize(
    ("body", "packaged", "expected"),
    [
        ("def answer():\n    return ask()\n", False, []),
        ("def answer():\n    return ask()\n", True, [(Way.RETURN, "callers of the public `answer`")]),
        ("def _answer():\n    return ask()\n", True, []),
        (
            "import web\n@web.route('/')\ndef answer():\n    return ask()\n",
            False,
            [(Way.RETURN, "whoever calls `answer`")],
        ),
        (
            "import web\n@web.route('/')\ndef answer():\n    yield ask()\n",
            False,
            [(Way.YIELD, "whoever calls `answer`")],
        ),
        (
            "import web\ndef answer():\n    return ask()\nweb.register(answer)\n",
            False,
            [(Way.RETURN, "whoever calls `answer`")],
        ),
        ("import tenacity\n@tenacity.retry\ndef answer():\n    return ask()\n", False, []),
    ],
)
def test_what_is_returned(body: str, packaged: bool, expected: list[tuple[Way, str]]) -> None:
    assert ways(body, packaged) == expected

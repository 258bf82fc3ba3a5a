"""Positions are those of LibCST's own provider, found in one printing of the tree."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from migrate_responses.positions import Positions

ROOT = Path(__file__).parents[1]
ODD = [
    "",
    "x = 1",  # no newline at the end
    "\r\nif x:\r\n\ty = (\r\n\t\t1, 2 )  # why\r\n\r\n",
    "@f\n\n# c\nasync def g(a, /, *, b=1):\n    '''two\n    lines'''\n    return (yield a) ; pass\n",
    "with (open(a) as b, c):\n  pass\n\n\n",
    "# only a comment",
]
_SPACE = (cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.TrailingWhitespace, cst.Newline)


def _texts() -> list[str]:
    modules = [*ROOT.glob("transforms/*.py"), *ROOT.glob("fixtures/streams/*/before.py")]
    return [*ODD, *(path.read_text(encoding="utf-8") for path in sorted(modules)[:60])]


@pytest.mark.parametrize("text", _texts(), ids=lambda text: str(len(text)))
def test_positions_are_those_of_the_provider(text: str) -> None:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    expected = wrapper.resolve(PositionProvider)
    positions = Positions(wrapper.module)
    assert expected
    for node, place in expected.items():
        if isinstance(node, _SPACE):
            assert positions.start(node) is None  # nobody asks
            continue
        assert positions.start(node) == (place.start.line, place.start.column + 1)
        assert positions.end(node) == (place.end.line, place.end.column + 1)


def test_a_node_of_another_tree_has_no_position() -> None:
    positions = Positions(cst.parse_module("x = 1\n"))
    other = cst.parse_module("x = 1\n")
    assert positions.start(other) is None
    assert positions.end(other.body[0]) is None

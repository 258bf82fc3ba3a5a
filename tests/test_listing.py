"""Items that join and leave calls and displays, whatever their layout."""

from __future__ import annotations

import ast
import io
import tokenize

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrate_responses.transforms.listing import HOLDERS, Holder, append, tidied
from migrate_responses.transforms.snippets import TIGHT


def parsed(text: str) -> Holder:
    node = cst.parse_expression(text)
    assert isinstance(node, HOLDERS)
    return node


def code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def added(text: str) -> str:
    """The call or dict ``text`` with one more item."""
    node = parsed(text)
    if isinstance(node, cst.Dict):
        return code(append(node, cst.DictElement(cst.SimpleString("'new'"), cst.Name("z"))))
    return code(append(node, cst.Arg(cst.Name("z"), keyword=cst.Name("new"), equal=TIGHT)))


def removed(text: str, *positions: int) -> str:
    """The call or display ``text`` without the items at ``positions``."""
    node = parsed(text)
    field = "args" if isinstance(node, cst.Call) else "elements"
    items = getattr(node, field)
    gone = {items[position]: 0 for position in positions}
    return code(
        tidied(node, node.with_changes(**{field: [item for item in items if item not in gone]}), gone)
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(new=z)"),
        ("f(a=1)", "f(a=1, new=z)"),
        ("f(a=1, )", "f(a=1, new=z, )"),
        ("f(\n    a=1,\n    b=2,\n)", "f(\n    a=1,\n    b=2,\n    new=z,\n)"),
        ("f(\n    a=1,\n    b=2\n)", "f(\n    a=1,\n    b=2,\n    new=z\n)"),
        ("f(\n    a=1,  # one\n    b=2,  # two\n)", "f(\n    a=1,  # one\n    b=2,  # two\n    new=z,\n)"),
        ("f(\n    a=1,\n    b=2  # two\n)", "f(\n    a=1,\n    b=2,  # two\n    new=z\n)"),
        ("f(\n    a=1, b=2,\n)", "f(\n    a=1, b=2, new=z,\n)"),
        ("f(\n    # first\n    a=1,\n)", "f(\n    # first\n    a=1,\n    new=z,\n)"),
        ("f(a=1,\n  b=2)", "f(a=1,\n  b=2,\n  new=z)"),
    ],
)
def test_an_item_joins(before: str, after: str) -> None:
    assert added(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", "{'new': z}"),
        ("{'a': 1}", "{'a': 1, 'new': z}"),
        (
            "{\n    'a': 1,  # one\n    'b': 2,  # two\n}",
            "{\n    'a': 1,  # one\n    'b': 2,  # two\n    'new': z,\n}",
        ),
        ("{\n    'a': 1,\n    'b': 2  # two\n}", "{\n    'a': 1,\n    'b': 2,  # two\n    'new': z\n}"),
    ],
)
def test_an_entry_joins(before: str, after: str) -> None:
    assert added(before) == after


@pytest.mark.parametrize(
    ("before", "positions", "after"),
    [
        ("[1, 2, 3]", (1,), "[1, 3]"),
        ("[\n    1,  # one\n    2,  # two\n]", (1,), "[\n    1,  # one\n]"),
        ("[\n    1,  # one\n    2  # two\n]", (0,), "[\n    2  # two\n]"),
        ("{'a': 1, 'b': 2}", (0, 1), "{}"),
        ("(1, 2)", (1,), "(1,)"),
        ("f(a=1, b=2,\n  c=3)", (1,), "f(a=1,\n  c=3)"),
        ("f(\n    # all of them\n    a=1,\n)", (0,), "f(\n    # all of them\n)"),
    ],
)
def test_an_element_leaves(before: str, positions: tuple[int, ...], after: str) -> None:
    assert removed(before, *positions) == after


@pytest.mark.parametrize(
    ("before", "positions", "after"),
    [
        ("f(a=1, b=2, c=3)", (0,), "f(b=2, c=3)"),
        ("f(a=1, b=2, c=3)", (1,), "f(a=1, c=3)"),
        ("f(a=1, b=2, c=3)", (2,), "f(a=1, b=2)"),
        ("f(a=1, b=2)", (0, 1), "f()"),
        ("f(\n    a=1,\n    b=2,\n)", (1,), "f(\n    a=1,\n)"),
        ("f(\n    a=1,\n    b=2\n)", (1,), "f(\n    a=1\n)"),
        ("f(\n    a=1,  # one\n    b=2,  # two\n    c=3,\n)", (1,), "f(\n    a=1,  # one\n    c=3,\n)"),
        (
            "f(\n    a=1,\n    b=2,\n    # about c\n    c=3,\n)",
            (1,),
            "f(\n    a=1,\n    # about c\n    c=3,\n)",
        ),
    ],
)
def test_an_item_leaves(before: str, positions: tuple[int, ...], after: str) -> None:
    assert removed(before, *positions) == after


names = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=5, unique=True)
spaces = st.sampled_from(["", " ", "\n    ", "\n        "])


@st.composite
def calls(draw: st.DrawFn) -> str:
    """A call in any layout, with comments of its own for each argument."""
    opening, between, closing = draw(spaces), draw(st.sampled_from([" ", "\n    ", ""])), draw(spaces)
    used = draw(names)
    parts = []
    for position, name in enumerate(used):
        last = position == len(used) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        space = closing if last else between
        comment = f"  # about {name}" if space.startswith("\n") and draw(st.booleans()) else ""
        above = f"\n    # above {name}" if not last and space.startswith("\n") and draw(st.booleans()) else ""
        parts.append(f"{name}=1{comma}{comment}{above}{space}")
    return f"f({opening}{''.join(parts)})"


def comments(text: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.COMMENT}


def keywords(text: str) -> list[str | None]:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return [keyword.arg for keyword in call.keywords]


@given(calls())
def test_any_call_can_be_added_to(text: str) -> None:
    result = added(text)
    assert keywords(result) == [*keywords(text), "new"]
    assert comments(result) == comments(text)


@given(calls(), st.data())
def test_any_arguments_can_leave(text: str, data: st.DataObject) -> None:
    before = keywords(text)
    gone = data.draw(st.sets(st.integers(0, len(before) - 1)))
    result = removed(text, *gone)
    assert keywords(result) == [name for position, name in enumerate(before) if position not in gone]
    left = {f"# about {name}" for name in keywords(result)} | {f"# above {name}" for name in before}
    assert comments(text) & left <= comments(result) <= comments(text)


@given(calls(), st.data())
def test_what_came_last_leaves_again_without_a_trace(text: str, data: st.DataObject) -> None:
    grown = added(text)
    again = removed(grown, len(keywords(grown)) - 1)
    assert keywords(again) == keywords(text)
    assert comments(again) == comments(text)

"""Small pieces of syntax."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrate_responses.transforms.snippets import attribute, expr, operand, string


@given(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=("Cs", "Cc"))))
def test_a_string_means_what_it_was_made_of(value: str) -> None:
    for like in (None, cst.SimpleString("'x'")):
        assert ast.literal_eval(string(value, like).value) == value


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (attribute(cst.parse_expression("a.b"), "c"), "a.b.c"),
        (attribute(cst.parse_expression("a or b"), "c"), "(a or b).c"),
        (attribute(cst.parse_expression("await a"), "c"), "(await a).c"),
        (operand(cst.parse_expression("a if b else c")), "(a if b else c)"),
        (operand(cst.parse_expression("f(a)")), "f(a)"),
        (expr("r.status == x", r=cst.Name("answer"), x=cst.Integer("1")), "answer.status == 1"),
        (expr("f(r=r)", r=cst.Name("answer")), "f(r=answer)"),
        (expr("a.r", r=cst.Name("answer")), "a.r"),
    ],
)
def test_pieces(made: cst.BaseExpression, code: str) -> None:
    assert cst.Module([]).code_for_node(made) == code

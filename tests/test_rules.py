"""The rules are complete, in order, and told the same everywhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from migrate_responses.results import Level
from migrate_responses.rules import RULES, SECTIONS, Rule, rule
from migrate_responses.show import docs_pages

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = [*(ROOT / "migrate_responses").rglob("*.py"), *(ROOT / "transforms").rglob("*.py")]


def each_rule() -> list[object]:
    return [pytest.param(one, id=one.code) for one in RULES]


def test_codes_are_distinct_and_in_order() -> None:
    codes = [one.code for one in RULES]
    assert codes == sorted(set(codes))
    assert all(re.fullmatch(r"MR\d{3}", code) for code in codes)
    assert {code[2] for code in codes} == set(SECTIONS)


def test_every_code_that_the_program_emits_is_a_rule() -> None:
    """A code is written as a whole string; prose that mentions one is not meant."""
    emitted: set[str] = set()
    for path in PROGRAM:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and re.fullmatch(r"MR\d{3}", str(node.value)):
                emitted.add(str(node.value))
    assert emitted <= {one.code for one in RULES}


def test_lookup_ignores_case() -> None:
    assert rule("mr112") is rule("MR112")
    with pytest.raises(KeyError):
        rule("MR999")


@pytest.mark.parametrize("one", each_rule())
def test_story_is_told(one: Rule) -> None:
    assert one.title
    assert len(one.explanation) > 40
    assert one.explanation.endswith(".")
    assert one.source
    if not one.code.startswith("MR9"):
        assert one.before
    if one.level in (Level.SAFE, Level.UNSAFE) and one.code != "MR803":
        assert one.after
    assert one.level is not Level.SAFE or one.before != one.after


@pytest.mark.parametrize("one", each_rule())
def test_examples_are_python(one: Rule) -> None:
    for code in (one.before, one.after):
        body = f"try:\n    pass\n{code}" if code.startswith("except ") else code
        inside = body.replace("\n", "\n    ")
        ast.parse(f"def example():\n    {inside or 'pass'}")


@pytest.mark.parametrize("name", docs_pages.PAGES)
def test_page_is_up_to_date(name: str) -> None:
    """If this fails: python -m migrate_responses.show.docs_pages docs"""
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == docs_pages.PAGES[name]()


def test_each_rule_is_on_one_of_the_pages() -> None:
    for one in RULES:
        on_rewrites = f'rules.md#{one.code.lower()}"' in docs_pages.rewrites()
        on_stays = f"rules.md#{one.code.lower()})" in docs_pages.stays()
        assert on_rewrites != on_stays or one.code.startswith("MR9"), one.code


def test_every_held_back_call_is_told_what_to_do() -> None:
    for one in RULES:
        if one.level in (Level.MANUAL, Level.UNSAFE):
            assert one.step, one.code
            assert not one.step.endswith("."), one.code
            assert len(one.step) < 95, one.code

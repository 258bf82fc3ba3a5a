"""Edits that are asked for more than once."""

from __future__ import annotations

import libcst as cst

from migrate_responses.config import Settings
from migrate_responses.decide.plan import Apply, Plan, Replacement
from migrate_responses.know.kinds import Site
from migrate_responses.know.modules import Module, scan
from migrate_responses.know.project import Project

CALL = "from openai import OpenAI\nx = OpenAI().chat.completions.create(model='m', messages=[])\n"


def known() -> tuple[Plan, Module, list[Site]]:
    module = Module("a.py", "a", cst.parse_module(CALL + CALL.split("\n")[1] + "\n"), False, CALL)
    scan(module)
    project = Project([module])
    project.solve()
    return Plan(project, Settings()), module, list(project.sites.values())


def same(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
    return updated


def asked(*applied: Apply) -> list[int]:
    """How many sites own each edit of one node, after every site has asked for one of ``applied``."""
    plan, module, sites = known()
    assert len(sites) == len(applied) == 2
    for site, apply in zip(sites, applied, strict=True):
        plan.edit(module.tree.body[0], module, [site], apply, "MR001")
    return [len(edit.sites) for edit in plan.edits]


def test_the_same_edit_is_made_once_and_owned_by_all() -> None:
    assert asked(same, same) == [2]


def test_edits_that_carry_something_with_them_differ() -> None:
    def by_default(name: str) -> Apply:
        return lambda original, updated, name=name: cst.Name(name)  # type: ignore[misc]

    def by_closure(name: str) -> Apply:
        return lambda original, updated: cst.Name(name)

    assert asked(by_default("a"), by_default("b")) == [1, 1]
    assert asked(by_closure("a"), by_closure("b")) == [1, 1]

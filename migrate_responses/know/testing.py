"""Which modules are tests: what they pass to a function says nothing about what the program passes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from .modules import Module

MOCKS = ("unittest.mock.", "mock.", "pytest_mock.", "asynctest.")
# What tests make answers of.
DOUBLES = (*MOCKS, "types.SimpleNamespace()", "openai.types.chat.")

_TOOLS = re.compile(r"^\s*(?:from|import)\s+(?:unittest|mock|pytest|pytest_mock|asynctest)\b", re.MULTILINE)
_HELPERS = re.compile(r"fake|double|stub|mock|dummy|fixture|factor|helper|test", re.IGNORECASE)
_ANSWERS = re.compile(r"\b(?:choices|message|content|delta|completions|chat)\b[\"']?\s*[=:](?!=)")
_CALLS = re.compile(r"completions\s*\.\s*(?:create|parse|stream)\s*\(|\b(?:Async)?(?:Azure)?OpenAI\s*\(")


def in_tests(module: Module) -> bool:
    """Whether ``module`` is test code: by its path, or because tests alone use the doubles it makes."""
    return module.helps_tests or _is_named_so(module)


def find_helpers(importers: Mapping[Module, Set[Module]]) -> None:
    """Mark what lies outside of the folders of tests and is for tests: doubles that they alone import."""
    waiting = [one for one in importers if not _is_named_so(one) and _makes_doubles(one)]
    while True:
        found = [one for one in waiting if all(map(in_tests, importers[one]))]
        if not found:
            return
        for one in found:
            one.helps_tests = True
        waiting = [one for one in waiting if not one.helps_tests]


def _makes_doubles(module: Module) -> bool:
    """Whether a module makes answers, and says by its imports or by its name that they are not real."""
    name = module.path.rpartition("/")[2]
    is_told = _TOOLS.search(module.text) or _HELPERS.search(name)
    return bool(is_told and _ANSWERS.search(module.text) and not _CALLS.search(module.text))


def _is_named_so(module: Module) -> bool:
    parts = module.path.split("/")
    name = parts[-1]
    return (
        name.startswith(("test_", "conftest"))
        or name.endswith("_test.py")
        or any(part in ("tests", "test") for part in parts[:-1])
    )

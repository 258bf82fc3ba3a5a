"""Which modules are tests: what they pass to a function says nothing about what the program passes."""

from __future__ import annotations

from .modules import Module

MOCKS = ("unittest.mock.", "mock.", "pytest_mock.", "asynctest.")
# What tests make answers of.
DOUBLES = (*MOCKS, "types.SimpleNamespace()", "openai.types.chat.")


def in_tests(module: Module) -> bool:
    """Whether ``module`` is test code, by its path."""
    parts = module.path.split("/")
    name = parts[-1]
    return (
        name.startswith(("test_", "conftest"))
        or name.endswith("_test.py")
        or any(part in ("tests", "test") for part in parts[:-1])
    )

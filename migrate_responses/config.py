"""The settings of a run: frozen, made from ``[tool.migrate-responses]`` and the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What the user chose. The defaults are those of the command line."""

    unsafe_fixes: bool = False
    api_defaults: str = "preserve"  # or "adopt"
    assume_responses: frozenset[str] = frozenset()  # URLs or hosts, "azure", "dynamic"
    assume_clients: frozenset[str] = frozenset()  # names of parameters or attributes
    select: frozenset[str] = frozenset()  # rule codes or prefixes; empty: all
    ignore: frozenset[str] = frozenset()
    raise_on_failure: bool = False
    packaged: bool = False  # the project is distributed: uncalled public functions are a contract

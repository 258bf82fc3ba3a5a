"""Where the project's own pages are."""

from __future__ import annotations

PROJECT = "https://github.com/migrate-responses/migrate-responses"
RULES = f"{PROJECT}/blob/main/docs/rules.md"


def about(code: str) -> str:
    """The page that tells of a rule."""
    return f"{RULES}#{code.lower()}"

"""The type of one rule, and the sources that several rules cite."""

from __future__ import annotations

from dataclasses import dataclass

from migrate_responses.results import Level

GUIDE = "https://developers.openai.com/api/docs/guides/migrate-to-responses"
FUNCTIONS = "https://developers.openai.com/api/docs/guides/function-calling"
STREAMING = "https://developers.openai.com/api/docs/guides/streaming-responses"
STRUCTURED = "https://developers.openai.com/api/docs/guides/structured-outputs"
CREATE = "openai.resources.responses.Responses.create"
PROJECT = "https://github.com/migrate-responses/migrate-responses/blob/main/docs/architecture.md"

SAFE, UNSAFE, MANUAL, NOTE = Level.SAFE, Level.UNSAFE, Level.MANUAL, Level.NOTE


@dataclass(frozen=True)
class Rule:
    """One thing the tool does, refuses or reports.

    ``before`` and ``after`` are Python source without a final newline. Where the tool leaves the
    code alone, ``after`` is what a person would write; both are empty where no code shows the point.
    ``step`` is what to do about it, in a clause that ends a TODO comment.
    """

    code: str
    title: str
    level: Level
    explanation: str
    before: str
    after: str
    source: str
    step: str = ""

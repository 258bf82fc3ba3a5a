"""Every rule there is, in the order of their codes, and how to look one up."""

from __future__ import annotations

from migrate_responses.rulebook.answers import ANSWERS
from migrate_responses.rulebook.clients import CLIENTS
from migrate_responses.rulebook.files import FILES
from migrate_responses.rulebook.messages import MESSAGES
from migrate_responses.rulebook.requests import REQUESTS
from migrate_responses.rulebook.rule import Rule
from migrate_responses.rulebook.streams import STREAMS
from migrate_responses.rulebook.structured import STRUCTURE
from migrate_responses.rulebook.tools import TOOLS

__all__ = ["RULES", "SECTIONS", "Rule", "rule"]

RULES: tuple[Rule, ...] = (
    *CLIENTS,
    *REQUESTS,
    *MESSAGES,
    *ANSWERS,
    *STREAMS,
    *TOOLS,
    *STRUCTURE,
    *FILES,
)

SECTIONS: dict[str, str] = {
    "0": "Clients and endpoints",
    "1": "Requests",
    "2": "Messages",
    "3": "Answers",
    "4": "Streams",
    "5": "Tools",
    "6": "Structured output and parts",
    "7": "Types and imports",
    "8": "Tests and doubles",
    "9": "Files",
}
"""The heading for the first digit of a code."""

_BY_CODE = {rule.code: rule for rule in RULES}


def rule(code: str) -> Rule:
    """The rule called ``code``, in any case. Raises ``KeyError`` if there is none."""
    return _BY_CODE[code.upper()]

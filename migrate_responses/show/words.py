"""The words and sentences that the summary and the formats share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote

from migrate_responses.results import (
    Diagnostic,
    FlowPlace,
    FlowResult,
    Joint,
    Placed,
    Role,
    SiteResult,
    Verdict,
)

HELD = (Verdict.UNSAFE, Verdict.MANUAL)
STATES = {
    Verdict.MIGRATED: "ready",  # nothing has been written yet
    Verdict.UNSAFE: "held back (unsafe fix)",
    Verdict.MANUAL: "held back",
    Verdict.LEFT: "left alone",
    Verdict.SKIPPED: "skipped",
    Verdict.DOUBLE: "in a test",
}
"""What each verdict is called wherever a person reads of it."""

_MOST_SPOTS = 6


def advice(diagnostic: Diagnostic) -> str:
    """The reason and what to do about it, as one sentence without its full stop."""
    message = diagnostic.message.rstrip(".")
    return f"{message}; {diagnostic.next_step.rstrip('.')}" if diagnostic.next_step else message


def codes(site: SiteResult) -> list[str]:
    """The codes of a site's reasons, each once."""
    return list(dict.fromkeys(reason.code for reason in site.reasons))


def partners(site: SiteResult, flows: Mapping[int, FlowResult]) -> list[FlowPlace]:
    """The calls that a mock or a route in a test goes with."""
    return [
        place
        for number in site.about
        if number in flows
        for place in flows[number].places
        if place.role is Role.CALL
    ]


def goes_with(site: SiteResult, flows: Mapping[int, FlowResult]) -> str:
    """What becomes of a mock or a route in a test that has no reason of its own."""
    return f"goes with {spots(partners(site, flows))}"


def shared(joint: Joint) -> str:
    """What is shared at the place of a joint."""
    from migrate_responses.rules import rule

    code = joint.place.code
    return joint.why or (f"{rule(code).title} ({code})" if code else "rewritten")


def spots(found: Iterable[Placed]) -> str:
    """``chat.py:17, 34; cli.py:9``: some places, file by file, the first of many."""
    places = list(dict.fromkeys((one.path, one.row) for one in found))
    by_path: dict[str, list[str]] = {}
    for path, line in places[:_MOST_SPOTS]:
        by_path.setdefault(path, []).append(line)
    told = "; ".join(f"{path}:{', '.join(lines)}" for path, lines in by_path.items())
    return f"{told} and {len(places) - _MOST_SPOTS} more" if len(places) > _MOST_SPOTS else told


def argument(path: str) -> str:
    """``path`` as an argument of a command: never taken for an option."""
    return f"./{path}" if path.startswith("-") else path


def apply(site: SiteResult) -> str:
    """What to type to migrate the file of a site."""
    return f"migrate-responses apply {quote(argument(site.path))}"


def flat(text: str) -> str:
    """``text`` on one line."""
    return " ".join(text.split())

"""What a run came to, for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from migrate_responses.results import Diagnostic, Level, SiteResult, Verdict
from migrate_responses.rules import rule
from migrate_responses.session import Outcome
from migrate_responses.show.screen import Screen

HELD_BACK = (Verdict.UNSAFE, Verdict.MANUAL)
ASSUMPTIONS = (
    ("MR021", "dynamic", "whose base URL is known only at run time"),
    ("MR023", "azure", "on Azure with an API version known only at run time"),
)
_STYLES = {Level.SAFE: "green", Level.UNSAFE: "yellow", Level.MANUAL: "red", Level.NOTE: "cyan"}


def finding(screen: Screen, diagnostic: Diagnostic) -> None:
    """One diagnostic on one line: place, code, reason, next step."""
    message = diagnostic.message
    if diagnostic.next_step:
        message = f"{message.rstrip('.')}; {diagnostic.next_step}"
    where = ((diagnostic.place, "bold"), ": ") if diagnostic.path else ()
    screen.line(*where, (diagnostic.code, _STYLES[diagnostic.level]), f" {message}")


def sites(screen: Screen, found: Iterable[SiteResult]) -> None:
    """One line for each reason of each site; a site without reasons is ready to be migrated."""
    for site in found:
        for reason in site.reasons:
            finding(screen, reason)
        if not site.reasons:
            screen.line((site.place, "bold"), ": ", ("can be migrated", "green"), f": {site.text}")


def summary(screen: Screen, result: Outcome, *, done: bool, unsafe: bool) -> None:
    """How many sites were found, and what becomes of them. ``done`` tells whether it was written."""
    total = len(result.sites)
    files = len({site.path for site in result.sites})
    if not total:
        screen.line(f"No Chat Completions calls in {many(result.seen, 'Python file')}.")
        return
    screen.line((f"{many(total, 'call')} in {many(files, 'file')}", "bold"), f" ({_read(result)})")
    migrated = [site for site in result.sites if site.verdict is Verdict.MIGRATED]
    _group(screen, "migrated" if done else "ready to migrate", migrated, "green")
    held = [site for site in result.sites if site.verdict in HELD_BACK]
    _group(screen, "held back", held, "yellow")
    _group(screen, "left alone", [site for site in result.sites if site.verdict is Verdict.LEFT], "cyan")
    _group(screen, "skipped", [site for site in result.sites if site.verdict is Verdict.SKIPPED], "cyan")
    _hints(screen, result, unsafe)


def _hints(screen: Screen, result: Outcome, unsafe: bool) -> None:
    for code, word, what in ASSUMPTIONS:
        count = sum(any(reason.code == code for reason in site.reasons) for site in result.sites)
        if count:
            calls = "1 call goes" if count == 1 else f"{count} calls go"
            server = "If it serves" if count == 1 else "If they serve"
            screen.line(f"{calls} to an endpoint {what}. {server} /responses: --assume-responses {word}")
    count = sum(site.verdict is Verdict.UNSAFE for site in result.sites)
    if count and not unsafe:
        calls = "1 more call" if count == 1 else f"{count} more calls"
        screen.line(f"{calls} can be migrated with --unsafe-fixes; `explain CODE` tells what changes.")


def _group(screen: Screen, label: str, group: list[SiteResult], style: str) -> None:
    """The count of one verdict, and of each code behind it. A site with two reasons counts under both."""
    if not group:
        return
    screen.line("  ", (f"{len(group):4} {label}", style))
    codes = Counter(code for site in group for code in {reason.code for reason in site.reasons})
    if group[0].verdict is Verdict.MIGRATED:
        return
    for code, count in sorted(codes.items(), key=lambda item: (-item[1], item[0])):
        screen.line("       ", f"{count:4} ", (code, style), f" {_title(code)}")


def _title(code: str) -> str:
    try:
        return rule(code).title
    except KeyError:
        return ""


def _read(result: Outcome) -> str:
    return f"{many(result.read, 'file')} read of {result.seen}"


def many(count: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

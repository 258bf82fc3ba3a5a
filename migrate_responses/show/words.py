"""The sentences that the text formats share."""

from __future__ import annotations

from shlex import quote

from migrate_responses.results import Diagnostic, SiteResult, Verdict

HELD = (Verdict.UNSAFE, Verdict.MANUAL)


def advice(diagnostic: Diagnostic) -> str:
    """The reason and what to do about it, as one sentence without its full stop."""
    message = diagnostic.message.rstrip(".")
    return f"{message}; {diagnostic.next_step.rstrip('.')}" if diagnostic.next_step else message


def codes(site: SiteResult) -> list[str]:
    """The codes of a site's reasons, each once."""
    return list(dict.fromkeys(reason.code for reason in site.reasons))


def argument(path: str) -> str:
    """``path`` as an argument of a command: never taken for an option."""
    return f"./{path}" if path.startswith("-") else path


def apply(site: SiteResult) -> str:
    """What to type to migrate the file of a site."""
    return f"migrate-responses apply {quote(argument(site.path))}"


def flat(text: str) -> str:
    """``text`` on one line."""
    return " ".join(text.split())

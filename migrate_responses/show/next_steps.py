"""What to type next: the same options with another command, or one option more."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from migrate_responses.results import Verdict
from migrate_responses.session import Outcome
from migrate_responses.show.summary import ASSUMPTIONS, HELD_BACK, many

_OF_ONE_COMMAND = frozenset(
    {"--exit-code", "--allow-todo", "--allow-dirty", "-i", "--interactive", "-v", "--verbose"}
)
_MOST_PATHS = 4  # for more their folder is named: pre-commit names hundreds


@dataclass(frozen=True)
class Typed:
    """A command line: the words after the command's name, and which of them are paths."""

    words: Sequence[str]
    paths: Sequence[str]

    def with_(self, command: str, *more: str) -> str:
        """The same paths and options with ``command``."""
        words = [word for word in self.words if word not in _OF_ONE_COMMAND]
        if len(self.paths) > _MOST_PATHS:
            words = [word for word in words if word not in self.paths]
            more = (*more, os.path.relpath(os.path.commonpath([*map(os.path.abspath, self.paths)])))
        return shlex.join(["migrate-responses", command, *words, *more])


def after(
    command: str, typed: Typed, result: Outcome, unsafe: bool, texts: int = 0
) -> Iterator[tuple[str, str]]:
    """Commands that make sense after ``command`` came to ``result``, each with what it is for.

    ``texts`` is how many documentation files name the old API and were not looked at.
    """
    ready = sum(site.verdict is Verdict.MIGRATED for site in result.sites)
    held = [site for site in result.sites if site.verdict in HELD_BACK]
    if command == "diff" and result.changed:
        yield typed.with_("apply"), "write it" if ready else "write the TODO comments"
        if ready:
            yield typed.with_("apply", "-i"), "write it, asked flow by flow"
    elif command == "check" and result.changed:
        yield typed.with_("diff"), "see what would change"
    elif command == "check" and held:
        yield typed.with_("check", "--allow-todo"), "accept calls that are held back for a reason"
    look = "apply" if command == "apply" else "diff"
    for code, word, what in ASSUMPTIONS:
        count = sum(any(reason.code == code for reason in site.reasons) for site in result.sites)
        if count:
            purpose = f"if the server of {many(count, 'call')}, {what}, has /responses"
            yield typed.with_(look, "--assume-responses", word), purpose
    # Mocks and routes on their own (flow 0) move with the calls that they are about, or not at all.
    count = sum(site.verdict is Verdict.UNSAFE and site.flow > 0 for site in result.sites)
    if count and not unsafe:
        yield typed.with_(look, "--unsafe-fixes"), f"{many(count, 'more call')}, if what changes is fine"
    if texts:
        purpose = f"look at the code in {many(texts, 'text')} that name{'s' * (texts == 1)} Chat Completions"
        yield typed.with_(look, "--include-docs"), purpose
    codes = [reason.code for site in held for reason in site.reasons[:1]]
    if codes:
        often = max(sorted(set(codes)), key=codes.count)
        yield f"migrate-responses explain {often}", "the story behind a code"
    if command == "apply" and result.changed and not held:
        yield typed.with_("check"), "for CI: fails while Chat Completions remain"

"""What to type next: the same options with another command, or one option more."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from migrate_responses.results import SiteResult, Verdict
from migrate_responses.session import Outcome
from migrate_responses.show.summary import ASSUMPTIONS, many, title
from migrate_responses.show.words import HELD, argument

_OF_ONE_COMMAND = frozenset(
    {"--exit-code", "--allow-todo", "--allow-dirty", "-i", "--interactive", "-v", "--verbose"}
)
_ASSUME = re.compile(r"(--assume-(?:client|responses)) ([^\s;]+)")
_MOST_ASSUMPTIONS = 3
_MOST_NAMED = 3
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
    held = [site for site in result.sites if site.verdict in HELD]
    if command == "diff" and result.changed:
        yield typed.with_("apply"), "write it" if ready else "write the TODO comments"
        if ready:
            yield typed.with_("apply", "-i"), "write it, asked flow by flow"
    elif command == "check" and result.changed:
        yield typed.with_("diff"), "see what would change"
    elif command == "check" and held:
        yield typed.with_("check", "--allow-todo"), "accept calls that are held back for a reason"
    look = "apply" if command == "apply" else "diff"
    yield from _wider(look, typed, held)
    yield from _assumptions(look, typed, result)
    # What stands on its own (flow 0) moves with the calls that it is about, or not at all.
    fixable = [site for site in held if site.verdict is Verdict.UNSAFE and site.flow > 0]
    if fixable and not unsafe:
        named = dict.fromkeys(
            f"{reason.code} {title(reason.code)}" for site in fixable for reason in site.reasons
        )
        purpose = f"{many(len(fixable), 'more call')}, if this is fine: {_some(named)}"
        yield typed.with_(look, "--unsafe-fixes"), purpose
    if texts:
        purpose = f"look at the code in {many(texts, 'text')} that name{'s' * (texts == 1)} Chat Completions"
        yield typed.with_(look, "--include-docs"), purpose
    yield from _stories(typed, held)
    if command == "apply" and result.changed and not held:
        yield typed.with_("check"), "for CI: fails while Chat Completions remain"


def _wider(look: str, typed: Typed, held: Sequence[SiteResult]) -> Iterator[tuple[str, str]]:
    """The same with the files that calls need and nobody has named."""
    kept = [site for site in held if {reason.code for reason in site.reasons} == {"MR907"}]
    paths = list(dict.fromkeys(reason.path for site in kept for reason in site.reasons))
    purpose = f"{many(len(kept), 'more call')}, with the files that they need"
    if kept and len(typed.paths) + len(paths) <= 2 * _MOST_PATHS:
        yield typed.with_(look, *map(argument, paths)), purpose
    elif kept:
        yield f"migrate-responses {look}", purpose


def _assumptions(look: str, typed: Typed, result: Outcome) -> Iterator[tuple[str, str]]:
    """What the reasons suggest to say of hosts and clients, the commonest first."""
    found: Counter[tuple[str, str]] = Counter()
    known = {code: ("--assume-responses", word) for code, word, _ in ASSUMPTIONS}
    for site in result.sites:
        told = {pair for reason in site.reasons for pair in _ASSUME.findall(reason.next_step)}
        found.update(told | {known[reason.code] for reason in site.reasons if reason.code in known})
    words = {word: what for _, word, what in ASSUMPTIONS}
    named = [pair for pair in found if not pair[1].isupper()]  # not HOST, NAME
    for option, word in sorted(named, key=lambda pair: (-found[pair], pair))[:_MOST_ASSUMPTIONS]:
        calls = many(found[option, word], "call")
        if option == "--assume-client":
            purpose = f"for {calls}, if `{word}` is an OpenAI client"
        elif word in words:
            purpose = f"if the server of {calls}, {words[word]}, has /responses"
        else:
            purpose = f"for {calls}, if that server has /responses"
        yield typed.with_(look, option, word), purpose


def _stories(typed: Typed, held: Sequence[SiteResult]) -> Iterator[tuple[str, str]]:
    """Where to read more: of a flow, the largest that stays, and of the commonest reason."""
    flows = Counter(site.flow for site in held if site.flow)
    if flows:
        largest = flows.most_common(1)[0][0]
        site = next(site for site in held if site.flow == largest)
        place = f"{argument(site.path)}:{site.row}"
        why = "why this call stays" if flows[largest] == 1 else "why these calls stay, and what joins them"
        yield typed.with_("report", "--explain-flow", place), why
    codes = [reason.code for site in held for reason in site.reasons[:1]]
    if codes:
        often = max(sorted(set(codes)), key=codes.count)
        yield f"migrate-responses explain {often}", "the story behind a code"


def _some(named: Iterable[str]) -> str:
    told = list(named)
    more = f" and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    return f"{', '.join(told[:_MOST_NAMED])}{more}"

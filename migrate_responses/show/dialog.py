"""``apply --interactive``: the flows one by one, each with its diff, and what a person says to them.

It is modelled on ``git add -p``: what was accepted before ``q`` is written, an interruption writes nothing.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from migrate_responses.results import Diagnostic, FileResult, SiteResult
from migrate_responses.rules import rule
from migrate_responses.show.diff import coloured
from migrate_responses.show.screen import Screen
from migrate_responses.show.summary import finding, many

_HELP = (
    ("y", "yes, migrate this flow"),
    ("n", "no, leave it as it is, in all its files"),
    ("a", "yes, and to all later flows that need no other rules than the flows answered with a"),
    ("q", "quit: what was accepted so far is written, this flow and all later ones are left"),
    ("e", "explain: the rules that this flow needs"),
    ("p", "print its diff again"),
    ("?", "this help; Ctrl-C leaves at once, and nothing at all is written"),
)


@dataclass(frozen=True)
class Question:
    """One flow as it is offered: paths are those that a person would type."""

    sites: tuple[SiteResult, ...]
    rules: frozenset[str]
    doubts: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...]
    files: Callable[[], Sequence[FileResult]]
    joined: tuple[str, ...] = ()  # what several calls share


class QuitError(Exception):
    """The person has had enough: what was accepted stands."""


@dataclass
class Dialog:
    """Asks on ``screen``, and takes the answers from standard input; its end counts as ``q``."""

    screen: Screen
    total: int
    asked: int = 0
    explained: set[str] = field(default_factory=set)
    told: set[Diagnostic] = field(default_factory=set)  # notes: one can be about several flows
    always: set[str] = field(default_factory=set)  # the rules of the flows that were answered with ``a``

    def accepts(self, question: Question) -> bool:
        """Whether the person wants this flow. Raises ``QuitError``."""
        self.asked += 1
        self._head(question)
        if self.always and question.rules <= self.always:
            self.screen.line(("  yes, as it needs no other rules", "green"))
            return True
        coloured(self.screen, question.files())
        while True:
            match self._answer("Migrate this flow?", "ynaqep?"):
                case "y":
                    return True
                case "n":
                    return False
                case "a":
                    self.always |= question.rules
                    return True
                case "q":
                    raise QuitError
                case "e":
                    self._explain(question)
                case "p":
                    coloured(self.screen, question.files())
                case _:
                    self._help(_HELP)

    def accepts_comments(self, held: Sequence[SiteResult], files: Iterable[FileResult]) -> bool:
        """Whether the calls that are held back are to get their comments."""
        self.screen.line()
        self.screen.line((f"{many(len(held), 'call')} held back", "bold yellow"))
        marked = [site for site in held if _gets_comment(site)]
        with_one = {reason for site in marked for reason in site.reasons}
        for reason in dict.fromkeys(reason for site in held for reason in site.reasons[:1]):
            finding(self.screen, reason, "" if reason in with_one else " (no comment can be written there)")
        which = "each" if len(marked) == len(held) else f"{len(marked)} of them"
        while True:
            match self._answer(f"Write a TODO comment at {which}, with the reason?", "ynp?"):
                case "y":
                    return True
                case "n" | "q":
                    return False
                case "p":
                    coloured(self.screen, files)
                case _:
                    self._help([("y", "yes"), ("n", "no"), ("p", "print the diff"), _HELP[-1]])

    def _head(self, question: Question) -> None:
        places = ", ".join(site.whole_row for site in question.sites[:4])
        more = len(question.sites) - 4
        if more > 0:
            places = f"{places} and {more} more"
        self.screen.line()
        unsafe = ("  may change behaviour", "bold yellow") if question.doubts else ""
        self.screen.line((f"Flow {self.asked} of {self.total}: ", "bold cyan"), (places, "bold"), unsafe)
        for joint in question.joined:
            self.screen.line(f"  joined by {joint}", hang=4)
        for doubt in question.doubts:
            finding(self.screen, replace(doubt, next_step=""))  # that it is asked for is the next step
        for note in question.notes:
            if note not in self.told:
                finding(self.screen, note)
            self.told.add(note)

    def _explain(self, question: Question) -> None:
        for doubt in dict.fromkeys(doubt.code for doubt in question.doubts):
            self.screen.line(
                (f"  {doubt} {rule(doubt).title}: ", "bold yellow"), rule(doubt).explanation, hang=8
            )
        others = sorted(question.rules - {doubt.code for doubt in question.doubts})
        for code in others:
            if code not in self.explained:
                self.screen.line((f"  {code} {rule(code).title}: ", "bold"), rule(code).explanation, hang=8)
        before = [f"{code} {rule(code).title}" for code in others if code in self.explained]
        if before:
            self.screen.line(f"  as before: {', '.join(before)}", hang=4)
        self.explained.update(others)

    def _answer(self, question: str, letters: str) -> str:
        """The letter that was typed, in lower case; ``?`` for any that is not offered."""
        self.screen.write((f"{question} [{','.join(letters)}] ", "bold blue"))
        self.screen.stream.flush()
        line = _typed()
        if not line:
            self.screen.line()
            return "q"
        typed = line.strip().lower()[:1]
        return typed if typed and typed in f"{letters}q" else "?"

    def _help(self, entries: Iterable[tuple[str, str]]) -> None:
        for letter, text in entries:
            self.screen.line(f"  {letter} - {text}", hang=6)


def _gets_comment(site: SiteResult) -> bool:
    """Whether ``apply`` writes a TODO at a call that is held back: see ``run.py`` and ``comments.py``."""
    return bool(site.flow) and any(reason.code != "MR907" for reason in site.reasons)


def _typed() -> str:
    """A line of standard input; empty at its end."""
    if sys.platform != "win32" and sys.stdin.isatty():
        # A Ctrl-C that comes just before a blocking read would be noticed only after it.
        while not select.select([sys.stdin], [], [], 0.5)[0]:
            pass
    return sys.stdin.readline()

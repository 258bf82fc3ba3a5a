"""``apply --interactive``: asks about each flow, and writes those that were accepted, whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from migrate_responses.choice import Choice, Offer
from migrate_responses.config import Options
from migrate_responses.find.project import Project
from migrate_responses.results import Diagnostic, FileResult, SiteResult
from migrate_responses.session import Run, settings_for, shown, shown_diagnostic
from migrate_responses.show.dialog import Dialog, Question, QuitError
from migrate_responses.show.screen import Screen
from migrate_responses.show.summary import many
from migrate_responses.show.words import HELD, shared
from migrate_responses.write import write


@dataclass
class Asked:
    """One project with the flows that a person accepted in it."""

    run: Run
    choice: Choice
    offers: list[Offer]
    accepted: set[int] = field(default_factory=set)
    todos: bool = False
    written: tuple[FileResult, ...] = ()
    refused: list[Diagnostic] = field(default_factory=list)

    def sites(self, flow: int) -> tuple[SiteResult, ...]:
        return tuple(
            replace(site, path=shown(self.run.project, site.path))
            for site in self.run.results.sites
            if site.flow == flow
        )

    def leave(self, refused: Sequence[Diagnostic]) -> None:
        """Take back what was accepted of the files that were ``refused``."""
        self.refused += refused
        locked = {problem.path for problem in refused}
        reaching = {
            flow
            for flow in self.accepted
            if any(file.path in locked for file in self.choice.only({flow}, todos=False))
        }
        if locked and not reaching:
            # A comment alone would have changed the file, or flows that change it only together.
            reaching = set() if self.todos else set(self.accepted)
            self.todos = False
        self.accepted -= reaching

    def files(self, flows: Iterable[int], todos: bool = False) -> list[FileResult]:
        """What accepting ``flows`` alone would change, with paths as a person would type them."""
        project = self.run.project
        changed = self.choice.only(set(flows), todos)
        return [replace(file, path=shown(project, file.path)) for file in changed]


def look(projects: Iterable[Project], options: Options) -> list[Asked]:
    """Look at the projects, and keep what it takes to write their flows one by one."""
    found = []
    for project in projects:
        if project.writable:
            choice = Choice(project.sources, settings_for(project, options), project.writable)
            found.append(Asked(Run(project, choice.results), choice, list(choice.offers())))
    return found


def ask(projects: Sequence[Asked], screen: Screen) -> bool:
    """Ask about every flow of ``projects``; whether the person went through to the end."""
    dialog = Dialog(screen, sum(len(asked.offers) for asked in projects))
    if not dialog.total:
        screen.line()
        screen.line("There is no flow to ask about.")
    try:
        for asked in projects:
            for offer in sorted(asked.offers, key=lambda offer: _place(asked, offer)):
                if dialog.accepts(_question(asked, offer)):
                    asked.accepted.add(offer.flow)
        for asked in projects:
            _ask_about_comments(dialog, asked)
    except QuitError:
        return False
    return True


def _ask_about_comments(dialog: Dialog, asked: Asked) -> None:
    """The comments of the calls that are held back, if there is one to write."""
    before = {file.path: file.after for file in asked.choice.only(asked.accepted, todos=False)}
    after = {file.path: file.after for file in asked.choice.only(asked.accepted, todos=True)}
    if before == after:
        return
    held = [site for site in asked.run.results.sites if site.verdict in HELD]
    reasons = [tuple(shown_diagnostic(asked.run.project, one) for one in site.reasons) for site in held]
    told = [replace(site, reasons=own) for site, own in zip(held, reasons, strict=True)]
    asked.todos = dialog.accepts_comments(told, asked.files((), todos=True))


def _place(asked: Asked, offer: Offer) -> tuple[str, int]:
    return min((site.path, site.line) for site in asked.sites(offer.flow))


def _question(asked: Asked, offer: Offer) -> Question:
    doubts = tuple(shown_diagnostic(asked.run.project, doubt) for doubt in offer.doubts)
    notes = tuple(shown_diagnostic(asked.run.project, note) for note in offer.notes)
    files: Callable[[], Sequence[FileResult]] = lambda: asked.files([offer.flow])  # noqa: E731
    joined = next((flow.joints for flow in asked.run.results.flows if flow.number == offer.flow), ())
    told = [
        f"{shown(asked.run.project, joint.place.path)}:{joint.place.row}: {shared(joint)}"
        for joint in joined[:_MOST_JOINTS]
    ]
    return Question(asked.sites(offer.flow), offer.rules, doubts, notes, files, tuple(told))


_MOST_JOINTS = 2


def write_accepted(projects: Sequence[Asked]) -> None:
    """Write the accepted flows; those that reach a file which cannot be written are left, whole."""
    while True:
        for asked in projects:
            asked.written = tuple(asked.choice.only(asked.accepted, asked.todos))
        refused = write((asked.run.project, file) for asked in projects for file in asked.written)
        if not refused:
            return
        for asked in projects:
            asked.leave([problem for project, problem in refused if project is asked.run.project])


def problems(projects: Iterable[Asked]) -> list[Diagnostic]:
    """What could not be written."""
    return [shown_diagnostic(asked.run.project, problem) for asked in projects for problem in asked.refused]


def tell(projects: Sequence[Asked], screen: Screen, finished: bool) -> None:
    """What came of it."""
    offered = sum(len(asked.offers) for asked in projects)
    accepted = sum(len(asked.accepted) for asked in projects)
    changed = [shown(asked.run.project, file.path) for asked in projects for file in asked.written]
    screen.line()
    if offered and not finished:
        screen.line("Quit: what was accepted before is written, the rest is left as it was.", hang=0)
    if offered:
        screen.line(
            (f"{accepted} of {many(offered, 'flow')} migrated", "bold"), f", {offered - accepted} left"
        )
    screen.line(f"{many(len(changed), 'file')} changed.")
    for path in changed:
        screen.line(f"  {os.path.normpath(path)}")

"""The commands that migrate: ``diff``, ``apply`` and ``check``. Each gives an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from migrate_responses.find.project import Project, find
from migrate_responses.request import EXIT_ERROR, EXIT_FINDINGS, Request, progress, run, status, tell, warn
from migrate_responses.results import Diagnostic, Verdict
from migrate_responses.session import Outcome, Run, migrate_project, outcome
from migrate_responses.show import summary
from migrate_responses.show.screen import Screen
from migrate_responses.show.stale import stale
from migrate_responses.show.words import HELD

_NO_GIT = "There is no git work tree here to undo it with: keep a copy before you apply it."


def diff(request: Request, exit_code: bool) -> int:
    """The patch to standard output, the summary to standard error."""
    from migrate_responses.show.diff import diffs

    runs = run(request)
    result = outcome(runs)
    diffs(request.out(), result.changed, summary.headings(result))
    if request.out().is_terminal and result.changed and not request.quiet:
        request.err().line()
    tell(request, request.err(), result, done=False)
    if result.changed and request.stdin is None and not request.quiet:
        request.err().line("Nothing was written.")
        if not _is_in_git(runs):
            request.err().line(_NO_GIT, hang=0)
        elif extra := _dirty(runs):
            refused = outcome((), extra).errors
            request.err().line(f"`apply` will refuse this, because of {summary.blamed(refused)}.", hang=0)
    _next(request, request.err(), result, "diff")
    _tell_of_paths(request, result)
    return status(EXIT_FINDINGS if exit_code and result.changed else 0, result)


def apply(request: Request, allow_dirty: bool, interactive: bool) -> int:
    """Write what changes, unless git would lose something by it."""
    if interactive:
        return _apply_asked(request, allow_dirty)
    runs = run(request)
    if request.stdin is not None:
        return status(0, _echo(request, runs))
    extra = [] if allow_dirty else _dirty(runs)
    if extra:
        result = outcome(runs, extra)
        tell(request, request.err(), result, done=False)
        _tell_of_refusal(request, result)
        return status(0, result)
    runs, extra = _write(request, runs)
    result = outcome(runs, extra)
    tell(request, request.out(), result, done=True)
    if not request.quiet:
        request.out().line(f"{summary.many(len(result.changed), 'file')} changed.")
        if result.changed and not _is_in_git(runs):
            request.out().line("There is no git work tree here: nothing has kept the old text.", hang=0)
    _next(request, request.out(), result, "apply")
    return status(0, result)


def _apply_asked(request: Request, allow_dirty: bool) -> int:
    """Write the flows that a person accepts, one by one."""
    if request.stdin is not None:
        raise click.UsageError(
            "--interactive reads the answers from standard input, so '-' cannot be a path."
        )
    if sys.stdin is None:
        raise click.UsageError("--interactive reads the answers from standard input, which is closed.")
    from migrate_responses import interactive

    with progress(request):
        options = request.options
        found = find(request.paths, options.exclude, include_docs=options.include_docs)
        projects = interactive.look(found, options)
    runs = [asked.run for asked in projects]
    warn(request, runs)
    extra = [] if allow_dirty else _dirty(runs)
    result = outcome(runs, extra)
    screen = request.out()
    tell(request, screen if not extra else request.err(), result, done=False)
    if extra:
        _tell_of_refusal(request, result)
        return status(0, result)
    if not _is_in_git(runs):
        screen.line(_NO_GIT, hang=0)
    finished = interactive.ask(projects, screen)
    interactive.write_accepted(projects)
    problems = interactive.problems(projects)
    for problem in problems:
        summary.finding(request.err(), problem)
    interactive.tell(projects, screen, finished)
    return EXIT_ERROR if problems else status(0, result)


def check(request: Request, allow_todo: bool) -> int:
    """List what remains; findings if there is any."""
    result = outcome(run(request))
    counted = {Verdict.MIGRATED} if allow_todo else {Verdict.MIGRATED, *HELD}
    untold = stale(result.sites, result.changed) if allow_todo else set()
    remaining = [site for site in result.sites if site.verdict in counted or site in untold]
    summary.sites(request.out(), remaining, result.flows, untold)
    tell(request, request.err(), result, done=False, listed=True)
    if remaining:
        _next(request, request.err(), result, "check")
    return status(EXIT_FINDINGS if remaining else 0, result)


def _echo(request: Request, runs: Sequence[Run]) -> Outcome:
    """Write the text that came by standard input, migrated, to standard output."""
    result = outcome(runs)
    text = result.changed[0].after if result.changed else request.stdin or b""
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    tell(request, request.err(), result, done=True)
    return result


def _tell_of_refusal(request: Request, result: Outcome) -> None:
    """Why nothing was written of what all could be."""
    refused = [error for error in result.errors if error.code == "MR906"]
    request.err().line(f"Nothing was written, because of {summary.blamed(refused)}.", hang=0)


def _dirty(runs: Sequence[Run]) -> list[tuple[Project, Diagnostic]]:
    from migrate_responses.guard import unstaged

    return [(run.project, problem) for run in runs for problem in unstaged(run.project, run.results.changed)]


def _is_in_git(runs: Sequence[Run]) -> bool:
    """Whether git could give back whatever changes."""
    from migrate_responses.guard import repository

    return all(repository(run.project.root) for run in runs if run.results.changed)


def _write(request: Request, runs: Sequence[Run]) -> tuple[list[Run], list[tuple[Project, Diagnostic]]]:
    """Write all runs. A file that cannot be written is taken out, and its flows are decided anew."""
    from migrate_responses.write import write

    runs = list(runs)
    problems: list[tuple[Project, Diagnostic]] = []
    while refused := write((run.project, file) for run in runs for file in run.results.changed):
        problems += refused
        for number, one in enumerate(runs):
            if any(project is one.project for project, _ in refused):
                out = {problem.path for project, problem in problems if project is one.project}
                writable = one.project.writable - out
                runs[number] = migrate_project(one.project, request.options, request.engine(), writable)
    return runs, problems


def _next(request: Request, screen: Screen, result: Outcome, command: str) -> None:
    """What to type next, unless the text came by standard input."""
    from migrate_responses.show.next_steps import Typed, after

    if request.stdin is None and not request.quiet:
        typed, options = Typed(request.words, request.paths), request.options
        texts = 0
        if result.sites and not options.include_docs:
            from migrate_responses.find.texts import showing_calls

            texts = showing_calls(request.paths, options.exclude)
        found = after(command, typed, result, options.settings.unsafe_fixes, texts)
        summary.following(screen, list(found))


def _tell_of_paths(request: Request, result: Outcome) -> None:
    """Git takes no patch that leaves the directory in which it is applied."""
    outside = [
        file.path for file in result.changed if file.path.startswith("../") or os.path.isabs(file.path)
    ]
    if outside and not request.out().is_terminal:
        request.err().line(
            f"git apply refuses {outside[0]}, outside of this directory: run from above it.", hang=2
        )

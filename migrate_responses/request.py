"""One request of a user: what was asked, the run that it takes, and what is told of every run.

LibCST and Rich take longer to import than most runs last, so they are loaded only when there is work.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from migrate_responses.config import ConfigError, Options, load, merge
from migrate_responses.find.project import Project
from migrate_responses.find.roots import nearest_pyproject
from migrate_responses.output import Fault
from migrate_responses.results import Level, Verdict
from migrate_responses.session import Migrate, Outcome, Run, migrate_paths, migrate_project
from migrate_responses.show import summary
from migrate_responses.show.screen import Screen

EXIT_FINDINGS = 1
EXIT_ERROR = 2
STDIN_NAME = "stdin.py"


@dataclass(frozen=True)
class Request:
    """What one command was asked, once configuration and command line are merged."""

    paths: tuple[str, ...]
    options: Options
    stdin: bytes | None
    words: tuple[str, ...]  # the command line after the command's name
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    jobs: int | None = None

    def engine(self) -> Migrate:
        return engine(self.jobs)

    def out(self) -> Screen:
        return Screen(sys.stdout, self.no_color)

    def err(self) -> Screen:
        return Screen(sys.stderr, self.no_color)


def request(
    words: tuple[str, ...],
    *,
    paths: tuple[str, ...],
    config: str | None,
    exclude: tuple[str, ...],
    stdin_filename: str | None,
    quiet: bool,
    verbose: bool,
    no_color: bool,
    jobs: int | None,
    **given: Any,
) -> Request:
    """Merge what the command line gives with the configuration, and read standard input if it is asked for.

    ``given`` are settings of the engine.
    """
    stdin = None
    if "-" in paths:
        if len(paths) > 1:
            raise click.UsageError("'-' (standard input) cannot be combined with other paths.")
        if sys.stdin is None:
            raise click.UsageError("'-' asks for standard input, which is closed.")
        stdin = sys.stdin.buffer.read()
        paths = (stdin_filename or STDIN_NAME,)
    elif stdin_filename is not None:
        raise click.UsageError("--stdin-filename goes with '-' as path.")
    paths = paths or (".",)
    try:
        os.getcwd()
    except OSError as error:
        raise Fault(f"The current directory is gone: {error.strerror}.") from error
    try:
        first = os.path.abspath(paths[0])
        found = config or nearest_pyproject(first if os.path.isdir(first) else os.path.dirname(first))
        options = merge(load(found) if found else Options(), exclude, **given)
    except ConfigError as error:
        told = str(error)
        raise Fault(told if told.endswith("?") else f"{told}.") from error
    return Request(paths, options, stdin, words, quiet, verbose, no_color, jobs)


def engine(jobs: int | None) -> Migrate:
    """The engine, loaded the first time that a file matters, with so many processes or as makes sense."""

    def migrate(sources: Any, settings: Any, writable: Any) -> Any:
        from migrate_responses.jobs import default
        from migrate_responses.shares import migrate

        return migrate(sources, settings, writable, jobs or default())

    return migrate


def run(request: Request) -> list[Run]:
    """Find and decide, with a sign of life on a terminal while it takes long."""
    with progress(request):
        runs = _run(request)
    warn(request, runs)
    return runs


def _run(request: Request) -> list[Run]:
    if request.stdin is None:
        return migrate_paths(request.paths, request.options, request.engine())
    if request.paths == (STDIN_NAME,):
        project = Project(os.getcwd(), {STDIN_NAME: request.stdin}, frozenset({STDIN_NAME}), seen=1)
        return [migrate_project(project, request.options, request.engine(), project.writable)]
    texts = {request.paths[0]: request.stdin}
    return migrate_paths(request.paths, request.options, request.engine(), texts)


def warn(request: Request, runs: Sequence[Run]) -> None:
    """Tell of assumptions on the command line that fit nothing, if there is anything to fit."""
    given = request.options.given
    if not any(run.project.sources for run in runs) or not {"assume-responses", "assume-clients"} & set(
        given
    ):
        return
    from migrate_responses.show.assumed import unfitting

    sources = [data for run in runs for data in run.project.sources.values()]
    sites = [site for run in runs for site in run.results.sites]
    for sentence in unfitting(given, sources, sites):
        request.err().line(sentence, hang=0)


@contextlib.contextmanager
def progress(request: Request) -> Iterator[None]:
    if request.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from migrate_responses.show.progress import sign_of_life

    with sign_of_life(sys.stderr):
        yield


def tell(request: Request, screen: Screen, result: Outcome, *, done: bool, listed: bool = False) -> None:
    """Errors to standard error; to ``screen`` the summary, and with -v each call that is not migrated."""
    errors = request.err()
    summary.failures(errors, result.errors)
    if request.quiet:
        return
    if request.verbose and not listed:
        held = (site for site in result.sites if site.verdict is not Verdict.MIGRATED)
        summary.sites(screen, held, result.flows)
    for note in result.notes:
        # A comment that does not do what its author believes; what a person has to look at now.
        if request.verbose or note.code == "MR912" or (done and note.level is Level.UNSAFE):
            summary.finding(screen, note)
    summary.summary(screen, result, done=done)


def status(status: int, result: Outcome) -> int:
    return EXIT_ERROR if result.errors else status

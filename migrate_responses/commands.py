"""What the commands do: call the engine, show what came of it, and return the exit status.

LibCST and Rich take longer to import than most runs last, so they are loaded only when there is work.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from migrate_responses.config import ConfigError, Options, load, merge
from migrate_responses.find.project import Project, find
from migrate_responses.find.roots import git_root, nearest_pyproject
from migrate_responses.output import Fault, written
from migrate_responses.results import Diagnostic, Verdict
from migrate_responses.session import Migrate, Outcome, Run, migrate_paths, migrate_project, outcome, sources
from migrate_responses.show import summary
from migrate_responses.show.screen import Screen

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report
    from migrate_responses.show.since import Since

EXIT_FINDINGS = 1
EXIT_ERROR = 2
STDIN_NAME = "stdin.py"
_NO_GIT = "There is no git work tree here to undo it with: keep a copy before you apply it."


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
        raise click.UsageError(str(error)) from error
    return Request(paths, options, stdin, words, quiet, verbose, no_color, jobs)


def diff(request: Request, exit_code: bool) -> int:
    """The patch to standard output, the summary to standard error."""
    from migrate_responses.show.diff import diffs

    runs = _migrate(request)
    result = outcome(runs)
    diffs(request.out(), result.changed, summary.headings(result))
    if request.out().is_terminal and result.changed and not request.quiet:
        request.err().line()
    _tell(request, request.err(), result, done=False)
    if result.changed and request.stdin is None and not request.quiet:
        request.err().line("Nothing was written.")
        if not _is_in_git(runs):
            request.err().line(_NO_GIT, hang=0)
    _next(request, request.err(), result, "diff")
    _tell_of_paths(request, result)
    return _status(EXIT_FINDINGS if exit_code and result.changed else 0, result)


def apply(request: Request, allow_dirty: bool, interactive: bool) -> int:
    """Write what changes, unless git would lose something by it."""
    if interactive:
        return _apply_asked(request, allow_dirty)
    runs = _migrate(request)
    if request.stdin is not None:
        return _status(0, _echo(request, runs))
    extra = [] if allow_dirty else _dirty(runs)
    if extra:
        result = outcome(runs, extra)
        _tell(request, request.err(), result, done=False)
        request.err().line("Nothing was written.")
        return _status(0, result)
    runs, extra = _write(request, runs)
    result = outcome(runs, extra)
    _tell(request, request.out(), result, done=True)
    if not request.quiet:
        request.out().line(f"{summary.many(len(result.changed), 'file')} changed.")
        if result.changed and not _is_in_git(runs):
            request.out().line("There is no git work tree here: nothing has kept the old text.", hang=0)
    _next(request, request.out(), result, "apply")
    return _status(0, result)


def _apply_asked(request: Request, allow_dirty: bool) -> int:
    """Write the flows that a person accepts, one by one."""
    if request.stdin is not None:
        raise click.UsageError(
            "--interactive reads the answers from standard input, so '-' cannot be a path."
        )
    if sys.stdin is None:
        raise click.UsageError("--interactive reads the answers from standard input, which is closed.")
    from migrate_responses import interactive

    with _progress(request):
        options = request.options
        found = find(request.paths, options.exclude, include_docs=options.include_docs)
        projects = interactive.look(found, options)
    runs = [asked.run for asked in projects]
    extra = [] if allow_dirty else _dirty(runs)
    result = outcome(runs, extra)
    screen = request.out()
    _tell(request, screen if not extra else request.err(), result, done=False)
    if extra:
        request.err().line("Nothing was written.")
        return _status(0, result)
    if not _is_in_git(runs):
        screen.line(_NO_GIT, hang=0)
    finished = interactive.ask(projects, screen)
    interactive.write_accepted(projects)
    problems = interactive.problems(projects)
    for problem in problems:
        summary.finding(request.err(), problem)
    interactive.tell(projects, screen, finished)
    return EXIT_ERROR if problems else _status(0, result)


def check(request: Request, allow_todo: bool) -> int:
    """List what remains; findings if there is any."""
    result = outcome(_migrate(request))
    counted = {Verdict.MIGRATED} if allow_todo else {Verdict.MIGRATED, *summary.HELD_BACK}
    changed = {file.path for file in result.changed}
    remaining = [
        site
        for site in result.sites
        if site.verdict in counted or (site.verdict in summary.HELD_BACK and site.path in changed)
    ]
    summary.sites(request.out(), remaining, changed if allow_todo else ())
    _tell(request, request.err(), result, done=False, listed=True)
    if remaining:
        _next(request, request.err(), result, "check")
    return _status(EXIT_FINDINGS if remaining else 0, result)


def report(request: Request, form: str, output: str | None, since: tuple[str, ...], dated: bool) -> int:
    """The inventory in one of the formats."""
    from migrate_responses.show import formats

    runs = _migrate(request)
    result = outcome(runs)
    date = _today() if dated else None
    found = formats.Report(result, request.options, sources(runs), date, **_about(runs, result))
    history = tuple(_since(request, given, found) for given in since)
    if history:
        found = replace(found, since=history[-1], history=history)
    with written(output) as stream:
        formats.show(found, form, stream, request.no_color)
    _tell(request, request.err(), result, done=False)
    return _status(0, result)


def explain_flow(
    request: Request, form: str, output: str | None, path: str, line: int, cell: int | None
) -> int:
    """All that is known of the call at ``line`` of ``path``, or of one of its cells, and of its flow."""
    from migrate_responses.show import flow, formats

    if form not in ("terminal", "prompt"):
        raise click.UsageError("--explain-flow goes with --format terminal or prompt.")
    runs = _migrate(request)
    found = formats.Report(outcome(runs), request.options, sources(runs))
    path = os.path.relpath(path).replace(os.sep, "/")
    if cell is not None:
        line = flow.line_of(found, path, cell, line)
    with written(output) as stream:
        if form == "prompt" and (about := flow.sites_at(found, path, line)):
            found = replace(found, outcome=replace(found.outcome, sites=tuple(about)))
            formats.show(found, form, stream, request.no_color)
            return _status(0, found.outcome)
        if flow.explain(Screen(stream, request.no_color), found, path, line):
            return _status(0, found.outcome)
    others = ", ".join(map(str, flow.nearest(found, path, line)[:5]))
    raise click.UsageError(
        f"--explain-flow: no call has to do with line {line} of {path}"
        + (f"; it has calls at line {others}." if others else ", and there is no call in that file.")
    )


def _today() -> str:
    """The day for a report; that of ``SOURCE_DATE_EPOCH``, where a build asks for it."""
    from datetime import datetime, timezone

    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    asked = epoch.isdecimal()
    now = datetime.fromtimestamp(int(epoch), timezone.utc) if asked else datetime.now().astimezone()
    return now.date().isoformat()


def _since(request: Request, given: str, report: Report) -> Since:
    from migrate_responses import earlier
    from migrate_responses.show.since import SinceError

    try:
        with _progress(request):
            return earlier.since(given, report, request.paths, engine(request.jobs))
    except SinceError as error:
        raise click.UsageError(f"--since: {error}.") from error


def _about(runs: Sequence[Run], result: Outcome) -> dict[str, Any]:
    """What a report tells of the projects: their name, and who owns the files that it shows."""
    from migrate_responses.find.owners import owners
    from migrate_responses.session import shown

    wanted = {site.path for site in result.sites} | {file.path for file in result.changed}
    found: dict[str, tuple[str, ...]] = {}
    for run in runs:
        names = {shown(run.project, name): name for name in run.project.sources}
        found |= owners(run.project.root, {path: name for path, name in names.items() if path in wanted})
    roots = {os.path.basename(run.project.root) for run in runs}
    top = git_root(os.getcwd())
    prefix = os.path.relpath(os.getcwd(), top).replace(os.sep, "/") if top else ""
    name = roots.pop() if len(roots) == 1 else ""
    return {"name": name, "owners": found, "prefix": prefix, "links": _links()}


def _links() -> str:
    """Where GitHub shows the files, as its Actions tell; empty elsewhere."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    server, repository, commit = (os.environ.get(name, "") for name in names)
    return f"{server}/{repository}/blob/{commit}/" if server and repository and commit else ""


def config(request: Request) -> int:
    """Which options hold, and where they come from."""
    from migrate_responses.show.choices import choices

    choices(request.out(), request.paths[0], request.options)
    return 0


def explain(codes: Sequence[str], no_color: bool) -> None:
    """Some rules, or the list."""
    from migrate_responses.rules import rule
    from migrate_responses.show import rules_page

    screen = Screen(sys.stdout, no_color)
    for number, code in enumerate(codes or ("",)):
        if number:
            screen.line()
        wanted = f"MR{code}" if code.isdecimal() else code
        try:
            rules_page.explain(screen, rule(wanted))
        except KeyError:
            if not rules_page.overview(screen, wanted.upper()):
                raise click.UsageError(
                    f"There is no rule {code!r}; `migrate-responses explain` lists them."
                ) from None


def engine(jobs: int | None) -> Migrate:
    """The engine, loaded the first time that a file matters, with so many processes or as makes sense."""

    def migrate(sources: Any, settings: Any, writable: Any) -> Any:
        from migrate_responses.jobs import default
        from migrate_responses.shares import migrate

        return migrate(sources, settings, writable, jobs or default())

    return migrate


def _migrate(request: Request) -> list[Run]:
    """Find and decide, with a sign of life on a terminal while it takes long."""
    with _progress(request):
        if request.stdin is None:
            return migrate_paths(request.paths, request.options, engine(request.jobs))
        if request.paths == (STDIN_NAME,):
            project = Project(os.getcwd(), {STDIN_NAME: request.stdin}, frozenset({STDIN_NAME}), seen=1)
            return [migrate_project(project, request.options, engine(request.jobs), project.writable)]
        texts = {request.paths[0]: request.stdin}
        return migrate_paths(request.paths, request.options, engine(request.jobs), texts)


@contextlib.contextmanager
def _progress(request: Request) -> Iterator[None]:
    if request.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from migrate_responses.show.progress import sign_of_life

    with sign_of_life(sys.stderr):
        yield


def _echo(request: Request, runs: Sequence[Run]) -> Outcome:
    """Write the text that came by standard input, migrated, to standard output."""
    result = outcome(runs)
    text = result.changed[0].after if result.changed else request.stdin or b""
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    _tell(request, request.err(), result, done=True)
    return result


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
        for number, run in enumerate(runs):
            if any(project is run.project for project, _ in refused):
                out = {problem.path for project, problem in problems if project is run.project}
                writable = run.project.writable - out
                runs[number] = migrate_project(run.project, request.options, engine(request.jobs), writable)
    return runs, problems


def _tell(request: Request, screen: Screen, result: Outcome, *, done: bool, listed: bool = False) -> None:
    """Errors to standard error; to ``screen`` the summary, and with -v each call that is not migrated."""
    errors = request.err()
    summary.failures(errors, result.errors)
    if request.quiet:
        return
    if request.verbose and not listed:
        summary.sites(screen, (site for site in result.sites if site.verdict is not Verdict.MIGRATED))
    for note in result.notes:
        if request.verbose or note.code == "MR912":  # a comment that does not do what its author believes
            summary.finding(screen, note)
    summary.summary(screen, result, done=done)


def _next(request: Request, screen: Screen, result: Outcome, command: str) -> None:
    """What to type next, unless the text came by standard input."""
    from migrate_responses.show.next_steps import Typed, after

    if request.stdin is None and not request.quiet:
        typed = Typed(request.words, request.paths)
        found = after(command, typed, result, request.options.settings.unsafe_fixes)
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


def _status(status: int, result: Outcome) -> int:
    return EXIT_ERROR if result.errors else status

"""The command line. It parses options, calls the engine and shows what came of it; it decides nothing.

LibCST and Rich take longer to import than most runs last, so they are loaded only when there is work.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import click

from migrate_responses import __version__
from migrate_responses.config import API_DEFAULTS, ConfigError, Options, codes, load, merge
from migrate_responses.find.project import Project
from migrate_responses.find.roots import nearest_pyproject
from migrate_responses.results import Diagnostic, Verdict
from migrate_responses.session import Migrate, Outcome, Run, migrate_paths, migrate_project, outcome
from migrate_responses.show.screen import Screen

EXIT_FINDINGS = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130
STDIN_NAME = "stdin.py"

_STATUS = """\b
Exit status:
  0  all is well
  1  check: Chat Completions remain; diff --exit-code: something would change
  2  wrong usage, or a file that could not be processed (all others were)"""

_EXAMPLES = """\b
Examples:
  migrate-responses diff                      show what would change below here
  migrate-responses diff src | git apply      the same, as a patch
  migrate-responses apply src/ app.py         write it
  migrate-responses check --allow-todo        for CI
  migrate-responses explain MR112             what a code means, with an example
  migrate-responses report --format json      the inventory, for machines"""

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


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

    def out(self) -> Screen:
        return Screen(sys.stdout, self.no_color)

    def err(self) -> Screen:
        return Screen(sys.stderr, self.no_color)


@click.group(context_settings=_SETTINGS, epilog=f"{_EXAMPLES}\n\n{_STATUS}")
@click.version_option(__version__, prog_name="migrate-responses")
def cli() -> None:
    """Move Python code from OpenAI's Chat Completions API to the Responses API.

    A call is moved together with everything its values reach, whole or not at all. What has to stay
    gets one TODO comment with a code, a reason and a next step.
    """


class _Command(click.Command):
    """A command that remembers how it was called, to tell the next one to type."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = tuple(args)
        return super().parse_args(ctx, args)


def _common(command: Callable[..., None]) -> Callable[..., None]:
    """The options that every command which reads code takes. They arrive as one ``Request``."""

    @functools.wraps(command)  # which also keeps the command's own options
    def run(
        paths: tuple[str, ...],
        config: str | None,
        exclude: tuple[str, ...],
        stdin_filename: str | None,
        jobs: int | None,
        no_color: bool,
        quiet: bool,
        verbose: bool,
        **rest: Any,
    ) -> None:
        del jobs  # one process is fast enough so far; the option is there so that scripts can say it
        given = {name: rest.pop(name) for name in _ENGINE_OPTIONS}
        request = _request(paths, config, exclude, stdin_filename, given)
        command(replace(request, quiet=quiet, verbose=verbose, no_color=no_color), **rest)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


_ENGINE_OPTIONS = (
    "unsafe_fixes",
    "api_defaults",
    "assume_responses",
    "assume_clients",
    "select",
    "ignore",
    "raise_on_failure",
)


def _codes(_context: click.Context, _parameter: click.Parameter, value: str | None) -> frozenset[str]:
    try:
        return codes([code.strip() for code in value.split(",")]) if value else frozenset()
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


_FILE = click.Path(exists=True, dir_okay=False)
_OPTIONS = (
    click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True)),
    click.option("--unsafe-fixes", is_flag=True, help="Also apply what may change behaviour; see explain."),
    click.option(
        "--api-defaults",
        type=click.Choice(API_DEFAULTS),
        help="preserve (the default) writes the old defaults out (store=False, strict: False);"
        " adopt takes the new ones.",
    ),
    click.option(
        "--assume-responses",
        multiple=True,
        metavar="URL|azure|dynamic",
        help="An endpoint that serves /responses: a URL or host, azure (API version unknown), or dynamic"
        " (base URL known only at run time). Repeatable.",
    ),
    click.option(
        "--assume-client",
        "assume_clients",
        multiple=True,
        metavar="NAME",
        help="A parameter or attribute that holds an OpenAI client. Repeatable.",
    ),
    click.option(
        "--select", metavar="CODE,..", callback=_codes, help="Only these rules, or beginnings of codes."
    ),
    click.option(
        "--ignore", metavar="CODE,..", callback=_codes, help="Leave what needs these rules as it is."
    ),
    click.option(
        "--raise-on-failure", is_flag=True, help="Write the check that raises when a response failed."
    ),
    click.option(
        "--exclude", multiple=True, metavar="GLOB", help="Files to read but never write. Repeatable."
    ),
    click.option("--config", type=_FILE, metavar="FILE", help="Instead of the nearest pyproject.toml."),
    click.option(
        "--stdin-filename", metavar="NAME", help="With '-': the file whose text comes by standard input."
    ),
    click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use at most."),
    click.option("--no-color", is_flag=True, help="Plain text, as with NO_COLOR set."),
    click.option("-q", "--quiet", is_flag=True, help="Errors and results alone."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Each call that is held back or left, with its reasons."
    ),
)


def _request(
    paths: tuple[str, ...],
    config: str | None,
    exclude: tuple[str, ...],
    stdin_filename: str | None,
    given: dict[str, Any],
) -> Request:
    stdin = None
    if "-" in paths:
        if len(paths) > 1:
            raise click.UsageError("'-' (standard input) cannot be combined with other paths.")
        stdin = sys.stdin.buffer.read()
        paths = (stdin_filename or STDIN_NAME,)
    elif stdin_filename is not None:
        raise click.UsageError("--stdin-filename goes with '-' as path.")
    paths = paths or (".",)
    try:
        first = os.path.abspath(paths[0])
        found = config or nearest_pyproject(first if os.path.isdir(first) else os.path.dirname(first))
        options = merge(load(found) if found else Options(), exclude, **given)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    return Request(paths, options, stdin, click.get_current_context().meta[__name__])


@cli.command(cls=_Command, short_help="Show what would change.")
@_common
@click.option("--exit-code", is_flag=True, help="Exit with 1 if something would change.")
def diff(request: Request, exit_code: bool) -> None:
    """Show what would change in PATHS (default: here) as a unified diff. Nothing is written.

    The diff goes to standard output and, piped, is exact: `migrate-responses diff | git apply`. The
    summary goes to standard error.
    """
    from migrate_responses.show.diff import diffs

    result = outcome(_migrate(request))
    diffs(request.out(), result.changed)
    _tell(request, request.err(), result, done=False)
    if result.changed and request.stdin is None and not request.quiet:
        request.err().line("Nothing was written. To write it: ", (_command("apply", request), "bold"))
    _leave(EXIT_FINDINGS if exit_code and result.changed else 0, result)


@cli.command(cls=_Command, short_help="Migrate in place.")
@_common
@click.option("--allow-dirty", is_flag=True, help="Also overwrite files with unstaged changes.")
def apply(request: Request, allow_dirty: bool) -> None:
    """Migrate PATHS (default: here) in place.

    Files are replaced whole, never half written. In a git work tree nothing is written while one of
    the files has unstaged changes. Calls that are held back do not change the exit status. With '-'
    the migrated text goes to standard output.
    """
    runs = _migrate(request)
    if request.stdin is not None:
        _leave(0, _echo(request, runs))
    extra: list[tuple[Project, Diagnostic]] = []
    if not allow_dirty:
        extra = _dirty(runs)
    if extra:
        result = outcome(runs, extra)
        _tell(request, request.err(), result, done=False)
        request.err().line("Nothing was written.")
    else:
        runs, extra = _write(request, runs)
        result = outcome(runs, extra)
        _tell(request, request.out(), result, done=True)
        if not request.quiet:
            count = len(result.changed)
            request.out().line(f"{count} file{'' if count == 1 else 's'} changed.")
    _leave(0, result)


@cli.command(cls=_Command, short_help="Exit with 1 while Chat Completions remain.")
@_common
@click.option("--allow-todo", is_flag=True, help="Accept calls that are held back and carry their TODO.")
def check(request: Request, allow_todo: bool) -> None:
    """Exit with 1 while PATHS (default: here) hold Chat Completions calls. Nothing is written.

    Calls of other SDKs do not count, nor do suppressed ones.
    """
    from migrate_responses.show import summary

    result = outcome(_migrate(request))
    counted = {Verdict.MIGRATED} if allow_todo else {Verdict.MIGRATED, *summary.HELD_BACK}
    changed = {file.path for file in result.changed}
    remaining = [
        site
        for site in result.sites
        if site.verdict in counted or (site.verdict in summary.HELD_BACK and site.path in changed)
    ]
    summary.sites(request.out(), remaining)
    _tell(request, request.err(), result, done=False, listed=True)
    if remaining and request.stdin is None and not request.quiet:
        request.err().line("To see what would change: ", (_command("diff", request), "bold"))
    _leave(EXIT_FINDINGS if remaining else 0, result)


@cli.command(cls=_Command, short_help="List every call, what becomes of it and why.")
@_common
@click.option(
    "--format", "form", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True
)
@click.option("--output", type=click.Path(dir_okay=False), metavar="FILE", help="Instead of standard output.")
def report(request: Request, form: str, output: str | None) -> None:
    """List every call in PATHS (default: here), what becomes of it and why. Nothing is written."""
    from migrate_responses.show.report import as_json, as_table

    result = outcome(_migrate(request))
    with _output(output) as stream:
        if form == "json":
            stream.write(as_json(result))
        else:
            as_table(Screen(stream, request.no_color), result)
    _tell(request, request.err(), result, done=False)
    _leave(0, result)


@cli.command()
@click.argument("code", required=False)
@click.option("--no-color", is_flag=True, help="Plain text, as with NO_COLOR set.")
def explain(code: str | None, no_color: bool) -> None:
    """Tell the whole story of one rule, or list all rules."""
    from migrate_responses.rules import rule
    from migrate_responses.show import rules_page

    screen = Screen(sys.stdout, no_color)
    if code is None:
        rules_page.overview(screen)
        return
    try:
        known = rule(code)
    except KeyError:
        raise click.UsageError(
            f"There is no rule {code!r}; `migrate-responses explain` lists them."
        ) from None
    rules_page.explain(screen, known)


def _engine() -> Migrate:
    """The engine, loaded the first time that a file matters."""

    def migrate(*arguments: Any) -> Any:
        from migrate_responses.run import migrate

        return migrate(*arguments)

    return migrate


def _migrate(request: Request) -> list[Run]:
    """Find and decide, with a sign of life on a terminal while it takes long."""
    with _progress(request):
        if request.stdin is None:
            return migrate_paths(request.paths, request.options, _engine())
        if request.paths == (STDIN_NAME,):
            project = Project(os.getcwd(), {STDIN_NAME: request.stdin}, frozenset({STDIN_NAME}), seen=1)
            return [migrate_project(project, request.options, _engine(), project.writable)]
        texts = {request.paths[0]: request.stdin}
        return migrate_paths(request.paths, request.options, _engine(), texts)


@contextlib.contextmanager
def _progress(request: Request) -> Iterator[None]:
    if request.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from migrate_responses.show.progress import sign_of_life

    with sign_of_life(sys.stderr, request.no_color):
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
    from migrate_responses.write import unstaged

    return [(run.project, problem) for run in runs for problem in unstaged(run.project, run.results.changed)]


def _write(request: Request, runs: Sequence[Run]) -> tuple[list[Run], list[tuple[Project, Diagnostic]]]:
    """Write every run. A file that cannot be written is taken out, and its flows are decided anew."""
    from migrate_responses.write import write

    written: list[Run] = []
    problems: list[tuple[Project, Diagnostic]] = []
    for run in runs:
        writable = run.project.writable
        while True:
            names, refused = write(run.project, run.results.changed)
            problems.extend((run.project, problem) for problem in refused)
            if names or not refused:
                break
            writable -= {problem.path for problem in refused}
            run = migrate_project(run.project, request.options, _engine(), writable)
        written.append(run)
    return written, problems


def _tell(request: Request, screen: Screen, result: Outcome, *, done: bool, listed: bool = False) -> None:
    """Errors to standard error; to ``screen`` the summary, and with -v each call that is not migrated."""
    from migrate_responses.show import summary

    errors = request.err()
    for error in result.errors:
        summary.finding(errors, error)
    if request.quiet:
        return
    if request.verbose:
        if not listed:
            summary.sites(screen, (site for site in result.sites if site.verdict is not Verdict.MIGRATED))
        for note in result.notes:
            summary.finding(screen, note)
    summary.summary(screen, result, done=done, unsafe=request.options.settings.unsafe_fixes)


def _command(name: str, request: Request) -> str:
    """What to type next: the same options with another command."""
    import shlex

    dropped = {"--exit-code", "--allow-todo", "-v", "--verbose"}
    return shlex.join(["migrate-responses", name, *(word for word in request.words if word not in dropped)])


def _leave(status: int, result: Outcome) -> NoReturn:
    sys.exit(EXIT_ERROR if result.errors else status)


@contextlib.contextmanager
def _output(path: str | None) -> Iterator[Any]:
    if path is None:
        yield sys.stdout
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            yield stream
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def main() -> NoReturn:
    """Entry point: like click's own, but an interruption and a closed pipe end without a word."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        cli.main(prog_name="migrate-responses", standalone_mode=False)
        sys.exit(0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        # A thread of the engine may still be at work. It writes nothing, and nobody should wait for it.
        sys.stdout.flush()
        os._exit(EXIT_INTERRUPTED)
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo("This is a fault of migrate-responses; please report it with the lines above.", err=True)
        sys.exit(EXIT_ERROR)

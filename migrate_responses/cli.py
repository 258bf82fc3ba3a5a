"""The command line: options, help and exit status. What a command does is in ``commands`` and ``reporting``.

Only click is imported here, so that ``--version`` and ``--help`` come at once.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from migrate_responses import __version__
from migrate_responses.cli_options import Command, common, complete_code
from migrate_responses.examples import examples
from migrate_responses.show import formats
from migrate_responses.signals import Stopped, ignore, leave, listen

if TYPE_CHECKING:
    from migrate_responses.request import Request

EXIT_ERROR = 2

_STATUS = """\b
Exit status:
  0  all is well
  1  check: Chat Completions remain; diff --exit-code: something would change
  2  wrong usage, or a file that could not be processed (all others were)
  129, 130, 143  hung up, interrupted, terminated; all is written or nothing"""

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a person needs them, which is that of this file."""
        return list(self.commands)


@click.group(cls=_Group, context_settings=_SETTINGS, epilog=f"{examples('')}\n\n{_STATUS}")
@click.version_option(__version__, prog_name="migrate-responses")
def cli() -> None:
    """Move Python code from OpenAI's Chat Completions API to the Responses API.

    A call is moved together with everything its values reach, whole or not at all. What has to stay
    gets one TODO comment with a code, a reason and a next step.
    """


def _place(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, int, int | None] | None:
    """A place as the tool itself prints it: with a column, and in a notebook with a cell."""
    if value is None:
        return None
    found = re.fullmatch(r"(.+?):(?:cell (\d+):)?(\d+)(?::\d+)?", value)
    if found is None:
        raise click.BadParameter("give a file and a line, such as app/llm.py:42")
    path, cell, line = found.groups()
    return path, int(line), int(cell) if cell else None


@cli.command(cls=Command, short_help="Show what would change.", epilog=examples("diff"))
@common
@click.option(
    "--exit-code", is_flag=True, help="Exit with 1 if something would change, be it a TODO comment."
)
def diff(request: Request, exit_code: bool) -> int:
    """Show what would change in PATHS (default: here) as a unified diff. Nothing is written.

    The diff goes to standard output and, piped, is exact: `migrate-responses diff | git apply`. The
    summary goes to standard error.
    """
    from migrate_responses import commands

    return commands.diff(request, exit_code)


@cli.command(cls=Command, short_help="Migrate in place.", epilog=examples("apply"))
@common
@click.option("-i", "--interactive", is_flag=True, help="Ask about each flow, and write those accepted.")
@click.option("--allow-dirty", is_flag=True, help="Also overwrite what git could not give back.")
def apply(request: Request, allow_dirty: bool, interactive: bool) -> int:
    """Migrate PATHS (default: here) in place.

    Files are replaced whole, all or none. In a git work tree nothing is written while git could not
    give back one of the files: it has unstaged changes, is not in git, or git cannot be asked. Calls
    that are held back do not change the exit status. With '-' the migrated text goes to standard output.
    """
    from migrate_responses import commands

    return commands.apply(request, allow_dirty, interactive)


@cli.command(cls=Command, short_help="Exit with 1 while Chat Completions remain.", epilog=examples("check"))
@common
@click.option(
    "--allow-todo", is_flag=True, help="Accept calls that are held back for a reason, once a TODO says so."
)
def check(request: Request, allow_todo: bool) -> int:
    """Exit with 1 while PATHS (default: here) hold Chat Completions calls. Nothing is written.

    Calls of other SDKs do not count, nor do suppressed ones.
    """
    from migrate_responses import commands

    return commands.check(request, allow_todo)


@cli.command(
    cls=Command, short_help="List every call, what becomes of it and why.", epilog=examples("report")
)
@common
@click.option(
    "--format", "form", type=click.Choice(formats.NAMES), default=formats.TERMINAL, show_default=True
)
@click.option("--output", type=click.Path(dir_okay=False), metavar="FILE", help="Instead of standard output.")
@click.option(
    "--since",
    multiple=True,
    metavar="REF|FILE",
    help="Also tell what changed since a git revision, or since a report made with --format json."
    " Repeatable, oldest first: html draws them all, the last one is compared with.",
)
@click.option("--date", "dated", is_flag=True, help="Put today's date into the report.")
@click.option(
    "--explain-flow",
    "place",
    metavar="FILE:LINE",
    callback=_place,
    help="Instead of all calls, the one there: what is sent, where the answer goes, what holds it back.",
)
def report(
    request: Request,
    form: str,
    output: str | None,
    since: tuple[str, ...],
    dated: bool,
    place: tuple[str, int, int | None] | None,
) -> int:
    """List every call in PATHS (default: here), what becomes of it and why. Nothing is written.

    The same code gives the same report, unless it is asked for the date.
    """
    from migrate_responses import reporting

    if place is not None:
        return reporting.explain_flow(request, form, output, *place)
    return reporting.report(request, form, output, since, dated)


@cli.command(
    cls=Command,
    unheard=("jobs", "quiet", "verbose"),
    short_help="Show which options hold for a path, and where they come from.",
    epilog=examples("config"),
)
@common
def config(request: Request) -> int:
    """Show which options hold for PATHS (default: here), and where each comes from: the command line,
    a file, or the default.
    """
    from migrate_responses import reporting

    return reporting.config(request)


@cli.command(short_help="Tell what a code means, or list all codes.", epilog=examples("explain"))
@click.argument("codes", metavar="[CODE|WORD]...", nargs=-1, shell_complete=complete_code)
@click.option("--no-color", is_flag=True, help="Plain text, as with NO_COLOR set.")
def explain(codes: tuple[str, ...], no_color: bool) -> None:
    """Tell the whole story of each rule CODE, or list all rules.

    CODE is as reports and comments name it, such as MR112; its beginning lists all that begin so. A WORD
    such as stop finds the rules that speak of it.
    """
    from migrate_responses import reporting

    reporting.explain(codes, no_color)


def _written() -> str:
    """What an interruption leaves behind: files are written all at once, at the end."""
    write = sys.modules.get("migrate_responses.write")
    return "all files are written" if write is not None and write.done else "nothing was written"


def main() -> NoReturn:
    """Entry point: like click's own, but an interruption takes one line, and a closed pipe none."""
    from migrate_responses.room import only_run

    try:
        _prepare()
        only_run()
        status = _run()
        sys.stdout.flush()
    except Stopped as stopped:
        # A thread of the engine may still be at work. It writes nothing, and nobody should wait for it.
        ignore()
        # What stands in the line is a prompt or how far the run is, and `^C`.
        plain = os.environ.get("TERM", "dumb") == "dumb"
        start = ("\n" if plain else "\r\x1b[K") if sys.stderr.isatty() else ""
        _end(stopped.status, f"{start}{stopped.word}; {_written()}.")
    except OSError as error:
        from migrate_responses.visible import visible

        what = error.filename if error.filename is not None else "the output cannot be written"
        _end(EXIT_ERROR, f"Error: {visible(os.fsdecode(what))}: {error.strerror or error}; {_written()}.")
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo("This is a fault of migrate-responses; please report it with the lines above.", err=True)
        status = EXIT_ERROR
    leave()
    sys.exit(status)


def _run() -> int:
    try:
        cli.main(prog_name="migrate-responses", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()  # the help itself, of a command that was given nothing
        return error.exit_code
    except click.ClickException as error:
        _inert(error).show()
        return error.exit_code
    except click.Abort as aborted:
        raise Stopped from aborted
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def _inert(error: click.ClickException) -> click.ClickException:
    """The same error in words that do nothing on a terminal, and without keys: names of files are in it."""
    from migrate_responses.secrets import masked
    from migrate_responses.visible import visible

    words = masked(visible(error.format_message()))
    return (
        click.UsageError(words, error.ctx)
        if isinstance(error, click.UsageError)
        else click.ClickException(words)
    )


def _prepare() -> None:
    """Signals that end the program, and something in place of standard streams that are closed.

    Left closed, a stream's number would be given to the first file that is opened.
    """
    import signal

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    listen()
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _end(status: int, message: str) -> NoReturn:
    """Say ``message`` and leave at once, whatever threads and streams there are."""
    for stream, text in ((sys.stdout, ""), (sys.stderr, message + "\n")):
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            continue  # it is full or gone; there is nobody to tell
    os._exit(status)

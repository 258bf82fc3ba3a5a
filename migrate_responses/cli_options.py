"""The options that every command which reads code takes, and what they become: one ``Request``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Command(click.Command):
    """A command that remembers how it was called, to tell the next one to type.

    Its help tells what is special about it first. Options that are ``unheard`` change nothing about it:
    they are taken, as they may be in a line that is typed again, and not told of.
    """

    def __init__(self, *arguments: Any, unheard: Sequence[str] = (), **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._unheard = unheard

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = tuple(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under headings."""
        groups: dict[str, list[tuple[str, str]]] = {"This command": [], "What to migrate, and how": []}
        for parameter in self.get_params(ctx):
            told = isinstance(parameter, click.Option) and parameter.name not in self._unheard
            record = parameter.get_help_record(ctx) if told else None
            if record is not None:
                groups.setdefault(_heading(parameter), []).append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _heading(option: click.Parameter) -> str:
    if option.name in _COMMON[: _COMMON.index("jobs")]:
        return "What to migrate, and how"
    return "Output and the run" if option.name in _COMMON or "--help" in option.opts else "This command"


def _codes(_context: click.Context, _parameter: click.Parameter, value: str | None) -> frozenset[str]:
    if value is None:
        return frozenset()
    from migrate_responses.config import codes

    named = [code.strip() for code in value.split(",") if code.strip()]
    if not named:
        raise click.BadParameter("give a code such as MR112, or its beginning.")
    try:
        return codes(named)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def complete_code(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Codes for the shell; after a comma the next one."""
    from click.shell_completion import CompletionItem

    from migrate_responses.rules import RULES

    before, comma, last = typed.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{rule.code}", help=rule.title)
        for rule in RULES
        if rule.code.startswith(last.upper())
    ]


def _count(_context: click.Context, _parameter: click.Parameter, value: int | None) -> int | None:
    if value is not None and value < 1:
        raise click.BadParameter(f"{value} is less than 1.")
    return value


_OPTIONS = (
    click.argument("paths", nargs=-1, type=click.Path(exists=True, allow_dash=True)),
    click.option("--unsafe-fixes", is_flag=True, help="Count what may change behaviour as fit to apply."),
    click.option(
        "--api-defaults",
        type=click.Choice(["preserve", "adopt"]),
        help='preserve (the default) writes the old defaults out (store=False, "strict": False);'
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
        "--select",
        metavar="CODE,..",
        callback=_codes,
        shell_complete=complete_code,
        help="Only these rules, or beginnings of codes; a call that needs any other stays.",
    ),
    click.option(
        "--ignore",
        metavar="CODE,..",
        callback=_codes,
        shell_complete=complete_code,
        help="Leave what needs these rules as it is.",
    ),
    click.option(
        "--raise-on-failure",
        is_flag=True,
        help="In loops over streams, write the check that raises when the response failed.",
    ),
    click.option(
        "--exclude", multiple=True, metavar="GLOB", help="Files to read but never write. Repeatable."
    ),
    click.option(
        "--include-docs",
        is_flag=True,
        help="Also look for Python blocks in Markdown and reStructuredText; named files always count.",
    ),
    click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Instead of the nearest pyproject.toml.",
    ),
    click.option(
        "--stdin-filename", metavar="NAME", help="With '-': the file whose text comes by standard input."
    ),
    click.option(
        "--jobs",
        type=int,
        callback=_count,
        metavar="N",
        help="At most so many processes; by default as many as there are processors, up to 8.",
    ),
    click.option("--no-color", is_flag=True, help="Plain text, as with NO_COLOR set."),
    click.option("-q", "--quiet", is_flag=True, help="Results and errors alone."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Each call that is held back or left, with its reasons."
    ),
)


_COMMON = (
    "unsafe_fixes api_defaults assume_responses assume_clients select ignore raise_on_failure exclude"
    " include_docs config stdin_filename jobs no_color quiet verbose"
).split()
"""The names of ``_OPTIONS``, in order; those from ``jobs`` on are about the run."""


def common(command: Callable[..., int]) -> Callable[..., None]:
    """The options that every command which reads code takes. They arrive as one ``Request``.

    What the command returns is the exit status.
    """

    own_options = [parameter.name for parameter in getattr(command, "__click_params__", ())]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        from migrate_responses.request import request

        own = {name: given.pop(name) for name in own_options}
        words = click.get_current_context().meta[__name__]
        sys.exit(command(request(words, **given), **own))

    for option in reversed(_OPTIONS):
        run = option(run)
    # Click shows the last ones first: what is special about the command, then what all have.
    parameters = getattr(run, "__click_params__", [])
    parameters += [parameters.pop(0) for _ in own_options]
    return run

"""The commands that tell: ``report``, ``--explain-flow``, ``explain`` and ``config``; each gives a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from migrate_responses.find.roots import git_root
from migrate_responses.output import Fault, written
from migrate_responses.request import Request, progress, run, status, tell
from migrate_responses.session import Outcome, Run, outcome, sources
from migrate_responses.show.screen import Screen

if TYPE_CHECKING:
    from migrate_responses.show.formats import Report
    from migrate_responses.show.since import Since


def report(request: Request, form: str, output: str | None, since: tuple[str, ...], dated: bool) -> int:
    """The inventory in one of the formats."""
    from migrate_responses.show import formats

    if form in formats.FOR_FILES and output is None and sys.stdout.isatty():
        raise click.UsageError(f"--format {form} is not for reading here: give it --output FILE, or a pipe.")
    runs = run(request)
    result = outcome(runs)
    date = _today() if dated else None
    found = formats.Report(result, request.options, sources(runs), date, **_about(runs, result))
    history = tuple(_since(request, given, found) for given in since)
    if history:
        found = replace(found, since=history[-1], history=history)
    with written(output) as stream:
        formats.show(found, form, stream, request.no_color)
    tell(request, request.err(), result, done=False)
    if output is not None and not request.quiet:
        request.err().line(f"Written to {output}.", hang=0)
    return status(0, result)


def explain_flow(
    request: Request, form: str, output: str | None, path: str, line: int, cell: int | None
) -> int:
    """All that is known of the call at ``line`` of ``path``, or of one of its cells, and of its flow."""
    from migrate_responses.show import flow, formats

    if form not in ("terminal", "prompt"):
        raise click.UsageError("--explain-flow goes with --format terminal or prompt.")
    runs = run(request)
    found = formats.Report(outcome(runs), request.options, sources(runs))
    path = os.path.relpath(path).replace(os.sep, "/")
    asked = flow.Asked(path, line, cell)
    with written(output) as stream:
        if form == "prompt" and (about := flow.sites_at(found, asked)):
            found = replace(found, outcome=replace(found.outcome, sites=tuple(about)))
            formats.show(found, form, stream, request.no_color)
            return status(0, found.outcome)
        if flow.explain(Screen(stream, request.no_color), found, asked):
            return status(0, found.outcome)
    near = flow.nearest(found, asked)
    hint = "there is no call in that file."
    if near:
        lines = "" if near[0].startswith("cell") else f"line{'s' * (len(near) > 1)} "
        hint = f"it has calls at {lines}{', '.join(near)}."
    if not os.path.exists(path):
        hint = "there is no such file."
    raise Fault(f"--explain-flow: no call has to do with {asked}; {hint}")


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
        with progress(request):
            return earlier.since(given, report, request.paths, request.engine())
    except SinceError as error:
        raise Fault(f"--since: {error}.") from error


def _about(runs: Sequence[Run], result: Outcome) -> dict[str, Any]:
    """What a report tells of the projects: their name, and who owns the files that it shows."""
    from migrate_responses.find.owners import owners
    from migrate_responses.session import shown

    wanted = {site.path for site in result.sites} | {file.path for file in result.changed}
    found: dict[str, tuple[str, ...]] = {}
    for one in runs:
        names = {shown(one.project, name): name for name in one.project.sources}
        found |= owners(one.project.root, {path: name for path, name in names.items() if path in wanted})
    roots = {os.path.basename(one.project.root) for one in runs}
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
            if not rules_page.overview(screen, wanted.upper()) and not rules_page.search(screen, code):
                raise click.UsageError(
                    f"There is no rule {code!r}; `migrate-responses explain` lists them."
                ) from None

"""One run as the command line sees it: find, migrate, and keep what concerns the named files."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from migrate_responses.config import Options, Settings, matching
from migrate_responses.find.project import Project, find
from migrate_responses.find.roots import is_packaged
from migrate_responses.results import Diagnostic, FileResult, FlowPlace, FlowResult, Results, SiteResult

Migrate = Callable[[Mapping[str, bytes], Settings, Container[str] | None], Results]


@dataclass(frozen=True)
class Run:
    """What one project came to. All paths in ``results`` are names in the project."""

    project: Project
    results: Results


@dataclass(frozen=True)
class Outcome:
    """All runs of one command as one, with paths as a person in this directory would type them."""

    sites: tuple[SiteResult, ...]
    notes: tuple[Diagnostic, ...]
    errors: tuple[Diagnostic, ...]
    changed: tuple[FileResult, ...]
    seen: int
    read: int
    flows: tuple[FlowResult, ...] = ()
    named: frozenset[str] = frozenset()  # the files that the given paths cover, of those that were read
    asked: int = 0  # how many files the given paths cover, read or not
    excluded: tuple[str, ...] = ()  # files with calls that the options leave out


def migrate_paths(
    paths: Sequence[str], options: Options, engine: Migrate, replaced: Mapping[str, bytes] | None = None
) -> list[Run]:
    """Run the engine over the projects of ``paths``. ``replaced`` gives other bytes for some files."""
    runs = []
    for project in find(paths, options.exclude, replaced or {}, options.include_docs):
        runs.append(migrate_project(project, options, engine, project.writable))
    return runs


def migrate_project(project: Project, options: Options, engine: Migrate, writable: frozenset[str]) -> Run:
    """Run the engine over one project, with only ``writable`` free to change."""
    if not project.writable:
        return Run(project, Results())
    return Run(project, engine(project.sources, settings_for(project, options), writable))


def settings_for(project: Project, options: Options) -> Settings:
    """The settings of the engine for one project."""
    settings = options.settings
    ignores: dict[str, frozenset[str]] = {}
    for pattern, codes in options.per_file_ignores:
        for name in matching(project.writable, [pattern]):
            ignores[name] = ignores.get(name, frozenset()) | codes
    packaged = settings.packaged or is_packaged(_start(project))
    return replace(settings, packaged=packaged, file_ignores=tuple(sorted(ignores.items())))


def _start(project: Project) -> str:
    """The folder that holds everything writable: its ``pyproject.toml`` tells whether this is a package."""
    common = os.path.commonpath([os.path.dirname(project.path(name)) for name in project.writable])
    return common or project.root


def outcome(runs: Sequence[Run], extra: Sequence[tuple[Project, Diagnostic]] = ()) -> Outcome:
    """What concerns the writable files of ``runs``, and the diagnostics in ``extra``.

    A file that is only read for context may be broken without that being an error of this run.
    """
    sites: list[SiteResult] = []
    notes: list[Diagnostic] = []
    errors = [shown_diagnostic(project, diagnostic) for project, diagnostic in extra]
    changed: list[FileResult] = []
    flows: list[FlowResult] = []
    first = 0  # flow numbers are unique in one run only
    for run in runs:
        project, results = run.project, run.results
        writable = project.writable
        for site in results.sites:
            if site.path in writable:
                reasons = tuple(shown_diagnostic(project, reason) for reason in site.reasons)
                path = shown(project, site.path)
                sites.append(replace(site.moved(first), path=path, reasons=reasons))
        flows.extend(_shown_flow(project, flow, first) for flow in results.flows)
        first += 1 + max((site.flow for site in results.sites), default=-1)
        notes.extend(
            shown_diagnostic(project, note) for note in results.notes if note.path in {"", *writable}
        )
        errors.extend(shown_diagnostic(project, error) for error in project.errors)
        errors.extend(
            shown_diagnostic(project, error) for error in _errors(results) if error.path in writable
        )
        changed.extend(replace(file, path=shown(project, file.path)) for file in results.changed)
    return Outcome(
        tuple(sites),
        tuple(notes),
        tuple(dict.fromkeys(errors)),
        tuple(changed),
        sum(run.project.seen for run in runs),
        sum(len(run.project.sources) for run in runs),
        tuple(flows),
        frozenset(shown(run.project, name) for run in runs for name in run.project.writable),
        sum(run.project.asked for run in runs),
        tuple(shown(run.project, name) for run in runs for name in sorted(run.project.excluded)),
    )


def sources(runs: Sequence[Run]) -> dict[str, bytes]:
    """Every file that was read, named or for context, by its path as seen from the working directory."""
    return {shown(run.project, name): data for run in runs for name, data in run.project.sources.items()}


def _errors(results: Results) -> Iterator[Diagnostic]:
    yield from results.errors
    for file in results.files:
        if file.error is not None:
            yield file.error


def shown(project: Project, name: str) -> str:
    """The path of a file as seen from the working directory."""
    path = project.path(name)
    try:
        return os.path.relpath(path).replace(os.sep, "/")
    except ValueError:  # on another drive
        return path


def shown_diagnostic(project: Project, diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with its path as seen from here; one without a path is about the run."""
    return diagnostic if not diagnostic.path else replace(diagnostic, path=shown(project, diagnostic.path))


def _shown_flow(project: Project, flow: FlowResult, first: int) -> FlowResult:
    def move(place: FlowPlace) -> FlowPlace:
        return replace(place, path=shown(project, place.path))

    joints = tuple(joint.moved(move) for joint in flow.joints)
    return replace(flow, number=first + flow.number, places=tuple(map(move, flow.places)), joints=joints)

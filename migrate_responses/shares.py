"""The parts of a project, shared out to processes, and put together again. Pure: bytes in, results out."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import partial

from . import progress
from .components import components
from .config import Settings
from .documents.edge import Documents
from .jobs import spread
from .results import Results, joined
from .room import with_deep_stack


def migrate(
    sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None = None, jobs: int = 1
) -> Results:
    """Migrate a project.

    ``sources`` maps paths (relative, with slashes) to the bytes of all files to look at; of these
    only the ones in ``writable`` (all, without it) may change. Nothing is read, written or run. A
    file that cannot be parsed is an error in the results and does not stop the others. With
    several ``jobs``, a project that consists of independent parts is shared out to as many processes,
    with the same results.
    """
    documents = Documents(sources)
    paths = documents.writable(writable)
    parts = components(documents.python)
    work = partial(_results_of, settings=settings, writable=paths)
    found = spread(work, parts, jobs, lambda done: progress.note("following the calls", done, len(parts)))
    return documents.results(joined([results for results_of_part in found for results in results_of_part]))


def _results_of(
    sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None
) -> list[Results]:
    from .places import breakdown  # with all of the engine, which only a process needs that does the work
    from .run import looks

    try:
        return with_deep_stack(lambda: looks(sources, settings, writable, lambda _, results: results))
    except Exception as error:  # a fault of this tool, which is told of, and stops no other files
        return [Results(errors=breakdown(sources, error))]

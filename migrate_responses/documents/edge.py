"""The edge: documents become modules for the engine, and what it says of these is said of the documents."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace

from ..results import Cell, Diagnostic, FileResult, FlowPlace, Level, Results, SiteResult, Verdict
from ..rules import rule
from . import names
from .blocks import Text
from .notebook import Notebook
from .program import Program, Unread
from .text import NotReadableError

_SKIP_FILE = re.compile(rb"migrate-responses:\s*skip-file\b")


class Documents:
    """The sources of a run as the engine sees them, in ``python``: a document is the programs in it."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._read: dict[str, Notebook | Text] = {}
        self._homes: dict[str, tuple[str, Program]] = {}
        self._errors: list[Diagnostic] = []
        self.python: dict[str, bytes] = {}
        for path, data in sources.items():
            if names.is_notebook(path) or names.is_text(path):
                self._translate(path, data)
            else:
                self.python[path] = data

    def _translate(self, path: str, data: bytes) -> None:
        try:
            read = Notebook(path, data) if names.is_notebook(path) else Text(path, data)
        except NotReadableError as error:
            step = rule(error.code).step
            self._errors.append(
                Diagnostic(error.code, path, error.line, error.column, Level.MANUAL, error.reason, step)
            )
            return
        self._read[path] = read
        for program in read.programs:
            self._homes[program.path] = path, program
            self.python[program.path] = program.text.encode("utf-8", "surrogatepass")

    def writable(self, paths: Container[str] | None) -> Container[str] | None:
        """``paths`` with the programs of documents in the place of these."""
        if paths is None or not self._homes:
            return paths
        return {name for name in self.python if self._home(name) in paths}

    def _home(self, name: str) -> str:
        home = self._homes.get(name)
        return home[0] if home is not None else name

    # -- results -------------------------------------------------------------------------

    def results(self, results: Results) -> Results:
        """What a run over ``python`` came to, told of the documents."""
        if not self._read and not self._errors:
            return results
        sites = [self._site(site) for site in results.sites]
        notes = [self.diagnostic(note) for note in results.notes]
        for path, read in self._read.items():
            for unread in read.unread:
                sites += self._left(path, unread)
                if unread.is_broken and not unread.calls():
                    notes.append(self._not_read(path, unread, unread.line, Level.NOTE))
        errors = [*self._errors, *map(self.diagnostic, results.errors)]
        return replace(
            results,
            files=tuple(self.files(results.files)),
            sites=tuple(sorted(sites, key=lambda site: (site.path, site.line, site.column))),
            notes=tuple(sorted(notes, key=lambda note: (note.path, note.line, note.column))),
            errors=tuple(errors),
            flows=tuple(
                replace(
                    flow,
                    places=tuple(map(self._flow_place, flow.places)),
                    joints=tuple(joint.moved(self._flow_place) for joint in flow.joints),
                )
                for flow in results.flows
            ),
        )

    def _left(self, path: str, unread: Unread) -> Iterator[SiteResult]:
        """The calls in a part that is not read."""
        skipped = _SKIP_FILE.search(self._sources[path]) is not None
        for text, line in unread.calls():
            reason = self._not_read(path, unread, line, Level.MANUAL)
            verdict = Verdict.SKIPPED if skipped else Verdict.MANUAL
            yield SiteResult(path, reason.line, reason.column, text, verdict, 0, (reason,), cell=reason.cell)

    def _not_read(self, path: str, unread: Unread, at: int, level: Level) -> Diagnostic:
        known = rule("MR913")
        step = known.step if level is known.level else ""
        line, column, cell = self._read[path].place_in(unread.piece, at, 1)
        return Diagnostic(known.code, path, line, column, level, unread.why, step, cell)

    def files(self, files: Iterable[FileResult]) -> list[FileResult]:
        """The files of a run, with those of one document as one."""
        found: list[FileResult] = []
        texts: dict[str, dict[str, str]] = {}
        for file in files:
            if file.path in self._homes:
                text = file.after.decode("utf-8", "surrogatepass")
                texts.setdefault(self._home(file.path), {})[file.path] = text
            else:
                found.append(file)
        for path, edited in texts.items():
            before = self._sources[path]
            found.append(FileResult(path, before, self._read[path].encode(edited)))
        return sorted(found, key=lambda file: file.path)

    def _site(self, site: SiteResult) -> SiteResult:
        path, line, column, cell = self._place(site.path, site.line, site.column)
        reasons = tuple(map(self.diagnostic, site.reasons))
        return replace(site, path=path, line=line, column=column, cell=cell, reasons=reasons)

    def diagnostic(self, found: Diagnostic) -> Diagnostic:
        """``found`` with its place in the document."""
        path, line, column, cell = self._place(found.path, found.line, found.column)
        return replace(found, path=path, line=line, column=column, cell=cell)

    def _flow_place(self, place: FlowPlace) -> FlowPlace:
        path, line, column, cell = self._place(place.path, place.line, place.column)
        end = self._place(place.path, place.end_line, 1)[1]
        return replace(place, path=path, line=line, column=column, cell=cell, end_line=end)

    def _place(self, name: str, line: int, column: int) -> tuple[str, int, int, Cell | None]:
        home = self._homes.get(name)
        if home is None:
            return name, line, column, None
        path, program = home
        if not line:
            return path, 0, 0, None
        return (path, *self._read[path].place(program, line, max(column, 1)))

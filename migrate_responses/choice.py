"""The flows of a project one by one, for a person who is asked about each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from .components import components
from .config import Settings
from .documents.edge import Documents
from .results import Diagnostic, FileResult, Results, Verdict, joined
from .room import with_deep_stack
from .run import Inspection, looks


@dataclass(frozen=True)
class Offer:
    """A flow that can be migrated: its number in the results, its rules, what may change by it, and notes."""

    flow: int
    rules: frozenset[str]
    doubts: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...]


class Choice:
    """A project that is looked at once, and any of whose flows can then be written without the others.

    ``results`` is what ``migrate`` returns for the same arguments.
    """

    def __init__(
        self, sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None = None
    ) -> None:
        self._unsafe = settings.unsafe_fixes
        self._documents = Documents(sources)
        self._looks: list[Inspection] = []
        python, paths = self._documents.python, self._documents.writable(writable)
        results = with_deep_stack(lambda: self._look_at(python, settings, paths))
        self.results: Results = self._documents.results(results)

    def _look_at(
        self, sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None
    ) -> Results:
        found = [
            pair
            for part in components(sources)
            for pair in looks(part, settings, writable, lambda look, results: (look, results))
        ]
        self._looks = [look for look, _ in found]
        return joined([results for _, results in found])

    def offers(self) -> Iterator[Offer]:
        """The flows that can be migrated, in the order of their numbers."""
        for first, look in self._numbered():
            for flow in look.flows:
                if flow.verdict(self._unsafe) is Verdict.MIGRATED:
                    doubts = tuple(map(self._documents.diagnostic, look.inventory.diagnostics(flow)))
                    notes = tuple(map(self._documents.diagnostic, look.inventory.told(flow)))
                    rules = {edit.code for edit in flow.edits} | {doubt.code for doubt in doubts}
                    yield Offer(flow.number + first, frozenset(rules), doubts, notes)

    def only(self, flows: Container[int], todos: bool) -> tuple[FileResult, ...]:
        """The files that change if ``flows`` are migrated and no others.

        With ``todos`` the calls that are held back get their comments; without, all comments stay as they
        are but those of the chosen flows.
        """
        return with_deep_stack(lambda: self._only(flows, todos))

    def _only(self, flows: Container[int], todos: bool) -> tuple[FileResult, ...]:
        changed: list[FileResult] = []
        for first, look in self._numbered():
            chosen = [flow for flow in look.flows if flow.number + first in flows]
            changed += [file for file in look.only(chosen, todos) if file.changed]
        return tuple(self._documents.files(changed))

    def _numbered(self) -> Iterator[tuple[int, Inspection]]:
        """The looks, each with what its flow numbers are raised by where results are joined."""
        first = 0
        for look in self._looks:
            yield first, look
            first += max((flow.number for flow in look.flows), default=0)

"""What a run found, decided and would write: plain frozen data, no behaviour beyond counting.

Everything that shows results (terminal, JSON, later SARIF and HTML) reads only these types.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace


class Level(enum.Enum):
    """How far a rule may go on its own (the applicability of a fix)."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    MANUAL = "manual"
    NOTE = "note"

    __hash__ = object.__hash__  # each is one object; Enum's own hash, of the name, is slow

    @property
    def rank(self) -> int:
        """0 for a note or a safe fix, 1 for unsafe, 2 for manual."""
        return {"note": 0, "safe": 0, "unsafe": 1, "manual": 2}[self.value]


class Verdict(enum.Enum):
    """What became of one site."""

    MIGRATED = "migrated"
    UNSAFE = "unsafe"  # held back; --unsafe-fixes would migrate it
    MANUAL = "manual"  # held back; a person must decide
    LEFT = "left"  # not the OpenAI SDK (or a wrapped client): one note, no TODO
    SKIPPED = "skipped"  # suppressed by a comment or by --ignore
    DOUBLE = "double"  # no call: a mock or a route in a test, which goes with the calls it is about


@dataclass(frozen=True, order=True)
class Cell:
    """A place in a notebook as a person finds it: cells of all sorts, lines and columns count from 1."""

    number: int
    line: int
    column: int


class Placed:
    """What stands somewhere: in a file as a whole, at a line, or in a cell of a notebook."""

    path: str
    line: int
    column: int
    cell: Cell | None

    @property
    def spot(self) -> str:
        """Line and column as a person looks for them; empty for the file as a whole."""
        if self.cell is not None:
            return f"cell {self.cell.number}:{self.cell.line}:{self.cell.column}"
        return f"{self.line}:{self.column}" if self.line else ""

    @property
    def row(self) -> str:
        """The spot without its column."""
        if self.cell is not None:
            return f"cell {self.cell.number}:{self.cell.line}"
        return str(self.line) if self.line else ""

    @property
    def whole_row(self) -> str:
        """The path with the row: what ``--explain-flow`` takes."""
        return f"{self.path}:{self.row}" if self.row else self.path

    @property
    def place(self) -> str:
        """The path with the spot."""
        return f"{self.path}:{self.spot}" if self.spot else self.path


@dataclass(frozen=True)
class Diagnostic(Placed):
    """One finding. ``line`` and ``column`` are 1-based; 0 means the file as a whole."""

    code: str
    path: str
    line: int
    column: int
    level: Level
    message: str
    next_step: str = ""
    cell: Cell | None = None


@dataclass(frozen=True)
class SiteResult(Placed):
    """One Chat Completions call (reference, mock in a test), where it is and what was decided."""

    path: str
    line: int
    column: int
    text: str  # the callee as written, e.g. ``self.client.chat.completions.create``
    verdict: Verdict
    flow: int  # number of the flow it belongs to, unique in one run
    reasons: tuple[Diagnostic, ...] = ()
    scope: str = ""  # the classes and functions around it, dotted; empty at module level
    cell: Cell | None = None
    about: tuple[int, ...] = ()  # of a mock or a route in a test: the flows that it goes with

    def moved(self, first: int) -> SiteResult:
        """The same where the numbers of flows begin after ``first``."""
        flow = self.flow + first if self.flow else 0
        return replace(self, flow=flow, about=tuple(number + first for number in self.about))


class Role(enum.Enum):
    """What a place has to do with its flow."""

    CLIENT = "client"  # where the client is made
    CALL = "call"
    REQUEST = "request"  # where messages, tools and other arguments are written
    ANSWER = "answer"  # where a part of the answer is used
    EDIT = "edit"  # what the migration changes, or would change
    REASON = "reason"  # what holds the flow back, or a note on it


@dataclass(frozen=True)
class FlowPlace(Placed):
    """One place of a flow. Lines and columns are 1-based; ``end_line`` is that of the simple statement."""

    role: Role
    path: str
    line: int
    column: int
    end_line: int
    code: str = ""  # the rule behind an edit or a reason
    cell: Cell | None = None


@dataclass(frozen=True)
class Joint:
    """A place that several calls of a flow share, so that they move together."""

    place: FlowPlace
    calls: tuple[FlowPlace, ...]
    scope: str = ""  # the classes and functions around the place, dotted
    why: str = ""  # where it is not an edit or a reason that they share

    def moved(self, move: Callable[[FlowPlace], FlowPlace]) -> Joint:
        """The same with its places changed by ``move``."""
        return replace(self, place=move(self.place), calls=tuple(map(move, self.calls)))


@dataclass(frozen=True)
class FlowResult:
    """Sites that are migrated together or not at all, with every place their values reach."""

    number: int
    verdict: Verdict
    places: tuple[FlowPlace, ...] = ()  # in order of path and line; one for each role, line and code
    joints: tuple[Joint, ...] = ()  # enough of what its calls share to tell why they are one flow


@dataclass(frozen=True)
class FileResult:
    """A file that took part. ``after`` equals ``before`` where nothing changes."""

    path: str
    before: bytes
    after: bytes
    error: Diagnostic | None = None

    @property
    def changed(self) -> bool:
        return self.after != self.before


@dataclass(frozen=True)
class Results:
    """The outcome of one run, in path order."""

    files: tuple[FileResult, ...] = ()
    sites: tuple[SiteResult, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    errors: tuple[Diagnostic, ...] = field(default=())
    flows: tuple[FlowResult, ...] = ()

    @property
    def changed(self) -> tuple[FileResult, ...]:
        return tuple(file for file in self.files if file.changed)

    def count(self, *verdicts: Verdict) -> int:
        """How many sites ended with one of ``verdicts``."""
        return sum(site.verdict in verdicts for site in self.sites)


def joined(parts: Sequence[Results]) -> Results:
    """The outcomes for several parts of a project as one; the last one counts for a file in several parts."""
    if len(parts) == 1:
        return parts[0]
    files: dict[str, FileResult] = {}
    sites: list[SiteResult] = []
    flows: list[FlowResult] = []
    first = 0
    for part in parts:
        files.update((file.path, file) for file in part.files)
        moved = [site.moved(first) for site in part.sites]
        flows += [replace(flow, number=flow.number + first) for flow in part.flows]
        first = max([first, *(site.flow for site in moved)])
        sites += moved
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    errors = dict.fromkeys(error for part in parts for error in part.errors)
    return Results(
        tuple(files[path] for path in sorted(files)),
        tuple(sorted(sites, key=lambda site: (site.path, site.line, site.column))),
        tuple(sorted(notes, key=lambda note: (note.path, note.line))),
        tuple(errors),
        tuple(flows),
    )

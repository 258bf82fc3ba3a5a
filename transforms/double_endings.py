"""How the double of a chunk ends a stream: the type of its event, and what its response says then (MR802).

The new code may ask the last event why the answer was cut (``event.response.incomplete_details``), and
whether there are calls in it (``event.response.output``): the old one only looked at the finish reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from ..know.kinds import Const, Kind
from .double_edits import REASON, is_empty
from .double_forms import Keywords
from .snippets import expr, is_simple, string

if TYPE_CHECKING:
    from .double_shapes import Shapes

TEXT, NOTHING = "response.output_text.delta", "response.in_progress"
LAST, CUT = "response.completed", "response.incomplete"
_ENDS = {"stop": LAST, "tool_calls": LAST, "length": CUT, "content_filter": CUT}


@dataclass(frozen=True)
class Ending:
    """How a chunk ends a stream: by none, one or, as ``finish`` says, any of ``reasons``."""

    kinds: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    finish: cst.BaseExpression | None = None  # where it is no literal
    is_asked: bool = False  # whether the program looks at the finish reason
    has_tools: bool = False

    @property
    def kind(self) -> cst.BaseExpression:
        """The type of the event."""
        if self.finish is None:
            return expr(f'"{self.kinds[0] if self.kinds else NOTHING}"')
        if not is_simple(self.finish):
            entries = ", ".join(f'"{reason}": "{_ENDS[reason]}"' for reason in self.reasons)
            return expr(f'{{{entries}}}.get(finish, "{NOTHING}")', finish=self.finish)
        cases = "".join(f'"{_ENDS[reason]}" if f == "{reason}" else ' for reason in self.reasons)
        return expr(f'{cases}"{NOTHING}"', f=self.finish)

    def response(self, made: Callable[[Keywords], cst.BaseExpression]) -> Keywords:
        """What the program may ask of the response of the event; ``made`` makes the details."""
        found: Keywords = {}
        if not self.is_asked:
            return found
        if self.has_tools and LAST in self.kinds:
            found["output"] = cst.List([])
        cut = [reason for reason in self.reasons if reason in REASON]
        if len(cut) > 1:
            assert self.finish is not None
            reason = expr('"max_output_tokens" if f == "length" else f', f=self.finish)
            found["incomplete_details"] = made({"reason": reason})
        elif cut:
            found["incomplete_details"] = made({"reason": string(REASON[cut[0]])})
        return found


def ending(shapes: Shapes, finish: cst.BaseExpression | None) -> Ending | None:
    """How a chunk with the finish reason ``finish`` ends the stream; None if that is unclear."""
    if finish is None or is_empty(finish):
        return Ending()
    is_asked = Kind.CHUNK_FINISH in shapes.kinds
    reasons: set[object]
    given: cst.BaseExpression | None = None
    if isinstance(finish, cst.SimpleString):
        reasons = {finish.evaluated_value}
    else:
        values = shapes.context.project.values(finish) if isinstance(finish, cst.Name) else []
        if not values or not all(isinstance(value, Const) for value in values):
            return None
        reasons = {value.value for value in values if isinstance(value, Const) and value.value is not None}
        given = finish
    if not _ENDS.keys() >= reasons or (is_asked and shapes.streams.has_tools and "tool_calls" in reasons):
        return None
    found = tuple(reason for reason in _ENDS if reason in reasons)
    kinds = tuple(dict.fromkeys(_ENDS[reason] for reason in found))
    return Ending(kinds, found, given if found else None, is_asked, shapes.streams.has_tools)

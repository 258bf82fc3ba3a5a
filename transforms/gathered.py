"""Lists that a message gets into in a way that no edit reaches: ``messages.extend(map(made, calls))``."""

from __future__ import annotations

from collections.abc import Iterator

from ..know.graph import Var
from ..know.kinds import DictValue, SeqValue
from .context import Context

_SEEN = frozenset({"append", "insert", "literal", "comprehension"})


def gathered(context: Context, message: DictValue) -> SeqValue | None:
    """A list, or an iterator, that has ``message`` and was not seen to get it."""
    return next(
        (
            sequence
            for sequence in context.sequences()
            if _has(sequence, message)
            and not any(_is_in(place.var, message) for place in sequence.places if place.how in _SEEN)
            and not any(_has(source, message) for source in _sources(sequence))
        ),
        None,
    )


def _has(sequence: SeqValue, message: DictValue) -> bool:
    return _is_in(sequence.element, message) or any(_is_in(var, message) for var in sequence.items.values())


def _is_in(var: Var | None, message: DictValue) -> bool:
    return var is not None and message in var.values


def _sources(sequence: SeqValue) -> Iterator[SeqValue]:
    for var in sequence.derived:
        for value in var.values:
            if isinstance(value, SeqValue) and value is not sequence:
                yield value

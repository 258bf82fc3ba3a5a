"""Answers that go into a history as plain messages: ``{"role": "assistant", "content": resp.output_text}``.

Where no tools are passed, the text is all that the old API took of an answer. That is written where the
history is counted, cut or read by key, as one answer stays one message then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from ..know.kinds import DictValue, SeqValue, Shape, Site, Value
from .context import Context
from .history_looks import counts, cuts, searches

_READS = frozenset({"read", "get", "contains", "pop", "delete"})


def plain_answers(
    context: Context, histories: Mapping[SeqValue, list[Value]], answers: Mapping[Value, list[Shape]]
) -> set[Site]:
    """The sites whose answers are kept as plain messages; ``answers`` are those that an entry can be."""
    kept: dict[Site, list[SeqValue]] = {}
    refused: set[Site] = set()
    for sequence, entries in histories.items():
        for entry in entries:
            for shape in answers.get(entry, ()):
                kept.setdefault(shape.site, []).append(sequence)
                if (
                    shape.form != "object"
                    or context.escapes.of(sequence)
                    or any(True for _ in searches(context, sequence))
                    or _shows_more(context, entry)
                ):
                    refused.add(shape.site)
    return {
        site
        for site, sequences in kept.items()
        if site not in refused
        and not _is_more(context, site)
        and any(_is_looked_at(context, sequence, histories[sequence]) for sequence in sequences)
    }


def _shows_more(context: Context, entry: Value) -> bool:
    """Whether more than role and content is asked of ``dict(message)``."""
    if not isinstance(entry, DictValue):
        return False
    if entry.others or set(entry.places) - {"role", "content"}:
        return True
    for node, module in context.holders(entry):
        parent = module.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.value is node and parent.attr.value != "get":
            return True
        if isinstance(parent, (cst.For, cst.CompFor, cst.ComparisonTarget, cst.StarredDictElement)):
            return True
        if isinstance(parent, cst.Arg) and parent.star:
            return True
    return False


def _is_more(context: Context, site: Site) -> bool:
    """Whether an answer can be more than its text: calls, or a refusal."""
    request = context.request(site)
    formatted = site.method != "create" or request.passes("response_format")
    return request.passes_tools or formatted or bool(request.untracked)


def _is_looked_at(context: Context, sequence: SeqValue, entries: list[Value]) -> bool:
    return any(True for _ in _looks(context, sequence, entries))


def _looks(context: Context, sequence: SeqValue, entries: list[Value]) -> Iterator[object]:
    yield from cuts(context, sequence)
    yield from counts(context, sequence)
    for entry in entries:
        if isinstance(entry, DictValue):
            for places in entry.places.values():
                yield from (place for place in places if place.how in _READS)

"""Contents and messages that cannot be followed, where parts are written that nobody is seen to send (MR204).

The parts may be just there, and would keep their old form.
"""

from __future__ import annotations

from ..decide.contents import hands_on
from ..know.graph import Var
from ..know.kinds import DictValue, External, Place, SeqValue, Site
from .context import WRITES, Context, constants
from .sent import messages_of, sequences_of

_TYPES = frozenset({"text", "image_url", "file", "input_audio"})


def plan(context: Context) -> None:
    """Hold the calls back whose contents may be such parts. To be asked when the known parts are planned."""
    lost = [value for value in context.project.built.values() if _is_part(value)]
    known = {edit.node for edit in context.plan.edits}
    for site in context.sites:
        program = context.project.program(site.module)
        parts = [value for value in lost if value.module in program and value.node not in known]
        if not parts:
            continue
        for place in _untraced(context, site):
            text = context.source(place.node, place.module)
            made = context.source(parts[0].node, parts[0].module, 30)
            detail = f"what `{text}` sends could not be followed, and `{made}` may be there"
            context.unsafe(place.node, place.module, [site], "MR204", detail)


def _is_part(value: DictValue | SeqValue) -> bool:
    if not isinstance(value, DictValue):
        return False
    found = constants(value.fields.get("type")) or []
    return any(kind in _TYPES and kind in value.places for kind in found)


def _untraced(context: Context, site: Site) -> list[Place]:
    """The places where something that was not followed gets into the messages of ``site``."""
    found = [
        place
        for message in messages_of(context, site)
        for place in message.places.get("content", ())
        if place.how in WRITES and _is_untraced(place.var)
    ]
    for sequence in sequences_of(context, site):
        found += [place for place in sequence.places if place.var is not None and _is_untraced(place.var)]
    return found


def _is_untraced(var: Var | None) -> bool:
    if var is None:
        return False
    return not var.values or any(
        isinstance(value, External) and (hands_on(value) or value.path.startswith("types."))
        for value in var.values
    )

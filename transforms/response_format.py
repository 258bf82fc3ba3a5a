"""``response_format`` becomes ``text.format``, or ``text_format`` for a Pydantic class (MR105, MR601, MR603)."""

from __future__ import annotations

from ..know.kinds import Const, External
from ..know.models import OMITTED
from .context import Context


def plan(context: Context) -> None:
    for site in context.sites:
        for item in context.request(site).named("response_format"):
            values = item.place.var.values if item.place.var is not None else ()
            if values and all(
                (isinstance(v, Const) and v.value is None) or (isinstance(v, External) and v.path in OMITTED)
                for v in values
            ):
                continue
            place = item.place
            context.manual(place.node, place.module, [site], "MR603", "the shape of `response_format` is not known")

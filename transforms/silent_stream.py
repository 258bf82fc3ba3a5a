"""Keywords that are poured into another dict before they are sent: no other ``stream`` may be in there.

Of ``def _create(self, **kw): return create(**{**self.defaults, **kw})`` the analysis believes that callers
who say nothing of ``stream`` get whole answers. That is so unless ``self.defaults`` has a ``stream``, or what
the keywords are poured into keeps those of earlier callers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..know.kinds import DictValue, Site
from .context import WRITES, Context


def plan(context: Context) -> None:
    """Hold back the calls where it is not so."""
    for site in context.sites:
        said = {flag for flag in site.flags if isinstance(flag, DictValue)}
        if said and any(_may_stream(value, said) for value in _sent(site)):
            place = site.invocation
            why = "`stream` may come from what the caller says, or from elsewhere"
            context.manual(place.node, place.module, [site], "MR403", why)


def _sent(site: Site) -> Iterator[DictValue]:
    for item in site.invocation.arguments:
        if item.keyword == "**":
            yield from (value for value in item.var.values if isinstance(value, DictValue))


def _may_stream(root: DictValue, said: set[DictValue]) -> bool:
    """Whether ``stream`` can be in ``root`` otherwise than from ``said``."""
    seen = {root}
    stack = [] if root in said else [root]
    while stack:
        value = stack.pop()
        if any(place.how in WRITES for place in (*value.places.get("stream", ()), *value.others)):
            return True
        if any(poured in said and not _is_made_by_call(value, poured) for poured in value.poured):
            return True
        for poured in [inner for source in value.merged for inner in source.values]:
            if poured is root:
                return True
            if isinstance(poured, DictValue) and poured not in seen | said:
                seen.add(poured)
                stack.append(poured)
    return False


def _is_made_by_call(value: DictValue, keywords: DictValue) -> bool:
    """Whether ``value`` is made anew in each call of the function that has the ``keywords``."""
    module = keywords.module
    function = module.function(keywords.node)
    return value.module is module and module.function(value.node) is function

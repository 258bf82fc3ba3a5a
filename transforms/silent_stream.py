"""Keywords that are poured into another dict before they are sent: no other ``stream`` may be in there.

Of ``def _create(self, **kw): return create(**{**self.defaults, **kw})`` the analysis believes that callers
who say nothing of ``stream`` get whole answers. That is so unless ``self.defaults`` has a ``stream``, or what
the keywords are poured into keeps those of earlier callers. And of ``params = {"stream": stream}`` and
``create(**params)`` it believes that ``if stream:`` tells the answers apart: if nothing else is said there.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Const, DictValue, Function, Site
from .context import WRITES, Context

_STREAM = "stream"


def plan(context: Context) -> None:
    """Hold back the calls where it is not so."""
    for site in context.sites:
        said = {flag for flag in site.flags if isinstance(flag, DictValue)}
        if said and any(_may_stream(value, said) for value in _sent(site)):
            place = site.invocation
            why = "`stream` may come from what the caller says, or from elsewhere"
            context.manual(place.node, place.module, [site], "MR403", why)
            continue
        flagged = [value for value in _sent(site) if context.project.flag_in(value, site) is not None]
        is_open = _is_open(context, site) or any(
            context.project.is_left_out(value, site) for value in flagged
        )
        if flagged and is_open and _says_more(site, flagged[0]):
            made = flagged[0]
            text = context.source(made.node, made.module)
            why = f"`stream` in `{text}` may be changed, or come from elsewhere"
            context.manual(made.node, made.module, [site], "MR403", why)


def _is_open(context: Context, site: Site) -> bool:
    """Whether the call can answer in both ways, as far as anybody knows."""
    said = context.request(site).values("stream")
    certain = {bool(value.value) for value in said if isinstance(value, Const)}
    return len(certain) > 1 or not all(isinstance(value, Const) for value in said)


def _says_more(site: Site, made: DictValue) -> bool:
    """Whether ``stream`` can be anything else than what ``made``, a dict that is sent, is spelled with."""
    if any(value is not made for value in _sent(site)):
        return True
    hows = [place.how for place in made.places.get(_STREAM, ())]
    if sum(how in WRITES for how in hows) != 1 or "pop" in hows or "delete" in hows:
        return True
    function = site.invocation.scope
    clean = None  # Python keeps `stream` out of the keywords of a function that has a parameter of that name
    if isinstance(function, Function) and _STREAM in function.parameters:
        clean = function.double_star
    stack, seen = [made], {made}
    while stack:
        value = stack.pop()
        named = value.places.get(_STREAM, ()) if value is not made else ()
        if any(place.how in WRITES for place in (*named, *value.others)):
            return True
        for poured in [inner for source in value.merged for inner in source.values]:
            if poured is clean or poured in seen:
                continue
            if not isinstance(poured, DictValue) or isinstance(poured.node, cst.Param):
                return True
            seen.add(poured)
            stack.append(poured)
    return False


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

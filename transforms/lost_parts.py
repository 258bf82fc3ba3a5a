"""Contents and messages that cannot be followed, where parts are written that nobody is seen to send (MR204).

The parts may be just there, and would keep their old form. So may parts that are written into a store (a
file, a database), where contents are read out of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.contents import hands_on, reachable
from ..decide.escapes import Way
from ..know.graph import Var
from ..know.kinds import Class, DictValue, External, Place, SeqValue, Site, Unknown, Value
from ..know.narrowing import AN_EXCEPTION
from ..know.others import SDKS
from .context import WRITES, Context, constants
from .sent import messages_of, sequences_of, spells_parts
from .uncalled import is_ever_made

_TYPES = frozenset({"text", "image_url", "file", "input_audio"})


def plan(context: Context) -> None:
    """Hold the calls back whose contents may be such parts. To be asked when the known parts are planned."""
    known = {edit.node for edit in context.plan.edits}
    rewritten = known | set(_around(context))
    lost: list[DictValue] = []
    for value in context.project.built.values():
        if isinstance(value, DictValue) and _is_part(value):
            if is_ever_made(context, value):
                lost.append(value)
            elif value.node not in rewritten:
                _note(context, value)
    spelling = {module for module in context.project.modules if spells_parts(module)}
    for site in context.sites:
        program = context.project.program(site.module)
        parts = [value for value in lost if value.module in program and value.node not in known]
        if not spelling.isdisjoint(program):
            _spelled(context, site)
        if not parts:
            continue
        _under_any_key(context, site, parts)
        stores = {store: part for part in reversed(parts) for store in _stores(context, part)}
        for place in _contents(context, site):
            store = next((store for store in stores if _is_read_from(place.var, store)), None)
            if _is_untraced(place.var):
                part, how = parts[0], "could not be followed"
            elif store is not None:
                part, how = stores[store], f"was kept by `{store}`"
            else:
                continue
            text = context.source(place.node, place.module)
            made = context.source(part.node, part.module, 30)
            detail = f"what `{text}` sends {how}, and `{made}` may be there"
            context.unsafe(place.node, place.module, [site], "MR204", detail)


def _under_any_key(context: Context, site: Site, parts: list[DictValue]) -> None:
    """Hold ``site`` back for messages with parts under any key: ``dict([("content", parts)])``."""
    for message in messages_of(context, site):
        for part in reachable(message.unkeyed):
            if part in parts:
                made = context.source(part.node, part.module, 30)
                detail = f"`{made}` is in a message, under a key that is not known"
                context.unsafe(part.node, part.module, [site], "MR204", detail)


def _around(context: Context) -> Iterator[cst.CSTNode]:
    """What holds the keys that edits of parts are about: ``{"type": "text"}`` of its ``"text"``."""
    for edit in context.plan.edits:
        if edit.code == "MR604":
            yield from list(edit.module.ancestors(edit.node))[:2]


def _note(context: Context, part: DictValue) -> None:
    """Say of ``part``, which nobody makes, that it is left as it is."""
    sites = [site for site in context.sites if part.module in context.project.program(site.module)]
    detail = f"`{context.source(part.node, part.module, 30)}` keeps the old form: nobody calls what makes it"
    context.note(part.node, part.module, sites, "MR204", detail)


def _spelled(context: Context, site: Site) -> None:
    """Hold ``site`` back for contents that are read from a text: parts are spelled in one."""
    for place in _contents(context, site):
        if _is_read_from(place.var, "json") or _is_read_from(place.var, "yaml"):
            detail = (
                f"what `{context.source(place.node, place.module)}` sends is read from a text, perhaps parts"
            )
            context.unsafe(place.node, place.module, [site], "MR204", detail)


def _stores(context: Context, part: DictValue) -> Iterator[str]:
    """The packages that may keep ``part``: those whose code gets it, and that have no models of their own."""
    yield from _in_records(context).get(part, ())
    for escape in context.escapes.of(part):
        package = escape.to.partition(".")[0]
        if escape.way is Way.ARGUMENT and package not in SDKS | _SENDERS:
            yield package


def _in_records(context: Context) -> dict[Value, set[str]]:
    """What is in objects of classes that packages make records of (``class Turn(Base)``): by which ones."""
    known = context.memo.get("in records")
    if isinstance(known, dict):
        return known
    found: dict[Value, set[str]] = {}
    given: dict[Class, list[Var]] = {
        cls: list(cls.instance.fields.values()) for cls in context.project.classes.values()
    }
    for call, callees in context.project.callees.items():
        for callee in callees:
            if isinstance(callee, Class):
                given.setdefault(callee, []).extend(argument.var for argument in call.arguments)
    for cls, held in given.items():
        packages = _packages(context, cls)
        for value in reachable(*held) if packages else ():
            found.setdefault(value, set()).update(packages)
    context.memo["in records"] = found
    return found


def _packages(context: Context, cls: Class) -> set[str]:
    """The packages that a class has its bases from."""
    family = [cls, *context.project.ancestors(cls)]
    bases = [value for owner in family for base in owner.bases for value in base.values]
    return {base.path.partition(".")[0] for base in bases if isinstance(base, External)} - {"builtins"}


# What goes out by these does not come back in the answer.
_SENDERS = frozenset({"aiohttp", "httpx", "requests", "urllib", "urllib3"})


def _is_read_from(var: Var | None, store: str) -> bool:
    """Whether a content may be what ``store`` gave back."""
    return var is not None and any(
        isinstance(value, External) and _family(value.path.partition(".")[0]) == _family(store)
        for value in var.values
    )


def _family(package: str) -> str:
    """``package``, or one that has the same data."""
    return next((one for one in ("json", "sqlalchemy") if one in package), _SAME.get(package, package))


_SAME = {"sqlmodel": "sqlalchemy"}


def _is_part(value: DictValue) -> bool:
    found = constants(value.fields.get("type")) or []
    return any(kind in _TYPES and kind in value.places for kind in found)


def _contents(context: Context, site: Site) -> list[Place]:
    """The places that messages of ``site`` come from, and the contents in them."""
    found = [
        place
        for message in messages_of(context, site)
        for place in message.places.get("content", ())
        if place.how in WRITES
    ]
    found += [
        inner
        for place in found
        for value in (place.var.values if place.var is not None else ())
        if isinstance(value, SeqValue)
        for inner in value.places
    ]
    for sequence in sequences_of(context, site):
        found += sequence.places
    found += [item.place for item in context.request(site).written("messages")]
    return [place for place in found if place.var is not None]


def _is_untraced(var: Var | None) -> bool:
    if var is None:
        return False
    return not var.values or any(
        (isinstance(value, External) and (hands_on(value) or value.path.startswith("types.")))
        or (isinstance(value, Unknown) and value.why.endswith(AN_EXCEPTION))
        for value in var.values
    )

"""Tools that are read from JSON or YAML lose their inner level where they are passed (MR501).

What is read is a list of plain dicts, and stays as it is for everybody else: the request gets new dicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import libcst as cst

from ..decide.escapes import Way
from ..know import models
from ..know.kinds import Const, DictValue, External, SeqValue, Site, Value
from ..know.modules import Module, walk
from .actions import Action, act
from .context import WRITES, Context, Keyword
from .snippets import expr, parenthesized
from .strictness import EMPTY_SCHEMA

# What a reader gives, and what is taken out of it. Others hand the module `json` on: `flask.json`.
_DATA = re.compile(
    r"(([\w.]+\.)?json\.loads?|(orjson|ujson|simplejson|tomllib|tomli)\.loads?|yaml\.(safe_|full_)?load"
    r"|(requests|httpx)\.[\w.()]+\.json)\(\)"
    r"(\[\]|\.(get|copy|pop|values)\(\))*"
)
_UNAFFECTED = WRITES | {"contains", "delete"}  # uses of a key that its value does not matter to
_READERS = re.compile(r"(json|orjson|ujson|simplejson|yaml)\.")


def is_loaded(context: Context, site: Site, item: Keyword, found: list[Value]) -> bool:
    """Whether the tools that ``item`` passes are all read from data; ``found`` is what the lists hold."""
    var = item.place.var
    omitted = var is not None and any(
        isinstance(value, External) and value.path in models.OMITTED for value in var.values
    )
    held = [value for value in found if not isinstance(value, Const)]
    if omitted or not held or not all(map(_is_data, held)):
        return False
    if any(isinstance(node, cst.NamedExpr) for node in walk(item.place.node)):
        return False  # Python forbids that in what a comprehension goes over
    return any(arg is item.place.node for arg in site.node.args) or not (
        _is_looked_at(item) or _is_changed(context)
    )


def _is_looked_at(item: Keyword) -> bool:
    """Whether something reads the tools out of a dict of arguments."""
    places = item.holder.places.get(item.name, ()) if item.holder is not None else ()
    return any(place.how not in _UNAFFECTED for place in places)


def _is_changed(context: Context) -> bool:
    """Whether anything changes data that was read: a copy that is made early would miss it."""
    known = context.memo.get("changed data")
    if not isinstance(known, bool):
        known = any(
            any(map(_holds_data, context.project.values(base)))
            for module in context.project.modules
            for node in module.of(cst.Attribute, cst.Subscript, cst.AugAssign)
            if (base := _changed_by(node, module)) is not None
        )
        context.memo["changed data"] = known
    return known


def _changed_by(node: cst.CSTNode, module: Module) -> cst.BaseExpression | None:
    """What changes at ``node``: ``tools`` of ``tools.append`` or ``tools[0] = ...``."""
    match node:
        case cst.Attribute(value=base, attr=cst.Name(value=name)) if name in _CHANGING:
            return base
        case cst.Subscript(value=base) if isinstance(module.parents.get(node), (cst.AssignTarget, cst.Del)):
            return base
        case cst.AugAssign(target=base):
            return base
        case _:
            return None


_CHANGING = frozenset("append clear extend insert pop popitem remove reverse setdefault sort update".split())


def _is_data(value: Value) -> bool:
    return isinstance(value, External) and _DATA.fullmatch(value.path) is not None


def _holds_data(value: Value) -> bool:
    return _is_data(value) or (isinstance(value, SeqValue) and any(map(_is_data, value.element.values)))


def flatten_loaded(context: Context, site: Site, item: Keyword) -> None:
    """Pass ``[{"type": "function"} | tool["function"] for tool in tools]``: of no type, as what was read.

    What was read may have no ``parameters``, which Chat Completions lets be left out.
    """
    strict = context.settings.api_defaults == "preserve"
    defaults = [f'"parameters": {EMPTY_SCHEMA}', *(['"strict": False'] if strict else [])]
    flatten_passed(context, site, item, defaults)


def flatten_passed(
    context: Context, site: Site, item: Keyword, defaults: Sequence[str], typed: bool = False
) -> None:
    """Pass flat tools in place of nested ones, with ``defaults`` that what a tool says itself overrides.

    ``typed`` tools are poured in: type checkers join no plain dict with one that has a type.
    """
    first = ", ".join(['"type": "function"', *defaults])
    made = f'{{{first}, **tool["function"]}}' if typed else f'{{{first}}} | tool["function"]'
    act(context, site, [item], Action("MR501", wrap=_flat(made)))


def _flat(made: str) -> Callable[[cst.BaseExpression], cst.BaseExpression]:
    def wrap(value: cst.BaseExpression) -> cst.BaseExpression:
        several = parenthesized(value) if isinstance(value, cst.IfExp) else value
        return expr(f"[{made} for tool in tools]", tools=several)

    return wrap


def come_back(context: Context, tool: DictValue, sites: set[Site], loaded: set[Site]) -> None:
    """A tool that changes its form, and goes where tools are read from: a text, a list that was read."""
    program = context.project.program(tool.module)
    readers = {site for site in loaded if site.module in program}
    for escape in context.escapes.of(tool) if readers else ():
        if escape.way is Way.ARGUMENT and _READERS.match(escape.to):
            text = context.source(escape.node, escape.module)
            detail = f"the tools (`{text}`) are handed to {escape.to}, and tools are read from there"
            context.manual(escape.node, escape.module, sites | readers, "MR504", detail)

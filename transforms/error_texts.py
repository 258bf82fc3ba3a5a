"""Code that knows the errors of the old API by their words (MR602).

The server tells what is wrong with a request in the words of the request: ``messages`` is called ``input``
now, and an input that is too long is told of in other words. A handler that looks for the old ones would
never find them. Of an input that is too long the code is the same, and a handler can be made to look for that
(``too_long.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import Bound, Const, External, Function, Site
from ..know.modules import Module, walk
from . import too_long
from .context import Context

# What the errors of the old API call by a name that the new one has not.
_OLD_WORDS = re.compile(
    r"\b(messages|max_tokens|max_completion_tokens|response_format|reasoning_effort"
    r"|functions|function_call|tool_calls|tool_call_id|image_url)\b"
)
_Handler = cst.ExceptHandler | cst.ExceptStarHandler
_FINDS = frozenset({"startswith", "endswith", "find", "index", "count", "search", "match", "findall"})


@dataclass(frozen=True)
class _Place:
    """A place that looks for ``text`` in the error, or in what is made of it: ``names``."""

    node: cst.CSTNode
    module: Module
    text: str
    names: too_long.Names


def plan(context: Context) -> None:
    """Mend or hold back what looks at the errors of the calls so."""
    for site in context.sites:
        for handler, module, whole in _handlers(context, site):
            places = _told_by_words(context, handler, module)
            whole = whole and not too_long.is_streamed(context, site)
            stays = [place for place in places if not (whole and _can_be_mended(context, place))]
            if stays:
                place = stays[0]
                text = context.source(place.node, place.module)
                detail = f"`{text}` looks for words of the old API in its errors"
                context.unsafe(place.node, place.module, [site], "MR602", detail, _STEP)
                break
            for place in places:
                too_long.ask(context, place.node, place.module, place.names, site)


_STEP = "look at its `code`, or for the new words too, then use --unsafe-fixes"


def _can_be_mended(context: Context, place: _Place) -> bool:
    return not _OLD_WORDS.search(place.text) and too_long.can_ask(
        context, place.node, place.module, place.names
    )


def _handlers(context: Context, site: Site) -> Iterator[tuple[_Handler, Module, bool]]:
    """The handlers around the call, and around the calls of the functions it stands in.

    With each, whether it gets the error as the server gave it, and not something that was made of it.
    """
    seen: set[tuple[cst.CSTNode, bool]] = set()
    stack: list[tuple[cst.CSTNode, Module, bool]] = [(site.node, site.module, True)]
    while stack:
        node, module, whole = stack.pop()
        if (node, whole) in seen or node not in module.parents:
            continue
        seen.add((node, whole))
        below = node
        for parent in module.ancestors(node):
            if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
                break
            if isinstance(parent, (cst.Try, cst.TryStar)) and parent.body is below:
                for handler in parent.handlers:
                    if handler.name is not None and (not whole or _may_be_of_api(context, handler)):
                        yield handler, module, whole
                whole = whole and not any(_raises_another(context, handler) for handler in parent.handlers)
            below = parent
        function = context.project.functions.get(module.function(node) or node)
        if function is not None:
            stack.extend((caller.node, caller.module, whole) for caller in function.callers)


def _raises_another(context: Context, handler: _Handler) -> bool:
    """Whether the handler may raise something else that is made of the error of the API."""
    name = handler.name.name if handler.name is not None else None
    if not isinstance(name, cst.Name) or not _may_be_of_api(context, handler):
        return False
    names = too_long.Names(frozenset({name.value})).within(handler.body)
    return any(
        isinstance(node, cst.Raise)
        and node.exc is not None
        and not (isinstance(node.exc, cst.Name) and node.exc.value in names.errors)
        and _mentions(node.exc, names.all)
        for node in walk(handler.body)
    )


def _may_be_of_api(context: Context, handler: _Handler) -> bool:
    """Whether a handler can get what the server says: not one that is for a ``KeyError`` or so."""
    node = handler.type
    types = [element.value for element in node.elements] if isinstance(node, cst.Tuple) else [node]
    values = [value for one in types if one is not None for value in context.project.values(one)]
    return not values or not all(
        isinstance(value, External)
        and value.path.startswith(("builtins.", "json."))
        and value.path not in ("builtins.Exception", "builtins.BaseException")
        for value in values
    )


def _told_by_words(context: Context, handler: _Handler, module: Module) -> list[_Place]:
    """The places that find old words in the error, here or in a function that gets it."""
    known = context.memo.setdefault("words of errors", {})
    assert isinstance(known, dict)
    if handler not in known:
        assert handler.name is not None
        assert isinstance(handler.name.name, cst.Name)
        places: list[_Place] = []
        names = too_long.Names(frozenset({handler.name.name.value}))
        _look(context, handler.body, module, names, places, set())
        by_code = any(too_long.CODE in place.text for place in places)
        known[handler] = [
            place
            for place in places
            if _OLD_WORDS.search(place.text) or (too_long.tells(place.text) and not by_code)
        ]
    places = known[handler]
    assert isinstance(places, list)
    return places


def _look(
    context: Context,
    body: cst.CSTNode,
    module: Module,
    given: too_long.Names,
    places: list[_Place],
    seen: set[Function],
) -> None:
    """Gather where texts are looked for in the error, or in what is made of it."""
    names = given.within(body)
    for node in walk(body):
        match node:
            case cst.Comparison(left=left, comparisons=targets):
                sides = [left, *(target.comparator for target in targets)]
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)) as func) if method in _FINDS:
                sides = [func.value, *(arg.value for arg in node.args)]
            case _:
                sides = []
        if any(_mentions(side, names.all) for side in sides):
            looked_at(context).add(node)
            for side in (side for side in sides if not _mentions(side, names.all)):
                places.extend(_Place(node, module, text, names) for text in _texts(context, side))
        if isinstance(node, cst.Call):
            for function, taken in _takers(context, node, names):
                if function not in seen:
                    seen.add(function)
                    _look(context, function.node.body, function.module, taken, places, seen)


def _mentions(node: cst.CSTNode, names: frozenset[str]) -> bool:
    return any(isinstance(inner, cst.Name) and inner.value in names for inner in walk(node))


def _texts(context: Context, node: cst.BaseExpression) -> Iterator[str]:
    """The texts that ``node``, or what a display holds, can be."""
    for inner in walk(node):
        if isinstance(inner, cst.BaseExpression):
            for value in context.project.values(inner):
                if isinstance(value, Const) and isinstance(value.value, str):
                    yield value.value


def looked_at(context: Context) -> set[cst.CSTNode]:
    """The places that look into errors which handlers got, of whatever call."""
    known = context.memo.setdefault("looked at in errors", set())
    assert isinstance(known, set)
    return known


def _takers(
    context: Context, call: cst.Call, names: too_long.Names
) -> Iterator[tuple[Function, too_long.Names]]:
    """The functions of the project that ``call`` hands the error to, with the parameter that gets it."""
    for value in context.project.values(call.func):
        function = value.function if isinstance(value, Bound) else value
        if not isinstance(function, Function):
            continue
        taken = function.positional[1:] if isinstance(value, Bound) else function.positional
        for position, arg in enumerate(call.args):
            if not arg.star and _mentions(arg.value, names.all):
                if arg.keyword is not None:
                    yield function, names.handed_on(arg.value, arg.keyword.value)
                elif position < len(taken):
                    yield function, names.handed_on(arg.value, taken[position])

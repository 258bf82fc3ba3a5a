"""Code that knows the errors of the old API by their words (MR602).

The server tells what is wrong with a request in the words of the request: ``messages`` is called ``input``
now, and an input that is too long is told of in other words. A handler that looks for the old ones would
never find them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Bound, Const, External, Function, Site
from ..know.modules import Module, walk
from .context import Context

# What the errors of the old API call by a name that the new one has not.
_OLD_WORDS = re.compile(
    r"maximum context length|\b(messages|max_tokens|max_completion_tokens|response_format|reasoning_effort"
    r"|functions|function_call|tool_calls|tool_call_id|image_url)\b"
)
_TOO_LONG = "context_length_exceeded"  # the code of the error that says so: the same in both
_FINDS = frozenset({"startswith", "endswith", "find", "index", "count", "search", "match", "findall"})


def plan(context: Context) -> None:
    """Hold back the calls whose errors are looked at so."""
    for site in context.sites:
        for handler, module in _handlers(context, site):
            found = _told_by_words(context, handler, module)
            if found is not None:
                node, home = found
                text = context.source(node, home)
                detail = f"`{text}` looks for words of the old API in its errors"
                context.unsafe(node, home, [site], "MR602", detail, _STEP)
                break


_STEP = "look at its `code`, or for the new words too, then use --unsafe-fixes"


def _handlers(context: Context, site: Site) -> Iterator[tuple[cst.ExceptHandler, Module]]:
    """The handlers around the call, and around the calls of the functions it stands in."""
    seen: set[cst.CSTNode] = set()
    stack: list[tuple[cst.CSTNode, Module]] = [(site.node, site.module)]
    while stack:
        node, module = stack.pop()
        if node in seen or node not in module.parents:
            continue
        seen.add(node)
        below = node
        for parent in module.ancestors(node):
            if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
                break
            if isinstance(parent, cst.Try) and parent.body is below:
                for handler in parent.handlers:
                    if handler.name is not None and _may_be_of_api(context, handler):
                        yield handler, module
            below = parent
        function = context.project.functions.get(module.function(node) or node)
        if function is not None:
            stack.extend((caller.node, caller.module) for caller in function.callers)


def _may_be_of_api(context: Context, handler: cst.ExceptHandler) -> bool:
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


def _told_by_words(
    context: Context, handler: cst.ExceptHandler, module: Module
) -> tuple[cst.CSTNode, Module] | None:
    """The first place that finds old words in the error, here or in a function that gets it."""
    known = context.memo.setdefault("words of errors", {})
    assert isinstance(known, dict)
    if handler not in known:
        assert handler.name is not None
        assert isinstance(handler.name.name, cst.Name)
        places: list[tuple[cst.CSTNode, Module, str]] = []
        _look(context, handler.body, module, handler.name.name.value, places, set())
        by_code = any(_TOO_LONG in text for _, _, text in places)
        telling = [
            (node, home)
            for node, home, text in places
            if (found := _OLD_WORDS.search(text)) and not (by_code and found[0].startswith("maximum"))
        ]
        known[handler] = telling[0] if telling else None
    place = known[handler]
    assert place is None or isinstance(place, tuple)
    return place


def _look(
    context: Context,
    body: cst.CSTNode,
    module: Module,
    name: str,
    places: list[tuple[cst.CSTNode, Module, str]],
    seen: set[Function],
) -> None:
    """Gather where texts are looked for in the error ``name``, or in what is made of it."""
    names = _made_of(body, name)
    for node in walk(body):
        match node:
            case cst.Comparison(left=left, comparisons=targets):
                sides = [left, *(target.comparator for target in targets)]
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=method)) as func) if method in _FINDS:
                sides = [func.value, *(arg.value for arg in node.args)]
            case _:
                sides = []
        if any(_mentions(side, names) for side in sides):
            for side in (side for side in sides if not _mentions(side, names)):
                places.extend((node, module, text) for text in _texts(context, side))
        if isinstance(node, cst.Call):
            for function, parameter in _takers(context, node, names):
                if function not in seen:
                    seen.add(function)
                    _look(context, function.node.body, function.module, parameter, places, seen)


def _made_of(body: cst.CSTNode, name: str) -> frozenset[str]:
    """``name``, and the names that are given something made of it: ``text = str(e).lower()``."""
    names = {name}
    for node in walk(body):
        if isinstance(node, cst.Assign) and _mentions(node.value, names):
            names |= {target.target.value for target in node.targets if isinstance(target.target, cst.Name)}
    return frozenset(names)


def _mentions(node: cst.CSTNode, names: frozenset[str] | set[str]) -> bool:
    return any(isinstance(inner, cst.Name) and inner.value in names for inner in walk(node))


def _texts(context: Context, node: cst.BaseExpression) -> Iterator[str]:
    """The texts that ``node``, or what a display holds, can be."""
    for inner in walk(node):
        if isinstance(inner, cst.BaseExpression):
            for value in context.project.values(inner):
                if isinstance(value, Const) and isinstance(value.value, str):
                    yield value.value


def _takers(context: Context, call: cst.Call, names: frozenset[str]) -> Iterator[tuple[Function, str]]:
    """The functions of the project that ``call`` hands the error to, with the parameter that gets it."""
    for value in context.project.values(call.func):
        function = value.function if isinstance(value, Bound) else value
        if not isinstance(function, Function):
            continue
        taken = function.positional[1:] if isinstance(value, Bound) else function.positional
        for position, arg in enumerate(call.args):
            if not arg.star and _mentions(arg.value, names):
                if arg.keyword is not None:
                    yield function, arg.keyword.value
                elif position < len(taken):
                    yield function, taken[position]

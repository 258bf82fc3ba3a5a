"""Handlers that will not hear of a truncated answer any more, and those that will now (MR602).

``parse`` raised ``LengthFinishReasonError`` or ``ContentFilterFinishReasonError``; the new one raises
``pydantic.ValidationError`` (from ``.stream()``, RuntimeError), which is no ``OpenAIError`` (traps F3, F8).
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import External, Site
from ..know.modules import Module
from .context import Context

_GONE = frozenset({"LengthFinishReasonError", "ContentFilterFinishReasonError", "OpenAIError"})
# What takes the new error and did not take the old one.
_NEW = {
    "parse": frozenset({"builtins.ValueError", "pydantic.ValidationError", "pydantic_core.ValidationError"}),
    "stream": frozenset({"builtins.RuntimeError"}),
}


def plan(context: Context) -> None:
    for site in context.sites:
        if site.method == "create":
            continue
        found = next(_handlers(context, site), None)
        if found is None:
            if context.request(site).passes("response_format"):
                detail = "a truncated answer raises pydantic.ValidationError now"
                context.note(site.node, site.module, [site], "MR602", detail)
            continue
        node, module, detail, step = found
        context.unsafe(node, module, [site], "MR602", detail, step)


def _handlers(context: Context, site: Site) -> Iterator[tuple[cst.CSTNode, Module, str, str]]:
    """Handlers that hear of something else than before, what that is, and what to do."""
    limited = context.request(site).passes("max_tokens", "max_completion_tokens")
    for node, module, path in _caught(context, site):
        name = path.rpartition(".")[2]
        if path.startswith("openai") and name in _GONE:
            yield node, module, f"`{name}` is not raised for a truncated answer any more", ""
        elif limited and path in _NEW.get(site.method, ()):
            yield node, module, f"`{name}` takes truncated answers, too, which went past it", _TAKES


_TAKES = "use --unsafe-fixes if it may take them"


def _caught(context: Context, site: Site) -> Iterator[tuple[cst.CSTNode, Module, str]]:
    """What handlers name around the call, and around the calls of the functions it stands in."""
    seen: set[cst.CSTNode] = set()
    stack: list[tuple[cst.CSTNode, Module]] = [(site.node, site.module)]
    while stack:
        node, module = stack.pop()
        if node in seen or node not in module.parents:
            continue
        seen.add(node)
        yield from _around(context, node, module)
        definition = module.function(node)
        function = context.project.functions.get(definition) if definition is not None else None
        if function is not None:
            stack.extend((caller.node, caller.module) for caller in function.callers)


def _around(context: Context, node: cst.CSTNode, module: Module) -> Iterator[tuple[cst.CSTNode, Module, str]]:
    below = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return
        match parent:
            case cst.Try(body=body, handlers=handlers) | cst.TryStar(body=body, handlers=handlers) if (
                body is below
            ):
                for handler in handlers:
                    if handler.type is not None:
                        for name in _named(context, handler.type):
                            yield handler.type, module, name
            case cst.With(body=body, items=items) if body is below:
                for item in items:
                    yield from ((item, module, name) for name in _suppressed(context, item.item))
            case _:
                pass
        below = parent


def _named(context: Context, node: cst.BaseExpression) -> Iterator[str]:
    if isinstance(node, cst.Tuple):
        for element in node.elements:
            yield from _named(context, element.value)
        return
    for value in context.project.values(node):
        if isinstance(value, External):
            yield value.path


def _suppressed(context: Context, node: cst.BaseExpression) -> Iterator[str]:
    """What ``contextlib.suppress(...)`` or ``pytest.raises(...)`` names."""
    if isinstance(node, cst.Call):
        for arg in node.args:
            yield from _named(context, arg.value)

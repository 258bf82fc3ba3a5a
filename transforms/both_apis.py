"""Usage that is read by the names of the new API, and where these fail by those of the old one: it may stay.

``try: return usage.input_tokens``, ``except AttributeError: return usage.prompt_tokens``: for an answer of
the old API the handler ran, and one of the new API gets the same before.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import Module, walk
from .context import Context
from .reading import builtin

_NEW_NAMES = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "prompt_tokens_details": "input_tokens_details",
    "completion_tokens_details": "output_tokens_details",
}
_ASKS = frozenset({"hasattr", "getattr", "int", "dict"})


def plan(context: Context) -> None:
    """Take such code out of what the other rules look at."""
    both = {
        part
        for module in {module for _, module, _ in context.shaped}
        for node in module.of(cst.Try)
        if isinstance(node, cst.Try) and _reads_both(context, node, module)
        for part in (node.body, node.handlers[0])
    }
    if both:
        context.shaped = [
            (node, module, shapes)
            for node, module, shapes in context.shaped
            if both.isdisjoint(module.ancestors(node))
        ]


def _reads_both(context: Context, node: cst.Try, module: Module) -> bool:
    match node:
        case cst.Try(
            body=body,
            handlers=[cst.ExceptHandler(type=cst.Name(value="AttributeError"), name=None, body=other)],
        ):
            if node.orelse is not None or not _is_one_value(context, body):
                return False
            usages = list(_usages(context, body))
            new = all(_is_new_read(usage, module) for usage in usages)
            return bool(usages) and new and _text(module, other, _NEW_NAMES) == _text(module, body, {})
        case _:
            return False


def _is_one_value(context: Context, body: cst.BaseSuite) -> bool:
    """Whether ``body`` gives one value, and does nothing else before it fails."""
    match body.body:
        case [cst.SimpleStatementLine(body=[cst.Return() | cst.Assign() as statement])]:
            pass
        case _:
            return False
    return all(
        not isinstance(inner, (cst.Await, cst.Yield, cst.NamedExpr))
        and not (isinstance(inner, cst.Call) and builtin(context, inner) not in _ASKS)
        for inner in walk(statement)
    )


def _usages(context: Context, body: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    """The expressions in ``body`` that can be the usage of an answer; nothing else of one may be there."""
    for inner in walk(body):
        kinds = {shape.kind for shape in context.project.shapes(inner)}
        if Kind.USAGE in kinds:
            yield inner


def _is_new_read(node: cst.CSTNode, module: Module) -> bool:
    parent = module.parents.get(node)
    return (
        isinstance(parent, cst.Attribute)
        and parent.value is node
        and parent.attr.value in {*_NEW_NAMES.values(), "total_tokens"}
    )


def _text(module: Module, body: cst.BaseSuite, names: dict[str, str]) -> str:
    """The code of ``body``, on one line, with attributes by their new ``names``."""

    class Rename(cst.CSTTransformer):
        def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
            name = updated_node.attr.value
            return updated_node.with_changes(attr=cst.Name(names.get(name, name)))

    renamed = body.visit(Rename())
    assert isinstance(renamed, cst.BaseSuite)
    return " ".join(module.tree.code_for_node(renamed).split())

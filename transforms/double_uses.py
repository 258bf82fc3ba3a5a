"""What a test reads of recorded messages, followed through the names that it gives to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from ..know.modules import Module
from .double_trees import binding, is_read
from .tested import key_asked


class Unclear(Exception):
    """A use of the messages that is not understood."""


def uses(module: Module, assign: cst.Assign, name: cst.Name) -> Iterator[cst.Name]:
    """Where what ``assign`` binds is read; nothing else may bind the name around it."""
    for node in module.of(cst.Name):
        assert isinstance(node, cst.Name)
        if node.value == name.value and is_read(module, node):
            bound = binding(module, node)
            if bound is assign:
                yield node
            elif bound is None and module.function(node) is module.function(assign):
                raise Unclear


def keys_asked(
    module: Module, node: cst.BaseExpression, is_whole: Callable[[cst.BaseExpression], bool] = lambda _: False
) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The keys that are read of a dict, each with its read; "" where ``is_whole`` says it is asked whole.

    Raises Unclear for any other use.
    """
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(value=value) if value is node and key_asked(parent):
            yield str(key_asked(parent)), parent
        case cst.Attribute(value=value, attr=cst.Name(value="get")) if value is node:
            call = module.parents.get(parent)
            if not isinstance(call, cst.Call) or key_asked(call) is None or len(call.args) > 1:
                raise Unclear
            yield str(key_asked(call)), call
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)], value=value) if value is node:
            for use in uses(module, parent, name):
                yield from keys_asked(module, use, is_whole)
        case _ if is_whole(node):
            yield "", node
        case _:
            raise Unclear

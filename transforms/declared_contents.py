"""Contents whose annotation admits a list (``content: str | list[dict]``): such a list holds parts.

One that comes from outside would keep its parts in the old form (MR204). What is in sight is rewritten by
:mod:`.parts`; a content without an annotation is taken as plain text.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.annotations import quoted
from ..know.kinds import Alias, Instance, Unknown, Value
from ..know.modules import Module, parameters
from .context import WRITES, Context
from .sent import messages_of

_LISTS = frozenset({"list", "List", "Sequence", "MutableSequence", "Iterable", "Collection"})
_DEEPEST = 5  # aliases of aliases


def plan(context: Context) -> None:
    for site in context.sites:
        for message in messages_of(context, site):
            for place in message.places.get("content", ()):
                if place.how not in WRITES or place.var is None:
                    continue
                if any(_is_declared_list(context, value, place.module) for value in place.var.values) or (
                    not place.var.values and _content(place.node, context, place.module)
                ):
                    detail = f"`{context.source(place.node, place.module)}` may be parts, by its annotation"
                    context.unsafe(place.node, place.module, [site], "MR204", detail)


def may_be_list(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether the annotation of the parameter or field ``node`` admits a list of parts."""
    return any(admits_parts(context, found, where) for found, where in _declared(context, node, module))


def admits_parts(context: Context, annotation: cst.CSTNode, module: Module, depth: int = 0) -> bool:
    """Whether a value of the type ``annotation`` may be a list of something else than texts."""
    match annotation:
        case cst.SimpleString():
            inner = quoted(annotation)
            return inner is not None and admits_parts(context, inner, module, depth)
        case cst.BinaryOperation(left=left, right=right):
            return any(admits_parts(context, one, module, depth) for one in (left, right))
        case cst.Subscript(value=base, slice=elements):
            inside = [element.slice.value for element in elements if isinstance(element.slice, cst.Index)]
            if _last_name(base) in _LISTS:
                return not all(isinstance(one, cst.Name) and one.value == "str" for one in inside)
            if _last_name(base) in ("Union", "Optional", "Annotated"):
                return any(admits_parts(context, one, module, depth) for one in inside)
            return False
        case cst.Name() | cst.Attribute():
            aliases = [value for value in context.project.values(annotation) if isinstance(value, Alias)]
            return _last_name(annotation) in _LISTS or (
                depth < _DEEPEST
                and any(admits_parts(context, one.node, one.module, depth + 1) for one in aliases)
            )
        case _:
            return False


def _is_declared_list(context: Context, value: Value, module: Module) -> bool:
    """Whether ``value`` came from outside, to where an annotation admits a list of parts."""
    match value:
        case Unknown(node=cst.Param(annotation=cst.Annotation(annotation=found))):
            return admits_parts(context, found, module)
        case Unknown(node=cst.BaseExpression() as found):
            return admits_parts(context, found, module)
        case _:
            return False


def _content(node: cst.CSTNode, context: Context, module: Module) -> bool:
    """Whether what is written at a place of which nothing is known is declared to be a list at times."""
    return isinstance(node, (cst.DictElement, cst.Arg)) and may_be_list(context, node.value, module)


def _declared(
    context: Context, node: cst.BaseExpression, module: Module
) -> Iterator[tuple[cst.BaseExpression, Module]]:
    """The annotations of a parameter, or of a field of an object of the project."""
    if isinstance(node, cst.Name):
        for function in module.ancestors(node):
            if isinstance(function, cst.FunctionDef):
                for param in parameters(function.params):
                    if param.name.value == node.value and param.annotation is not None:
                        yield param.annotation.annotation, module
    elif isinstance(node, cst.Attribute):
        for value in context.project.values(node.value):
            if isinstance(value, Instance):
                for cls in (value.type, *context.project.ancestors(value.type)):
                    if node.attr.value in cls.annotations:
                        yield cls.annotations[node.attr.value], cls.module
                        break


def _last_name(node: cst.BaseExpression) -> str:
    name = node.attr if isinstance(node, cst.Attribute) else node
    return name.value if isinstance(name, cst.Name) else ""

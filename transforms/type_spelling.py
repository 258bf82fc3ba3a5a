"""Old types in expressions, and the same expressions with the new ones in their place."""

from __future__ import annotations

import re

import libcst as cst

from ..know.annotations import quoted
from ..know.kinds import External
from ..know.modules import Module
from .context import Context
from .type_table import LIST_TYPES, list_replacement, replacement

_WORD = re.compile(r"\w+")


def path_of(context: Context, module: Module, node: cst.BaseExpression) -> str | None:
    """The dotted path of the external thing that a name or attribute means, also in a parsed string.

    Each is kept: a chain of attributes is asked about at every link.
    """
    if node not in context.paths:
        context.paths[node] = _path(context, module, node)
    return context.paths[node]


def _path(context: Context, module: Module, node: cst.BaseExpression) -> str | None:
    for value in context.project.values(node):
        if isinstance(value, External):
            return value.path
    match node:
        case cst.Name(value=name) if name in module.scope.bound:
            for value in module.scope.any(name).values:
                if isinstance(value, External):
                    return value.path
            return None
        case cst.Attribute(value=base, attr=cst.Name(value=name)):
            head = path_of(context, module, base)
            return f"{head}.{name}" if head is not None else None
        case _:
            return None


def may_name(module: Module, node: cst.CSTNode) -> bool:
    """Whether ``node`` itself can name a type: a text does if it has a word that the module binds."""
    if isinstance(node, cst.SimpleString):
        text = node.evaluated_value
        return isinstance(text, str) and not module.scope.bound.isdisjoint(_WORD.findall(text))
    return isinstance(node, (cst.Name, cst.Attribute))


class Convert(cst.CSTTransformer):
    """Puts new types in the place of old ones, in any expression that is a type."""

    def __init__(self, context: Context, module: Module) -> None:
        super().__init__()
        self._context = context
        self._module = module
        self.needed: list[tuple[str, str, str]] = []

    def _new(self, node: cst.BaseExpression, found: tuple[str, str]) -> cst.Name:
        module, name = found
        local = _local_name(self._module, module, name)
        root = node
        while isinstance(root, cst.Attribute):
            root = root.value
        beside = root.value if isinstance(root, cst.Name) else ""
        self.needed.append((beside, module, name if local == name else f"{name} as {local}"))
        return cst.Name(local)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        path = path_of(self._context, self._module, original_node)
        found = replacement(path) if path is not None else None
        return self._new(original_node, found) if found is not None else updated_node

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return False

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        path = path_of(self._context, self._module, original_node)
        found = replacement(path) if path is not None else None
        return self._new(original_node, found) if found is not None else updated_node

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.BaseExpression:
        match original_node:
            case cst.Subscript(value=base, slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]):
                name = base.attr.value if isinstance(base, cst.Attribute) else getattr(base, "value", "")
                path = path_of(self._context, self._module, inner)
                found = list_replacement(path) if path is not None and name in LIST_TYPES else None
                if found is not None:
                    self.needed.pop()  # the element type is not named any more
                    return self._new(inner, found)
            case _:
                pass
        return updated_node

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        inner = quoted(original_node) if may_name(self._module, original_node) else None
        if inner is None:
            return updated_node
        count = len(self.needed)
        result = inner.visit(self)
        if len(self.needed) == count or not isinstance(result, cst.BaseExpression):
            return updated_node
        code = cst.Module([]).code_for_node(result)
        return updated_node.with_changes(value=f"{original_node.quote}{code}{original_node.quote}")


def _local_name(module: Module, source: str, name: str) -> str:
    """The name to use for ``source.name`` here: itself, unless something else has it."""
    for scope in module.scopes.values():
        if name not in scope.bound:
            continue
        values = scope.any(name).values
        if (
            not all(isinstance(v, External) and v.path.startswith("openai.types.responses") for v in values)
            or not values
        ):
            return f"OpenAI{name}"
    return name

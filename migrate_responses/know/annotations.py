"""What an annotation says about a value."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import libcst as cst

from . import models
from .definitions import Definitions
from .kinds import Class, Client, External, Typed, Unknown, Value
from .modules import Module

_WRAPPERS = ("Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Awaitable")
_BUILTIN = frozenset({"str", "int", "float", "bool", "bytes"})


def instances_of(project: Definitions, module: Module, annotation: cst.BaseExpression) -> Iterator[Value]:
    """The values that stand for an instance of ``annotation``: clients, instances, builtin types."""
    match annotation:
        case cst.SimpleString():
            inner = _parse(annotation)
            if inner is not None:
                yield from instances_of(project, module, inner)
        case cst.BinaryOperation(operator=cst.BitOr()):
            yield from instances_of(project, module, annotation.left)
            yield from instances_of(project, module, annotation.right)
        case cst.Subscript(value=base, slice=elements):
            name = (
                base.value
                if isinstance(base, cst.Name)
                else getattr(getattr(base, "attr", None), "value", "")
            )
            if name in _WRAPPERS or name == "Union":
                count = 1 if name == "Annotated" else len(elements)
                for element in elements[:count]:
                    if isinstance(element.slice, cst.Index):
                        yield from instances_of(project, module, element.slice.value)
        case cst.Name() | cst.Attribute():
            alias = _alias(module, annotation)
            if alias is not None:
                yield from instances_of(project, module, alias)
            for value in _named(project, module, annotation):
                yield from _instance(project, module, value, annotation)
        case _:
            return


def _alias(module: Module, node: cst.Name | cst.Attribute) -> cst.Subscript | None:
    """What ``node`` is another name for, in ``AI = Annotated[OpenAI, Depends(get_ai)]`` at module level."""
    if not isinstance(node, cst.Name):
        return None
    known = _ALIASES.get(module)
    if known is None:
        known = _ALIASES[module] = {
            target.target.value: assign.value
            for assign in module.of(cst.Assign)
            if isinstance(assign, cst.Assign) and isinstance(assign.value, cst.Subscript)
            for target in assign.targets
            if isinstance(target.target, cst.Name) and module.function(assign) is None
        }
    return known.get(node.value)


_ALIASES: WeakKeyDictionary[Module, dict[str, cst.Subscript]] = WeakKeyDictionary()


def _parse(node: cst.SimpleString) -> cst.BaseExpression | None:
    text = node.evaluated_value
    if not isinstance(text, str):
        return None
    try:
        return cst.parse_expression(text)
    except (cst.ParserSyntaxError, ValueError):  # the latter for half of a surrogate pair, or a null byte
        return None


def _named(project: Definitions, module: Module, node: cst.Name | cst.Attribute) -> list[Value]:
    known = project.values(node)
    if known:
        return known
    if isinstance(node, cst.Name):  # from a string: only module level names can be meant
        if node.value in module.scope.bound:
            return list(module.scope.any(node.value).values)
        return list(project.outer_name(module, node.value).values)
    if isinstance(node.value, (cst.Name, cst.Attribute)):
        found: list[Value] = []
        for base in _named(project, module, node.value):
            if isinstance(base, External):
                found.append(External(f"{base.path}.{node.attr.value}"))
        return found
    return []


def _instance(project: Definitions, module: Module, value: Value, node: cst.CSTNode) -> Iterator[Value]:
    match value:
        case Class():
            yield value.instance
        case External(path=path) if models.is_client_class(path):
            client = project.clients.get(node)
            if client is None:
                client = project.clients[node] = Client(path.rpartition(".")[2], node, module)
            yield client
        case External(path=path) if path.startswith("builtins.") and path[9:] in _BUILTIN:
            yield Typed(path[9:])
        case External(path=path) if "." in path and not path.startswith(("builtins.", "typing.")):
            yield Unknown(f"a `{path}`", node)
        case _:
            return

"""What an annotation says about a value."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from . import models
from .definitions import Definitions
from .kinds import Alias, Class, Client, External, ModuleValue, Typed, Unknown, Value
from .modules import Module

_WRAPPERS = ("Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Awaitable")
_DEEPEST = 10  # names of names: beyond it, one that stands for itself
_CONTAINERS = frozenset({"list", "List", "dict", "Dict", "Sequence", "Iterable", "Mapping", "tuple", "Any"})
_BUILTIN = frozenset({"str", "int", "float", "bool", "bytes"})


def instances_of(
    project: Definitions, module: Module, annotation: cst.BaseExpression, depth: int = 0
) -> Iterator[Value]:
    """The values that stand for an instance of ``annotation``: clients, instances, builtin types."""
    match annotation:
        case cst.SimpleString():
            inner = quoted(annotation)
            if inner is not None:
                yield from instances_of(project, module, inner, depth)
        case cst.BinaryOperation(operator=cst.BitOr()):
            for one in (annotation.left, annotation.right):
                yield from instances_of(project, module, one, depth)
                yield from _containers(one)
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
                        yield from instances_of(project, module, element.slice.value, depth)
                        yield from _containers(element.slice.value) if name == "Union" else ()
        case cst.Name() | cst.Attribute():
            for value in _named(project, module, annotation):
                if isinstance(value, Alias):
                    if depth < _DEEPEST:
                        yield from instances_of(project, value.module, value.node, depth + 1)
                else:
                    yield from _instance(project, module, value, annotation)
        case _:
            return


def _containers(annotation: cst.BaseExpression) -> Iterator[Value]:
    """The lists and dicts of ``str | list[dict]``: a value that is not only the text beside them."""
    base = annotation.value if isinstance(annotation, cst.Subscript) else annotation
    name = base.attr if isinstance(base, cst.Attribute) else base
    if isinstance(name, cst.Name) and name.value in _CONTAINERS:
        yield Unknown(f"a `{name.value}`", annotation)


def quoted(node: cst.SimpleString) -> cst.BaseExpression | None:
    """The expression that a text is, if it is one."""
    try:
        text = node.evaluated_value  # of a text in a text, which need not be one that Python reads
        return cst.parse_expression(text) if isinstance(text, str) and text else None
    except (cst.ParserSyntaxError, SyntaxError, ValueError):  # or half of a surrogate pair, or a null byte
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
            elif isinstance(base, ModuleValue):
                found.extend(project.module_member(base.module, node.attr.value).values)
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

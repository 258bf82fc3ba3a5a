"""Dicts of arguments that a class of the project describes: its fields have the old names (MR702)."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DictValue, Value
from ..know.modules import Module, dotted, parameters
from .context import Context
from .parameter import UNCHANGED


def plan(context: Context) -> None:
    """Hold back the calls whose dict is declared with fields that get other names."""
    described = _typed_dicts(context)
    if not described:
        return
    for values, module, annotation in _annotated(context):
        fields = described.get(dotted(annotation).rpartition(".")[2], set())
        for value in values if fields else ():
            if not isinstance(value, DictValue):
                continue
            for site in context.senders(value):
                names = {keyword.name for keyword in context.request(site).of(value)} - UNCHANGED
                for name in sorted(names & fields):
                    detail = f"`{dotted(annotation)}` declares `{name}`, which gets another form"
                    context.manual(annotation, module, [site], "MR702", detail)


def _typed_dicts(context: Context) -> dict[str, set[str]]:
    """The TypedDict classes of the project, by name, with their fields."""
    found: dict[str, set[str]] = {}
    for module in context.project.modules:
        if "TypedDict" not in module.text:
            continue
        for node in module.of(cst.ClassDef):
            bases = [dotted(base.value).rpartition(".")[2] for base in node.bases]
            if "TypedDict" in bases or any(base in found for base in bases):
                inherited = set().union(*(found.get(base, set()) for base in bases))
                found[node.name.value] = inherited | set(_fields(node))
    return found


def _fields(node: cst.ClassDef) -> Iterator[str]:
    for line in node.body.body:
        for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(part, cst.AnnAssign) and isinstance(part.target, cst.Name):
                yield part.target.value


def _annotated(context: Context) -> Iterator[tuple[list[Value], Module, cst.BaseExpression]]:
    """The values that an annotation describes: of variables, results and parameters."""
    project = context.project
    for module in project.modules:
        for node in module.of(cst.AnnAssign, cst.Return):
            if isinstance(node, cst.AnnAssign) and node.value is not None:
                yield project.values(node.value), module, node.annotation.annotation
            elif isinstance(node, cst.Return) and node.value is not None:
                function = module.function(node)
                if isinstance(function, cst.FunctionDef) and function.returns is not None:
                    yield project.values(node.value), module, function.returns.annotation
    for known in project.functions.values():
        for parameter in parameters(known.node.params):
            if parameter.annotation is not None:
                values = list(known.parameters[parameter.name.value].values)
                yield values, known.module, parameter.annotation.annotation

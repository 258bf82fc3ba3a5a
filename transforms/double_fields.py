"""The syntax of hand-written fakes: what a class holds, and the edits of its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import libcst as cst

from ..decide.plan import Apply, Replacement
from ..know import modules as syntax


def lines_of(block: cst.BaseSuite) -> Iterator[cst.BaseSmallStatement]:
    if isinstance(block, cst.SimpleStatementSuite):  # def __init__(self, x): self.x = x
        yield from block.body
    for line in block.body:
        if isinstance(line, cst.SimpleStatementLine):
            yield from line.body


def classes_of(node: cst.ClassDef) -> list[cst.ClassDef]:
    return [item for item in node.body.body if isinstance(item, cst.ClassDef)]


def method_of(node: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    for item in node.body.body:
        if isinstance(item, cst.FunctionDef) and item.name.value == name:
            return item
    return None


def is_plain(node: cst.ClassDef, fields: set[cst.CSTNode]) -> bool:
    """Whether a class does nothing but hold ``fields``."""
    for item in node.body.body:
        if isinstance(item, cst.FunctionDef) and item.name.value != "__init__":
            return False
    init = method_of(node, "__init__")
    if init is None:
        return True
    if any(isinstance(line, cst.BaseCompoundStatement) for line in init.body.body):
        return False
    return all(
        small in fields or (isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString))
        for small in lines_of(init.body)
    )


def is_dataclass(node: cst.ClassDef) -> bool:
    for item in node.decorators:
        made = item.decorator.func if isinstance(item.decorator, cst.Call) else item.decorator
        if syntax.dotted(made).rpartition(".")[2] == "dataclass":
            return True
    return any(syntax.dotted(base.value).rpartition(".")[2] == "NamedTuple" for base in node.bases)


def target_of(node: cst.CSTNode) -> cst.BaseExpression:
    if isinstance(node, cst.Assign):
        return node.targets[0].target
    assert isinstance(node, cst.AnnAssign)
    return node.target


def assigned(name: str, value: cst.BaseExpression) -> Apply:
    """An edit that makes ``self.x = y`` set ``name`` to ``value``."""

    return reassigned(name, lambda updated: value)


def reassigned(name: str, change: Callable[[cst.BaseExpression], cst.BaseExpression]) -> Apply:
    """As ``assigned``, with a change of the value, which keeps what is edited in it."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, (cst.Assign, cst.AnnAssign))
        assert updated.value is not None
        target = target_of(updated)
        new = (
            target.with_changes(attr=cst.Name(name)) if isinstance(target, cst.Attribute) else cst.Name(name)
        )
        return cst.Assign([cst.AssignTarget(new)], change(updated.value))

    return apply


def each_assigned(fields: Mapping[str, cst.BaseExpression]) -> Apply:
    """An edit that makes the line of ``self.x = y`` one line for each of ``fields``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        assert isinstance(updated, cst.SimpleStatementLine)
        (small,) = updated.body
        lines: list[cst.SimpleStatementLine] = []
        for name, value in fields.items():
            made = assigned(name, value)(small, small)
            assert isinstance(made, cst.Assign)
            lines.append(cst.SimpleStatementLine([made]) if lines else updated.with_changes(body=[made]))
        return cst.FlattenSentinel(lines)

    return apply


_ANNOTATIONS = {"output_text": "str", "output": "list", "status": "str"}


def each_field(names: Iterable[str]) -> Apply:
    """An edit that makes the line of a dataclass's field one for each of ``names``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        assert isinstance(updated, cst.SimpleStatementLine)
        lines: list[cst.SimpleStatementLine] = []
        for name in names:
            annotation = cst.Annotation(cst.Name(_ANNOTATIONS.get(name, "object")))
            made = cst.AnnAssign(cst.Name(name), annotation)
            lines.append(cst.SimpleStatementLine([made]) if lines else updated.with_changes(body=[made]))
        return cst.FlattenSentinel(lines)

    return apply


def each_parameter(names: Iterable[str]) -> Apply:
    """An edit that makes a parameter one for each of ``names``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        assert isinstance(updated, cst.Param)
        made = []
        for name in names:
            annotation = cst.Annotation(cst.Name(_ANNOTATIONS.get(name, "object")))
            made.append(
                updated.with_changes(
                    name=cst.Name(name),
                    annotation=annotation if updated.annotation is not None else None,
                    comma=_COMMA,
                )
            )
        made[-1] = made[-1].with_changes(comma=updated.comma)
        return cst.FlattenSentinel(made)

    return apply


def each_argument(fields: Mapping[str, cst.BaseExpression]) -> Apply:
    """An edit that makes an argument one for each of ``fields``, by position or by name as it was."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        assert isinstance(updated, cst.Arg)
        made = [
            updated.with_changes(
                value=value, keyword=cst.Name(name) if updated.keyword is not None else None, comma=_COMMA
            )
            for name, value in fields.items()
        ]
        made[-1] = made[-1].with_changes(comma=updated.comma)
        return cst.FlattenSentinel(made)

    return apply


_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def put(node: cst.BaseExpression) -> Apply:
    return lambda original, updated: node


def text_field(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.AnnAssign)
    value = cst.SimpleString('""') if updated.value is not None else None
    return updated.with_changes(
        target=cst.Name("output_text"), annotation=cst.Annotation(cst.Name("str")), value=value
    )


def text_parameter(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Param)
    annotation = cst.Annotation(cst.Name("str")) if updated.annotation is not None else None
    return updated.with_changes(name=cst.Name("output_text"), annotation=annotation)


def makes_answer(node: cst.CSTNode) -> bool:
    """Whether an answer of the old API is put together in ``node``."""
    return any(isinstance(inner, cst.Name) and inner.value == "choices" for inner in syntax.walk(node))

"""The syntax of hand-written fakes: what a class holds, and the edits of its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from .snippets import expr


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


def with_output(original: cst.CSTNode, updated: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
    """The line that sets the text, and one that sets the items, which somebody asks for: there is one."""
    assert isinstance(updated, cst.SimpleStatementLine)
    (small,) = updated.body
    assert isinstance(small, cst.Assign)
    target = small.targets[0].target
    name = (
        target.with_changes(attr=cst.Name("output"))
        if isinstance(target, cst.Attribute)
        else cst.Name("output")
    )
    items = cst.Assign([cst.AssignTarget(name)], expr('[{"type": "message"}]'))
    return cst.FlattenSentinel([updated, cst.SimpleStatementLine([items])])


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


def only_argument(node: cst.BaseExpression) -> cst.BaseExpression:
    """The ``X`` of ``SimpleNamespace(completions=X)``."""
    assert isinstance(node, cst.Call)
    return node.args[0].value

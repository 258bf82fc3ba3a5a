"""Which type an event of the ``.stream()`` helper has where it is used: by the tests around it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import Module
from .context import Context
from .stream_need import is_poll, is_quiet, latch_of
from .stream_parts import leaves

CALL_DONE = "tool_calls.function.arguments.done"
CALL_DELTA = "tool_calls.function.arguments.delta"
TYPES = {
    "content.delta": "response.output_text.delta",
    "content.done": "response.output_text.done",
    "refusal.delta": "response.refusal.delta",
    "refusal.done": "response.refusal.done",
    CALL_DELTA: "response.function_call_arguments.delta",
    CALL_DONE: "response.function_call_arguments.done",
    "error": "error",
}


def patterns_of(pattern: cst.MatchPattern) -> list[cst.SimpleString] | None:
    """The literals of a case; none for ``_``, and None where it is written otherwise."""
    match pattern:
        case cst.MatchValue(value=cst.SimpleString() as literal):
            return [literal]
        case cst.MatchOr(patterns=options):
            found = [patterns_of(option.pattern) for option in options]
            return None if None in found else [literal for part in found if part for literal in part]
        case cst.MatchAs(pattern=None, name=None):
            return []
        case _:
            return None


def tests_of(node: cst.BaseExpression) -> Iterator[cst.Comparison]:
    """The comparisons that must hold where ``node`` is true."""
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And):
        yield from tests_of(node.left)
        yield from tests_of(node.right)
    elif isinstance(node, cst.Comparison):
        yield node


def type_around(context: Context, node: cst.CSTNode, module: Module) -> str | None:
    """The type that an event is known to have at ``node``."""
    child = node
    for parent in module.ancestors(node):
        if (isinstance(parent, (cst.If, cst.IfExp)) and child is parent.body) or isinstance(
            parent, cst.BooleanOperation
        ):
            test = parent.left if isinstance(parent, cst.BooleanOperation) else parent.test
            for comparison in tests_of(test):
                found = type_of(context, comparison)
                if found is not None:
                    return found
        if isinstance(parent, cst.MatchCase) and child is parent.body:
            literals = patterns_of(parent.pattern)
            match = module.parents.get(parent)
            if literals and len(literals) == 1 and isinstance(match, cst.Match) and asks_type(context, match):
                return str(literals[0].evaluated_value)
        if isinstance(parent, cst.IndentedBlock):
            for statement in parent.body:
                if statement is child:
                    break
                found = _only_type_after(context, statement)
                if found is not None:
                    return found
        if isinstance(parent, (cst.GeneratorExp, cst.ListComp, cst.SetComp)) and child is parent.elt:
            for condition in parent.for_in.ifs:
                for comparison in tests_of(condition.test):
                    found = type_of(context, comparison)
                    if found is not None:
                        return found
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return None
        child = parent
    return None


def _only_type_after(context: Context, statement: cst.CSTNode) -> str | None:
    """The type of the events that ``if event.type != "content.delta": continue`` lets through."""
    if not isinstance(statement, cst.If) or statement.orelse is not None or not leaves(statement.body):
        return None
    test = statement.test
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    target = test.comparisons[0]
    if not isinstance(target.operator, cst.NotEqual):
        return None
    return type_of(context, test.with_changes(comparisons=[target.with_changes(operator=cst.Equal())]))


def asks_type(context: Context, match: cst.Match) -> bool:
    subject = match.subject
    return isinstance(subject, cst.Attribute) and any(
        shape.kind is Kind.EVENT for shape in context.project.shapes(subject.value)
    )


def type_of(context: Context, node: cst.Comparison) -> str | None:
    match node:
        case cst.Comparison(
            left=cst.Attribute(value=base, attr=cst.Name(value="type")),
            comparisons=[
                cst.ComparisonTarget(operator=cst.Equal(), comparator=cst.SimpleString() as literal)
            ],
        ) if any(shape.kind is Kind.EVENT for shape in context.project.shapes(base)):
            return str(literal.evaluated_value)
        case _:
            return None


# -- what acts on every event ------------------------------------------------------------


def untyped(context: Context, block: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    """Statements of a loop over events that act whatever the type: there are other events now."""
    for statement in block.body:
        if isinstance(statement, cst.If) and not (is_poll(statement) or latch_of(statement)):
            yield from _branches(context, statement)
        elif isinstance(statement, cst.Match) and asks_type(context, statement):
            for case in statement.cases:
                if patterns_of(case.pattern) == [] and not _is_quiet(case.body):
                    yield case.body.body[0]
        elif isinstance(statement, cst.SimpleStatementLine):
            if not all(is_quiet(small) for small in statement.body):
                yield statement
        elif not isinstance(statement, cst.If):
            yield statement
        if _only_type_after(context, statement) is not None:
            return


def _branches(context: Context, node: cst.If) -> Iterator[cst.CSTNode]:
    if not any(_asks(context, comparison) for comparison in tests_of(node.test)):
        if _only_type_after(context, node) is None or not _is_quiet(node.body):
            yield node.test
        return
    if isinstance(node.orelse, cst.If):
        yield from _branches(context, node.orelse)
    elif node.orelse is not None and not _is_quiet(node.orelse.body):
        yield node.orelse.body.body[0]


def _asks(context: Context, node: cst.Comparison) -> bool:
    """``event.type == "..."`` or ``event.type in (...)``."""
    asked = node.left
    if not isinstance(asked, cst.Attribute) or asked.attr.value != "type":
        return False
    known = any(shape.kind is Kind.EVENT for shape in context.project.shapes(asked.value))
    return known and isinstance(node.comparisons[0].operator, (cst.Equal, cst.In))


def _is_quiet(body: cst.BaseSuite) -> bool:
    smalls = [
        small
        for line in body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    ]
    return all(isinstance(small, (cst.Pass, cst.Continue)) for small in smalls)

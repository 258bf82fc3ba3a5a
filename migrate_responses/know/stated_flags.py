"""Flags that a statement puts into a dict of arguments: ``if stream: params["stream"] = True``.

The call that gets the dict streams if the flag is on, where the statement always runs between the line that
makes the dict and the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import libcst as cst

from .modules import Module, bound_by, walk


def sets_stream(target: cst.CSTNode) -> TypeGuard[cst.Subscript]:
    """``params["stream"]``, of a name."""
    match target:
        case cst.Subscript(
            value=cst.Name(), slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]
        ):
            return key.evaluated_value == "stream"
        case _:
            return False


def spelled(target: cst.Subscript, module: Module) -> tuple[cst.BaseExpression | None, cst.If | None]:
    """The flag that is written to ``target``, and the test of it around that: without, there is no entry."""
    assignment = module.parents[module.parents[target]]
    if not isinstance(assignment, cst.Assign):
        return None, None
    value = assignment.value
    block = module.parents[assignment]
    if isinstance(block, cst.SimpleStatementLine):
        block = module.parents[block]
    around = module.parents.get(block)
    if isinstance(around, cst.If) and around.body is block:
        if _is_flag(around.test) and (_is_true(value) or around.test.deep_equals(value)):
            return around.test, around
        if _is_flag(value) and _is_given(around.test, value):
            return value, around
    return (value, None) if _is_flag(value) else (None, None)


def _is_flag(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) or (
        isinstance(node, cst.Name) and node.value not in ("True", "False", "None")
    )


def _is_true(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "True"


def _is_given(test: cst.BaseExpression, flag: cst.BaseExpression) -> bool:
    """``stream is not None``."""
    match test:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=cst.IsNot(), comparator=cst.Name(value="None"))],
        ):
            return left.deep_equals(flag)
        case _:
            return False


def stating(made: cst.CSTNode, call: cst.Call, module: Module) -> cst.Subscript | None:
    """Where the dict ``made`` gets its ``stream``, if it always comes by there before ``call`` gets it."""
    line = module.statement(made)
    name = _named(made, module)
    block = module.parents.get(line)
    if name is None or block is None or not any(_is_poured(arg, name) for arg in call.args):
        return None
    function = module.function(made) or module.tree
    scope = module.scopes[function]
    binders = sum(name in bound_by(node) for node in walk(function))
    if binders != 1 or name in scope.shared | scope.globals | scope.nonlocals:
        return None
    above = set(module.ancestors(call))
    found: list[cst.Subscript] = []
    for statement in _after(line, block):
        if found and statement in above:
            return found[0]
        found += _targets(statement, name, module)
    return None


def _after(line: cst.CSTNode, block: cst.CSTNode) -> Iterator[cst.CSTNode]:
    body = block.body if isinstance(block, (cst.IndentedBlock, cst.Module)) else ()
    begun = False
    for statement in body:
        if begun:
            yield statement
        begun = begun or statement is line


def _named(made: cst.CSTNode, module: Module) -> str | None:
    """``params`` of ``params = {...}``, for the dict or the call of ``dict``."""
    match parent := module.parents.get(made):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            return name if value is made else None
        case cst.AnnAssign(target=cst.Name(value=name)):
            return name if parent.value is made else None
        case _:
            return None


def _is_poured(arg: cst.Arg, name: str) -> bool:
    return arg.star == "**" and isinstance(arg.value, cst.Name) and arg.value.value == name


def _targets(statement: cst.CSTNode, name: str, module: Module) -> Iterator[cst.Subscript]:
    """What ``statement`` writes to the ``stream`` of ``name`` whenever it runs, and its flag is on."""
    test = statement if isinstance(statement, cst.If) else None
    for line in _lines(statement):
        match line:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Subscript(value=cst.Name(value=owner)) as target)]
            ) if owner == name and sets_stream(target):
                flag, around = spelled(target, module)
                if flag is not None and around is test:
                    yield target
            case _:
                continue


def _lines(statement: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The simple statements of a line, or of the body of a test."""
    match statement:
        case cst.SimpleStatementLine(body=lines) | cst.If(body=cst.SimpleStatementSuite(body=lines)):
            yield from lines
        case cst.If(body=cst.IndentedBlock(body=inner)):
            for line in inner:
                if isinstance(line, cst.SimpleStatementLine):
                    yield from line.body
        case _:
            return

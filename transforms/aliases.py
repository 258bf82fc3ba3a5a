"""``message = response.choices[0].message`` would say ``message = response``: one name is enough (MR301).

Where the answer's first name is used for nothing else, the answer gets the second name; where the second name
only stands in code that changes anyway, it gives way to the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import Shape, Site
from ..know.modules import Module
from .access import RESPONSE
from .context import Context
from .shared import Scope, bindings, holds_answer, root_of


class Aliases:
    """The second names that go away, and where what depended on them is written."""

    def __init__(self) -> None:
        self._names: dict[tuple[Scope, str], str] = {}
        self._anchors: dict[cst.CSTNode, cst.CSTNode] = {}

    def name(self, scope: Scope, name: str) -> str:
        """What ``name`` is called afterwards."""
        return self._names.get((scope, name), name)

    def anchor(self, line: cst.CSTNode) -> cst.CSTNode:
        """The line that takes the place of ``line``."""
        return self._anchors.get(line, line)

    def rename(self, scope: Scope, old: str, new: str) -> None:
        self._names[scope, old] = new

    def replace(self, line: cst.CSTNode, by: cst.CSTNode) -> None:
        self._anchors[line] = by

    def is_taken(self, line: cst.CSTNode) -> bool:
        """Whether ``line`` is part of another alias already."""
        return line in self._anchors or line in self._anchors.values()


def aliases(context: Context) -> Aliases:
    """The aliases of a run, computed (and their edits asked for) once."""
    known = context.notes.get("aliases")
    if not isinstance(known, Aliases):
        known = context.notes["aliases"] = Aliases()
        for node, module, shapes in context.shaped:
            if isinstance(node, cst.BaseExpression) and all(shape.kind in RESPONSE for shape in shapes):
                _consider(context, known, node, module, shapes)
    return known


def plan(context: Context) -> None:
    """Drop the names that say nothing new."""
    aliases(context)


def _consider(
    context: Context, known: Aliases, value: cst.BaseExpression, module: Module, shapes: list[Shape]
) -> None:
    statement = module.parents.get(value)
    root = root_of(value)
    if not isinstance(statement, cst.Assign) or statement.value is not value or len(statement.targets) != 1:
        return
    target = statement.targets[0].target
    if not isinstance(target, cst.Name) or not isinstance(root, cst.Name) or root is value:
        return
    if len(context.project.values(value)) != len(shapes) or target.value == root.value:
        return
    if not holds_answer(context, root):
        return
    scope = module.function(value) or module.tree
    line = module.statement(value)
    made = _only_binding(module, scope, root.value)
    again = _only_binding(module, scope, target.value)
    if (
        made is None
        or again is None
        or _has_comment(line)
        or _is_exported(context, module, scope, (root.value, target.value))
        or _is_hidden(scope, {root.value, target.value})
    ):
        return
    first = module.statement(made)
    if (
        module.parents.get(first) is not module.parents.get(line)
        or module.cell(first) != module.cell(line)
        or known.is_taken(first)
        or known.is_taken(line)
    ):
        return
    sites = {shape.site for shape in shapes}
    uses = [
        node
        for node in _names(module, scope, root.value)
        if node is not root and not _is_target(module, node)
    ]
    others = [node for node in _names(module, scope, target.value) if node is not target]
    if not _all_come_after(module, others, first, line):
        return
    if all(_changes_anyway(module, node) for node in others):
        for node in others:
            context.edit(node, module, sites, lambda o, u: u.with_changes(value=root.value), "MR301")
        known.rename(scope, target.value, root.value)
    elif not uses:
        context.edit(made, module, sites, lambda o, u: cst.Name(target.value), "MR301")
    else:
        return
    _remove(context, line, module, sites)
    known.replace(line, first)


def _all_come_after(module: Module, uses: list[cst.Name], first: cst.CSTNode, line: cst.CSTNode) -> bool:
    """Whether none of ``uses`` can mean an earlier value where the name is bound at ``first``, not ``line``.

    What stands between the two can use it, or leave before the second of them.
    """
    block = module.parents.get(line)
    assert isinstance(block, (cst.IndentedBlock, cst.Module))
    numbers: dict[cst.CSTNode, int] = {statement: number for number, statement in enumerate(block.body)}
    if numbers[line] == numbers[first] + 1:
        return True
    return all(
        any(numbers.get(outer, 0) > numbers[line] for outer in module.ancestors(node)) for node in uses
    )


def _only_binding(module: Module, scope: Scope, name: str) -> cst.Name | None:
    """The one assignment target that binds ``name``."""
    names = module.scopes[scope]
    if name in names.shared | names.globals | names.nonlocals or isinstance(scope, cst.Lambda):
        return None
    bound = list(bindings(scope, name))
    if (
        len(bound) != 1
        or not isinstance(bound[0], cst.AssignTarget)
        or not isinstance(bound[0].target, cst.Name)
    ):
        return None
    line = module.statement(bound[0])
    statement = module.parents.get(bound[0])
    single = isinstance(statement, cst.Assign) and len(statement.targets) == 1
    if not single or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    return bound[0].target


def _names(module: Module, scope: Scope, name: str) -> Iterator[cst.Name]:
    """The variables called ``name`` in ``scope`` and in the functions inside it."""
    for node in syntax.walk(scope):
        if isinstance(node, cst.Name) and node.value == name:
            parent = module.parents.get(node)
            if isinstance(parent, cst.Attribute) and parent.attr is node:
                continue
            if isinstance(parent, (cst.Arg, cst.Param)) and getattr(parent, "keyword", None) is node:
                continue
            yield node


def _is_target(module: Module, node: cst.Name) -> bool:
    return isinstance(module.parents.get(node), cst.AssignTarget)


def _changes_anyway(module: Module, node: cst.Name) -> bool:
    """Whether the expression around a use of the answer is rewritten whatever it is called."""
    if module.function(node) is not module.function(module.parents[node]):
        return False
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(value=value) | cst.Subscript(value=value):
            return value is node
        case cst.Arg():
            call = module.parents.get(parent)
            return (
                isinstance(call, cst.Call)
                and isinstance(call.func, cst.Attribute)
                and call.func.attr.value == "append"
            )
        case cst.Element():
            return True
        case _:
            return False


def _is_exported(context: Context, module: Module, scope: Scope, names: tuple[str, ...]) -> bool:
    """Whether another module imports one of ``names``, or an inner function binds one of its own."""
    for inner in module.scopes.values():
        if (
            inner.node is not scope
            and any(name in inner.bound for name in names)
            and _is_inside(module, inner.node, scope)
        ):
            return True
    if not isinstance(scope, cst.Module):
        return False
    for other in context.project.modules:
        if other is module:
            continue
        for node in other.of(cst.ImportAlias):
            if isinstance(node.name, cst.Name) and node.name.value in names:
                return True
    return False


def _is_hidden(scope: Scope, names: set[str]) -> bool:
    """Whether a comprehension has a variable called one of ``names``, or ``del`` takes one away."""
    for node in syntax.walk(scope):
        match node:
            case cst.CompFor() if names & set(syntax.bound_by(node)):
                return True
            case cst.Del() if any(isinstance(n, cst.Name) and n.value in names for n in syntax.walk(node)):
                return True
            case _:
                continue
    return False


def _is_inside(module: Module, node: cst.CSTNode, scope: Scope) -> bool:
    return scope in module.ancestors(node)


def _has_comment(line: cst.CSTNode) -> bool:
    assert isinstance(line, cst.SimpleStatementLine)
    return line.trailing_whitespace.comment is not None or any(item.comment for item in line.leading_lines)


def _remove(context: Context, line: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    context.edit(line, module, sites, lambda o, u: cst.RemovalSentinel.REMOVE, "MR301")

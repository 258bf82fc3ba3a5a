"""Imports after the edits: new names once, in the file's style; old names gone where nothing uses them."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Sequence
from functools import cached_property

import libcst as cst

from ..decide.plan import Plan
from ..documents.names import is_inert
from ..know import modules as syntax
from ..know.kinds import External, Site
from ..know.modules import Module
from .import_lines import Line, Wanted, aliases, find_lines, head, local_name, local_names, used

_WIDTH = 88
# Packages whose names edits take out of use: the SDK's types, and the generic ones around them.
_OWN = frozenset({"openai", "typing", "typing_extensions", "collections"})


class Imports:
    """What the migrated flows ask of the imports of each module."""

    def __init__(self, plan: Plan, migrated: set[Site]) -> None:
        self._project = plan.project
        self._wanted: dict[Module, list[Wanted]] = {}
        for item in plan.imports:
            if item.sites <= migrated:
                self._wanted.setdefault(item.target, []).append(Wanted(item.module, item.name, item.beside))

    def settle(self, module: Module, tree: cst.Module) -> cst.Module:
        """``tree``, the edited ``module``, with its imports in order."""
        return settle(module, tree, self._wanted.get(module, []), self._borrowed.get(module, set()))

    @cached_property
    def _borrowed(self) -> dict[Module, set[str]]:
        """The names that other modules import from each module."""
        found: dict[Module, set[str]] = {}
        for other in self._project.modules:
            for line in find_lines(other.tree):
                if isinstance(line.node, cst.ImportFrom):
                    source = self._project.find_module(other, len(line.node.relative), head(line.node))
                    if source is not None and source is not other:
                        names = (syntax.dotted(alias.name) for alias in aliases(line.node))
                        found.setdefault(source, set()).update(names)
        return found


def settle(module: Module, tree: cst.Module, wanted: Iterable[Wanted], kept: Container[str]) -> cst.Module:
    """``tree``, the edited ``module``, with the imports in ``wanted`` and without those that lost their use.

    Names in ``kept`` are imported from here by other modules, and stay.
    """
    lines = find_lines(tree)
    if not lines and not list(wanted):
        return tree
    names = used(module.tree) - used(tree)
    for line in lines:
        line.gone = _unused(module, line, names) - {name for name in local_names([line]) if name in kept}
    on_top = [line for line in lines if line.holder is None]
    present = set().union(*(local_names([line]) - line.gone for line in on_top))
    items = list(dict.fromkeys(wanted))
    for item in items:
        if item.local in present or _in_functions(tree, lines, item, items):
            continue
        present.add(item.local)
        home = _home(module, on_top, item)
        if home is None:
            tree = _on_top(tree, item)
        else:
            home.added.append(item)
    changed = {line.statement: line for line in lines if line.gone or line.added}
    if not changed:
        return tree
    result = tree.visit(_Settler(changed))
    assert isinstance(result, cst.Module)
    return result


def _unused(module: Module, line: Line, names: Container[str]) -> set[str]:
    """What ``line`` binds of ``names``, which the file used before the edits and does not use after."""
    gone = {name for name in local_names([line]) if name in names}
    match line.holder:
        case None:
            return {name for name in gone if _may_go(module, name)}
        case cst.FunctionDef() if head(line.node).partition(".")[0] in _OWN:
            return gone
        case _:
            return set()  # in a class it is an attribute, too


def _may_go(module: Module, name: str) -> bool:
    if name not in module.scope.bound:
        return False
    return any(
        isinstance(value, External) and value.path.partition(".")[0] in _OWN
        for value in module.scope.any(name).values
    )


def _in_functions(tree: cst.Module, lines: list[Line], item: Wanted, items: list[Wanted]) -> bool:
    """Whether ``item`` now stands in each function that uses it, beside an old import that is there."""
    beside = {other.beside for other in items if other.local == item.local}
    homes = {
        line.holder: line
        for line in lines
        if isinstance(line.holder, cst.FunctionDef) and not beside.isdisjoint(local_names([line]))
    }
    if not homes or item.local in used(tree, homes):
        return False
    for holder, line in homes.items():
        if item.local in used(holder) and item.local not in {other.local for other in line.added}:
            line.added.append(item)
    return True


def _home(module: Module, lines: list[Line], item: Wanted) -> Line | None:
    """The import that ``item`` joins, or stands beside."""
    beside = next((line for line in lines if item.beside and item.beside in local_names([line])), None)
    same = [
        line
        for line in lines
        if isinstance(line.node, cst.ImportFrom)
        and line.node.module is not None
        and not line.node.relative
        and syntax.dotted(line.node.module) == item.module
    ]
    if same:
        return same[0]
    pending = next((line for line in lines if any(other.module == item.module for other in line.added)), None)
    if pending is not None and (beside is None or pending.nested is beside.nested):
        return pending
    if beside is not None:
        return beside
    openai = [line for line in lines if head(line.node).partition(".")[0] == "openai"]
    if module.is_notebook and openai:
        return openai[0]  # the others may stand in cells below those that use the name
    return openai[-1] if openai else None


def _on_top(tree: cst.Module, item: Wanted) -> cst.Module:
    """``item`` after the last import at the top of the file."""
    position = 0
    if any(map(syntax.is_border, tree.body)):
        return _in_first_cell(tree, item)
    for number, statement in enumerate(tree.body):
        if _is_import(statement):
            position = number + 1
        elif number == 0 and _is_docstring(statement):
            position = 1
    line = cst.parse_statement(f"from {item.module} import {item.name}\n")
    return tree.with_changes(body=[*tree.body[:position], line, *tree.body[position:]])


def _in_first_cell(tree: cst.Module, item: Wanted) -> cst.Module:
    """``item`` below the first imports of a notebook or text, or at the beginning of its first code."""
    imports = [number for number, one in enumerate(tree.body) if _is_import(one)]
    position = imports[0] if imports else 1
    while position < len(tree.body) and (_is_import(tree.body[position]) or _is_magic(tree.body[position])):
        position += 1
    line = cst.parse_statement(f"from {item.module} import {item.name}\n")
    return tree.with_changes(body=[*tree.body[:position], line, *tree.body[position:]])


def _is_magic(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Name(value=name)))]):
            return is_inert(name)
        case _:
            return False


def _is_import(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], (cst.Import, cst.ImportFrom)
    )


def _is_docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


class _Settler(cst.CSTTransformer):
    def __init__(self, lines: dict[cst.SimpleStatementLine, Line]) -> None:
        super().__init__()
        self._lines = lines
        self._inherited: dict[cst.CSTNode, list[cst.EmptyLine]] = {}

    def visit_Module(self, node: cst.Module) -> None:
        self._inherit(node.body)

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self._inherit(node.body)

    def _inherit(self, body: Sequence[cst.CSTNode]) -> None:
        """A statement that goes leaves the blank lines above it to the next one."""
        for one, other in itertools.pairwise(body):
            line = self._lines.get(one) if isinstance(one, cst.SimpleStatementLine) else None
            if line is None or not line.is_removed or not isinstance(other, cst.SimpleStatementLine):
                continue
            above = [*self._inherited.get(one, []), *line.statement.leading_lines]
            if not other.leading_lines:
                self._inherited[other] = above

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        above = self._inherited.get(original_node)
        if above:
            updated_node = updated_node.with_changes(leading_lines=above)
        line = self._lines.get(original_node)
        return _rewritten(line, updated_node) if line is not None else updated_node

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        if not original_node.body:
            return updated_node
        if not updated_node.body:
            return updated_node.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])
        gone = original_node.body[0]
        line = self._lines.get(gone) if isinstance(gone, cst.SimpleStatementLine) else None
        return _closed_up(updated_node) if line is not None and line.is_removed else updated_node


def _closed_up(block: cst.IndentedBlock) -> cst.IndentedBlock:
    """``block``, whose first statement is gone, without blank lines at its beginning."""
    first = block.body[0]
    if not isinstance(first, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        return block
    above = itertools.dropwhile(lambda line: line.comment is None, first.leading_lines)
    return block.with_changes(body=[first.with_changes(leading_lines=list(above)), *block.body[1:]])


def _rewritten(
    line: Line, statement: cst.SimpleStatementLine
) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
    node = line.node
    kept = [alias for alias in aliases(node) if local_name(alias, node) not in line.gone]
    groups: dict[str, list[str]] = {}
    for item in line.added:
        groups.setdefault(item.module, []).append(item.name)
    own = groups.pop(head(node), []) if isinstance(node, cst.ImportFrom) else []
    nodes: list[cst.ImportFrom | cst.Import] = []
    if kept or own:
        nodes.append(_with_names(node, kept, own))
    for module, names in sorted(groups.items()):
        nodes.append(_import(module, sorted(names)))
    if not nodes:
        return cst.RemoveFromParent()
    first = statement.with_changes(body=[nodes[0]])
    rest = [cst.SimpleStatementLine([other]) for other in nodes[1:]]
    return cst.FlattenSentinel([first, *rest]) if rest else first


def _is_broken(node: cst.ImportFrom | cst.Import) -> bool:
    return isinstance(node, cst.ImportFrom) and node.lpar is not None


def _with_names(
    node: cst.ImportFrom | cst.Import, kept: list[cst.ImportAlias], names: list[str]
) -> cst.ImportFrom | cst.Import:
    if isinstance(node, cst.Import):
        return node.with_changes(names=_tidied(kept))
    old = [syntax.dotted(alias.name) for alias in aliases(node)]
    if not names and _is_broken(node) and not _fits(node, kept):
        last = aliases(node)[-1].comma
        kept = [*kept[:-1], kept[-1].with_changes(comma=last)]
        return node.with_changes(names=kept)
    texts = [
        cst.Module([]).code_for_node(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for alias in kept
    ]
    texts = [*texts, *names]
    if old == sorted(old) or old == sorted(old, key=str.lower):
        texts.sort(key=None if old == sorted(old) else str.lower)
    if _has_comment(node):
        return _joined(node, kept, names)
    return _import(head(node), texts, node)


def _fits(node: cst.ImportFrom, kept: list[cst.ImportAlias]) -> bool:
    return (
        not _has_comment(node) and len(_one_line(head(node), [syntax.dotted(a.name) for a in kept])) <= _WIDTH
    )


def _has_comment(node: cst.CSTNode) -> bool:
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Comment):
            return True
        stack.extend(current.children)
    return False


def _joined(node: cst.ImportFrom, kept: list[cst.ImportAlias], names: list[str]) -> cst.ImportFrom:
    """The import with its comments, and ``names`` in front."""
    model = aliases(node)[0].comma
    new = [cst.ImportAlias(cst.Name(name), comma=model) for name in names if " " not in name]
    together = [*new, *kept]
    together[-1] = together[-1].with_changes(comma=aliases(node)[-1].comma)
    return node.with_changes(names=together)


def _tidied(kept: list[cst.ImportAlias]) -> list[cst.ImportAlias]:
    return [*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)]


def _one_line(module: str, names: Iterable[str]) -> str:
    return f"from {module} import {', '.join(names)}"


def _import(module: str, names: list[str], old: cst.ImportFrom | None = None) -> cst.ImportFrom:
    """``from module import names``, over several lines if one is too short."""
    text = _one_line(module, names)
    if len(text) > _WIDTH:
        text = f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
    line = cst.parse_statement(text)
    assert isinstance(line, cst.SimpleStatementLine)
    node = line.body[0]
    assert isinstance(node, cst.ImportFrom)
    if old is not None:
        node = node.with_changes(module=old.module, relative=old.relative, semicolon=old.semicolon)
    return node


__all__ = ["Imports", "Wanted", "settle"]

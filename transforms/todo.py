"""The TODO comments: one line above the statement of each site that stays behind, kept in step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import libcst as cst

from ..decide.plan import Apply, Edit
from ..know.modules import Module

PREFIX = "# TODO(migrate-responses):"
_CODE = re.compile(r"\bMR\d{3}\b")


def edits(
    module: Module, wanted: Mapping[cst.CSTNode, str], is_free: Callable[[cst.CSTNode], bool]
) -> Iterator[Edit]:
    """The edits after which ``module`` has exactly the TODO comments ``wanted``, by statement.

    Comments of statements that are not free stay as they are.
    """
    if module.is_snippet:
        return  # a text is for readers, and the report is for who migrates
    if module.is_notebook:
        wanted = _by_cell(module, wanted)
    statements = set(wanted)
    if PREFIX in module.text:
        statements.update(node for node in module.parents if _has_todo(node) and is_free(node))
        if any(map(_is_todo, module.tree.header)) and module.tree.body and is_free(module.tree.body[0]):
            yield _edit(module, module.tree, _header(wanted.get(module.tree.body[0])))
            statements.discard(module.tree.body[0])
    for node in statements:
        yield _edit(module, node, _statement(wanted.get(node)))


def _by_cell(module: Module, wanted: Mapping[cst.CSTNode, str]) -> dict[cst.CSTNode, str]:
    """``wanted`` with one comment for each cell, above the first of its statements."""
    found: dict[int, list[cst.CSTNode]] = {}
    for node in module.parents:
        if node in wanted:
            found.setdefault(module.cell(node), []).append(node)
    result: dict[cst.CSTNode, str] = {}
    for first, *others in found.values():
        result[first] = wanted[first]
        codes = sorted({code for other in others for code in _CODE.findall(wanted[other])})
        if codes:
            result[first] = f"{wanted[first].removesuffix('.')}; more in this cell: {', '.join(codes)}."
    return result


def _edit(module: Module, node: cst.CSTNode, apply: Apply) -> Edit:
    return Edit(node, module, frozenset(), apply, "TODO")


def _is_todo(line: cst.EmptyLine) -> bool:
    return line.comment is not None and line.comment.value.startswith(PREFIX)


def _has_todo(node: cst.CSTNode) -> bool:
    return any(map(_is_todo, getattr(node, "leading_lines", ())))


def _statement(text: str | None) -> Apply:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        lines = list(getattr(updated, "leading_lines", ()))
        return updated.with_changes(leading_lines=_lines(lines, text))

    return apply


def _header(text: str | None) -> Apply:
    """Above the first statement of a file, comments belong to the file's header."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Module)
        return updated.with_changes(header=_lines(list(updated.header), text))

    return apply


def _lines(lines: list[cst.EmptyLine], text: str | None) -> list[cst.EmptyLine]:
    """``lines`` with the TODO ``text`` in the place of the old one, or at the end."""
    comment = cst.EmptyLine(comment=cst.Comment(f"{PREFIX} {text}"))
    result: list[cst.EmptyLine] = []
    placed = text is None
    for line in lines:
        if not _is_todo(line):
            result.append(line)
        elif not placed:
            result.append(line.with_changes(comment=comment.comment))
            placed = True
    return result if placed else [*result, comment]

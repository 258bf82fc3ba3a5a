"""The import statements of a file: what each binds, and where that is seen."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..know import modules as syntax


@dataclass(frozen=True)
class Wanted:
    """``from module import name``; ``beside`` is the old name whose import shows where."""

    module: str
    name: str
    beside: str = ""

    @property
    def local(self) -> str:
        return self.name.rpartition(" as ")[2]


@dataclass
class Line:
    """One import statement: what stays of it, and what is new there."""

    statement: cst.SimpleStatementLine
    node: cst.ImportFrom | cst.Import
    nested: bool  # in a block, as under ``if TYPE_CHECKING:``
    holder: cst.FunctionDef | cst.ClassDef | None  # what it stands in: only there the names are seen
    gone: set[str] = field(default_factory=set)
    added: list[Wanted] = field(default_factory=list)

    @property
    def is_removed(self) -> bool:
        """Whether nothing is left of the statement."""
        return not self.added and local_names([self]) <= self.gone


def find_lines(tree: cst.Module) -> list[Line]:
    """The import statements of a file that stand on lines of their own."""
    found: list[Line] = []
    stack: list[tuple[cst.CSTNode, cst.FunctionDef | cst.ClassDef | None]] = [(tree, None)]
    while stack:
        node, holder = stack.pop()
        if isinstance(node, cst.SimpleStatementLine):
            inner = node.body[0]
            if len(node.body) == 1 and (
                isinstance(inner, cst.Import)
                or (isinstance(inner, cst.ImportFrom) and not isinstance(inner.names, cst.ImportStar))
            ):
                found.append(Line(node, inner, node not in tree.body, holder))
            continue
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            holder = node
        stack += [(child, holder) for child in reversed(syntax.children(node))]
    return found


def local_names(lines: Iterable[Line]) -> set[str]:
    """The names that import statements bind."""
    return {local_name(alias, line.node) for line in lines for alias in aliases(line.node)}


def aliases(node: cst.ImportFrom | cst.Import) -> Sequence[cst.ImportAlias]:
    """The names of an import statement."""
    return () if isinstance(node.names, cst.ImportStar) else node.names


def local_name(alias: cst.ImportAlias, node: cst.ImportFrom | cst.Import) -> str:
    """The name that ``alias`` binds."""
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value
    name = syntax.dotted(alias.name)
    return name.partition(".")[0] if isinstance(node, cst.Import) else name


def used(tree: cst.CSTNode, apart: Container[cst.CSTNode] = ()) -> set[str]:
    """The names that a file uses, imports aside; also those that strings name, as annotations do.

    What stands below the nodes in ``apart`` does not count.
    """
    found: set[str] = set()
    stack: list[cst.CSTNode] = [tree]
    while stack:
        node = stack.pop()
        if node in apart:
            continue
        match node:
            case cst.Import() | cst.ImportFrom():
                continue
            case cst.Name(value=name):
                found.add(name)
            case cst.Attribute(value=value):
                stack.append(value)
                continue
            case cst.SimpleString():
                text = node.evaluated_value
                if isinstance(text, str) and len(text) < 300:
                    found.update(_words(text))
            case _:
                pass
        stack.extend(syntax.children(node))
    return found


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


def head(node: cst.ImportFrom | cst.Import) -> str:
    """The module of an import statement, or the first of several."""
    if isinstance(node, cst.ImportFrom):
        return syntax.dotted(node.module) if node.module is not None else ""
    return syntax.dotted(node.names[0].name)

"""Modules of the project: their syntax tree, and their scopes. How imports find them: :mod:`.index`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeGuard, TypeVar, overload

import libcst as cst

from ..documents import names
from .graph import Var
from .kinds import External

# Fields that hold only white space, punctuation and parentheses: never a value. Nor do fields of text.
_TRIVIA = frozenset(
    "leading_lines lines_after_decorators trailing_whitespace header footer lpar rpar lbracket rbracket"
    " lbrace rbrace comma semicolon colon equal dot indent newline asynchronous operator from_".split()
)
_fields: dict[type[cst.CSTNode], tuple[str, ...]] = {}  # of each type of node, those that hold code
_is_node: dict[type[object], bool] = {}  # asking the abstract base class each time is slow


def _code_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    prefixes: tuple[str, ...] = ("whitespace", "_")
    trivia = _TRIVIA
    if issubclass(kind, (cst.Comparison, cst.ComparisonTarget)):
        prefixes, trivia = ("whitespace", "lpar", "rpar", "__"), frozenset()
    fields = kind.__dataclass_fields__.items()
    names = (name for name, field in fields if name not in trivia and field.type not in (str, bool))
    return tuple(name for name in names if not name.startswith(prefixes))


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below ``node`` that are code (no white space, no punctuation)."""
    kind = type(node)
    names = _fields.get(kind)
    if names is None:
        names = _fields[kind] = _code_fields(kind)
    found: list[cst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        if isinstance(value, (tuple, list)):
            found.extend(value)
        elif value is not None and _is_code(value):
            found.append(value)
    return found


def _is_code(value: object) -> TypeGuard[cst.CSTNode]:
    kind = type(value)
    known = _is_node.get(kind)
    if known is None:
        known = _is_node[kind] = issubclass(kind, cst.CSTNode)
    return known


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``node`` and everything below it, outermost first, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(children(current)))


_Node = TypeVar("_Node", bound=cst.CSTNode)
_Other = TypeVar("_Other", bound=cst.CSTNode)
ScopeNode = cst.Module | cst.FunctionDef | cst.Lambda | cst.ClassDef


class Scope:
    """The names of a module, class, function or lambda."""

    def __init__(self, node: ScopeNode, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.shared: set[str] = set()  # rebound by an inner scope: order says nothing about them
        self.names: dict[str, Var] = {}
        self.yields = False

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, cst.ClassDef)

    def any(self, name: str) -> Var:
        """All definitions of ``name`` together, as other scopes see it."""
        var = self.names.get(name)
        if var is None:
            var = self.names[name] = Var()
        return var


@dataclass(eq=False, repr=False)
class Module:
    """One source file, parsed."""

    path: str
    name: str  # dotted, from the root of the project
    tree: cst.Module
    is_package: bool
    text: str  # what the tree was parsed from
    parents: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    scopes: dict[cst.CSTNode, Scope] = field(default_factory=dict)
    externals: list[External] = field(default_factory=list)  # from x import * of unknown modules
    helps_tests: bool = False  # not a test by its path, but made for tests alone
    _of: dict[tuple[type[cst.CSTNode], ...], list[cst.CSTNode]] = field(default_factory=dict)

    @property
    def is_notebook(self) -> bool:
        """Whether it runs cell by cell, and shows the last expression of each."""
        return names.is_notebook(self.path)

    @property
    def is_snippet(self) -> bool:
        """Whether it stands in a text for people to read."""
        return names.is_snippet(self.path)

    @cached_property
    def cells(self) -> list[list[cst.SimpleStatementLine | cst.BaseCompoundStatement]]:
        """The statements of each cell or block; all that there are in a module without such."""
        found: list[list[cst.SimpleStatementLine | cst.BaseCompoundStatement]] = [[]]
        for statement in self.tree.body:
            if is_border(statement):
                found.append([])
            else:
                found[-1].append(statement)
        return [cell for cell in found if cell]

    @cached_property
    def _cell_of(self) -> dict[cst.CSTNode, int]:
        return {statement: number for number, cell in enumerate(self.cells) for statement in cell}

    def cell(self, node: cst.CSTNode) -> int:
        """Which of the ``cells`` holds ``node``."""
        known = self._cell_of
        return next((known[outer] for outer in (node, *self.ancestors(node)) if outer in known), -1)

    @property
    def names_openai(self) -> bool:
        return "openai" in self.text

    @property
    def scope(self) -> Scope:
        return self.scopes[self.tree]

    @overload
    def of(self, kind: type[_Node], /) -> Sequence[_Node]: ...
    @overload
    def of(self, kind: type[_Node], other: type[_Other], /) -> Sequence[_Node | _Other]: ...
    @overload
    def of(self, *kinds: type[cst.CSTNode]) -> Sequence[cst.CSTNode]: ...
    def of(self, *kinds: type[cst.CSTNode]) -> Sequence[cst.CSTNode]:
        """The nodes of exactly these types, in source order; nobody need look at all the others."""
        if not self._of:
            for node in self.parents:
                self._of.setdefault((type(node),), []).append(node)
        found = self._of.get(kinds)
        if found is None:
            present = [self._of[kind,] for kind in dict.fromkeys(kinds) if (kind,) in self._of]
            if len(present) < 2:
                found = present[0] if present else []
            else:
                found = sorted(chain(*present), key=self.order.__getitem__)
            self._of[kinds] = found
        return found

    @cached_property
    def order(self) -> dict[cst.CSTNode, int]:
        """Where each node stands among the others, in source order."""
        return {node: number for number, node in enumerate(self.parents)}

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What encloses ``node``, innermost first."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement (a line or a compound statement) that ``node`` belongs to."""
        current = node
        while not isinstance(current, (cst.SimpleStatementLine, cst.BaseCompoundStatement, cst.Module)):
            current = self.parents[current]
        return current

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | cst.Lambda | None:
        """The innermost function around ``node``, or None at module or class level."""
        for parent in self.ancestors(node):
            if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
                return parent
        return None


def is_border(statement: cst.CSTNode) -> bool:
    """Whether ``statement`` stands for the beginning of a cell or block."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Name(value=name))]):
            return names.is_border(name)
        case _:
            return False


def scan(module: Module) -> None:
    """Fill ``parents`` (in source order) and ``scopes``: who encloses whom, which names each scope binds."""
    root = Scope(module.tree, None)
    module.scopes[module.tree] = root
    stack: list[tuple[cst.CSTNode, cst.CSTNode, Scope]] = [
        (child, module.tree, root) for child in reversed(children(module.tree))
    ]
    while stack:
        node, parent, scope = stack.pop()
        module.parents[node] = parent
        inner = _enter(module, node, scope) if type(node) in _NAMING else scope
        if inner is scope:
            stack.extend([(child, node, scope) for child in reversed(children(node))])
        else:
            for child in reversed(children(node)):
                stack.append((child, node, _scope_of_child(node, child, scope, inner)))
    for scope in module.scopes.values():
        _share(scope, root)


def _scope_of_child(node: cst.CSTNode, child: cst.CSTNode, outer: Scope, inner: Scope) -> Scope:
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return inner if child is node.body else outer
    return inner


def _enter(module: Module, node: cst.CSTNode, scope: Scope) -> Scope:
    """Note what ``node`` binds in ``scope``; return the scope its body lives in."""
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        if not isinstance(node, cst.Lambda):
            scope.bound.add(node.name.value)
        inner = Scope(node, scope)
        module.scopes[node] = inner
        if not isinstance(node, cst.ClassDef):
            inner.bound.update(parameter.name.value for parameter in parameters(node.params))
        return inner
    if isinstance(node, cst.Global):
        scope.globals.update(item.name.value for item in node.names)
    elif isinstance(node, cst.Nonlocal):
        scope.nonlocals.update(item.name.value for item in node.names)
    elif isinstance(node, cst.Yield):
        scope.yields = True
    else:
        scope.bound.update(bound_by(node))
    return scope


_SCOPED = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.Global, cst.Nonlocal, cst.Yield)


def _share(scope: Scope, root: Scope) -> None:
    for name in scope.globals:
        root.bound.add(name)
        root.shared.add(name)
    for name in scope.nonlocals:
        outer = scope.parent
        while outer is not None and (outer.is_class or name not in outer.bound):
            outer = outer.parent
        if outer is not None:
            outer.shared.add(name)
    scope.bound -= scope.globals | scope.nonlocals


def parameters(params: cst.Parameters) -> list[cst.Param]:
    """All parameters, in order, stars included."""
    found = [*params.posonly_params, *params.params]
    if isinstance(params.star_arg, cst.Param):
        found.append(params.star_arg)
    found.extend(params.kwonly_params)
    if params.star_kwarg is not None:
        found.append(params.star_kwarg)
    return found


def bound_by(node: cst.CSTNode) -> Iterator[str]:
    """The names that this one node (not what is below it) binds."""
    binder = _BINDERS.get(type(node))
    return binder(node) if binder is not None else iter(())


def _of_target(node: Any) -> Iterator[str]:
    return target_names(node.target)


def _of_alias(node: cst.AsName) -> Iterator[str]:
    return target_names(node.name)


def _of_import(node: cst.Import) -> Iterator[str]:
    for alias in node.names:
        if alias.asname is None:
            yield dotted(alias.name).partition(".")[0]


def _of_import_from(node: cst.ImportFrom) -> Iterator[str]:
    for alias in () if isinstance(node.names, cst.ImportStar) else node.names:
        if alias.asname is None:
            yield dotted(alias.name)


def _of_pattern(node: cst.MatchAs | cst.MatchStar) -> Iterator[str]:
    if node.name is not None:
        yield node.name.value


# Each function takes the type of node that it stands under, which no annotation can say.
_BINDERS: dict[type[cst.CSTNode], Callable[[Any], Iterator[str]]] = {
    cst.AssignTarget: _of_target,
    cst.AnnAssign: _of_target,
    cst.AugAssign: _of_target,
    cst.NamedExpr: _of_target,
    cst.TypeAlias: _of_alias,
    cst.For: _of_target,
    cst.CompFor: _of_target,
    cst.AsName: _of_alias,
    cst.Import: _of_import,
    cst.ImportFrom: _of_import_from,
    cst.MatchAs: _of_pattern,
    cst.MatchStar: _of_pattern,
}
_NAMING = frozenset([*_SCOPED, *_BINDERS])  # types of nodes that have to do with which names there are


def target_names(target: cst.BaseExpression) -> Iterator[str]:
    """The names bound by an assignment target."""
    match target:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from target_names(element.value)
        case _:
            return


def bound_in(nodes: Sequence[cst.CSTNode]) -> set[str]:
    """The names bound anywhere in ``nodes``, not looking into inner functions and classes."""
    names: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            names.add(node.name.value)
        elif not isinstance(node, _BINDING_NOTHING):
            if type(node) in _BINDERS:
                names.update(bound_by(node))
            stack.extend(children(node))
    return names


_BINDING_NOTHING = (cst.Name, cst.SimpleString, cst.Integer, cst.Lambda)  # nor anything below


def dotted(node: cst.CSTNode) -> str:
    """``a.b.c`` of a chain of names, or "" if it is something else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    return ".".join([node.value, *reversed(parts)])

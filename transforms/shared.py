"""One local for a value that is read more than once: ``tool_calls = [...]`` after what it is computed from.

Reads are grouped by the name that holds the answer. A group gets a local where that name is bound in
one place and nothing can come between; otherwise each read spells the value out, which means the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import DUMPS, Const, Shape, Site
from ..know.modules import Module
from .access import RESPONSE
from .context import Context
from .maybe_none import is_doubted
from .reading import Read

Scope = cst.FunctionDef | cst.Lambda | cst.Module


@dataclass(eq=False, repr=False)
class Group:
    """The reads of one part of the answer that the name ``root`` holds in ``scope``."""

    module: Module
    scope: Scope
    root: str
    reads: list[Read] = field(default_factory=list)
    sites: set[Site] = field(default_factory=set)
    name: str | None = None  # the local that holds it, if there is one


def root_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """What is left of ``resp.choices[0].message`` when the new answer has no such levels: ``resp``."""
    while True:
        match node:
            case cst.Attribute(value=value, attr=cst.Name(value="choices" | "message")):
                node = value
            case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if (
                _is_step(index)
            ):
                node = value
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name))) if name in DUMPS:
                node = value
            case _:
                return node


def _is_step(index: cst.BaseExpression) -> bool:
    if isinstance(index, cst.SimpleString):
        return index.evaluated_value in ("choices", "message")
    return isinstance(index, (cst.Integer, cst.UnaryOperation))


def holds_answer(context: Context, root: cst.Name) -> bool:
    """Whether the name stands for one answer, not for a list of choices or of answers."""
    values = [value for value in context.project.values(root) if not isinstance(value, Const)]
    return bool(values) and all(isinstance(value, Shape) and value.kind in RESPONSE for value in values)


def renamed(context: Context, root: cst.Name, module: Module) -> cst.Name:
    """The name of an answer as it is called afterwards."""
    from .aliases import aliases

    scope = module.function(root) or module.tree
    return cst.Name(aliases(context).name(scope, root.value))


def group(context: Context, reads: Sequence[tuple[Read, set[Site]]]) -> list[Group]:
    """``reads`` by the name they start from; those that start from something else stand alone."""
    found: dict[object, Group] = {}
    for read, sites in reads:
        root = root_of(read.base)
        scope = read.module.function(read.whole) or read.module.tree
        name = ""
        if isinstance(root, cst.Name) and holds_answer(context, root):
            name = renamed(context, root, read.module).value
        key: object = (scope, name) if name else read.whole
        entry = found.setdefault(key, Group(read.module, scope, name))
        entry.reads.append(read)
        entry.sites |= sites
    return list(found.values())


_Line = tuple[Module, str, cst.BaseExpression, set[Site]]


class Locals:
    """Chooses locals and remembers where they are to be written."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._taken: dict[Scope, set[str]] = {}
        self._lines: dict[cst.CSTNode, list[_Line]] = {}
        self._before: dict[cst.CSTNode, list[_Line]] = {}

    def share(self, entry: Group, wanted: str, value: Callable[[str], cst.BaseExpression]) -> None:
        """Give ``entry`` a local called ``wanted`` (or something close) if it is read more than once."""
        from .aliases import aliases

        if not entry.root or len(entry.reads) < 2 or isinstance(entry.scope, cst.Lambda):
            return
        scope = entry.module.scopes[entry.scope]
        if entry.root in scope.shared | scope.globals | scope.nonlocals:
            return
        bound = list(bindings(entry.scope, entry.root))
        if len(bound) != 1:
            return
        existing = _existing(entry)
        if existing is not None:
            entry.name = existing
            return
        if _is_tried(entry, bound[0]) or is_doubted(self._context, entry.module, entry.scope, entry.root):
            anchor = _where_asked(entry)  # right after its binding it may be None
            lines = self._before
        else:
            anchor = _anchor(entry.module, entry.scope, bound[0])
            anchor = aliases(self._context).anchor(anchor) if anchor is not None else None
            lines = self._lines
        if anchor is None or not _follow(entry, anchor, before=lines is self._before):
            return
        entry.name = self._free(entry, wanted)
        lines.setdefault(anchor, []).append((entry.module, entry.name, value(entry.root), entry.sites))

    def write(self, code: str) -> None:
        """Ask for the edits that bind the locals."""
        for anchor, lines, ahead in [
            *((anchor, lines, False) for anchor, lines in self._lines.items()),
            *((anchor, lines, True) for anchor, lines in self._before.items()),
        ]:
            module = lines[0][0]
            sites = {site for _, _, _, owners in lines for site in owners}
            statements = [_assignment(name, value) for _, name, value, _ in lines]
            if ahead:
                self._context.edit(anchor, module, sites, _ahead(statements), code)
                continue
            where = _at_start if isinstance(anchor, cst.IndentedBlock) else _after
            self._context.edit(anchor, module, sites, where(statements), code)

    def _free(self, entry: Group, wanted: str) -> str:
        taken = self._taken.get(entry.scope)
        if taken is None:
            taken = self._taken[entry.scope] = set(entry.module.scope.bound)
            taken.update(_variables(entry.module, entry.scope))
        for name in (
            wanted,
            f"{entry.root}_{wanted.rpartition('_')[2]}",
            f"{entry.root}_{wanted}",
            f"{wanted}_",
        ):
            if name not in taken:
                taken.add(name)
                return name
        return f"{entry.root}_{wanted}_"


def _variables(module: Module, scope: Scope) -> Iterator[str]:
    """The names of variables in ``scope``: not those of attributes and keywords."""
    for node in syntax.walk(scope):
        parent = module.parents.get(node)
        if isinstance(node, cst.Name) and not (
            (isinstance(parent, cst.Attribute) and parent.attr is node)
            or (isinstance(parent, cst.Arg) and parent.keyword is node)
        ):
            yield node.value


def _existing(entry: Group) -> str | None:
    """A name that holds the value already, before all other reads: ``calls = msg.tool_calls``."""
    module = entry.module
    for read in entry.reads:
        whole: cst.CSTNode = read.whole
        parent = module.parents.get(whole)
        if isinstance(parent, cst.BooleanOperation) and parent.left is whole and _is_empty(parent.right):
            whole, parent = parent, module.parents.get(parent)
        match parent:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if (
                value is whole
            ):
                if len(list(bindings(entry.scope, name))) != 1 or name in module.scopes[entry.scope].shared:
                    continue
                rest = [other for other in entry.reads if other is not read]
                if _follow(Group(module, entry.scope, entry.root, rest), module.statement(read.whole)):
                    return name
            case _:
                continue
    return None


def _is_empty(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.List, cst.Tuple)) and not node.elements


def bindings(scope: Scope, name: str) -> Iterator[cst.CSTNode]:
    """The nodes that bind ``name`` in ``scope`` itself."""
    if isinstance(scope, cst.FunctionDef):
        for parameter in syntax.parameters(scope.params):
            if parameter.name.value == name:
                yield parameter
    stack: list[cst.CSTNode] = []
    if isinstance(scope, cst.FunctionDef):
        stack.extend(scope.body.body)
    elif isinstance(scope, cst.Module):
        stack.extend(scope.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            if node.name.value == name:
                yield node
            continue
        if isinstance(node, cst.Lambda):
            continue
        if not isinstance(node, cst.CompFor) and name in syntax.bound_by(node):
            yield node
        stack.extend(syntax.children(node))


def _anchor(module: Module, scope: Scope, binding: cst.CSTNode) -> cst.CSTNode | None:
    """Where a line that follows ``binding`` can be written: a line, or the start of a block."""
    match binding:
        case cst.Param():
            body = scope.body if isinstance(scope, cst.FunctionDef) else None
            return body if isinstance(body, cst.IndentedBlock) else None
        case cst.For(body=cst.IndentedBlock() as block):
            return block if isinstance(binding.target, cst.Name) else None
        case cst.AssignTarget() | cst.AnnAssign():
            line = module.statement(binding)
            plain = isinstance(binding.target, cst.Name)
            return (
                line if plain and isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
            )
        case _:
            return None


def _is_tried(entry: Group, binding: cst.CSTNode) -> bool:
    """Whether a read stands in a ``try`` that does not bind the name: what it is may be an error."""
    around = set(entry.module.ancestors(binding))
    return any(
        isinstance(parent, (cst.Try, cst.TryStar)) and parent not in around
        for read in entry.reads
        for parent in entry.module.ancestors(read.whole)
    )


def _where_asked(entry: Group) -> cst.CSTNode | None:
    """The statement that starts by reading the value first of all, whatever else is the case."""
    module = entry.module
    order = {node: number for number, node in enumerate(syntax.walk(entry.scope))}
    first: cst.CSTNode = min((read.whole for read in entry.reads), key=lambda node: order.get(node, 0))
    below = first
    for parent in module.ancestors(first):
        match parent:
            case cst.IndentedBlock() | cst.Module():
                return below
            case cst.BooleanOperation(left=left) if left is not below:
                return None
            case cst.If(test=test) if test is not below:
                return None
            case cst.For(iter=source) if source is not below:
                return None
            case cst.IfExp() | cst.Lambda() | cst.BaseComp() | cst.CompFor() | cst.While() | cst.With():
                return None
            case cst.BaseSuite() | cst.Else() | cst.Try() | cst.FunctionDef() | cst.ClassDef() | cst.Match():
                return None
        below = parent
    return None


def _follow(entry: Group, anchor: cst.CSTNode, before: bool = False) -> bool:
    """Whether all reads come after ``anchor``, in its block or deeper; ``before`` it a line is written."""
    block = anchor if isinstance(anchor, cst.IndentedBlock) else entry.module.parents.get(anchor)
    order = {node: number for number, node in enumerate(syntax.walk(entry.scope))}
    for read in entry.reads:
        if block is None or block not in entry.module.ancestors(read.whole):
            return False
        if order.get(read.whole, -1) < order.get(anchor, 0):
            return False
        if before:
            continue
        if isinstance(anchor, cst.SimpleStatementLine) and anchor in entry.module.ancestors(read.whole):
            return False
    return True


def _assignment(name: str, value: cst.BaseExpression) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], value)])


def _after(
    statements: list[cst.SimpleStatementLine],
) -> Callable[[cst.CSTNode, cst.CSTNode], cst.FlattenSentinel[cst.CSTNode]]:
    return lambda original, updated: cst.FlattenSentinel([updated, *statements])


def _ahead(
    statements: list[cst.SimpleStatementLine],
) -> Callable[[cst.CSTNode, cst.CSTNode], cst.FlattenSentinel[cst.CSTNode]]:
    return lambda original, updated: cst.FlattenSentinel([*statements, updated])


def _at_start(statements: list[cst.SimpleStatementLine]) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.IndentedBlock)
        body = list(updated.body)
        start = 1 if body and _is_docstring(body[0]) else 0
        return updated.with_changes(body=[*body[:start], *statements, *body[start:]])

    return apply


def _is_docstring(node: cst.CSTNode) -> bool:
    match node:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
        case _:
            return False


__all__ = ["Group", "Locals", "bindings", "group", "renamed", "root_of"]

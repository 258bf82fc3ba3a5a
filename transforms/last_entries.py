"""What stands last in a history: the answer that was put there just before (MR208).

``messages.append(message)``, and then ``messages[-1].content``: of the new answer several items are put in,
so the text is read of the answer itself. That holds only where the way from the one to the other is in sight,
and nothing on it can have changed the list, or have given another value to the name of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import DUMPS, Bound, Class, Const, Function, Instance, Kind, SeqValue, Shape
from ..know.modules import Module, walk
from .context import Context

_ANSWERS = frozenset({Kind.COMPLETION, Kind.CHOICE, Kind.MESSAGE})
# What can be called on the way: it changes no list.
_CALLED = frozenset("print len str int float bool isinstance hasattr getattr repr type range".split())
_METHODS = frozenset(
    "get items keys values strip lower upper join format split replace startswith endswith loads dumps"
    " debug info warning error".split()
)
_LEAVES = (cst.Return, cst.Raise, cst.Break, cst.Continue)


def answer_read(context: Context, node: cst.CSTNode, module: Module) -> cst.Name | None:
    """The name of the answer that ``node`` is: ``messages[-1]``, right after the answer was put there."""
    known = context.memo.setdefault("last entries", {})
    assert isinstance(known, dict)
    if node not in known:
        known[node] = _answer_read(context, node, module)
    found = known[node]
    assert found is None or isinstance(found, cst.Name)
    return found


def _answer_read(context: Context, node: cst.CSTNode, module: Module) -> cst.Name | None:
    history = _history(node)
    statement = _statement(node, module)
    if history is None or statement is None or not _is_first_call(context, node, statement, module):
        return None
    if not all(isinstance(value, SeqValue) for value in context.project.values(history)):
        return None
    search = _Search(context, module, module.tree.code_for_node(history), [], set())
    added = search.before(statement)
    if not added:
        return None
    names = [_named(context, value) for value in added]
    first = names[0]
    if first is None or any(name is None or name.value != first.value for name in names):
        return None
    kept = {first.value, *(inner.value for inner in walk(history) if isinstance(inner, cst.Name))}
    return first if kept.isdisjoint(search.looped | _bound(search.passed)) else None


def _history(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The list of ``messages[-1]``."""
    match node:
        case cst.Subscript(
            value=cst.Name() | cst.Attribute(value=cst.Name()) as history,
            slice=[
                cst.SubscriptElement(
                    slice=cst.Index(
                        value=cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value="1"))
                    )
                )
            ],
        ):
            return history
        case _:
            return None


def _named(context: Context, added: cst.BaseExpression) -> cst.Name | None:
    """The name of the answer that is added: ``r`` of ``r.choices[0].message.model_dump()``."""
    match added:
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=method))) if method in DUMPS:
            node = value
        case cst.Call(func=cst.Name(value="dict"), args=[cst.Arg(value=value, keyword=None, star="")]):
            node = value
        case _:
            node = added
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    values = [value for value in context.project.values(node) if not isinstance(value, Const)]
    is_answer = all(isinstance(v, Shape) and v.kind in _ANSWERS and v.form == "object" for v in values)
    return node if isinstance(node, cst.Name) and values and is_answer else None


def _statement(node: cst.CSTNode, module: Module) -> cst.CSTNode | None:
    """The statement, one of a block, that ``node`` stands in; no function of its own lies between."""
    below = node
    for parent in module.ancestors(node):
        if isinstance(parent, cst.SimpleStatementLine):
            return parent if len(parent.body) == 1 else None
        if isinstance(parent, cst.If) and below is parent.test:
            return parent if not isinstance(module.parents.get(parent), cst.If) else None
        if isinstance(parent, (cst.BaseCompoundStatement, cst.Lambda, cst.BaseComp)):
            return None
        below = parent
    return None


def _is_first_call(context: Context, node: cst.CSTNode, statement: cst.CSTNode, module: Module) -> bool:
    """Whether nothing is called in the statement before ``node`` is read: only what takes it."""
    around = set(module.ancestors(node))
    read = statement.test if isinstance(statement, cst.If) else statement
    return all(
        inner in around or _is_harmless(context, inner)
        for inner in walk(read)
        if isinstance(inner, (cst.Call, cst.Await, cst.NamedExpr, cst.Yield))
    )


@dataclass
class _Search:
    """Looks for what was added to ``history`` last, back from a statement.

    ``passed`` is what lies between, and ``looped`` are the names that loops there give values to.
    """

    context: Context
    module: Module
    history: str
    passed: list[cst.CSTNode]
    looped: set[str]

    def before(self, statement: cst.CSTNode) -> list[cst.BaseExpression]:
        """The values that may stand last before ``statement`` runs; none if that is not to be seen."""
        block = self.module.parents.get(statement)
        if not isinstance(block, (cst.IndentedBlock, cst.Module)):
            return []
        position = next(i for i, line in enumerate(block.body) if line is statement)
        return self._back(block, block.body[:position])

    def _back(
        self, block: cst.IndentedBlock | cst.Module, lines: Sequence[cst.CSTNode]
    ) -> list[cst.BaseExpression]:
        for line in reversed(lines):
            added = self._added(line)
            if added is not None:
                return [added]
            if isinstance(line, (cst.While, cst.For)) and not _are_harmless(self.context, [line]):
                return self._after_loop(line)
            if not self._passes(line):
                return []
        owner = self.module.parents.get(block)
        match owner:
            case cst.If() if owner.body is block:
                return self._above(owner)
            case cst.Else():
                outer = self.module.parents.get(owner)
                return self._above(outer) if isinstance(outer, cst.If) else []
            case cst.Try() if owner.body is block:
                return self.before(owner)
            case _:
                return []

    def _above(self, node: cst.If) -> list[cst.BaseExpression]:
        """Before an ``if``, or the ``if`` that an ``elif`` belongs to."""
        if not _are_harmless(self.context, [node.test]):
            return []
        outer = self.module.parents.get(node)
        return self._above(outer) if isinstance(outer, cst.If) else self.before(node)

    def _added(self, line: cst.CSTNode) -> cst.BaseExpression | None:
        match line:
            case cst.SimpleStatementLine(
                body=[
                    cst.Expr(
                        value=cst.Call(
                            func=cst.Attribute(value=history, attr=cst.Name(value="append")),
                            args=[cst.Arg(value=value, star="", keyword=None)],
                        )
                    )
                ]
            ) if self.module.tree.code_for_node(history) == self.history:
                return value
            case _:
                return None

    def _passes(self, line: cst.CSTNode) -> bool:
        """Whether who comes from above ``line`` to below it has done nothing to the list."""
        if _are_harmless(self.context, [line]):
            self.passed.append(line)
            return True
        if not isinstance(line, cst.If) or not _are_harmless(self.context, [line.test]):
            return False
        other = line.orelse.body if isinstance(line.orelse, cst.Else) else line.orelse
        for branch in (line.body, other):
            if branch is None or (isinstance(branch, cst.IndentedBlock) and _leaves(branch)):
                continue
            if not _are_harmless(self.context, [branch]):
                return False
            self.passed.append(branch)
        return True

    def _after_loop(self, loop: cst.While | cst.For) -> list[cst.BaseExpression]:
        """What stands last after a loop, whichever way it ended."""
        if loop.orelse is not None or not isinstance(loop.body, cst.IndentedBlock):
            return []
        ways = [self.before(line) for line in _ending(loop.body, cst.Break)]
        is_endless = isinstance(loop, cst.While) and _is_true(loop.test)
        if not is_endless:
            asked = loop.test if isinstance(loop, cst.While) else loop.iter
            if not _are_harmless(self.context, [asked]):
                return []
            self.passed.append(asked)
            if isinstance(loop, cst.For):
                self.looped |= {inner.value for inner in walk(loop.target) if isinstance(inner, cst.Name)}
            ways += [self.before(loop), self._back(loop.body, loop.body.body)]
            ways += [self.before(line) for line in _ending(loop.body, cst.Continue)]
        return [value for way in ways for value in way] if ways and all(ways) else []


def _ending(block: cst.IndentedBlock, kind: type[cst.Break | cst.Continue]) -> Iterator[cst.CSTNode]:
    """The lines that end the loop around ``block``, or its turn."""
    stack: list[cst.CSTNode] = [block]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.SimpleStatementLine):
            if isinstance(node.body[-1], kind):
                yield node
        elif not isinstance(node, (cst.While, cst.For, cst.FunctionDef, cst.ClassDef)):
            stack.extend(node.children)


def _leaves(block: cst.IndentedBlock) -> bool:
    """Whether nobody gets past the end of ``block``."""
    last = block.body[-1]
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], _LEAVES)


def _is_true(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Name, cst.Integer)) and node.value in ("True", "1")


def _are_harmless(context: Context, nodes: Iterable[cst.CSTNode]) -> bool:
    return all(_is_harmless(context, inner) for node in nodes for inner in walk(node))


def _is_harmless(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node``, apart from what is below it, changes no list and lets nobody else run."""
    if isinstance(node, cst.Call):
        called = context.project.values(node.func)
        if any(isinstance(value, (Function, Bound, Class, Instance)) for value in called):
            return False
    match node:
        case cst.Call(func=cst.Name(value=name)):
            return name in _CALLED
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name in _METHODS
        case cst.Call() | cst.Await() | cst.Yield() | cst.Del() | cst.FunctionDef() | cst.ClassDef():
            return False
        case cst.With() | cst.Global() | cst.Nonlocal():
            return False
        case _:
            return True


def _bound(nodes: Iterable[cst.CSTNode]) -> set[str]:
    """The names that ``nodes`` give a value, or change the value of."""
    found: set[str] = set()
    for node in (inner for outer in nodes for inner in walk(outer)):
        match node:
            case (
                cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target)
            ):
                pass
            case cst.NamedExpr(target=target) | cst.For(target=target) | cst.CompFor(target=target):
                pass
            case cst.AsName(name=target):
                pass
            case _:
                continue
        found.update(inner.value for inner in walk(target) if isinstance(inner, cst.Name))
    return found

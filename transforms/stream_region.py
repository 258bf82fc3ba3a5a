"""The code in which a chunk lives: the body of a loop over a stream, or of a function it is given to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from ..decide.mixed import is_fake, is_same_call
from ..know.kinds import Kind, Shape, Site, Value
from ..know.modules import Module, walk
from . import stream_aliases
from .asked import had, is_method
from .context import Context, constants
from .stream_aliases import Alias
from .stream_inner import Inner, inner_names
from .stream_lists import growing
from .stream_parts import REASONS, SAME, THERE, On, Reach, universe
from .stream_syntax import is_call_of, is_display, is_empty, is_nonempty, is_nothing, is_zero, known_values

# Kinds that a local name can stand for, so that its uses are uses of the chunk.
ALIASED = frozenset(THERE) | SAME | {Kind.CHUNK_CHOICES}
_PARTS = ("id", "name", "arguments", "index", "type")


@dataclass(eq=False, repr=False)
class Region:
    """Where ``name`` holds a chunk (or its choice, or its delta)."""

    context: Context
    module: Module
    node: cst.For | cst.CompFor | cst.FunctionDef
    roots: list[cst.CSTNode]  # what is looked at: the body, or the parts of a comprehension
    name: str
    sites: frozenset[Site]
    new: str = ""
    calls: str = "whole"  # how pieces of tool calls are taken
    aliases: dict[str, Alias] = field(default_factory=dict)
    lists: set[cst.CSTNode] = field(default_factory=set)  # indices into a list of calls
    everything: Reach = frozenset()
    sees_kept: bool = False
    strays: list[cst.Name] = field(default_factory=list)  # the event, under a name of another chunk

    def __post_init__(self) -> None:
        self.new = self.new or self.name
        self.everything = universe(self.context, self.sites)
        inner = self.node.inner_for_in if isinstance(self.node, cst.CompFor) else None
        if inner is not None and isinstance(inner.target, cst.Name):  # over the choices of the chunk
            name = inner.target.value
            self.aliases[name] = Alias(name, Kind.CHUNK_CHOICE, inner, inner.iter)
        self.strays = stream_aliases.find(self)

    @property
    def of_calls(self) -> Reach:
        """What the chunk says where it has a piece of a call."""
        return self.everything & {On.CALL, On.PIECE}

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, cst.FunctionDef)

    @property
    def of_chunks(self) -> bool:
        """Whether this is a loop over the stream itself."""
        if not isinstance(self.node, cst.For):
            return False
        return {shape.kind for shape in self.context.project.shapes(self.node.target)} == {Kind.CHUNK}

    def nodes(self) -> Iterator[cst.CSTNode]:
        for root in self.roots:
            yield from walk(root)

    @cached_property
    def inner(self) -> Inner:
        """The names in functions that are written here."""
        return inner_names(self.roots, self.module)

    # -- kinds ---------------------------------------------------------------------------

    def kind(self, node: cst.BaseExpression) -> Kind | None:
        """Which part of the chunk ``node`` is, if it is one and nothing else."""
        values = self.context.project.values(node)
        shapes = [value for value in values if isinstance(value, Shape)]
        kinds = {shape.kind for shape in shapes}
        if len(kinds) != 1 or any(shape.form != "object" for shape in shapes) or node in self.inner.own:
            return None
        kind = kinds.pop()
        if kind is Kind.USAGE and not self._of_chunk(node):
            return None
        if kind not in ALIASED or not self._is_rooted(node):
            return None
        if not all(map(self._is_plain, values)):
            return None
        if isinstance(node, cst.Name) and node.value != self.name:
            alias = self.aliases.get(node.value)
            return kind if alias is not None and not self._is_hidden(alias) else None
        if isinstance(node, cst.NamedExpr):
            alias = self._alias_of(node)
            return kind if alias is not None and not self._is_hidden(alias) else None
        if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
            return kind if self.kind(node.left) is kind and is_empty(node.right) else None
        if isinstance(node, cst.IfExp):  # `chunk.choices[0].delta if chunk.choices else None`
            there = self.pure(node.test)
            guards = there is not None and self._there(kind) <= there
            return kind if guards and self.kind(node.body) is kind and is_empty(node.orelse) else None
        return kind

    def _is_plain(self, value: Value) -> bool:
        """Whether ``value`` is a part of a chunk, or nothing that the new loop has to mind."""
        return (
            isinstance(value, Shape) or is_nothing(value) or is_fake(value) or is_same_call(value, self.sites)
        )

    def _is_hidden(self, alias: Alias) -> bool:
        """Whether an alias is a variable of its own now, which says what an earlier chunk had."""
        return alias.kept and not self.sees_kept

    @contextmanager
    def seeing_kept(self) -> Iterator[None]:
        """Take aliases that are kept for what they were made from, as the code that stands there does."""
        before, self.sees_kept = self.sees_kept, True
        try:
            yield
        finally:
            self.sees_kept = before

    def _is_rooted(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is read from the chunk itself, not from where a part of one was put."""
        match node:
            case cst.Name(value=name):
                return name == self.name or name in self.aliases
            case cst.Attribute(value=inner) | cst.Subscript(value=inner) | cst.NamedExpr(value=inner):
                return self._is_rooted(inner)
            case cst.BooleanOperation(left=left, right=right):
                return self._is_rooted(left) and (is_empty(right) or self._is_rooted(right))
            case cst.IfExp(body=body, orelse=orelse):
                return self._is_rooted(body) and is_empty(orelse)
            case cst.Call(func=cst.Name(value="getattr"), args=[first, *_]):
                return self._is_rooted(first.value)
            case _:
                return False

    def _alias_of(self, node: cst.NamedExpr) -> Alias | None:
        return self.aliases.get(node.target.value) if isinstance(node.target, cst.Name) else None

    def _of_chunk(self, node: cst.BaseExpression) -> bool:
        match node:
            case cst.Attribute(value=base):
                return Kind.CHUNK in {shape.kind for shape in self.context.project.shapes(base)}
            case cst.Call(args=[first, *_]):
                return Kind.CHUNK in {shape.kind for shape in self.context.project.shapes(first.value)}
            case cst.Name(value=name):
                return name in self.aliases
            case cst.NamedExpr(value=value) | cst.BooleanOperation(left=value):
                return self._of_chunk(value)
            case _:
                return False

    def piece(self, node: cst.BaseExpression) -> str | None:
        """Which of ``id name arguments index type`` of a streamed call ``node`` reads, if it does."""
        if (
            isinstance(node, cst.BooleanOperation)
            and isinstance(node.operator, cst.Or)
            and (is_empty(node.right) or is_zero(node.right))
        ):
            piece = self.piece(node.left)
            return piece if piece == "index" or not is_zero(node.right) else None
        base = self.base(node)
        if base is None or self.kind(base) not in (Kind.DELTA_CALL, Kind.DELTA_FUNCTION):
            return None
        name = self.field(node)
        return name if name in _PARTS else None

    def base(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What ``node`` reads a field of."""
        match node:
            case cst.Attribute(value=value):
                return value
            case cst.Call(func=cst.Name(value="getattr"), args=[first, *_]):
                return first.value
            case _:
                return None

    def field(self, node: cst.BaseExpression) -> str | None:
        """The field that ``node`` reads."""
        match node:
            case cst.Attribute(attr=attr):
                return attr.value
            case cst.Call(func=cst.Name(value="getattr"), args=[_, second, *_]):
                known = constants(self.context.project.vars.get(second.value))
                return str(known[0]) if known and len(known) == 1 else None
            case _:
                return None

    # -- tests ---------------------------------------------------------------------------

    def pure(self, node: cst.BaseExpression) -> Reach | None:
        """What a chunk says where ``node`` is true; None if that depends on anything else."""
        kind = self.kind(node)
        if kind is not None:
            return self._there(kind)
        piece = self.piece(node)
        if piece is not None:
            return self._piece_there(piece)
        match node:
            case cst.Name(value="True"):
                return self.everything
            case cst.Name(value="False"):
                return frozenset()
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                found = self.pure(inner)
                return None if found is None else self.everything - found
            case cst.BooleanOperation(left=left, right=right):
                if isinstance(node.operator, cst.Or) and is_empty(right):
                    return self.pure(left)
                one, other = self.pure(left), self.pure(right)
                if one is None or other is None:
                    return None
                return one & other if isinstance(node.operator, cst.And) else one | other
            case cst.Comparison(left=left, comparisons=[target]):
                return self._compared(left, target)
            case cst.Call():
                return self._called(node)
            case _:
                return None

    def _there(self, kind: Kind) -> Reach:
        if kind is Kind.CHUNK:
            return self.everything
        return THERE.get(kind, self.everything - {On.USAGE}) & self.everything

    def _piece_there(self, piece: str) -> Reach | None:
        if piece == "index":
            return None
        if self.calls == "live" and piece == "arguments":
            return frozenset({On.PIECE}) & self.everything
        opening = ("id", "name", "type")
        given = {"whole": _PARTS, "opening": opening, "live": opening, "arguments": ("arguments",)}[
            self.calls
        ]
        return frozenset({On.CALL}) & self.everything if piece in given else frozenset()

    def _compared(self, left: cst.BaseExpression, target: cst.ComparisonTarget) -> Reach | None:
        found = self._listed(left, target)
        if found is not None:
            return found
        positive = isinstance(target.operator, (cst.Equal, cst.Is, cst.In))
        if not positive and not isinstance(target.operator, (cst.NotEqual, cst.IsNot, cst.NotIn)):
            return None
        inner = left.value if isinstance(left, cst.NamedExpr) else left
        there = self.pure(inner)
        if there is None or isinstance(inner, cst.Comparison):
            return None
        kind = self.kind(inner)
        known = known_values(self.context, target.comparator)
        if known is None:
            return None
        equal: Reach = frozenset()
        for value in known:
            if value in (None, ""):
                equal |= self.everything - there
            elif kind is Kind.CHUNK_FINISH:
                equal |= REASONS.get(value, frozenset()) & self.everything
            elif (kind is Kind.DELTA_ROLE and value == "assistant") or (
                self.piece(inner) == "type" and value == "function"
            ):
                equal |= there
            else:
                return None
        return equal if positive else self.everything - equal

    def _listed(self, left: cst.BaseExpression, target: cst.ComparisonTarget) -> Reach | None:
        """``len(chunk.choices) > 0``, ``index not in calls``, ``len(calls) <= index``."""
        full = is_nonempty(target)
        if isinstance(left, cst.Call) and is_call_of(left, "len") and full is not None:
            kind = self.kind(left.args[0].value)
            if kind in (Kind.CHUNK_CHOICES, Kind.DELTA_CALLS):
                return self._there(kind) if full else self.everything - self._there(kind)
        if self.calls == "arguments" or On.CALL not in self.everything:
            return None
        call: Reach = frozenset({On.CALL})
        later = self.everything & {On.PIECE}
        match target.operator:
            case cst.NotIn() if self.is_index(left) and not is_display(target.comparator):
                return call
            case cst.In() if self.is_index(left) and not is_display(target.comparator):
                return later
            case cst.LessThanEqual() | cst.Equal() if self.is_index(target.comparator) and self._counts(left):
                return call
            case cst.GreaterThanEqual() | cst.Equal() if self.is_index(left) and self._counts(
                target.comparator
            ):
                return call
            case cst.GreaterThan() if self._counts(left) and self.is_index(target.comparator):
                return later
            case cst.LessThan() if self.is_index(left) and self._counts(target.comparator):
                return later
            case cst.LessThan() if self._counts(left) and self._is_index_plus_one(target.comparator):
                return call
            case _:
                return None

    def _counts(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is the length of a list that grows here."""
        return isinstance(node, cst.Call) and is_call_of(node, "len") and self.grows(node.args[0].value)

    def grows(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is a list that is added to here."""
        return self.module.tree.code_for_node(node) in self._growing

    @cached_property
    def _growing(self) -> frozenset[str]:
        return growing(self)

    def is_index(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is the index of a streamed call."""
        if self.piece(node) == "index":
            return True
        return isinstance(node, cst.Name) and node.value in self._index_names

    @cached_property
    def _index_names(self) -> set[str]:
        return {
            node.targets[0].target.value
            for node in self.nodes()
            if isinstance(node, cst.Assign)
            and self.piece(node.value) == "index"
            and isinstance(node.targets[0].target, cst.Name)
        }

    def _is_index_plus_one(self, node: cst.BaseExpression) -> bool:
        return (
            isinstance(node, cst.BinaryOperation)
            and isinstance(node.operator, cst.Add)
            and self.is_index(node.left)
            and isinstance(node.right, cst.Integer)
            and node.right.evaluated_value == 1
        )

    def _called(self, node: cst.Call) -> Reach | None:
        if not node.args:
            return None
        first = node.args[0].value
        if is_call_of(node, "hasattr") and len(node.args) == 2:
            kind = self.kind(first)
            known = known_values(self.context, node.args[1].value)
            if kind is None or known is None:
                return None
            has = {None if is_method(str(value)) else had(kind, str(value)) for value in known}
            if len(has) != 1 or None in has:
                return None
            return self._there(kind) if has == {True} else frozenset()
        if is_call_of(node, "len") and self.kind(first) is not None:
            return self.pure(first)
        if is_call_of(node, "bool"):
            return self.pure(first)
        if is_call_of(node, "isinstance") and self.kind(first) is Kind.DELTA_TEXT:
            return self.pure(first)
        return None

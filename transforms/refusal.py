"""``message.parsed`` becomes ``output_parsed`` (MR601), ``message.refusal`` a look at the output (MR606).

A refusal is a part of an output message now. It is looked up once, into a local called ``refusal``
before the first statement that asks for it, or in place where a local would not do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import SHAPES, Kind, Site
from ..know.modules import Module
from .context import Context
from .only_kind import only_kind
from .reading import Read, read_of, replace_read, truth_tested
from .snippets import attribute, expr, is_simple

_NAME = "refusal"
_PARTS = 'for item in r.output if item.type == "message" for part in item.content if part.type == "refusal"'
_FIRST = f"next((part.refusal {_PARTS}), None)"
_ANY = f"any({_PARTS.replace('for', 'True for', 1)})"
_LINES = """\
refusal = next(
    (
        part.refusal
        for item in r.output
        if item.type == "message"
        for part in item.content
        if part.type == "refusal"
    ),
    None,
)
"""


@dataclass(frozen=True, repr=False)
class _Asked:
    """One read of a refusal, and the sites it can come from."""

    read: Read
    sites: frozenset[Site]


def plan(context: Context) -> None:
    asked: list[_Asked] = []
    for node, module, shapes in context.shaped:
        if not isinstance(node, cst.BaseExpression) or not any(
            shape.kind is Kind.MESSAGE for shape in shapes
        ):
            continue
        reading = read_of(context, node, module)
        if reading is None:
            continue
        part = SHAPES.get((Kind.MESSAGE, reading.name))
        if part not in (Kind.PARSED, Kind.REFUSAL) or only_kind(context, node, module, shapes) is None:
            continue
        sites = frozenset(shape.site for shape in shapes)
        if part is Kind.PARSED:
            _parsed(context, reading, sites)
        else:
            asked.append(_Asked(reading, sites))
    _refusals(context, asked)


def _parsed(context: Context, read: Read, sites: frozenset[Site]) -> None:
    if any(site.method == "create" for site in sites):
        if all(site.method != "create" or site.also_parses for site in sites):
            detail = "one call is of `create` or `parse`, and only `parse` gives this"
            context.manual(read.whole, read.module, sites, "MR603", detail, "write two calls")
            return
        text = context.source(read.whole, read.module)
        context.manual(
            read.whole, read.module, sites, "MR308", f"`{text}`: the answer of `create` is not parsed"
        )
        return
    template = replace_read(lambda base: attribute(base, "output_parsed"))
    context.edit(read.whole, read.module, sites, template, "MR601")


# -- refusals ----------------------------------------------------------------------------


def _refusals(context: Context, asked: list[_Asked]) -> None:
    left = _in_order(asked)
    while left:
        first = left.pop(0)
        anchor = _anchor(first.read)
        if anchor is None:
            _in_place(context, first)
            continue
        group = [first, *(other for other in left if _follows(first.read, anchor, other.read))]
        left = [other for other in left if other not in group]
        _shared(context, group, anchor)


def _in_order(asked: list[_Asked]) -> list[_Asked]:
    """The reads as they stand in the source."""
    order: dict[cst.CSTNode, int] = {}
    for module in dict.fromkeys(item.read.module for item in asked):
        for node in syntax.walk(module.tree):
            order[node] = len(order)
    return sorted(asked, key=lambda item: order[item.read.whole])


def _in_place(context: Context, asked: _Asked) -> None:
    read, sites = asked.read, asked.sites
    module, whole = read.module, read.whole
    parent = module.parents.get(whole)
    if isinstance(parent, (cst.Assign, cst.AnnAssign)) and parent.value is whole:
        context.edit(whole, module, sites, replace_read(_set_out), "MR606")
        return
    truth = truth_tested(module, whole)
    context.edit(
        whole, module, sites, replace_read(lambda base: expr(_ANY if truth else _FIRST, r=base)), "MR606"
    )


def _set_out(base: cst.BaseExpression) -> cst.BaseExpression:
    """The look-up, line by line."""
    return _statement(base).value


def _statement(base: cst.BaseExpression) -> cst.Assign:
    line = cst.parse_statement(_LINES)
    assert isinstance(line, cst.SimpleStatementLine)
    assert isinstance(line.body[0], cst.Assign)
    replaced = line.body[0].visit(_Base(base))
    assert isinstance(replaced, cst.Assign)
    return replaced


class _Base(cst.CSTTransformer):
    def __init__(self, base: cst.BaseExpression) -> None:
        super().__init__()
        self._base = base

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._base if original_node.value == "r" else updated_node


def _anchor(read: Read) -> cst.CSTNode | None:
    """The statement before which a local can be bound, or None if the read must stay in place."""
    module, whole = read.module, read.whole
    if not is_simple(_bare(read.base)) or isinstance(module.parents.get(whole), (cst.Assign, cst.AnnAssign)):
        return None
    root = _root(read.base)
    for parent in module.ancestors(whole):
        if isinstance(parent, cst.Lambda) or (
            isinstance(parent, cst.While) and _within(module, whole, parent.test)
        ):
            return None
        if isinstance(parent, (cst.CompFor, cst.BaseComp, cst.SimpleStatementSuite)):
            return None  # `def show(message): print(message.refusal)`: there is no line before it
        if isinstance(parent, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            break
    statement = module.statement(whole)
    while isinstance(statement, cst.If) and isinstance(module.parents.get(statement), cst.If):
        outer = module.parents[statement]
        assert isinstance(outer, cst.If)
        if outer.orelse is not statement:
            break
        statement = outer
    if not isinstance(module.parents.get(statement), (cst.IndentedBlock, cst.Module)):
        return None
    if root in syntax.bound_in([statement]) or _is_taken(module, statement):
        return None
    return statement


def _bare(base: cst.BaseExpression) -> cst.BaseExpression:
    """The receiver without ``.choices[0].message``, which falls away."""
    while isinstance(base, (cst.Attribute, cst.Subscript)):
        base = base.value
    return base


def _root(base: cst.BaseExpression) -> str:
    bare = _bare(base)
    return bare.value if isinstance(bare, cst.Name) else ""


def _within(module: Module, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
    return node is outer or any(parent is outer for parent in module.ancestors(node))


def _is_taken(module: Module, statement: cst.CSTNode) -> bool:
    """Whether the name of the local means something else around here."""
    scope = module.function(statement) or module.tree
    if (
        any(isinstance(parent, cst.ClassDef) for parent in module.ancestors(statement))
        and scope is module.tree
    ):
        return True
    return any(
        isinstance(node, cst.Name) and node.value == _NAME and _is_variable(module, node)
        for node in syntax.walk(scope)
    )


def _is_variable(module: Module, node: cst.Name) -> bool:
    parent = module.parents.get(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    return not (isinstance(parent, cst.Arg) and parent.keyword is node)


def _follows(first: Read, anchor: cst.CSTNode, other: Read) -> bool:
    """Whether ``other`` reads the same refusal, in ``anchor`` or after it in the same block."""
    module = first.module
    if other.module is not module or module.function(other.whole) is not module.function(first.whole):
        return False
    if _path(first.base) != _path(other.base) or isinstance(
        module.parents.get(other.whole), (cst.Assign, cst.AnnAssign)
    ):
        return False
    for statement in _from(module, anchor):
        if _root(first.base) in syntax.bound_in([statement]):
            return False
        if _within(module, other.whole, statement):
            return True
    return False


def _path(base: cst.BaseExpression) -> str:
    parts: list[str] = []
    while isinstance(base, (cst.Attribute, cst.Subscript)):
        if isinstance(base, cst.Attribute):
            parts.append(base.attr.value)
        base = base.value
    return ".".join([base.value if isinstance(base, cst.Name) else "", *reversed(parts)])


def _from(module: Module, anchor: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """``anchor`` and the statements after it in its block."""
    block = module.parents[anchor]
    assert isinstance(block, (cst.IndentedBlock, cst.Module))
    started = False
    for statement in block.body:
        started = started or statement is anchor
        if started:
            yield statement


def _shared(context: Context, group: list[_Asked], anchor: cst.CSTNode) -> None:
    sites = frozenset(site for asked in group for site in asked.sites)
    module = group[0].read.module
    found: list[cst.BaseExpression] = []

    def named(base: cst.BaseExpression) -> cst.BaseExpression:
        found.append(base)
        return cst.Name(_NAME)

    for asked in group:
        context.edit(asked.read.whole, module, sites, replace_read(named), "MR606")
    context.edit(anchor, module, sites, _bind_first(found), "MR606")


def _bind_first(
    found: list[cst.BaseExpression],
) -> Callable[[cst.CSTNode, cst.CSTNode], cst.FlattenSentinel[cst.CSTNode]]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
        assert isinstance(updated, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        lines = list(updated.leading_lines)
        blank = 0
        while blank < len(lines) and lines[blank].comment is None:
            blank += 1
        binding = cst.SimpleStatementLine([_statement(found[0])], leading_lines=lines[:blank])
        return cst.FlattenSentinel([binding, updated.with_changes(leading_lines=lines[blank:])])

    return apply

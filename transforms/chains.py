"""``r.choices and r.choices[0].message and r.choices[0].message.content``: the last says it all (MR301).

The response, its choice and its message are one object now, so the steps of such a condition say the same
again. What an ``and`` of tests (or an ``or`` of negated ones) says twice is left out after the edits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import STREAM_KINDS, STRUCTURAL, Site
from ..know.modules import Module
from .context import Context
from .reading import truth_tested

# Not a text: it need not change wherever it gets, and would join here all calls that it can be of.
_OURS = STRUCTURAL - STREAM_KINDS
# What stands between a part of the answer and the operand that tests it.
_WRAPPERS = (cst.Attribute, cst.Subscript, cst.UnaryOperation, cst.Comparison, cst.Call, cst.Arg)


@dataclass(frozen=True)
class _Operand:
    node: cst.BaseExpression
    operator: cst.BaseBooleanOp | None  # the one before it


def plan(context: Context) -> None:
    """Tidy the conditions that test parts of one answer."""
    found: dict[cst.BooleanOperation, tuple[Module, set[frozenset[Site]]]] = {}
    for node, module, shapes in context.shaped:
        if all(shape.kind in _OURS for shape in shapes):
            root = _root(node, module)
            if root is not None:
                found.setdefault(root, (module, set()))[1].add(frozenset(shape.site for shape in shapes))
    for root, (module, owners) in found.items():
        if len(owners) == 1:  # a condition about several answers would make one flow of them
            _tidy(context, root, module, *owners)


def _root(node: cst.CSTNode, module: Module) -> cst.BooleanOperation | None:
    """The whole condition of which ``node`` is a part of one operand."""
    parent = module.parents.get(node)
    while isinstance(parent, _WRAPPERS):
        parent = module.parents.get(parent)
    if not isinstance(parent, cst.BooleanOperation):
        return None
    above = module.parents.get(parent)
    while isinstance(above, cst.BooleanOperation) and above.left is parent and _continues(above, parent):
        parent, above = above, module.parents.get(above)
    return parent


def _continues(above: cst.BooleanOperation, below: cst.BooleanOperation) -> bool:
    """Whether ``below`` is the beginning of ``above``: ``(a and b) and c`` without the parentheses."""
    return type(above.operator) is type(below.operator) and not below.lpar


def _tidy(context: Context, root: cst.BooleanOperation, module: Module, sites: frozenset[Site]) -> None:
    negated = isinstance(root.operator, cst.Or)
    written = Counter(_text(operand.node) for operand in _operands(root))
    asked, bare = truth_tested(module, root), _needs_no_parentheses(root, module)

    def tidied(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(updated, cst.BooleanOperation):
            return updated
        operands = _operands(updated)
        kept = _without_repeats(operands, written, negated, asked)
        return updated if len(kept) == len(operands) else _joined(updated, kept, bare)

    context.edit(root, module, sites, tidied, "MR301", key="chain")


def _operands(node: cst.BooleanOperation) -> list[_Operand]:
    left = (
        _operands(node.left)
        if isinstance(node.left, cst.BooleanOperation) and _continues(node, node.left)
        else [_Operand(node.left, None)]
    )
    return [*left, _Operand(node.right, node.operator)]


def _without_repeats(
    operands: Sequence[_Operand], written: Counter[str], negated: bool, asked: bool
) -> list[_Operand]:
    """The operands that say something new; ``written`` counts those of the condition before the edits."""
    texts = Counter(_text(operand.node) for operand in operands)

    def may_go(at: int) -> bool:
        text = _text(operands[at].node)
        is_new = texts[text] > written[text]
        return is_new and _is_plain(operands[at].node, negated) and not _has_comment(operands, at)

    kept: list[int] = []
    for at, operand in enumerate(operands):
        text = _text(operand.node)
        before = [_text(operands[other].node) for other in kept]
        # the same again, or the object of which a field was read already
        if not may_go(at) or not any(other == text or other.startswith(f"{text}.") for other in before):
            kept.append(at)
    if asked:  # there are items where there is text
        said = {_text(operands[at].node) for at in kept}
        kept = [
            at
            for at in kept
            if not may_go(at) or f"{_text(operands[at].node)}_text" not in said - {_text(operands[at].node)}
        ]
    return [operands[at] for at in kept]


def _is_plain(node: cst.BaseExpression, negated: bool) -> bool:
    """Whether an operand is a name or a field of one (negated in an ``or``)."""
    if negated:
        if not isinstance(node, cst.UnaryOperation) or not isinstance(node.operator, cst.Not):
            return False
        node = node.expression
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _has_comment(operands: Sequence[_Operand], at: int) -> bool:
    """Whether there is a comment beside the operand at ``at``."""
    beside = (operand.operator for operand in operands[at : at + 2])
    return any(operator is not None and "#" in _text(operator) for operator in beside)


def _joined(node: cst.BooleanOperation, kept: Sequence[_Operand], bare: bool) -> cst.BaseExpression:
    result = kept[0].node
    for operand in kept[1:]:
        assert operand.operator is not None
        result = cst.BooleanOperation(result, operand.operator, operand.node)
    if (bare and len(kept) == 1) or not node.lpar:
        return result
    return result.with_changes(lpar=[*node.lpar, *result.lpar], rpar=[*result.rpar, *node.rpar])


def _needs_no_parentheses(root: cst.BooleanOperation, module: Module) -> bool:
    """Whether the parentheses around ``root`` were there for its operators alone."""
    if any("#" in _text(paren) for paren in (*root.lpar, *root.rpar)):
        return False
    match module.parents.get(root):
        case cst.UnaryOperation(operator=cst.Not(whitespace_after=space)):
            return not space.empty
        case cst.If(whitespace_before_test=space) | cst.While(whitespace_after_while=space):
            return not space.empty
        case cst.BooleanOperation(left=left, operator=operator):
            space = operator.whitespace_before if left is root else operator.whitespace_after
            return not space.empty
        case _:
            return False


def _text(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)

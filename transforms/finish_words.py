"""Finish reasons whose word is wanted in one place (MR311): in the text of an error, as the key of a dict.

``raise RuntimeError(choice.finish_reason)``, ``NAMES.get(choice.finish_reason)``: the old word is spelled out
in a line above, and the tests beside it stay tests.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import libcst as cst

from ..decide.plan import Replacement
from ..know.kinds import Class, DictValue, External, Kind, Site, Value
from ..know.modules import Module, walk
from .context import Context
from .reading import base_of, is_stored_to, replace_read
from .snippets import in_lines

Spelling = Callable[[cst.BaseExpression], cst.BaseExpression]
_NAMES = ("finish_reason", "reason", "ended_by")


def is_word(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` is where the old word does what it did, and goes no further."""
    return _is_looked_up(context, node, module) or _is_raised(context, node, module)


def _is_looked_up(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """``NAMES.get(reason)``, ``NAMES[reason]``, ``reason in NAMES``, of a dict that is not set there."""
    parent = module.parents.get(node)
    outer = module.parents.get(parent) if parent is not None else None
    match parent, outer:
        case cst.Arg(keyword=None, star=""), cst.Call(
            func=cst.Attribute(value=owner, attr=method), args=args
        ):
            if method.value != "get" or args[0] is not parent:
                return False
        case cst.Index(), cst.SubscriptElement():
            whole = module.parents[outer]
            if not isinstance(whole, cst.Subscript) or is_stored_to(module, whole):
                return False
            owner = whole.value
        case cst.Comparison(left=left, comparisons=[target]), _ if left is node:
            if not isinstance(target.operator, (cst.In, cst.NotIn)):
                return False
            owner = target.comparator
        case _:
            return False
    values = context.project.values(owner)
    return bool(values) and all(isinstance(value, DictValue) for value in values)


def _is_raised(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` only gets into the text of an error that is raised."""
    as_text = False
    for parent in module.ancestors(node):
        match parent:
            case cst.Raise(exc=error):
                return error is not None
            case cst.FormattedStringExpression() | cst.BinaryOperation():
                as_text = True
            case cst.Call(func=func):
                callees = context.project.values(func)
                if not callees or not all(_is_error(context, value, as_text) for value in callees):
                    return False
            case cst.Arg() | cst.FormattedString() | cst.ConcatenatedString():
                continue
            case _:
                return False
    return False


def _is_error(context: Context, callee: Value, as_text: bool) -> bool:
    """Whether ``callee`` makes an error, and keeps what it is given out of sight, or a text of it."""
    match callee:
        case External(path=path):
            return path.startswith("builtins.") and path.endswith(("Error", "Exception", "Exit"))
        case Class():
            family = [callee, *context.project.ancestors(callee)]
            plain = not any(owner.annotations or "__init__" in owner.members for owner in family)
            return as_text or plain
        case _:
            return False


def is_told_once(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """``print(f"ended by {choice.finish_reason}")``: a line above can spell out the word for the f-string.

    Nothing that the statement does before may give another meaning to the name of the answer.
    """
    line = module.statement(node)
    if line is None or not any(
        isinstance(up, cst.BaseFormattedStringContent) for up in module.ancestors(node)
    ):
        return False
    owner = base_of(node)
    while isinstance(owner, cst.Subscript) or (
        isinstance(owner, cst.Attribute) and owner.attr.value == "choices"
    ):
        owner = owner.value
    return (
        isinstance(owner, cst.Name)
        and not any(
            isinstance(inner, cst.NamedExpr) or (inner is not node and _is_reason(context, inner))
            for inner in walk(line)
        )
        and not any(
            isinstance(inner, (cst.Global, cst.Nonlocal))
            and any(item.name.value == owner.value for item in inner.names)
            for inner in walk(module.tree)
        )
    )


def _is_reason(context: Context, node: cst.CSTNode) -> bool:
    return not isinstance(node, cst.Name) and any(
        shape.kind is Kind.FINISH for shape in context.project.shapes(node)
    )


def spell(
    context: Context, node: cst.BaseExpression, module: Module, sites: set[Site], spelled: Spelling
) -> None:
    """Spell the reason that ``node`` reads out: in a line above its statement, or in place."""
    line = module.statement(node)
    name = _free_name(node, module)
    if not isinstance(line, cst.SimpleStatementLine) or not name or not _runs_at_once(node, line, module):
        context.edit(node, module, sites, replace_read(spelled), "MR311")
        return
    made: list[cst.BaseExpression] = []

    def read(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        made[:] = [spelled(base_of(updated))]
        return cst.Name(name)

    def above(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        assert isinstance(updated, cst.SimpleStatementLine)
        text = made[0]
        value = in_lines(text, module.tree.default_indent) if isinstance(text, cst.IfExp) else text
        assign = cst.Assign([cst.AssignTarget(cst.Name(name))], value)
        first = cst.SimpleStatementLine([assign], leading_lines=updated.leading_lines)
        return cst.FlattenSentinel([first, updated.with_changes(leading_lines=[])])

    context.edit(node, module, sites, read, "MR311")
    context.edit(line, module, sites, above, "MR311")


def _runs_at_once(node: cst.CSTNode, line: cst.SimpleStatementLine, module: Module) -> bool:
    """Whether ``node`` is read once whenever ``line`` runs."""
    above = module.ancestors(node)
    return len(line.body) == 1 and all(
        isinstance(parent, _PLAIN) for parent in itertools.takewhile(lambda parent: parent is not line, above)
    )


_PLAIN = (
    cst.BaseSmallStatement,
    cst.Arg,
    cst.Call,
    cst.Attribute,
    cst.Subscript,
    cst.SubscriptElement,
    cst.Index,
    cst.Element,
    cst.Tuple,
    cst.List,
    cst.Dict,
    cst.DictElement,
    cst.FormattedString,
    cst.FormattedStringExpression,
    cst.ConcatenatedString,
    cst.BinaryOperation,
    cst.Await,
)


def _free_name(node: cst.CSTNode, module: Module) -> str:
    """A name for the text that the code around does not know."""
    names = (inner for inner in walk(module.function(node) or module.tree) if isinstance(inner, cst.Name))
    used = {name.value for name in names if not _is_field(name, module)}
    return next((name for name in _NAMES if name not in used), "")


def _is_field(name: cst.Name, module: Module) -> bool:
    parent = module.parents.get(name)
    return isinstance(parent, cst.Attribute) and parent.attr is name

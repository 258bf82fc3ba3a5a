"""The text of the answer: ``message.content`` becomes ``output_text`` (MR301, MR310).

``output_text`` is ``""`` where ``content`` was None (trap E1): tests for None become truth tests; where
None could be seen by somebody, the read becomes ``resp.output_text or None`` and nothing else changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..decide.escapes import Way
from ..know.kinds import Const, Kind, Shape, Site, Value
from ..know.modules import Module
from .access import Template, truth_tested
from .context import Context
from .response_format import may_refuse
from .snippets import attribute, expr

if TYPE_CHECKING:
    from .access import Read


def plan(context: Context) -> None:
    """Rewrite what is asked of a text that used to be None."""
    for node, module, shapes in context.shaped:
        texts = [shape for shape in shapes if shape.kind is Kind.CONTENT and shape.form != "json"]
        if not texts or not isinstance(node, cst.BaseExpression):
            continue
        if any(none_is_seen(context, shape.site) for shape in texts) and not _is_read(context, node):
            continue  # what was read gives None as before
        _test(context, node, module, texts)


def _is_read(context: Context, node: cst.BaseExpression) -> bool:
    """Whether ``node`` takes the text out of the answer."""
    base = node.value if isinstance(node, (cst.Attribute, cst.Subscript)) else None
    return base is not None and any(shape.kind is Kind.MESSAGE for shape in context.project.shapes(base))


def none_is_seen(context: Context, site: Site) -> bool:
    """Whether the text can have been None, and somebody would notice."""
    request = context.request(site)
    if not (request.passes_tools or may_refuse(context, site)):
        return False
    for form in ("object", "dict"):
        for escape in context.escapes.of(Shape(Kind.CONTENT, site, form)):
            if escape.way in (Way.DISPLAY, Way.ARGUMENT, Way.TEXT, Way.RETURN, Way.STORE, Way.YIELD):
                return True
    return _kept(context, site)


def _kept(context: Context, site: Site) -> bool:
    """Whether the text is put where its being None can be told later: a message, a dict, an attribute."""
    for node, module, shapes in context.shaped:
        if any(shape.site is site and shape.kind is Kind.CONTENT for shape in shapes):
            parent = module.parents.get(node)
            if isinstance(parent, cst.DictElement) and parent.value is node:
                return True
    return False


def content_template(context: Context, read: Read, sites: set[Site]) -> Template:
    """How to write one read of ``message.content``."""
    if any(none_is_seen(context, site) for site in sites) and not _settled(read.whole, read.module):
        module = read.module

        def keep_none(base: cst.BaseExpression) -> cst.BaseExpression:
            result = expr("text or None", text=attribute(base, "output_text"))
            parent = module.parents.get(read.whole)
            bare = isinstance(parent, _BARE)
            return result if bare else result.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])

        return keep_none
    return lambda base: attribute(base, "output_text")


_BARE = (
    cst.Assign,
    cst.Return,
    cst.Arg,
    cst.DictElement,
    cst.AnnAssign,
    cst.NamedExpr,
    cst.FormattedStringExpression,
)


def _settled(node: cst.CSTNode, module: Module) -> bool:
    """Whether None and "" are the same where the text is read."""
    parent = module.parents.get(node)
    if (
        isinstance(parent, cst.BooleanOperation)
        and isinstance(parent.operator, cst.Or)
        and parent.left is node
    ):
        return True
    if isinstance(parent, cst.Attribute):
        return True  # None had no attributes
    if (
        isinstance(parent, cst.Comparison)
        and parent.left is node
        and _is_none(parent.comparisons[0].comparator)
    ):
        return True
    return truth_tested(module, node) or _is_guarded(node, module)


def _is_guarded(node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` stands under a test of itself: ``if message.content: print(message.content)``."""
    text = module.tree.code_for_node(node)
    below = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return False
        if (
            isinstance(parent, (cst.If, cst.IfExp))
            and parent.body is below
            and _asks(parent.test, text, module)
        ):
            return True
        below = parent
    return False


def _asks(test: cst.BaseExpression, text: str, module: Module) -> bool:
    """Whether a condition holds only where the expression ``text`` does."""
    match test:
        case cst.BooleanOperation(operator=cst.And(), left=left, right=right):
            return _asks(left, text, module) or _asks(right, text, module)
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=cst.IsNot() | cst.NotEqual(), comparator=other)],
        ):
            return _is_none(other) and module.tree.code_for_node(left) == text
        case _:
            return module.tree.code_for_node(test) == text


def _test(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    sites = {shape.site for shape in shapes}
    parent = module.parents.get(node)
    match parent:
        case cst.Comparison(left=left, comparisons=[target]) if left is node and _is_none(target.comparator):
            wanted = isinstance(target.operator, (cst.IsNot, cst.NotEqual))
            if isinstance(target.operator, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)):
                bare = truth_tested(module, parent) or not wanted
                context.edit(parent, module, sites, _truth(wanted, bare), "MR310")
        case cst.BooleanOperation(operator=cst.Or(), left=left, right=right) if left is node:
            values = context.project.values(node)
            if (
                isinstance(right, cst.SimpleString)
                and right.evaluated_value == ""
                and all(map(_text, values))
            ):
                context.edit(parent, module, sites, _left, "MR310")
        case _:
            return


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _text(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str)
    return isinstance(value, Shape) and value.kind is Kind.CONTENT


def _truth(wanted: bool, bare: bool):  # type: ignore[no-untyped-def]
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Comparison)
        left = updated.left
        if wanted:
            result: cst.BaseExpression = left if bare else expr("bool(x)", x=left)
        else:
            result = cst.UnaryOperation(cst.Not(), left)
        if updated.lpar and not result.lpar:
            result = result.with_changes(lpar=updated.lpar, rpar=updated.rpar)
        return result

    return apply


def _left(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.BooleanOperation)
    left = updated.left
    if updated.lpar and not left.lpar and not isinstance(left, (cst.Name, cst.Attribute)):
        left = left.with_changes(lpar=updated.lpar, rpar=updated.rpar)
    return left

"""The text of the answer: ``message.content`` becomes ``output_text`` (MR301, MR310).

``output_text`` is ``""`` where ``content`` was None (trap E1): tests for None become truth tests; where
None could be seen by somebody, the read becomes ``resp.output_text or None`` and nothing else changes.
"""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Const, DictValue, Kind, Shape, Site, Value
from ..know.modules import Module
from .context import Context
from .item_facts import facts
from .none_errors import failure, is_heard_above
from .none_kept import compared
from .none_text import is_guarded, none_is_seen, told_by
from .reading import Read, Template, truth_tested
from .snippets import attribute, expr, spells_none


def plan(context: Context) -> None:
    """Rewrite what is asked of a text that used to be None."""
    told_by(context)
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


def content_template(context: Context, read: Read, sites: set[Site]) -> Template:
    """How to write one read of ``message.content``."""
    module = read.module
    settled = _settled(context, read.whole, module) or _is_sent(context, read.whole, module)
    if not settled and any(none_is_seen(context, site) for site in sites):

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
    cst.Element,
    cst.DictElement,
    cst.AnnAssign,
    cst.Expr,
    cst.NamedExpr,
    cst.FormattedStringExpression,
    cst.ListComp,
    cst.SetComp,
    cst.GeneratorExp,
    cst.DictComp,
    cst.Match,
    cst.Yield,
    cst.Index,
)


def _is_sent(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether ``node`` is the content of a message that is sent: the API takes no null there."""
    element = module.parents.get(node)
    message = module.parents.get(element) if isinstance(element, (cst.DictElement, cst.Arg)) else None
    if not isinstance(message, cst.BaseExpression):
        return False
    known = facts(context).messages
    return any(isinstance(value, DictValue) and value in known for value in context.project.values(message))


def _settled(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether None and "" are the same where the text is read."""
    parent = module.parents.get(node)
    if (
        isinstance(parent, cst.BooleanOperation)
        and isinstance(parent.operator, cst.Or)
        and parent.left is node
    ):
        return True
    if isinstance(parent, cst.Attribute) or _fails_for_none(node, parent, module):
        failed = failure(node, module)
        return failed is None or not is_heard_above(context, node, module, failed, broad=True)
    if isinstance(parent, cst.Match):
        return False
    return truth_tested(module, node) or is_guarded(node, module)


def _fails_for_none(node: cst.CSTNode, parent: cst.CSTNode | None, module: Module) -> bool:
    """Whether what is done with the text raises an error for None: ``text + "."``, ``json.loads(text)``."""
    match parent:
        case cst.BinaryOperation(operator=cst.Add()):
            return True
        case cst.Subscript(value=value):
            return value is node
        case cst.ComparisonTarget(operator=cst.In() | cst.NotIn()):
            return True
        case cst.Arg(keyword=None, star=""):
            call = module.parents.get(parent)
            func = call.func if isinstance(call, cst.Call) else None
            name = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
            return name in _TAKES_TEXT
        case _:
            return False


_TAKES_TEXT = frozenset("len loads int float literal_eval model_validate_json parse_raw".split())


def _test(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    sites = {shape.site for shape in shapes}
    parent = module.parents.get(node)
    match parent:
        case cst.Comparison() | cst.ComparisonTarget():
            _compare(context, node, module, sites)
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


def _compare(context: Context, node: cst.BaseExpression, module: Module, sites: set[Site]) -> None:
    """``text is None``, either way round."""
    other = compared(node, module)
    if other is None or not spells_none(other):
        return
    parent = module.parents[node]
    comparison = parent if isinstance(parent, cst.Comparison) else module.parents[parent]
    assert isinstance(comparison, cst.Comparison)
    operator = comparison.comparisons[0].operator
    wanted = isinstance(operator, (cst.IsNot, cst.NotEqual))
    if isinstance(operator, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)):
        bare = truth_tested(module, comparison) or not wanted
        swapped = comparison.left is not node
        context.edit(comparison, module, sites, _truth(wanted, bare, swapped), "MR310")


def _text(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str)
    return isinstance(value, Shape) and value.kind is Kind.CONTENT


def _truth(wanted: bool, bare: bool, swapped: bool) -> Apply:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Comparison)
        left = updated.comparisons[0].comparator if swapped else updated.left
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

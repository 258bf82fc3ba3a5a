"""The text of the answer: ``message.content`` becomes ``output_text`` (MR301, MR310).

``output_text`` is ``""`` where ``content`` was None (trap E1): tests for None become truth tests; where
None could be seen by somebody, the read becomes ``resp.output_text or None`` and nothing else changes.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import libcst as cst

from ..decide.escapes import Way
from ..decide.plan import Apply
from ..know.kinds import Const, Kind, Shape, Site, Value
from ..know.modules import Module, walk
from .context import Context
from .reading import Read, Template, truth_tested
from .response_format import may_refuse
from .snippets import attribute, expr


def plan(context: Context) -> None:
    """Rewrite what is asked of a text that used to be None."""
    _tellers(context)
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
    if site in _tellers(context):
        return True
    request = context.request(site)
    if not (request.passes_tools or may_refuse(context, site)):
        return False
    for form in ("object", "dict"):
        for escape in context.escapes.of(Shape(Kind.CONTENT, site, form)):
            if escape.way in (Way.DISPLAY, Way.ARGUMENT, Way.TEXT, Way.RETURN, Way.STORE, Way.YIELD):
                return True
    return _kept(context, site)


def _tellers(context: Context) -> frozenset[Site]:
    """The sites whose text the code itself tells apart: None from "", or None by the error it causes."""
    known = _TELLERS.get(context)
    if known is None:
        nones: set[Site] = set()
        empties: set[Site] = set()
        both: set[Site] = set()
        for node, module, shapes in context.shaped:
            sites = {shape.site for shape in shapes if shape.kind is Kind.CONTENT}
            if not sites or not isinstance(node, cst.BaseExpression):
                continue
            parent = module.parents.get(node)
            if isinstance(parent, cst.Match) or (
                isinstance(parent, cst.Attribute) and is_caught(node, module)
            ):
                both |= sites
            elif isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
                other = _compared(node, module)
                if other is not None and _is_none(other):
                    nones |= sites
                    if not all(map(_text_or_none, context.project.values(node))):
                        both |= sites  # others put their own empty texts there
                elif isinstance(other, cst.SimpleString) and other.evaluated_value == "":
                    empties |= sites
        for site in nones & empties:
            detail = 'the code tells None from "", and an answer without text is "" now'
            context.unsafe(site.node, site.module, [site], "MR310", detail)
        known = _TELLERS[context] = frozenset(both | (nones & empties))
    return known


_TELLERS: WeakKeyDictionary[Context, frozenset[Site]] = WeakKeyDictionary()


def _compared(node: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """The other side of a comparison with ``node``."""
    parent = module.parents[node]
    comparison = parent if isinstance(parent, cst.Comparison) else module.parents[parent]
    assert isinstance(comparison, cst.Comparison)
    if len(comparison.comparisons) != 1:
        return None
    return comparison.comparisons[0].comparator if comparison.left is node else comparison.left


def is_caught(node: cst.CSTNode, module: Module) -> bool:
    """Whether a handler around ``node`` waits for the error that None gives."""
    below: cst.CSTNode = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return False
        if isinstance(parent, cst.Try) and parent.body is below:
            for handler in parent.handlers:
                names = {
                    inner.value for inner in walk(handler.type or handler.body) if isinstance(inner, cst.Name)
                }
                if handler.type is not None and names & {"AttributeError", "TypeError"}:
                    return True
        below = parent
    return False


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
        return not is_caught(node, module)  # None had no attributes
    if isinstance(parent, cst.Match):
        return False
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
    other = _compared(node, module)
    if other is None or not _is_none(other):
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


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _text_or_none(value: Value) -> bool:
    if isinstance(value, Const):
        return value.value is None
    return isinstance(value, Shape) and value.kind is Kind.CONTENT


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

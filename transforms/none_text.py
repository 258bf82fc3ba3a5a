"""Whether anybody notices that the text of an answer was None and is "" now (MR310, trap E1)."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..decide.escapes import Way
from ..know.kinds import Const, Kind, Shape, Site, Value
from ..know.modules import Module, bound_by, walk
from .context import Context
from .none_errors import Failure, fails_for_certain, failure, is_heard, is_heard_above
from .none_kept import compared, is_kept
from .response_format import JSON, kind_of, may_refuse
from .snippets import spells_none
from .stream_parts import leaves

_WAYS = (Way.DISPLAY, Way.ARGUMENT, Way.TEXT, Way.RETURN, Way.STORE, Way.YIELD)


@dataclass(frozen=True)
class Told:
    """What the code says about texts that are None."""

    apart: frozenset[Site]  # tells None from "", or waits for the error that None causes
    asked: frozenset[Site]  # asks whether the text is None


def none_is_seen(context: Context, site: Site) -> bool:
    """Whether the text can have been None, and somebody would notice."""
    known = context.memo.setdefault("None is seen", {})
    assert isinstance(known, dict)
    if site not in known:
        known[site] = _none_is_seen(context, site)
    return bool(known[site])


def _none_is_seen(context: Context, site: Site) -> bool:
    told = told_by(context)
    if site in told.apart:
        return True
    if not _can_be_none(context, site):
        return site in told.asked and _leaves_unasked(context, site)
    for form in ("object", "dict"):
        for escape in context.escapes.of(Shape(Kind.CONTENT, site, form)):
            if escape.way in _WAYS:
                return True
    return is_kept(context, site)


def _leaves_unasked(context: Context, site: Site) -> bool:
    """Whether the text of a plain call, which the code expects to be None at times, goes out unasked.

    What a function returns is not looked at: the function has asked, or its callers do.
    """
    escapes = [
        escape
        for form in ("object", "dict")
        for escape in context.escapes.of(Shape(Kind.CONTENT, site, form))
        if escape.way in _WAYS and isinstance(escape.node, _WRITTEN)
    ]
    if any(escape.direct and not is_told(escape.node, escape.module) for escape in escapes):
        return True
    return any(not escape.direct for escape in escapes) and _is_gathered(context, site)


_WRITTEN = (cst.Name, cst.Attribute, cst.Subscript, cst.Dict, cst.List)


def is_told(node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` stands where it is known not to be None, for the code has asked."""
    return is_guarded(node, module) or _is_after_a_test(node, module)


def _is_gathered(context: Context, site: Site) -> bool:
    """Whether the text goes into a list or a dict unasked."""
    for node, module in context.texts(site):
        parent = module.parents.get(node)
        call = module.parents.get(parent) if isinstance(parent, cst.Arg) else None
        func = call.func if isinstance(call, cst.Call) else None
        added = isinstance(func, cst.Attribute) and func.attr.value in ("append", "insert", "add")
        if (added or isinstance(parent, (cst.Element, cst.DictElement))) and not is_told(node, module):
            return True
    return False


def told_by(context: Context) -> Told:
    """What the code says about the texts of all sites."""
    known = context.notes.get("told")
    if not isinstance(known, Told):
        known = context.notes["told"] = _listen(context)
    return known


def _listen(context: Context) -> Told:
    nones: set[Site] = set()
    empties: set[Site] = set()
    both: set[Site] = set()
    for node, module, shapes in context.shaped:
        sites = {shape.site for shape in shapes if shape.kind is Kind.CONTENT}
        if not sites or not isinstance(node, cst.BaseExpression):
            continue
        parent = module.parents.get(node)
        if isinstance(parent, cst.Match):
            both |= sites
        elif (failed := failure(node, module)) is not None:
            if _is_type_test(parent, module):
                # Among lists and the like the test is there to tell these; a plain call gives no None.
                only = all(map(_text_or_none, context.project.values(node)))
                nones |= {site for site in sites if only or _can_be_none(context, site)}
            both |= {site for site in sites if _is_heard(context, site, node, module, failed)}
        elif isinstance(parent, (cst.Comparison, cst.ComparisonTarget)):
            other = compared(node, module)
            if other is not None and spells_none(other):
                nones |= sites
                if not all(map(_text_or_none, context.project.values(node))):
                    both |= sites  # others put their own empty texts there
            elif isinstance(other, cst.SimpleString) and other.evaluated_value == "":
                empties |= sites
    for pattern, _, subject in context.project.patterns:
        if isinstance(pattern, (cst.MatchSingleton, cst.MatchClass)):
            texts = [value for value in subject.values if isinstance(value, Shape)]
            both |= {shape.site for shape in texts if shape.kind is Kind.CONTENT}
    for site in filter((nones & empties).__contains__, context.sites):
        detail = 'the code tells None from "", and an answer without text is "" now'
        context.unsafe(site.node, site.module, [site], "MR310", detail)
    return Told(frozenset(both | (nones & empties)), frozenset(nones))


def _is_heard(
    context: Context, site: Site, node: cst.BaseExpression, module: Module, failed: Failure
) -> bool:
    """Whether a handler hears that the text was None, and this was possible as far as one can see."""
    if is_heard(node, module, failed):
        return True
    if _can_be_none(context, site):
        broad = fails_for_certain(node, module)
        return is_heard_above(context, node, module, failed, broad)
    return _wants_json(context, site) and is_heard_above(context, node, module, failed)


def _can_be_none(context: Context, site: Site) -> bool:
    return context.request(site).passes_tools or may_refuse(context, site)


def _wants_json(context: Context, site: Site) -> bool:
    """Whether the format is JSON of any shape, which leaves no text at times too."""
    return any(kind_of(value, site) == JSON for value in context.request(site).values("response_format"))


def _is_type_test(parent: cst.CSTNode | None, module: Module) -> bool:
    """``isinstance(text, str)``."""
    call = module.parents.get(parent) if isinstance(parent, cst.Arg) else None
    func = call.func if isinstance(call, cst.Call) else None
    return isinstance(func, cst.Name) and func.value == "isinstance"


def is_guarded(node: cst.CSTNode, module: Module) -> bool:
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
            return spells_none(other) and module.tree.code_for_node(left) == text
        case _:
            return module.tree.code_for_node(test) == text


def _text_or_none(value: Value) -> bool:
    if isinstance(value, Const):
        return value.value is None
    return isinstance(value, Shape) and value.kind is Kind.CONTENT


def _is_after_a_test(node: cst.CSTNode, module: Module) -> bool:
    """Whether the text was asked for None before, and the code left, or gave it a value."""
    text = module.tree.code_for_node(node)
    below = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            for statement in parent.body:
                if statement is below:
                    break
                if _settles(statement, text, module):
                    return True
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return False
        below = parent
    return False


def _settles(statement: cst.CSTNode, text: str, module: Module) -> bool:
    match statement:
        case cst.If(test=test, body=body):
            written = any(text in bound_by(inner) for inner in walk(body))
            return (leaves(body) or written) and _denies(test, text, module)
        case cst.SimpleStatementLine(body=[cst.Assert(test=test)]):
            return _asks(test, text, module)
        case _:
            return False


def _denies(test: cst.BaseExpression, text: str, module: Module) -> bool:
    """Whether a condition holds wherever ``text`` is None."""
    match test:
        case cst.BooleanOperation(operator=cst.Or(), left=left, right=right):
            return _denies(left, text, module) or _denies(right, text, module)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            asked = inner.args[0].value if isinstance(inner, cst.Call) and inner.args else inner
            return module.tree.code_for_node(asked) == text
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.Equal(), comparator=other)]
        ):
            return spells_none(other) and module.tree.code_for_node(left) == text
        case _:
            return False

"""Tests of roles in a history with items: ``m.get("role") == "system"``, of ``"tool"`` by the type (MR212).

No item of an answer has one of these roles, nor had the answer. So what a test picks is the same;
how many it leaves is not, as one answer is several items.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import SeqValue, Site
from ..know.modules import Module, bound_by, walk
from .context import Context, constants
from .item_facts import Facts, Form
from .reading import builtin
from .snippets import expr

_PLAIN = frozenset({"system", "developer", "user"})
_TOOL = frozenset({"tool"})
_SUMS = frozenset({"any", "sum"})


def asks_role(context: Context, known: Facts, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``m["role"]`` or ``m.get("role")`` at ``node`` is only asked for a role that no answer has."""
    comparison = module.parents.get(node)
    base = _base(node)
    if not isinstance(comparison, cst.Comparison) or comparison.left is not node:
        return False
    if base is None or not _reads_role(node):
        return False
    asked = _asked(comparison)
    forms = known.forms_of(context.project.vars.get(base))
    if not asked or not (asked <= _PLAIN or (asked == _TOOL and Form.LEGACY_RESULT not in forms)):
        return False
    if not isinstance(base, cst.Name):
        return _is_end(context, known, base)
    loop = _loop_of(context, known, base, module)
    return loop is not None and _picks(context, known, comparison, loop, module)


def rewrite(context: Context, node: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    """Ask what items can be asked for."""
    comparison = module.parents[node]
    assert isinstance(comparison, cst.Comparison)
    if _asked(comparison) == _TOOL:
        context.edit(comparison, module, sites, _by_type, "MR212")
    elif isinstance(node, cst.Subscript):
        context.edit(node, module, sites, _by_get, "MR212")


def _by_get(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Subscript)
    index = updated.slice[0].slice
    assert isinstance(index, cst.Index)
    return expr("m.get(key)", m=updated.value, key=index.value)


def _by_type(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Comparison)
    base = _base(updated.left)
    assert base is not None
    operator = updated.comparisons[0].operator
    sign = "==" if isinstance(operator, (cst.Equal, cst.In)) else "!="
    made = expr(f'm.get("type") {sign} "function_call_output"', m=base)
    return made.with_changes(lpar=updated.lpar, rpar=updated.rpar)


def _base(node: cst.CSTNode) -> cst.BaseExpression | None:
    match node:
        case cst.Subscript(value=base) | cst.Call(func=cst.Attribute(value=base)):
            return base
        case _:
            return None


def _asked(comparison: cst.Comparison) -> frozenset[str]:
    """The roles that a comparison spells; none if it asks in another way."""
    if len(comparison.comparisons) != 1:
        return frozenset()
    target = comparison.comparisons[0]
    match target.operator, target.comparator:
        case ((cst.Equal() | cst.NotEqual()), cst.SimpleString() as text):
            texts: list[cst.BaseExpression] = [text]
        case ((cst.In() | cst.NotIn()), (cst.Tuple() | cst.List() | cst.Set()) as row):
            texts = [element.value for element in row.elements]
        case _:
            return frozenset()
    found = [text.evaluated_value for text in texts if isinstance(text, cst.SimpleString)]
    roles = [role for role in found if isinstance(role, str)]
    return frozenset(roles) if len(roles) == len(texts) else frozenset()


def _is_end(context: Context, known: Facts, base: cst.BaseExpression) -> bool:
    """``messages[0]``, ``messages[-1]``: where a history begins and ends."""
    match base:
        case cst.Subscript(value=history, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return constants(context.project.vars.get(index)) in ([0], [-1]) and _is_history(
                context, known, history
            )
        case _:
            return False


def _is_history(context: Context, known: Facts, node: cst.BaseExpression) -> bool:
    values = context.project.values(node)
    return bool(values) and all(isinstance(value, SeqValue) for value in values)


def _loop_of(context: Context, known: Facts, name: cst.Name, module: Module) -> cst.For | cst.CompFor | None:
    """The loop over a history, the innermost around ``name``, that binds it."""
    for parent in module.ancestors(name):
        loops: list[cst.For | cst.CompFor] = []
        if isinstance(parent, cst.For):
            loops = [parent]
        elif isinstance(parent, (cst.ListComp, cst.GeneratorExp)):
            loops = [node for node in walk(parent.for_in) if isinstance(node, cst.CompFor)]
        elif isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return None
        for loop in loops:
            if isinstance(loop.target, cst.Name) and loop.target.value == name.value:
                return loop if _is_history(context, known, loop.iter) else None
    return None


def _picks(
    context: Context,
    known: Facts,
    comparison: cst.Comparison,
    loop: cst.For | cst.CompFor,
    module: Module,
) -> bool:
    """Whether only what the test is true for matters; or what it leaves is a history again."""
    positive = isinstance(comparison.comparisons[0].operator, (cst.Equal, cst.In))
    below: cst.CSTNode = comparison
    for parent in module.ancestors(comparison):
        match parent:
            case cst.UnaryOperation(operator=cst.Not()):
                positive = not positive
            case cst.BooleanOperation(operator=operator):
                if positive and not isinstance(operator, cst.And):
                    return False
            case cst.CompIf():
                return positive or _is_kept(context, known, loop, module)
            case cst.If(test=test) if test is below:
                return positive and isinstance(loop, cst.For) and _only_picks(loop.body, loop.target)
            case cst.GeneratorExp(elt=elt) if elt is below:
                call = module.parents.get(module.parents[parent])
                return positive and isinstance(call, cst.Call) and builtin(context, call) in _SUMS
            case _:
                return False
        below = parent
    return False


def _is_kept(context: Context, known: Facts, loop: cst.For | cst.CompFor, module: Module) -> bool:
    """``[m for m in messages if m["role"] != "system"]``, in a list whose length is looked after."""
    match module.parents.get(loop):
        case cst.ListComp(elt=cst.Name(value=name)) as whole:
            made = context.project.built.get(whole)
            same = isinstance(loop.target, cst.Name) and loop.target.value == name
            return same and isinstance(made, SeqValue) and made in known.senders
        case _:
            return False


def told_form(node: cst.BaseExpression, module: Module) -> Form | None:
    """What a test of its role around it says that the entry ``node`` is."""
    if not isinstance(node, cst.Name):
        return None
    below: cst.CSTNode = node
    for parent in module.ancestors(node):
        tests: list[cst.BaseExpression] = []
        match parent:
            case cst.BooleanOperation(left=left, operator=cst.And(), right=right) if right is below:
                tests = [left]
            case cst.IfExp(test=test, body=body) if body is below:
                tests = [test]
            case cst.If(test=test, body=body) if body is below:
                bound = any(node.value in bound_by(inner) for inner in walk(body))
                tests = [] if bound else [test]
            case cst.ListComp(elt=elt) | cst.GeneratorExp(elt=elt) | cst.SetComp(elt=elt) if elt is below:
                loops = [inner for inner in walk(parent.for_in) if isinstance(inner, cst.CompFor)]
                tests = [condition.test for loop in loops for condition in loop.ifs]
            case cst.FunctionDef() | cst.Lambda():
                return None
            case _:
                pass
        for test in tests:
            form = _said_by(test, node.value)
            if form is not None:
                return form
        below = parent
    return None


def _said_by(test: cst.BaseExpression, name: str) -> Form | None:
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            return _said_by(left, name) or _said_by(right, name)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal() | cst.In())]):
            base = _base(left)
            asked = _asked(test)
            if isinstance(base, cst.Name) and base.value == name and asked and _reads_role(left):
                return Form.PLAIN if asked <= _PLAIN else Form.RESULT if asked == _TOOL else None
            return None
        case _:
            return None


def _reads_role(node: cst.CSTNode) -> bool:
    """``m["role"]`` or ``m.get("role")``; with a default, items would have that role."""
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return key.evaluated_value == "role"
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get")), args=[cst.Arg(value=key, star="")]):
            return isinstance(key, cst.SimpleString) and key.evaluated_value == "role"
        case _:
            return False


def _only_picks(body: cst.BaseSuite, target: cst.BaseExpression) -> bool:
    """Whether a loop does nothing but for entries of some role: what else it did, it would do more often."""
    return all(
        isinstance(line, cst.If)
        and line.orelse is None
        and isinstance(target, cst.Name)
        and (_said_by(line.test, target.value) is not None or _only_picks(line.body, target))
        for line in body.body
    )

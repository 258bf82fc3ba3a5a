"""The finish reason of a double: what it says of the new answer, and whether the two agree (MR802).

``finish_reason=reason`` in a helper of the tests becomes ``status="incomplete" if reason == "length" else
"completed"``. The new code tells ``stop`` from ``tool_calls`` by the items, so a double whose finish reason
and calls disagree is not understood where the program asks for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import Const, Kind, Site
from ..know.modules import Module
from .context import Context
from .double_callers import Given, given, own_name, resolved
from .double_edits import FINISH, REASON, is_empty
from .double_forms import Keywords
from .snippets import expr, operand, parenthesized, spells_none, string

if TYPE_CHECKING:
    from .double_shapes import Shapes

_CALLS = frozenset({"tool_calls", "function_call"})
# What is asked of the status and its details alone.
_PLAIN = frozenset({"length", "content_filter"})


def is_known(shapes: Shapes, choice: Keywords, message: Keywords) -> bool:
    """Whether the finish reason of a double is understood, with what else its message says."""
    finish = choice.get("finish_reason")
    if finish is None:
        return True
    if not shapes.reads_finish:
        return does_nothing(finish)
    reasons = _reasons(shapes.context, finish)
    return bool(reasons) and FINISH.keys() >= reasons and agree(shapes, finish, message.get("tool_calls"))


def _reasons(context: Context, finish: cst.BaseExpression) -> set[str]:
    """The finish reasons that an expression can be; one that there is not, where that is not to be seen."""
    if isinstance(finish, cst.SimpleString):
        return {str(finish.evaluated_value)}
    if isinstance(finish, cst.IfExp):
        return {reason for end in _ends(finish) for reason in _reasons(context, end)}
    is_read = isinstance(finish, cst.Name) or bool(own_name(finish))
    values = context.project.values(finish) if is_read else []
    return {str(value.value) if isinstance(value, Const) else "?" for value in values}


def does_nothing(node: cst.BaseExpression) -> bool:
    """Whether an expression need not be there where nobody asks what it gives."""
    return not any(
        isinstance(part, (cst.Call, cst.Await, cst.Yield, cst.NamedExpr, cst.Subscript))
        for part in syntax.walk(node)
    )


def status(shapes: Shapes, choice: Keywords, made: Callable[[Keywords], cst.BaseExpression]) -> Keywords:
    """The fields that say what the finish reason of ``choice`` said; ``made`` makes the details of it."""
    finish = choice.get("finish_reason")
    if finish is None or not (shapes.reads_finish or isinstance(finish, cst.SimpleString)):
        return {}
    if isinstance(finish, cst.SimpleString):
        reason = str(finish.evaluated_value)
        details: cst.BaseExpression = cst.Name("None")
        if reason in REASON:
            details = made({"reason": string(REASON[reason], finish)})
        return {"status": string(FINISH.get(reason, "completed"), finish), "incomplete_details": details}
    cut = sorted(_reasons(shapes.context, finish) & _PLAIN)
    if not cut:
        return {"status": expr('"completed"'), "incomplete_details": cst.Name("None")}
    test = f'f == "{cut[0]}"' if len(cut) == 1 else 'f in ("content_filter", "length")'
    reason_now = string(REASON[cut[0]])
    why: cst.BaseExpression = reason_now
    if len(cut) > 1:
        why = expr('"max_output_tokens" if f == "length" else f', f=operand(finish))
    asked = _when(finish, cut[0]) if len(cut) == 1 else None
    if asked is None:
        asked = expr(test, f=operand(finish))
    return {
        "status": expr('"incomplete" if asked else "completed"', asked=asked),
        "incomplete_details": expr("made if asked else None", asked=asked, made=made({"reason": why})),
    }


def _when(finish: cst.BaseExpression, reason: str) -> cst.BaseExpression | None:
    """The test by which ``finish`` is ``reason``: ``cut`` for ``"length" if cut else "stop"``."""
    match finish:
        case cst.IfExp(test=test, body=cst.SimpleString() as body, orelse=orelse):
            if body.evaluated_value == reason and not _says(orelse, reason):
                return parenthesized(test) if isinstance(test, (cst.IfExp, cst.Lambda)) else test
            return None
        case _:
            return None


def _says(node: cst.BaseExpression, text: str) -> bool:
    return any(not isinstance(part, cst.SimpleString) or part.evaluated_value == text for part in _ends(node))


def _ends(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What a conditional expression can be."""
    if isinstance(node, cst.IfExp):
        yield from _ends(node.body)
        yield from _ends(node.orelse)
    else:
        yield node


# -- whether the reason and the calls say the same -----------------------------------------


def agree(shapes: Shapes, finish: cst.BaseExpression, calls: cst.BaseExpression | None) -> bool:
    """Whether a double that ends with calls has some, and no other has; or nobody asks for that."""
    asked = _asked(shapes.context, shapes.sites)
    if asked is not None and asked <= _PLAIN:
        return True
    for reason, has_calls in _pairs(shapes, finish, calls):
        if reason is None or has_calls is None:
            return False
        if FINISH.get(reason) == "completed" and (reason in _CALLS) != has_calls:
            return False
    return True


def _pairs(
    shapes: Shapes, finish: cst.BaseExpression, calls: cst.BaseExpression | None
) -> Iterator[tuple[str | None, bool | None]]:
    """The finish reasons of a double, each with whether it has calls then; None where that is unknown."""
    if own_name(finish):
        has_calls = _has(calls, {})
        yield from ((reason, has_calls) for reason in _reasons(shapes.context, finish))
        return
    for passed in given(shapes.context, shapes.module, finish) or ({},):
        yield _reason(finish, passed), _has(calls, passed)


def _reason(node: cst.BaseExpression | None, passed: Given) -> str | None:
    node = resolved(node, passed)
    if isinstance(node, cst.IfExp):
        return _reason(_branch(node, passed), passed)
    return str(node.evaluated_value) if isinstance(node, cst.SimpleString) else None


def _has(calls: cst.BaseExpression | None, passed: Given) -> bool | None:
    """Whether a list of calls has any."""
    calls = resolved(calls, passed)
    match calls:
        case None:
            return False
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return bool(elements)
        case cst.IfExp():
            branch = _branch(calls, passed)
            return _has(branch, passed) if branch is not None else None
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=right):
            first = _has(left, passed)
            return first if first is not False else _has(right, passed)
        case _:
            return False if is_empty(calls) else None


def _branch(node: cst.IfExp, passed: Given) -> cst.BaseExpression | None:
    """The branch that a conditional expression takes; None where that is not to be seen."""
    truth = _truth(node.test, passed)
    return None if truth is None else node.body if truth else node.orelse


def _truth(test: cst.BaseExpression, passed: Given) -> bool | None:
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            truth = _truth(inner, passed)
            return None if truth is None else not truth
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(operator=cst.Is() | cst.IsNot() as operator, comparator=comparator)
            ],
        ) if spells_none(comparator):
            value = resolved(left, passed)
            if not isinstance(value, (cst.List, cst.Tuple, cst.SimpleString)) and not spells_none(value):
                return None
            return spells_none(value) == isinstance(operator, cst.Is)
        case _:
            pass
    value = resolved(test, passed)
    match value:
        case cst.Name(value="True" | "False" as name):
            return name == "True"
        case cst.SimpleString():
            return bool(value.evaluated_value)
        case _:
            return _has(value, passed)


def _asked(context: Context, sites: Iterable[Site]) -> set[str] | None:
    """What the program compares finish reasons with; None where it does something else with one."""
    found: set[str] = set()
    for site in sites:
        for node, module, kinds in context.parts(site):
            if Kind.FINISH in kinds and isinstance(node, cst.BaseExpression):
                texts = _compared(node, module)
                if texts is None:
                    return None
                found |= texts
    return found


def _compared(node: cst.BaseExpression, module: Module) -> set[str] | None:
    """The texts that a finish reason is compared with where it stands; none where it is only handed on."""
    parent = module.parents.get(node)
    if isinstance(parent, cst.ComparisonTarget):
        parent = module.parents.get(parent)
    if isinstance(parent, cst.Comparison):
        sides = [parent.left, *(target.comparator for target in parent.comparisons)]
        texts: set[str] = set()
        for side in sides:
            if side is node:
                continue
            elements = (
                [e.value for e in side.elements]
                if isinstance(side, (cst.Tuple, cst.List, cst.Set))
                else [side]
            )
            for element in elements:
                if not isinstance(element, cst.SimpleString):
                    return None
                texts.add(str(element.evaluated_value))
        return texts
    if isinstance(parent, (cst.AssignTarget, cst.Assign, cst.Attribute, cst.Return)):
        return set()
    return None

"""The finish reason of a double: what it says of the new answer, and whether the two agree (MR802).

``finish_reason=reason`` in a helper of the tests becomes ``status="incomplete" if reason == "length" else
"completed"``. The new code tells ``stop`` from ``tool_calls`` by the items, so a double whose finish reason
and calls disagree is not understood where the program asks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from ..know.kinds import Const, Kind, Site
from ..know.modules import Module
from .context import Context
from .double_callers import given, resolved
from .double_edits import FINISH, REASON, is_empty
from .double_forms import Keywords, alike
from .snippets import expr, string

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
        return isinstance(finish, (cst.SimpleString, cst.Name, cst.Attribute))
    reasons = _reasons(shapes.context, finish)
    return bool(reasons) and FINISH.keys() >= reasons and agree(shapes, finish, message.get("tool_calls"))


def _reasons(context: Context, finish: cst.BaseExpression) -> set[str]:
    """The finish reasons that an expression can be; one that there is not, where that is not to be seen."""
    if isinstance(finish, cst.SimpleString):
        return {str(finish.evaluated_value)}
    values = context.project.values(finish) if isinstance(finish, cst.Name) else []
    return {str(value.value) if isinstance(value, Const) else "?" for value in values}


def status(shapes: Shapes, choice: Keywords, maker: cst.Call) -> Keywords:
    """The fields that say what the finish reason of ``choice`` said; ``maker`` makes the double."""
    finish = choice.get("finish_reason")
    if finish is None or not (shapes.reads_finish or isinstance(finish, cst.SimpleString)):
        return {}
    if isinstance(finish, cst.SimpleString):
        reason = str(finish.evaluated_value)
        details: cst.BaseExpression = cst.Name("None")
        if reason in REASON:
            details = alike(maker, {"reason": string(REASON[reason], finish)})
        return {"status": string(FINISH.get(reason, "completed"), finish), "incomplete_details": details}
    cut = sorted(_reasons(shapes.context, finish) & _PLAIN)
    if not cut:
        return {"status": expr('"completed"'), "incomplete_details": cst.Name("None")}
    test = f'f == "{cut[0]}"' if len(cut) == 1 else 'f in ("content_filter", "length")'
    reason_now = string(REASON[cut[0]])
    why: cst.BaseExpression = reason_now
    if len(cut) > 1:
        why = expr('"max_output_tokens" if f == "length" else f', f=finish)
    return {
        "status": expr(f'"incomplete" if {test} else "completed"', f=finish),
        "incomplete_details": expr(f"made if {test} else None", f=finish, made=alike(maker, {"reason": why})),
    }


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
    if not any(isinstance(node, cst.Name) and not is_empty(node) for node in (finish, calls)):
        yield _reason(finish), _has(calls)
        return
    for passed in given(shapes.context, shapes.module, finish) or ({},):
        yield _reason(resolved(finish, passed)), _has(resolved(calls, passed))


def _reason(node: cst.BaseExpression | None) -> str | None:
    return str(node.evaluated_value) if isinstance(node, cst.SimpleString) else None


def _has(calls: cst.BaseExpression | None) -> bool | None:
    if calls is None or is_empty(calls):
        return False
    return True if isinstance(calls, (cst.List, cst.Tuple)) else None


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

"""Mocks of functions of the program: what a test says of their calls stays where these calls stay."""

from __future__ import annotations

import libcst as cst

from ..decide.receivers import in_tests
from ..know.modules import walk
from .context import Context
from .double_targets import METHODS

_DISPLAYS = (cst.List, cst.Dict, cst.Tuple)


def is_own_call(context: Context, asserted: cst.Call, mock: cst.BaseExpression) -> bool:
    """Whether ``llm.text.assert_called_once_with(..., max_tokens=50)`` is about calls that stay as they are.

    ``mock`` is what is asked, and a function of the program has its name. To be asked when arguments and
    messages are planned.
    """
    if not isinstance(mock, cst.Attribute) or mock.attr.value in METHODS:
        return False
    name = mock.attr.value
    named = [f for f in context.project.functions.values() if f.name == name and not in_tests(f.module)]
    calls = _calls(context).get(name, [])
    if not named or not calls:
        return False
    edited = {edit.node for edit in context.plan.edits}
    shows = any(isinstance(arg.value, _DISPLAYS) for arg in asserted.args)
    for call in calls:
        if not edited.isdisjoint(inner for arg in call.args for inner in walk(arg)):
            return False
        if shows and any(arg.star or isinstance(arg.value, (cst.Name, cst.Attribute)) for arg in call.args):
            return False  # what is shown in the test is put together elsewhere
        if any(arg.star for arg in call.args):
            return False
    return True


def _calls(context: Context) -> dict[str, list[cst.Call]]:
    """The calls in the program, by the last name of what is called."""
    known = context.memo.get("calls by name")
    if known is None:
        found: dict[str, list[cst.Call]] = {}
        for module in context.project.modules:
            for node in module.of(cst.Call) if not in_tests(module) else ():
                assert isinstance(node, cst.Call)
                func = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
                if isinstance(func, cst.Name):
                    found.setdefault(func.value, []).append(node)
        known = context.memo["calls by name"] = found
    assert isinstance(known, dict)
    return known

"""Mocks with the shape of a class of the SDK: ``MagicMock(spec=ChatCompletion)`` (MR802).

Such a mock has what the class has, and pydantic keeps fields out of sight: what code reads must be set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ..know.kinds import External
from .double_edits import new_name
from .type_table import UNIONS, is_answer, replacement

if TYPE_CHECKING:
    from .double_shapes import Shapes

SPECS = frozenset({"spec", "spec_set"})


def has_spec(node: cst.CSTNode | None) -> bool:
    """Whether ``node`` makes a mock that has only what something else has."""
    return isinstance(node, cst.Call) and any(
        arg.keyword is not None and arg.keyword.value in SPECS for arg in node.args
    )


def without_spec(node: cst.Call) -> list[cst.Arg]:
    """The other arguments of a mock."""
    return [arg for arg in node.args if arg.keyword is None or arg.keyword.value not in SPECS]


def plan(shapes: Shapes) -> None:
    """Give the mocks of one test file the shape of the new classes."""
    for call in shapes.module.of(cst.Call):
        for arg in call.args if has_spec(call) else ():
            if arg.keyword is not None and arg.keyword.value in SPECS:
                _spec(shapes, call, arg)


def _spec(shapes: Shapes, call: cst.Call, arg: cst.Arg) -> None:
    if shapes.gone.intersection((call, *shapes.module.ancestors(call))):
        return
    for value in shapes.context.project.values(arg.value):
        if not isinstance(value, External) or not is_answer(value.path):
            continue
        found = replacement(value.path)
        if found is None:
            continue
        module, name = found
        if name in UNIONS:  # no class that a mock could be like
            shapes.edit(call, _unlike)
        else:
            last = module.removeprefix("openai.types.responses").removeprefix(".")
            shapes.needs((f"{last}.{name}" if last else name,), call)
            shapes.edit(arg.value, new_name(name))
        return


def _unlike(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    args = without_spec(updated)
    if args:
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return updated.with_changes(args=args)

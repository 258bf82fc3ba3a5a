"""What the tests give to a helper that makes doubles, call by call."""

from __future__ import annotations

import libcst as cst

from ..know import modules as syntax
from ..know.modules import Module
from .context import Context

Given = dict[str, cst.BaseExpression]


def given(context: Context, module: Module, node: cst.BaseExpression) -> list[Given] | None:
    """What each caller of the function around ``node`` gives for its parameters, defaults included.

    None where that is not to be seen.
    """
    function = module.function(node)
    if not isinstance(function, cst.FunctionDef):
        return None
    known = context.project.functions.get(function)
    if known is None or not known.callers:
        return None
    found: list[Given] = []
    for caller in known.callers:
        call = caller.node
        if not isinstance(call, cst.Call) or any(arg.star for arg in call.args):
            return None
        found.append(_passed(function, call, is_method=known.owner is not None))
    return found


def _passed(function: cst.FunctionDef, call: cst.Call, is_method: bool) -> Given:
    names = [parameter.name.value for parameter in function.params.params][1 if is_method else 0 :]
    found = {
        parameter.name.value: parameter.default
        for parameter in syntax.parameters(function.params)
        if parameter.default is not None
    }
    for number, arg in enumerate(call.args):
        if arg.keyword is not None:
            found[arg.keyword.value] = arg.value
        elif number < len(names):
            found[names[number]] = arg.value
    return found


def resolved(node: cst.BaseExpression | None, passed: Given) -> cst.BaseExpression | None:
    """What ``node`` stands for in one call, if it is the name of a parameter."""
    return passed.get(node.value, node) if isinstance(node, cst.Name) else node


def own_fields(module: Module, node: cst.CSTNode) -> list[tuple[cst.Name, cst.BaseExpression]]:
    """Where the class around ``self.x`` gives ``x`` a value: the name that is set, and to what."""
    name = own_name(node)
    around = next((one for one in module.ancestors(node) if isinstance(one, cst.ClassDef)), None)
    if not name or around is None:
        return []
    found: list[tuple[cst.Name, cst.BaseExpression]] = []
    for one in syntax.walk(around):
        match one:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                pass
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                pass
            case _:
                continue
        if own_name(target) == name:
            assert isinstance(target, cst.Attribute)
            found.append((target.attr, value))
        elif isinstance(target, cst.Name) and target.value == name and module.function(one) is None:
            found.append((target, value))
    return found


def own_name(node: cst.CSTNode) -> str:
    """``x`` of ``self.x``."""
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
        case _:
            return ""

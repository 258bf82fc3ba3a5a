"""Changes of a schema that a flat tool, which copies it, would not see (MR507).

Who changes it before the tool is made is seen; that has to be certain from where the code stands.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DictValue, External, Method
from ..know.modules import Module, bound_by, walk
from .context import Context, constants
from .flatten import can_flatten

_CHANGES = frozenset({"update", "pop", "popitem", "setdefault", "clear", "__setitem__", "__delitem__"})
_LOOPS = (cst.For, cst.While)


def changed_later(
    context: Context, tool: DictValue, parts: list[DictValue], node: cst.CSTNode
) -> cst.CSTNode | None:
    """What changes one of ``parts``, the inside of ``tool`` put there at ``node``, after it may be copied."""
    value = node.value if isinstance(node, (cst.DictElement, cst.Arg)) else None
    if value is None or can_flatten(value):
        return None
    for part in parts:
        for change, module in _changes(context, part):
            if not _comes_before(context, part, tool, change, module):
                return change if module is tool.module else tool.node
    return None


def _changes(context: Context, part: DictValue) -> Iterator[tuple[cst.CSTNode, Module]]:
    """Where keys of ``part`` itself are written or taken away, but through the tool."""
    for node, module in context.holders(part):
        if _is_level(context, node):
            continue  # the tool itself is changed, then as now
        match parent := module.parents.get(node):
            case cst.Subscript(value=value) if value is node:
                if isinstance(
                    module.parents.get(parent), (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)
                ):
                    yield parent, module
            case cst.Attribute(value=value, attr=cst.Name(value=method)) if value is node:
                if method in _CHANGES:
                    yield parent, module
            case cst.AugAssign(target=target) if target is node:
                yield parent, module
            case _:
                continue


def _is_level(context: Context, node: cst.CSTNode) -> bool:
    """``tool["function"]``."""
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return constants(context.project.vars.get(index)) == ["function"]
        case _:
            return False


def _comes_before(
    context: Context, part: DictValue, tool: DictValue, change: cst.CSTNode, module: Module
) -> bool:
    """Whether the tool is made of ``part`` after ``change`` for certain."""
    if leaves_by_return(context, part, change):
        return True
    made = part.module
    if module is not made:
        return False
    maker = made.function(part.node)
    if made.function(change) is not maker:
        return False
    order = made.order
    if order[change] < order[part.node]:
        return False
    if tool.module is made and made.function(tool.node) is maker:
        shared = [
            loop
            for loop in made.ancestors(change)
            if isinstance(loop, _LOOPS) and loop in made.ancestors(tool.node)
        ]
        return order[change] < order[tool.node] and all(loop in made.ancestors(part.node) for loop in shared)
    return _nothing_runs(context, part, change)


def _nothing_runs(context: Context, part: DictValue, change: cst.CSTNode) -> bool:
    """Whether no other function of the project runs between the making of ``part`` and ``change``."""
    module = part.module
    block = module.parents.get(module.statement(part.node))
    if not isinstance(block, (cst.IndentedBlock, cst.Module)):
        return False
    first = block.body.index(module.statement(part.node))
    last = next(
        (
            number
            for number, line in enumerate(block.body)
            if line is change or line in module.ancestors(change)
        ),
        None,
    )
    if last is None:
        return False
    calls = [
        node
        for line in block.body[first : last + 1]
        for node in walk(line)
        if isinstance(node, (cst.Call, cst.Yield, cst.Await))
    ]
    return all(
        isinstance(call, cst.Call)
        and (change in module.ancestors(call) or call.func is change or _is_foreign(context, call))
        for call in calls
    )


def _is_foreign(context: Context, call: cst.Call) -> bool:
    values = context.project.values(call.func)
    return bool(values) and all(isinstance(value, (External, Method)) for value in values)


def leaves_by_return(context: Context, part: DictValue, store: cst.CSTNode) -> bool:
    """Whether the function that made ``part`` stores into it at ``store`` before anybody else can have it."""
    module = part.module
    maker = module.function(part.node)
    if not isinstance(maker, cst.FunctionDef) or module.function(store) is not maker:
        return False
    if any(module.function(node) is maker for node in module.of(cst.Yield)):
        return False
    inside = [
        node for node, place in context.holders(part) if place is module and maker in module.ancestors(node)
    ]
    names = {node.value for node in inside if isinstance(node, cst.Name)}
    return _are_assigned(names, maker) and all(
        (node is part.node or isinstance(node, cst.Name))
        and module.function(node) is maker
        and _stays(node, module)
        for node in inside
    )


def _are_assigned(names: set[str], maker: cst.FunctionDef) -> bool:
    """Whether ``names`` are local to ``maker``, and are given their values by plain assignments."""
    given: set[str] = set()
    for node in walk(maker.body):
        bound = names.intersection(bound_by(node))
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            bound = names.intersection(item.name.value for item in node.names)
        elif isinstance(node, (cst.AssignTarget, cst.AnnAssign)) and isinstance(node.target, cst.Name):
            given |= bound
            continue
        if bound:
            return False
    return names <= given


def _stays(node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node``, in the function that makes a dict, only names, fills, reads or returns it."""
    match parent := module.parents.get(node):
        case cst.Return():
            return True
        case cst.AssignTarget() | cst.AnnAssign():
            return isinstance(parent.target, cst.Name)
        case cst.Assign():
            return all(isinstance(target.target, cst.Name) for target in parent.targets)
        case cst.Subscript(value=value):
            return value is node
        case cst.Attribute(value=value):
            call = module.parents.get(parent)
            return value is node and isinstance(call, cst.Call) and call.func is parent
        case cst.ComparisonTarget(operator=cst.In() | cst.NotIn()):
            return True
        case _:
            return False

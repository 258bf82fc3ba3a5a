"""Reading tool calls: they are the output items of type ``function_call`` now (MR505).

A tool call and its ``.function`` are the item; the list of calls is a filter over ``resp.output``. What is
done with a call that has no plain counterpart holds the flow back (MR506).
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import DUMPS, JSON_DUMPS, DictValue, External, Kind, Shape, Site
from ..know.modules import Module
from .absent import never_came
from .asked import has_field
from .call_lists import Lists, is_empty, none_is_seen
from .context import Context
from .folding import is_lost, settle
from .only_kind import only_kind
from .reading import Read, Template, read_of, replace_read, same, truth_tested
from .snippets import attribute, expr, string
from .tools import inner_values, members

KINDS = frozenset({Kind.TOOL_CALLS, Kind.TOOL_CALL, Kind.FUNCTION, Kind.FUNCTION_CALL, Kind.CUSTOM})
_TYPES = {"function": "function_call", "custom": "custom_tool_call"}

# (kind, field) -> how to write it on the item.
TEMPLATES: dict[tuple[Kind, str], Template] = {
    (Kind.TOOL_CALL, "id"): lambda base: attribute(base, "call_id"),
    (Kind.TOOL_CALL, "function"): same,
    (Kind.TOOL_CALL, "custom"): same,
    (Kind.TOOL_CALL, "type"): lambda base: expr('"function"'),
    (Kind.FUNCTION, "name"): lambda base: attribute(base, "name"),
    (Kind.FUNCTION, "arguments"): lambda base: attribute(base, "arguments"),
    (Kind.FUNCTION, "parsed_arguments"): lambda base: attribute(base, "parsed_arguments"),
    (Kind.FUNCTION_CALL, "name"): lambda base: attribute(base, "name"),
    (Kind.FUNCTION_CALL, "arguments"): lambda base: attribute(base, "arguments"),
    (Kind.CUSTOM, "name"): lambda base: attribute(base, "name"),
    (Kind.CUSTOM, "input"): lambda base: attribute(base, "input"),
}


def plan(context: Context) -> None:
    """Rewrite the reads of lists of calls, then what is read of each call."""
    lists = Lists(context)
    for node, module, shapes in context.shaped:
        if not isinstance(node, cst.BaseExpression) or context.is_gone(node, module):
            continue
        reading = read_of(context, node, module)
        if reading is not None and any(shape.kind is Kind.MESSAGE for shape in shapes):
            sites = {shape.site for shape in shapes}
            if never_came(context, reading, sites):
                continue
            if reading.name in ("tool_calls", "function_call") and _is_passed(context, reading, sites):
                lists.add(reading, sites)
        own = [shape for shape in shapes if shape.kind in KINDS]
        if not own:
            continue
        if reading is not None:
            _part(context, reading, shapes)
        else:
            _use(context, node, module, own)
    lists.plan()


def _is_passed(context: Context, read: Read, sites: set[Site]) -> bool:
    """Whether the answers can hold calls of the kind that is read; in some they were always None."""
    other, own = ("functions", "tools") if read.name == "tool_calls" else ("tools", "functions")
    wrong = [
        site
        for site in sites
        if context.request(site).passes(other) and not context.request(site).passes(own)
    ]
    if wrong:
        text = context.source(read.whole, read.module)
        context.manual(
            read.whole, read.module, sites, "MR506", f"`{text}` was always None for a request with `{other}`"
        )
    return not wrong


def types_of(context: Context, sites: Iterable[Site]) -> list[str]:
    """The types of the items that stand for tool calls in the answers of ``sites``."""
    found: dict[str, None] = {}
    for site in sites:
        for value in (
            part
            for item in context.request(site).written("tools")
            if item.place.var
            for part in members(item.place.var, {}, site)
        ):
            if isinstance(value, DictValue) and list(inner_values(value, "custom")):
                found["custom_tool_call"] = None
            else:
                found["function_call"] = None
    return list(found) or ["function_call"]


# -- parts of a call ---------------------------------------------------------------------


def _part(context: Context, read: Read, shapes: list[Shape]) -> None:
    """``call.id``, ``call.function.name``, ``call["function"]``."""
    node, module, whole = read.base, read.module, read.whole
    sites = {shape.site for shape in shapes}
    if _is_method(context, whole, module):
        _use(context, node, module, shapes)
        return
    parent = module.parents.get(whole)
    if (
        isinstance(parent, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del))
        and getattr(parent, "target", None) is whole
    ):
        context.manual(whole, module, sites, "MR307", f"`{context.source(whole, module)}` is assigned")
        return
    kind = only_kind(context, node, module, shapes)
    if kind is None:
        return
    template = TEMPLATES.get((kind, read.name))
    if template is None:
        context.manual(whole, module, sites, "MR506", f"`{context.source(whole, module)}` has no counterpart")
    elif (kind, read.name) == (Kind.TOOL_CALL, "type"):
        _type(context, read, sites)
    else:
        context.edit(whole, module, sites, replace_read(template), "MR505")


def _is_method(context: Context, whole: cst.BaseExpression, module: Module) -> bool:
    """Whether a read is a method of the list or of the old model, about to be called."""
    parent = module.parents.get(whole)
    return isinstance(whole, cst.Attribute) and isinstance(parent, cst.Call) and parent.func is whole


def _type(context: Context, read: Read, sites: set[Site]) -> None:
    """``call.type == "function"`` holds for every call that is left, unless there are custom ones."""
    module, whole = read.module, read.whole
    comparison = module.parents.get(whole)
    types = types_of(context, sites)
    match comparison:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.SimpleString() as wanted)],
        ) if (
            left is whole
            and isinstance(operator, (cst.Equal, cst.NotEqual))
            and wanted.evaluated_value in _TYPES
        ):
            name = _TYPES[str(wanted.evaluated_value)]
            if types == [name] and isinstance(module.parents.get(comparison), cst.BooleanOperation):
                settle(context, comparison, module, sites, isinstance(operator, cst.Equal), "MR505")
            else:
                keep = replace_read(lambda base: attribute(base, "type"))
                context.edit(whole, module, sites, keep, "MR505")
                context.edit(wanted, module, sites, lambda o, u: string(name, o), "MR505")
        case cst.Comparison():
            context.manual(
                whole, module, sites, "MR506", f"`{context.source(comparison, module)}` is not understood"
            )
        case _ if types == ["function_call"] and is_lost(context, read.base, module, sites, "MR506"):
            return
        case _ if types == ["function_call"]:
            context.edit(whole, module, sites, replace_read(TEMPLATES[Kind.TOOL_CALL, "type"]), "MR505")
        case _:
            context.manual(
                whole, module, sites, "MR506", f"`{context.source(whole, module)}` is not understood"
            )


# -- whole calls and lists of them ---------------------------------------------------------


def _use(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    """A call, or a list of calls, that is not read into here."""
    kinds = {shape.kind for shape in shapes}
    sites = {shape.site for shape in shapes}
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(value=value, attr=cst.Name(value=name)) if value is node:
            verb = "dumps a tool call" if name in DUMPS | JSON_DUMPS else "is not understood"
            context.manual(parent, module, sites, "MR506", f"`{context.source(parent, module)}` {verb}")
        case cst.Subscript(value=value) if value is node:
            if kinds != {Kind.TOOL_CALLS} or _is_target(parent, module):
                context.manual(
                    parent, module, sites, "MR506", f"`{context.source(parent, module)}` is not understood"
                )
        case cst.Comparison():
            _compare(context, node, parent, module, kinds, sites)
        case cst.ComparisonTarget(operator=cst.Is() | cst.IsNot() | cst.Equal() | cst.NotEqual()):
            comparison = module.parents[parent]
            if kinds == {Kind.TOOL_CALLS}:  # `None is calls`: the list is empty now
                text = context.source(comparison, module)
                context.manual(comparison, module, sites, "MR506", f"`{text}` compares tool calls")
        case cst.BooleanOperation(operator=cst.Or(), left=left, right=right) if left is node and kinds == {
            Kind.TOOL_CALLS
        }:
            if _is_read(context, node, module) or not _calls_only(context, node):
                return  # the rule for lists, or a name that can still be None
            if is_empty(right) and not _may_be_none(context, node, module, sites):
                context.edit(parent, module, sites, _left, "MR505")
        case cst.BinaryOperation() | cst.AugAssign():
            if not (kinds == {Kind.TOOL_CALLS} and isinstance(parent, cst.BinaryOperation)):
                context.manual(
                    parent, module, sites, "MR506", f"`{context.source(parent, module)}` is not understood"
                )
        case cst.Arg(star=star):
            _argument(context, star, parent, module, shapes)
        case _:
            return


def _is_target(node: cst.CSTNode, module: Module) -> bool:
    parent = module.parents.get(node)
    return isinstance(parent, (cst.AssignTarget, cst.Del, cst.AugAssign))


def _is_read(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` is where the list is taken out of the answer."""
    base = getattr(node, "value", None) if isinstance(node, (cst.Attribute, cst.Subscript)) else None
    if isinstance(node, cst.Call):
        base = (
            node.func.value
            if isinstance(node.func, cst.Attribute)
            else node.args[0].value
            if node.args
            else None
        )
    return base is not None and any(shape.kind is Kind.MESSAGE for shape in context.project.shapes(base))


def _calls_only(context: Context, node: cst.CSTNode) -> bool:
    return all(isinstance(value, Shape) for value in context.project.values(node))


def _may_be_none(context: Context, node: cst.BaseExpression, module: Module, sites: set[Site]) -> bool:
    """Whether ``or []`` still says something: for a parameter, an attribute, a list that is None if empty."""
    function = module.function(node)
    if not isinstance(node, cst.Name) or none_is_seen(context, sites):
        return True
    return function is not None and any(
        parameter.name.value == node.value for parameter in syntax.parameters(function.params)
    )


def _left(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.BooleanOperation)
    return updated.left


def _compare(
    context: Context,
    node: cst.BaseExpression,
    parent: cst.Comparison,
    module: Module,
    kinds: set[Kind],
    sites: set[Site],
) -> None:
    """``calls is None``: the list is empty now. A single call can still be None."""
    match parent:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Name(value="None"))],
        ) if left is node and isinstance(operator, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)):
            if kinds != {Kind.TOOL_CALLS} or _is_read(context, node, module):
                return
            wanted = isinstance(operator, (cst.IsNot, cst.NotEqual))
            bare = truth_tested(module, parent) or not wanted

            def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
                assert isinstance(updated, cst.Comparison)
                return truth_of(updated.left, wanted, bare, updated)

            context.edit(parent, module, sites, apply, "MR505")
        case _:
            context.manual(
                parent, module, sites, "MR506", f"`{context.source(parent, module)}` compares tool calls"
            )


def truth_of(
    value: cst.BaseExpression, wanted: bool, bare: bool, outer: cst.BaseExpression
) -> cst.BaseExpression:
    """``value``, ``bool(value)`` or ``not value``, in the parentheses of ``outer``."""
    result: cst.BaseExpression = cst.UnaryOperation(cst.Not(), value)
    if wanted:
        result = value if bare else expr("bool(x)", x=value)
    if outer.lpar and not result.lpar:
        result = result.with_changes(lpar=outer.lpar, rpar=outer.rpar)
    return result


def _argument(context: Context, star: str, arg: cst.Arg, module: Module, shapes: list[Shape]) -> None:
    call = module.parents.get(arg)
    if not isinstance(call, cst.Call):
        return
    names = [value.path for value in context.project.values(call.func) if isinstance(value, External)]
    sites = {shape.site for shape in shapes}
    listed = {shape.kind for shape in shapes} == {Kind.TOOL_CALLS}
    if star == "**" or (star == "*" and not listed):
        context.manual(call, module, sites, "MR506", f"`{context.source(call, module)}` is not understood")
    elif "builtins.hasattr" in names and call.args[0] is arg:
        has_field(context, call, module, shapes)
    elif ("builtins.getattr" in names and call.args[0] is arg) or (
        not listed
        and any(name in ("builtins.dict", "builtins.vars", "builtins.list", "builtins.len") for name in names)
    ):
        context.manual(call, module, sites, "MR506", f"`{context.source(call, module)}` is not understood")


__all__ = ["KINDS", "plan", "truth_of", "types_of"]

"""``openai.pydantic_function_tool(M)`` makes nested tools; ``create`` wants flat ones (MR501, trap D5)."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.graph import Var
from ..know.kinds import External, Invocation, SeqValue, Site
from ..know.modules import Module
from .context import Context, constants
from .reading import replace_read, same
from .tools import PYDANTIC, members

_FLAT = "pydantic_responses_function_tool"


def plan(context: Context) -> None:
    """Take the function that makes the flat form, and read what it makes one level higher."""
    tools = {site: _vars(context, site) for site in context.sites if site.method == "create"}
    made: dict[Var, set[Site]] = {}  # where a tool that changes its form goes
    for call in context.project.invocations:
        if not _makes_one(context, call):
            continue
        reached = _reached(call.result)
        owners = {site for site, places in tools.items() if not reached.isdisjoint(places)}
        if owners:
            _rename(context, call, owners)
            for var in reached:
                made.setdefault(var, set()).update(owners)
    for node, module in _holders(context, made):
        _read(context, node, module, made[context.project.vars[node]])


def _makes_one(context: Context, call: Invocation) -> bool:
    callees = context.project.callees.get(call, {})
    return any(isinstance(callee, External) and f"{callee.path}()" in PYDANTIC for callee in callees)


def _rename(context: Context, call: Invocation, owners: set[Site]) -> None:
    func = call.node.func
    if isinstance(func, cst.Attribute):
        context.edit(func, call.module, owners, lambda o, u: u.with_changes(attr=cst.Name(_FLAT)), "MR501")
    else:
        context.edit(func, call.module, owners, lambda o, u: cst.Name(_FLAT), "MR501")
        context.plan.need(call.module, "openai", _FLAT, owners)


def _vars(context: Context, site: Site) -> set[Var]:
    """The variables that hold the tools of ``site``."""
    lists: dict[SeqValue, set[Site]] = {}
    found: set[Var] = set()
    for item in context.request(site).written("tools"):
        if item.place.var is not None:
            found.add(item.place.var)
            list(members(item.place.var, lists, site))
    for sequence in lists:
        found.update((sequence.element, *sequence.items.values()))
    return found


def _reached(var: Var) -> set[Var]:
    """The variables that the values of ``var`` flow to."""
    found = {var}
    stack = [var]
    while stack:
        for target in stack.pop().outs or ():
            if target not in found:
                found.add(target)
                stack.append(target)
    return found


# -- reading them back -------------------------------------------------------------------


def _holders(context: Context, made: dict[Var, set[Site]]) -> Iterator[tuple[cst.BaseExpression, Module]]:
    """The expressions that can be such a tool."""
    for module in context.project.modules if made else ():
        for node in module.parents:
            var = context.project.vars.get(node)
            if var in made and isinstance(node, cst.BaseExpression) and any(map(_is_tool, var.values)):
                yield node, module


def _is_tool(value: object) -> bool:
    return isinstance(value, External) and value.path in PYDANTIC


def _read(context: Context, node: cst.BaseExpression, module: Module, sites: set[Site]) -> None:
    """``tool["function"]`` is the tool now; what asks for all of its keys holds back."""
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if (
            value is node
        ):
            key = constants(context.project.vars.get(index))
            if key == ["function"] and all(map(_is_tool, context.project.values(node))):
                context.edit(parent, module, sites, replace_read(same), "MR507")
            elif key is None or "function" in key:
                _hold(context, parent, module, sites)
        case cst.Attribute(value=value) | cst.Arg(star="**", value=value) if value is node:
            _hold(context, parent, module, sites)
        case cst.StarredDictElement():
            _hold(context, parent, module, sites)
        case _:
            return


def _hold(context: Context, node: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    detail = f"`{context.source(node, module)}` reads a tool in a way that is not understood"
    context.manual(node, module, sites, "MR507", detail)

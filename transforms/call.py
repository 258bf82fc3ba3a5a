"""The entry point: ``client.chat.completions.create`` becomes ``client.responses.create`` (MR001).

Also writes out what differs by default: ``store=False`` (MR107, trap A12).
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Resource, Site
from ..know.modules import Module
from .context import WRITES, Context, Keyword, is_none
from .listing import append
from .snippets import expr, keyword, quote_of, string
from .stored import is_decided, says_store


def plan(context: Context) -> None:
    """Rewrite the way from the client to the call, once for each node on it."""
    chains: dict[cst.CSTNode, list[Site]] = {}
    steps: dict[cst.CSTNode, Resource] = {}
    for site in context.sites:
        for resource in site.resources:
            step: Resource | None = resource
            while step is not None:
                steps[step.node] = step
                owners = chains.setdefault(step.node, [])
                if site not in owners:
                    owners.append(site)
                step = step.previous
    for node, owners in chains.items():
        _step(context, node, steps[node], owners)
    for site in context.sites:
        _store(context, site)


def _step(context: Context, node: cst.CSTNode, resource: Resource, sites: list[Site]) -> None:
    module = _module_of(context, node, sites)
    name = resource.path[-1]
    if not isinstance(node, cst.Attribute):  # getattr(client, "chat")
        context.manual(node, module, sites, "MR034", "the method is reached through getattr()")
    elif name in ("chat", "beta"):
        context.edit(node, module, sites, _drop_step, "MR001")
    elif name == "completions":
        context.edit(node, module, sites, _responses, "MR001")


def _module_of(context: Context, node: cst.CSTNode, sites: list[Site]) -> Module:
    for module in [sites[0].module, *context.project.modules]:
        if node in module.parents:
            return module
    return sites[0].module


def _drop_step(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Attribute)
    return updated.value


def _responses(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Attribute)
    assert isinstance(original, cst.Attribute)
    # Keep the layout of the dot that was dropped: chains are often broken before `.chat`.
    inner = original.value
    dot = inner.dot if isinstance(inner, cst.Attribute) and inner.attr.value == "chat" else updated.dot
    return updated.with_changes(attr=cst.Name("responses"), dot=dot)


def _store(context: Context, site: Site) -> None:
    request = context.request(site)
    if context.settings.api_defaults != "preserve":
        return
    stored = request.named("store")
    if stored and len(site.partials) > 1:
        detail = "`store` is given by one of several ways to this call"
        context.manual(stored[0].place.node, stored[0].place.module, [site], "MR107", detail)
        return
    if stored and not all(is_none(item.place.var) for item in stored):
        _maybe_stored(context, site, stored)
        return
    if stored:  # store=None means the default, which is the other one now
        for item in stored:
            if isinstance(item.place.node, cst.Arg):
                context.edit(item.place.node, item.place.module, [site], _false, "MR107")
            else:
                context.manual(
                    item.place.node, item.place.module, [site], "MR107", "`store` is None in a dict"
                )
        return
    if site.apart is None:
        context.edit(site.carrier, site.module, [site], _write_store, "MR107")
    elif isinstance(site.apart, cst.Dict) or _is_dict_call(site.apart):
        context.edit(site.apart, site.module, [site], _write_store, "MR107")
    else:
        text = context.source(site.apart, site.module)
        context.manual(site.node, site.module, [site], "MR107", f"`store` belongs into `{text}`")


def _maybe_stored(context: Context, site: Site, stored: list[Keyword]) -> None:
    """Where ``store`` is given at times only, the other times must go on storing nothing."""
    for item in stored:
        place = item.place
        if isinstance(place.node, cst.Arg) and item.holder is None:
            if not is_decided(place.var):
                context.edit(place.node, place.module, [site], _as_bool, "MR107")
        elif place.how in WRITES and not _is_always_in(item):
            detail = f"`{context.source(place.node, place.module)}` decides `store` for some requests only"
            context.manual(place.node, place.module, [site], "MR107", detail)
    given = [item for item in stored if item.place.how in WRITES]
    if given and all(item.holder is not None for item in given) and not says_store(context, site):
        place = given[0].place
        detail = f"`{context.source(place.node, place.module)}` decides `store` for some requests only"
        context.manual(place.node, place.module, [site], "MR107", detail)


def _is_always_in(item: Keyword) -> bool:
    """Whether a dict has the entry from the start, and it says True or False."""
    node = item.place.node
    holder = item.holder
    return (
        isinstance(node, (cst.DictElement, cst.Arg))
        and holder is not None
        and holder.node is item.place.module.parents.get(node)
        and is_decided(item.place.var)
    )


def _as_bool(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Arg)
    return updated.with_changes(value=expr("bool(x)", x=updated.value))


def _false(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Arg)
    return updated.with_changes(value=cst.Name("False"))


def _write_store(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    if isinstance(updated, cst.Dict):
        return append(updated, cst.DictElement(string("store", quote_of(updated)), cst.Name("False")))
    assert isinstance(updated, cst.Call)
    argument = keyword("store", cst.Name("False"), updated.args)
    return append(updated, argument)


def _is_dict_call(node: cst.BaseExpression) -> bool:
    """``dict(model="m")``."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "dict"

"""Tools, formats, parts and messages that get another form, and are copied or looked at as a whole (MR309).

``dict(tool)["function"]`` fails once the tool is flat, and ``match part`` goes another way. The arguments
themselves are seen to by ``shared_dicts``, messages with calls and results by ``copied_messages``.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DictValue, SeqValue, Site
from ..know.modules import Module
from .compared import dissolved, edited_nodes, nodes_of
from .context import Context
from .item_facts import Form, facts
from .poured import looks
from .reading import builtin
from .tested import is_test


def plan(context: Context) -> None:
    """Hold back the flows that change such a dict."""
    edited = edited_nodes(context)
    forms = facts(context).forms
    changed: dict[DictValue, set[Site]] = {}
    for value in context.dicts():
        others = context.senders(value) or forms.get(value, Form.PLAIN) is not Form.PLAIN
        if not others and not is_test(value.module):
            nodes = [*nodes_of(value), *(inner.node for inner in _inside(value))]
            sites = set().union(*(edited.get(node, ()) for node in nodes))
            if sites:
                changed[value] = sites
    inside = dissolved(context, changed)
    for value, sites in [*changed.items(), *inside.items()]:
        new_keys = value in inside or any(node in edited for node in nodes_of(value))
        for node, module in [*looks(context, value), *(_counts(context, value) if new_keys else ())]:
            if context.is_gone(node, module):
                continue
            detail = f"`{context.source(module.parents[node], module)}` looks at what gets another form"
            if not is_test(module):
                context.manual(node, module, sites, "MR309", detail)
            elif value in inside:  # of all else the rules for doubles have a word
                context.unsafe(node, module, sites, "MR803", detail)
    for copy in context.dicts():
        if context.senders(copy) or is_test(copy.module):
            continue
        sites = set().union(*(changed.get(source, ()) for source in copy.poured))
        if copy not in changed and copy not in inside:
            sites = sites.union(*(inside.get(source, ()) for source in copy.poured))
        if sites:
            detail = f"`{context.source(copy.node, copy.module)}` copies what gets another form"
            context.manual(copy.node, copy.module, sites, "MR309", detail)


def _counts(context: Context, value: DictValue) -> Iterator[tuple[cst.CSTNode, Module]]:
    """Where it matters how many keys ``value`` has: ``len(tool)``, ``tool.values()``."""
    for node, module in context.holders(value):
        match parent := module.parents.get(node):
            case cst.Arg():
                call = module.parents[parent]
                if isinstance(call, cst.Call) and builtin(context, call) == "len":
                    yield node, module
            case cst.Attribute(value=owner, attr=cst.Name(value="values")) if owner is node:
                yield node, module
            case _:
                continue


def _inside(value: DictValue) -> list[DictValue | SeqValue]:
    """The dicts and lists that are entries of ``value``: the ``function`` of a tool."""
    return [
        inner
        for var in value.fields.values()
        for inner in var.values
        if isinstance(inner, (DictValue, SeqValue))
    ]

"""Tools, formats, parts and messages that get another form, and are copied or looked at as a whole (MR309).

``dict(tool)["function"]`` fails once the tool is flat, and ``match part`` goes another way. The arguments
themselves are seen to by ``shared_dicts``, messages with calls and results by ``copied_messages``.
"""

from __future__ import annotations

from ..know.kinds import DictValue, SeqValue, Site
from .compared import edited_nodes, nodes_of
from .context import Context
from .item_facts import Form, facts
from .poured import looks
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
    for value, sites in changed.items():
        for node, module in looks(context, value):
            if not context.is_gone(node, module) and not is_test(module):
                detail = f"`{context.source(module.parents[node], module)}` looks at what gets another form"
                context.manual(node, module, sites, "MR309", detail)
    for copy in context.dicts():
        if context.senders(copy) or is_test(copy.module):
            continue
        sites = set().union(*(changed.get(source, ()) for source in copy.poured))
        if sites:
            detail = f"`{context.source(copy.node, copy.module)}` copies what gets another form"
            context.manual(copy.node, copy.module, sites, "MR309", detail)


def _inside(value: DictValue) -> list[DictValue | SeqValue]:
    """The dicts and lists that are entries of ``value``: the ``function`` of a tool."""
    return [
        inner
        for var in value.fields.values()
        for inner in var.values
        if isinstance(inner, (DictValue, SeqValue))
    ]

"""Copies of tools, formats, parts and messages that get another form: who reads the copy sees it (MR309).

``dict(tool)["function"]`` fails once the tool is flat. Copies of the arguments themselves are followed by
``shared_dicts``.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import DictValue, SeqValue, Site
from .context import Context
from .tested import is_test


def plan(context: Context) -> None:
    """Hold back the flows that change the form of a dict which is poured into another."""
    edited: dict[cst.CSTNode, set[Site]] = {}
    for edit in context.plan.edits:
        edited.setdefault(edit.node, set()).update(edit.sites)
    for copy in list(context.project.built.values()):
        if not isinstance(copy, DictValue) or is_test(copy.module) or context.senders(copy):
            continue
        for source in copy.poured:
            if context.senders(source):
                continue
            nodes = [source.node, *(place.node for places in source.places.values() for place in places)]
            nodes += [
                inner.node
                for var in source.fields.values()
                for inner in var.values
                if isinstance(inner, (DictValue, SeqValue))
            ]
            sites = set().union(*(edited.get(node, ()) for node in nodes))
            if sites:
                detail = f"`{context.source(copy.node, copy.module)}` copies what gets another form"
                context.manual(copy.node, copy.module, sites, "MR309", detail)

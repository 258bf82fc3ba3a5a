"""Answers that Chat Completions stores, and that the program looks for there (MR033).

The call moves, what it stores moves with it, and ``client.chat.completions.update(answer.id)`` knows nothing
of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know import models
from ..know.kinds import Resource, Site
from ..know.modules import Module
from .context import Context, constants


def plan(context: Context) -> None:
    """Hold back calls that store, where something stored is looked for."""
    storing = [site for site in context.sites if _stores(context, site)]
    for site in storing:
        for node, module in _looks(context, site):
            detail = f"`{context.source(node, module)}` looks for what this call stores"
            context.manual(node, module, [site], "MR033", detail)


def _stores(context: Context, site: Site) -> bool:
    known = [constants(item.place.var) for item in context.request(site).named("store")]
    return any(found is None or any(found) for found in known)


def _looks(context: Context, site: Site) -> Iterator[tuple[cst.CSTNode, Module]]:
    for module in context.project.program(site.module):
        for node in module.of(cst.Attribute):
            if isinstance(node, cst.Attribute) and node.attr.value in models.STORED:
                for value in context.project.values(node):
                    if isinstance(value, Resource) and value.path[-2:] == ("completions", node.attr.value):
                        yield node, module

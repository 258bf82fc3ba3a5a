"""Dicts of tests that stand for dumped usage: the names in them are the old ones (MR803).

``usage.model_dump.return_value = {"prompt_tokens": 4}``, or ``usage={"prompt_tokens": 4}`` for a program that
asks for ``dict(resp.usage)["prompt_tokens"]``.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Site
from ..know.modules import Module
from .context import Context
from .dumps import ENTRIES, stays_a_dict
from .reading import builtin, read_of
from .snippets import key_of
from .tested import at, tested


def plan(context: Context) -> None:
    """Hold back the calls whose dumped usage is read by names, where a test has a dict of the old ones."""
    sites = _read_by_names(context)
    for module in tested(context) if sites else ():
        for node in _dicts(context, module):
            about = [site for site in at(context, module, node) if site in sites]
            if about:
                text = context.source(node, module)
                context.unsafe(node, module, about, "MR803", f"`{text}` may stand for dumped usage")


def _read_by_names(context: Context) -> set[Site]:
    """The calls whose dumped usage is asked for an entry that has another name now."""
    found: set[Site] = set()
    for node, module, shapes in context.shaped:
        kept = [shape for shape in shapes if stays_a_dict(context, shape)]
        if not kept or not isinstance(node, cst.BaseExpression):
            continue
        read = read_of(context, node, module)
        asked = isinstance(module.parents.get(node), cst.ComparisonTarget)
        if asked or (read is not None and read.name in ENTRIES):
            found.update(shape.site for shape in kept)
    return found


def _dicts(context: Context, module: Module) -> Iterator[cst.CSTNode]:
    for node in module.of(cst.Dict, cst.Call):
        match node:
            case cst.Dict(elements=elements):
                names = {key_of(element) for element in elements}
            case cst.Call(args=args) if builtin(context, node) == "dict":
                names = {arg.keyword.value for arg in args if arg.keyword is not None}
            case _:
                continue
        if not names.isdisjoint(ENTRIES):
            yield node

"""The last chunk of a stream, read behind the loop (MR405): it has the usage, as the last event does.

Nothing but the event itself tells a type checker which it is; and a stream that broke off has another.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import children
from .reading import BARE
from .snippets import expr, parenthesized
from .stream_aliases import is_bound_again
from .stream_parts import TERMINAL, On
from .stream_region import Region


def usage_after(region: Region) -> set[cst.CSTNode]:
    """Rewrite ``chunk.usage`` behind a loop that goes through the whole stream; the names that were read."""
    loop = region.node
    if not isinstance(loop, cst.For) or not region.of_chunks or On.USAGE not in region.everything:
        return set()
    if loop.orelse is not None or any(_leaves(line) for line in loop.body.body):
        return set()
    reads = [(name, region.module.parents.get(name)) for name in _names_after(region, loop)]
    if len(reads) > 1:
        return set()  # what tells that it is there, as `if chunk.usage`, and what reads it say the same twice
    found: set[cst.CSTNode] = set()
    for name, read in reads:
        if isinstance(read, cst.Attribute) and read.value is name and read.attr.value == "usage":
            bare = isinstance(region.module.parents.get(read), BARE)
            made = expr(f"v.response.usage if {TERMINAL} else None", v=cst.Name(region.new))
            made = made if bare else parenthesized(made)
            region.context.edit(read, region.module, region.sites, lambda o, u, made=made: made, "MR405")  # type: ignore[misc]
            found |= {name, read}
    return found


def _leaves(node: cst.CSTNode) -> bool:
    """Whether a loop is left by what stands in ``node``, before the last chunk."""
    if isinstance(node, cst.Break):
        return True
    inside = (cst.For, cst.While, cst.FunctionDef, cst.Lambda, cst.ClassDef)
    return not isinstance(node, inside) and any(map(_leaves, children(node)))


def _names_after(region: Region, loop: cst.For) -> Iterator[cst.Name]:
    inside = set(region.nodes())
    scope = region.module.function(loop)
    for node, module, shapes in region.context.shaped:
        if module is not region.module or not isinstance(node, cst.Name) or node.value != region.name:
            continue
        if node in inside or node is loop.target or module.function(node) is not scope:
            continue
        if {shape.kind for shape in shapes} != {Kind.CHUNK} or is_bound_again(region, node):
            continue
        if all(shape.site in region.sites and shape.form == "object" for shape in shapes):
            yield node

"""Who hears that there were no tool calls (MR505): to go through None was an error, ``[]`` is just empty."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from ..know.kinds import Const, Kind, Site
from ..know.modules import Module
from .context import Context
from .none_errors import Failure, is_heard, is_heard_above
from .none_text import is_told

_FAILED = Failure(frozenset({"TypeError"}))
_TAKEN = Failure(frozenset({"TypeError"}), frozenset({"IndexError"}))
_UNPACKED = Failure(frozenset({"TypeError"}), frozenset({"ValueError"}))
_GO_THROUGH = frozenset("len list tuple sorted reversed enumerate zip map iter".split())


def is_missed(context: Context, sites: Iterable[Site], node: cst.CSTNode, module: Module) -> bool:
    """Whether a handler heard that the list at ``node`` was None."""
    parent = module.parents.get(node)
    if isinstance(parent, cst.Subscript) and parent.value is node:
        # A handler right there is given the other error to wait for.
        near = is_heard(node, module, _TAKEN, broad=True)
        return not near and not is_told(node, module) and is_heard_above(context, node, module, _TAKEN, True)
    if not _goes_through(node, module) or is_told(node, module):
        return False
    if all(_is_forced(context, site) for site in sites):
        return False
    failed = _UNPACKED if isinstance(parent, cst.Assign) else _FAILED
    return is_heard_above(context, node, module, failed, broad=True)


def are_missed(context: Context, sites: Iterable[Site]) -> bool:
    """Whether a handler heard it of any list of calls of ``sites``."""
    return any(
        Kind.TOOL_CALLS in kinds and is_missed(context, [site], node, module)
        for site in sites
        for node, module, kinds in context.parts(site)
    )


def _goes_through(node: cst.CSTNode, module: Module) -> bool:
    parent = module.parents.get(node)
    match parent:
        case cst.For(iter=source) | cst.CompFor(iter=source):
            return source is node
        case cst.Arg():
            call = module.parents.get(parent)
            return (
                isinstance(call, cst.Call)
                and isinstance(call.func, cst.Name)
                and call.func.value in _GO_THROUGH
            )
        case cst.StarredElement():
            return True
        case cst.Assign(targets=targets):  # `(call,) = message.tool_calls`
            return any(isinstance(target.target, (cst.Tuple, cst.List)) for target in targets)
        case _:
            return False


def _is_forced(context: Context, site: Site) -> bool:
    """Whether the request asks for a call whatever happens."""
    values = context.request(site).values("tool_choice", "function_call")
    return bool(values) and all(
        not (isinstance(v, Const) and v.value in (None, "auto", "none")) for v in values
    )

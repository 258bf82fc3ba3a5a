"""Where it shows that chunks without text are not there any more: in lists that are counted, in handlers."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind, SeqValue
from ..know.modules import walk
from .stream_region import Region

_MISSING = frozenset({"TypeError", "AttributeError", "IndexError"})


def is_counted(region: Region, node: cst.BaseExpression) -> bool:
    """Whether the text ``node`` becomes an item of a list whose length or places are asked for."""
    parents = region.module.parents
    arg = parents.get(node)
    call = parents.get(arg) if isinstance(arg, cst.Arg) else None
    gathered: cst.BaseExpression
    match call:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="append"))):
            gathered = owner
        case _ if isinstance(arg, cst.ListComp) and arg.elt is node:
            gathered = arg
        case _:
            return False
    for value in region.context.project.values(gathered):
        if not isinstance(value, SeqValue):
            continue
        for holder, module in region.context.holders(value):
            match module.parents.get(holder):
                case cst.Subscript(value=whole) if whole is holder:
                    return True
                case cst.Arg() as given:
                    asked = module.parents.get(given)
                    func = asked.func if isinstance(asked, cst.Call) else None
                    if isinstance(func, cst.Name) and func.value in ("len", "enumerate"):
                        return True
                case _:
                    continue
    return False


def handlers(region: Region) -> Iterator[cst.ExceptHandler]:
    """Handlers that do something for each chunk without text, whose reading fails."""
    for node in region.nodes():
        if not isinstance(node, cst.Try) or not _reads_text(region, node.body):
            continue
        for handler in node.handlers:
            caught = {inner.value for inner in walk(handler.type or node) if isinstance(inner, cst.Name)}
            if handler.type is not None and caught & _MISSING and not _is_quiet(handler):
                yield handler


def _reads_text(region: Region, body: cst.CSTNode) -> bool:
    return any(
        isinstance(inner, cst.BaseExpression) and region.kind(inner) is Kind.DELTA_TEXT
        for inner in walk(body)
    )


def _is_quiet(handler: cst.ExceptHandler) -> bool:
    return all(
        isinstance(small, (cst.Pass, cst.Continue, cst.Assign))
        for line in handler.body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    )

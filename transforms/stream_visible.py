"""Where it shows that chunks without text are not there any more: in lists that are counted, in handlers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..know.kinds import External, Kind, Method, SeqValue
from ..know.modules import Module, walk
from .context import Context, constants
from .reading import builtin
from .stream_parts import On
from .stream_region import Region
from .stream_syntax import is_empty

_MISSING = frozenset({"TypeError", "AttributeError", "IndexError"})


def is_seen(region: Region, node: cst.BaseExpression) -> bool:
    """Whether the text ``node`` becomes an item of a list that shows how many there are, or empty ones."""
    if _is_spread(region, node):
        return True
    return is_gathered(region.context, node, region.module)


def is_gathered(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether ``node`` becomes an item of a list that shows how many there are."""
    return any(
        any(_shows(context, holder, where) for holder, where in context.holders(sequence))
        for sequence in _gathered(context, node, module)
    )


def _gathered(context: Context, node: cst.BaseExpression, module: Module) -> Iterator[SeqValue]:
    """The lists that ``node`` becomes an item of."""
    parents, values = module.parents, context.project.values
    parent = parents.get(node)
    around = parents.get(parent) if parent is not None else None
    whole = parents.get(around) if around is not None else None
    match parent, around, whole:
        case cst.Arg(), cst.Call(func=func), _:
            for callee in values(func):
                if (
                    isinstance(callee, Method)
                    and callee.name in _ADDING
                    and isinstance(callee.owner, SeqValue)
                ):
                    yield callee.owner
        case ((cst.ListComp() | cst.SetComp()), _, _) if parent.elt is node:
            yield from (value for value in values(parent) if isinstance(value, SeqValue))
        case cst.Element(), cst.List(), cst.AugAssign(target=target):
            yield from (value for value in values(target) if isinstance(value, SeqValue))
        case cst.Element(), cst.List(), cst.BinaryOperation():
            yield from (value for value in values(whole) if isinstance(value, SeqValue))
        case _:
            return


def _is_spread(region: Region, node: cst.BaseExpression) -> bool:
    """``" ".join(text for ...)``, ``print(*(text for ...))``: something stands between the texts."""
    parents = region.module.parents
    made = parents.get(node)
    arg = parents.get(made) if isinstance(made, cst.GeneratorExp) and made.elt is node else None
    call = parents.get(arg) if isinstance(arg, cst.Arg) else None
    match arg, call:
        case cst.Arg(star="*"), cst.Call(func=cst.Name(value="print"), args=args):
            between = [one.value for one in args if one.keyword is not None and one.keyword.value == "sep"]
            return not between or not is_empty(between[0])
        case cst.Arg(), cst.Call(func=cst.Attribute() as method):
            return _joins_apart(region.context, method)
        case _:
            return False


def _joins_apart(context: Context, method: cst.Attribute) -> bool:
    """``" ".join``: an empty text between others shows."""
    if method.attr.value != "join":
        return False
    return constants(context.project.vars.get(method.value)) not in ([""], None)


_ADDING = frozenset({"append", "add", "insert", "appendleft"})


_BLIND = frozenset(f"builtins.{name}" for name in ("bool", "isinstance", "id", "type"))


def _shows(context: Context, holder: cst.CSTNode, module: Module) -> bool:
    parent = module.parents.get(holder)
    match parent:
        case cst.Subscript(value=whole):
            return whole is holder
        case cst.FormattedStringExpression():
            return True
        case cst.For(iter=source, target=cst.Name(value=name), body=body) if source is holder:
            return not all(_skips_empty(line, name) for line in body.body)
        case cst.CompFor(iter=source) if source is holder:
            return not parent.ifs
        case cst.Arg():
            call = module.parents.get(parent)
            if not isinstance(call, cst.Call):
                return False
            filters = (
                builtin(context, call) == "filter" and getattr(call.args[0].value, "value", "") == "None"
            )
            if isinstance(call.func, cst.Attribute) and call.func.attr.value == "join":
                return _joins_apart(context, call.func)
            callees = context.project.values(call.func)
            return not filters and any(
                isinstance(value, External) and value.path not in _BLIND for value in callees
            )
        case _:
            return False


def _skips_empty(line: cst.CSTNode, name: str) -> bool:
    """Whether a statement does nothing for an empty text: ``if text: ...``, ``all += text``."""
    match line:
        case cst.If(test=test, orelse=None):
            return any(isinstance(inner, cst.Name) and inner.value == name for inner in walk(test))
        case cst.SimpleStatementLine(body=[cst.AugAssign(operator=cst.AddAssign(), value=cst.Name())]):
            return True
        case _:
            return False


def handlers(region: Region, nodes: Iterable[cst.CSTNode]) -> Iterator[cst.ExceptHandler]:
    """Handlers that do something for each chunk without text or choices, whose reading fails."""
    for node in nodes:
        if not isinstance(node, cst.Try) or not _reads_part(region, node.body):
            continue
        for handler in node.handlers:
            if _hears(region, node, handler) and not _is_quiet(region, handler):
                yield handler


def _hears(region: Region, node: cst.Try, handler: cst.ExceptHandler) -> bool:
    """Whether a handler is for errors of chunks without text: it names them, or the code waits for one."""
    caught = {inner.value for inner in walk(handler.type or node) if isinstance(inner, cst.Name)}
    if handler.type is not None and caught & _MISSING:
        return True
    if handler.type is not None and not caught & {"Exception", "BaseException"}:
        return False
    return any(
        isinstance(inner, cst.AugAssign)
        and region.kind(inner.value) is Kind.DELTA_TEXT
        and not isinstance(inner.value, (cst.BooleanOperation, cst.IfExp))
        for inner in walk(node.body)
    )


def _reads_part(region: Region, body: cst.CSTNode) -> bool:
    """Whether a text is read, or a choice of a chunk that may have none."""
    kinds = {region.kind(inner) for inner in walk(body) if isinstance(inner, cst.BaseExpression)}
    if kinds & {Kind.DELTA_TEXT, Kind.DELTA_CALL}:
        return True
    return Kind.CHUNK_CHOICE in kinds and On.USAGE in region.everything


def _is_quiet(region: Region, handler: cst.ExceptHandler) -> bool:
    return all(
        isinstance(small, (cst.Pass, cst.Continue, cst.Assign)) and not _reads_chunk(region, small)
        for line in handler.body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])
    )


def _reads_chunk(region: Region, node: cst.CSTNode) -> bool:
    return any(
        isinstance(inner, cst.BaseExpression) and region.kind(inner) is not None for inner in walk(node)
    )

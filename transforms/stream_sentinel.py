"""The None of chunks without text, where it tells somebody that the stream ends (MR404).

A loop that hands on each ``delta.content`` hands on None at the end. No event stands for that chunk: whoever
waits for the None would wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind, Shape, Site
from ..know.modules import Module, walk
from .context import Context
from .stream_counts import lets_none
from .stream_parts import skips
from .stream_shown import shows_none
from .stream_syntax import is_empty, is_nothing

_BOXES = frozenset({"put", "put_nowait"})
_WAITS = "waits for the None of the last chunk, which no event stands for"


def plan(context: Context) -> None:
    """Hold back streams whose None is handed on and asked for."""
    loops: dict[Site, set[cst.CSTNode]] = {}
    handed: set[Site] = set()
    for loop, module in _loops(context):
        for shape in context.project.shapes(loop.iter):
            if shape.kind is Kind.STREAM:
                loops.setdefault(shape.site, set()).update(walk(loop))
        for text in _formatted(context, loop, module):
            _show(context, text, module, {shape.site for shape in context.project.shapes(text)})
        for text in _bare(context, loop, module):
            sites = {shape.site for shape in context.project.shapes(text)}
            handed |= sites
            if _is_boxed(text, module):
                _hold(context, text, module, sites, "goes with None at the end, which no event stands for")
            elif _is_json(context, text, module):
                _hold(context, text, module, sites, "is `null` at the end, which no event stands for")
    for node, module, shapes in context.shaped if handed else ():
        sites = {shape.site for shape in shapes if shape.kind is Kind.DELTA_TEXT} & handed
        inside = any(node in loops[site] for site in sites if site in loops)
        if not sites or inside or not isinstance(node, cst.BaseExpression):
            continue
        if _asks_for_none(node, module):
            _hold(context, node, module, sites, _WAITS)
        elif shows_none(context, node, module):
            _show(context, node, module, sites)


def _hold(context: Context, node: cst.CSTNode, module: Module, sites: set[Site], why: str) -> None:
    context.manual(node, module, sites, "MR404", f"`{context.source(node, module)}` {why}")


def _show(context: Context, node: cst.BaseExpression, module: Module, sites: set[Site]) -> None:
    parent = module.parents[node]
    shown = module.parents[parent] if isinstance(parent, (cst.Arg, cst.FormattedStringExpression)) else node
    detail = f"`{context.source(shown, module)}` shows chunks without text, too"
    context.unsafe(shown, module, sites, "MR404", detail)


def _loops(context: Context) -> Iterator[tuple[cst.For | cst.CompFor, Module]]:
    for module in context.project.modules:
        for node in module.of(cst.For, cst.CompFor):
            assert isinstance(node, (cst.For, cst.CompFor))
            if any(shape.kind is Kind.STREAM for shape in context.project.shapes(node.iter)):
                yield node, module


def _bare(context: Context, loop: cst.For | cst.CompFor, module: Module) -> Iterator[cst.BaseExpression]:
    """The texts of chunks that are handed on as they are, None too."""
    whole: cst.CSTNode = loop if isinstance(loop, cst.For) else module.parents[loop]
    for node in walk(whole):
        if not isinstance(node, (cst.Name, cst.Attribute)):
            continue
        values = context.project.values(node)
        texts = [value for value in values if isinstance(value, Shape) and value.kind is Kind.DELTA_TEXT]
        if not texts or any(is_nothing(value) for value in values):
            continue
        element = getattr(whole, "elt", None) is node
        parent = module.parents.get(node)
        match parent:
            case cst.BooleanOperation(operator=cst.Or(), right=cst.Name(value="None")):
                parent = module.parents.get(parent)
        given = isinstance(parent, (cst.Arg, cst.Yield, cst.Return, cst.DictElement))
        if (element or given) and lets_none(context, node, loop, module):
            yield node


def _formatted(context: Context, loop: cst.For | cst.CompFor, module: Module) -> Iterator[cst.BaseExpression]:
    """``delta.content`` of ``yield f"data: {delta.content}"``, None too: it is spelled out."""
    whole: cst.CSTNode = loop if isinstance(loop, cst.For) else module.parents[loop]
    for piece in walk(whole):
        text = piece.expression if isinstance(piece, cst.FormattedStringExpression) else None
        if not isinstance(text, (cst.Name, cst.Attribute)):
            continue
        values = context.project.values(text)
        is_text = any(isinstance(value, Shape) and value.kind is Kind.DELTA_TEXT for value in values)
        if (
            is_text
            and not any(map(is_nothing, values))
            and shows_none(context, text, module)
            and lets_none(context, text, loop, module)
        ):
            yield text


def _is_boxed(node: cst.BaseExpression, module: Module) -> bool:
    """``queue.put(delta.content)``: who takes it out cannot always be found."""
    arg = module.parents.get(node)
    call = module.parents.get(arg) if isinstance(arg, cst.Arg) else None
    func = call.func if isinstance(call, cst.Call) else None
    return isinstance(func, cst.Attribute) and func.attr.value in _BOXES


def _is_json(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """``yield json.dumps({"text": delta.content})``: who reads it is elsewhere."""
    return isinstance(module.parents.get(node), cst.DictElement) and any(
        escape.to.endswith("json.dumps") and not escape.direct
        for shape in context.project.shapes(node)
        for escape in context.escapes.of(shape)
    )


def _asks_for_none(node: cst.BaseExpression, module: Module) -> bool:
    """Whether something happens because ``node`` is None."""
    parent = module.parents.get(node)
    match parent:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=operator, comparator=cst.Name(value="None"))],
        ) if left is node:
            return _acts(parent, module, isinstance(operator, (cst.Is, cst.Equal)), True)
        case cst.BooleanOperation(operator=cst.Or(), left=left, right=right) if left is node:
            return not is_empty(right)
        case cst.NamedExpr():
            return _asks_for_none(parent, module)
        case _:
            return _acts(node, module, False, False)


def _acts(test: cst.BaseExpression, module: Module, true: bool, told: bool) -> bool:
    """Whether ``test``, which is ``true`` for None, has an effect then; ``told``: it asks for None alone."""
    parent = module.parents.get(test)
    match parent:
        case cst.UnaryOperation(operator=cst.Not()):
            return _acts(parent, module, not true, told)
        case cst.BooleanOperation():
            return _acts(parent, module, true, told)
        case cst.If(test=asked, body=body, orelse=orelse) if asked is test:
            other = orelse.body if isinstance(orelse, cst.Else) else None
            taken = body if true else other
            return (isinstance(orelse, cst.If) and not true) or (
                taken is not None and not skips(taken, False)
            )
        case cst.While(test=asked) if asked is test:
            return not true
        case cst.IfExp(test=asked, body=body, orelse=other) if asked is test:
            return not is_empty(body if true else other)
        case cst.CompIf():
            return true
        case cst.Assert() | cst.Expr():
            return False
        case _:
            return told

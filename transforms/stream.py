"""Streams of chunks become streams of events (MR401 to MR409).

:mod:`.stream_region` finds where chunks live, :mod:`.stream_body` rewrites the statements there. Here the
streams themselves are followed, and what no rule understood holds the flow back.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import STREAM_KINDS, STRUCTURAL, External, Kind, Shape, Site
from ..know.modules import Module
from . import stream_calls, stream_helper, stream_keys, stream_visible
from .context import Context
from .reading import ASKS, builtin
from .snippets import expr
from .stream_body import Body
from .stream_comprehension import Comprehension, conditions
from .stream_kept import is_only_looped_over
from .stream_last import usage_after
from .stream_names import rename
from .stream_parts import SAME, TEXT_TEST
from .stream_region import Region

_CHUNKS = frozenset(STREAM_KINDS & STRUCTURAL) - {Kind.STREAM, Kind.CHUNK_FINISH}
# The texts of answers, whole or in parts: strings before and after.
_TEXTS = frozenset({Kind.CONTENT, Kind.DELTA_TEXT, Kind.LEAF})
# Functions that give back what they are given.
_SAME = frozenset(
    {"typing.cast", "builtins.iter", "builtins.aiter", "contextlib.closing", "contextlib.aclosing"}
)
# Functions that show a stream of texts as it comes.
_TEXT_SINKS = frozenset({"write_stream"})


def plan(context: Context) -> None:
    """Rewrite each region, then look at what is left."""
    understood: set[cst.CSTNode] = set()
    for region in regions(context):
        own: set[cst.CSTNode] = set()
        stream_calls.choose(region)
        if isinstance(region.node, cst.CompFor):
            Comprehension(region, own).run()
        else:
            body = Body(region, own)
            body.run(region.node.body)
        for index in stream_calls.misused(region):
            text = context.source(index, region.module)
            detail = f"`{text}` is used as a number, and places in an answer do not count calls"
            context.manual(index, region.module, region.sites, "MR404", detail)
        for handler in stream_visible.handlers(region, region.nodes()):
            text = context.source(handler.type, region.module) if handler.type is not None else ""
            detail = f"`except {text}` acts on chunks without text"
            context.manual(handler, region.module, region.sites, "MR404", detail)
        for place, why in stream_keys.numbered(region):
            text = context.source(place, region.module)
            context.manual(place, region.module, region.sites, "MR404", f"`{text}` {why}")
        _failures(context, region)
        understood |= own | usage_after(region)
        if isinstance(region.node, (cst.For, cst.CompFor)):
            target = region.node.target
            understood.add(target)
            if region.new != region.name:
                name = cst.Name(region.new)
                context.edit(target, region.module, region.sites, lambda o, u, name=name: name, "MR401")  # type: ignore[misc]
    understood |= stream_calls.outside(context, understood)
    understood |= stream_helper.plan(context)
    for streams in (True, False):  # what becomes of a stream explains what its chunks are used for
        for node, module, shapes in context.shaped:
            if any(shape.kind is Kind.STREAM for shape in shapes) is streams and isinstance(
                node, cst.BaseExpression
            ):
                _leftover(context, node, module, shapes, understood)
    for site in context.sites:
        _escapes(context, site)


def _failures(context: Context, region: Region) -> None:
    """A failure inside a stream is an event that nobody asked for yet (trap G4)."""
    node = region.node
    if isinstance(node, cst.For) and context.settings.raise_on_failure:
        return
    if isinstance(node, (cst.For, cst.CompFor)):
        detail = "a failure inside this stream is an event now, not an exception"
        if isinstance(node, cst.For):
            detail += ": --raise-on-failure writes the check"
        context.note(node.iter, region.module, region.sites, "MR409", detail)


def regions(context: Context) -> Iterator[Region]:
    """The loops and functions whose variable is a chunk, or a part of one that is the event now."""
    for module in context.project.modules:
        for node in module.of(cst.For, cst.CompFor, cst.FunctionDef):
            match node:
                case cst.For(target=cst.Name() as target):
                    sites = _chunk_sites(context, context.project.shapes(target))
                    if sites and not _is_of_choices(context, node):
                        new = rename(module, node, node, target.value)
                        yield Region(context, module, node, [node.body], target.value, sites, new)
                case cst.CompFor(target=cst.Name() as target):
                    sites = _chunk_sites(context, context.project.shapes(target))
                    whole = _comprehension(context, module, node)
                    if sites and whole is not None and not _is_of_choices(context, node):
                        new = rename(module, node, whole, target.value)
                        roots: list[cst.CSTNode] = [whole.elt, *(test.test for test in conditions(node))]
                        yield Region(context, module, node, roots, target.value, sites, new)
                case cst.FunctionDef():
                    function = context.project.functions.get(node)
                    for name, var in function.parameters.items() if function is not None else ():
                        sites = _chunk_sites(
                            context, [value for value in var.values if isinstance(value, Shape)]
                        )
                        if sites:
                            yield Region(context, module, node, [node.body], name, sites)
                case _:
                    continue


def _is_of_choices(context: Context, node: cst.For | cst.CompFor) -> bool:
    """``for choice in chunk.choices:`` in a loop over chunks: a part of that loop."""
    return any(shape.kind is Kind.CHUNK_CHOICES for shape in context.project.shapes(node.iter))


def _chunk_sites(context: Context, shapes: list[Shape]) -> frozenset[Site]:
    if len({shape.kind for shape in shapes}) != 1 or not all(shape.kind in SAME for shape in shapes):
        return frozenset()
    if any(shape.form != "object" for shape in shapes):
        return frozenset()
    return frozenset(shape.site for shape in shapes)


def _comprehension(
    context: Context, module: Module, node: cst.CompFor
) -> cst.GeneratorExp | cst.ListComp | cst.SetComp | None:
    """The comprehension whose only loop is ``node``, but for one over the choices of each chunk."""
    parent = module.parents.get(node)
    while isinstance(parent, cst.CompFor):
        parent = module.parents.get(parent)
    inner = node.inner_for_in
    if inner is not None and (inner.inner_for_in is not None or not _is_of_choices(context, inner)):
        return None
    return parent if isinstance(parent, (cst.GeneratorExp, cst.ListComp, cst.SetComp)) else None


# -- what is left ------------------------------------------------------------------------


def _leftover(
    context: Context,
    node: cst.BaseExpression,
    module: Module,
    shapes: list[Shape],
    understood: set[cst.CSTNode],
) -> None:
    kinds = {shape.kind for shape in shapes}
    sites = {shape.site for shape in shapes}
    if not kinds & STREAM_KINDS or node in understood:
        return
    text = context.source(node, module)
    if all(shape.form != "object" and context.escapes.of(shape) for shape in shapes):
        return  # dumped, and held back where it leaves
    if Kind.STREAM in kinds:
        _stream(context, node, module, shapes)
    elif (
        kinds - STREAM_KINDS and not kinds - STREAM_KINDS <= {Kind.LEAF} and not _is_text(node, module, kinds)
    ):
        context.manual(node, module, sites, "MR403", f"`{text}` is a part of an answer or of a stream")
    elif kinds & _CHUNKS and not isinstance(module.parents.get(node), cst.Param):
        context.manual(
            node, module, sites, "MR404", f"`{_use_of(context, node, module, kinds)}` is not understood"
        )


def _is_text(node: cst.BaseExpression, module: Module, kinds: set[Kind]) -> bool:
    """Whether ``node`` is a text, of an answer or of a part of a stream, that is not compared."""
    return kinds <= _TEXTS and not isinstance(
        module.parents.get(node), (cst.Comparison, cst.ComparisonTarget)
    )


def _use_of(context: Context, node: cst.BaseExpression, module: Module, kinds: set[Kind]) -> str:
    """What is not understood: for an event of the helper, what is asked of it."""
    whole: cst.CSTNode = node
    if kinds == {Kind.EVENT}:
        for parent in module.ancestors(node):
            if not isinstance(parent, (cst.Attribute, cst.Comparison)):
                break
            whole = parent
    return context.source(whole, module)


def _stream(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    """One use of a stream."""
    sites = {shape.site for shape in shapes}
    parent = module.parents.get(node)
    text = context.source(node, module)
    if any(shape.kind is not Kind.STREAM for shape in shapes):
        if isinstance(parent, cst.Arg) and _is_type_test(context, parent, module):
            return  # its arms know which it is
        if not isinstance(parent, cst.Attribute) and not _is_carried(context, node, module):
            context.manual(
                node, module, sites, "MR403", f"`{text}` is a whole answer or a stream, as `stream=` says"
            )
        return
    match parent:
        case cst.For(target=cst.Name()) | cst.CompFor(target=cst.Name()):
            return
        case cst.Arg() if _sink(context, parent, module):
            _text_sink(context, node, module, sites)
        case cst.Attribute(attr=attr) if attr.value in (
            "close",
            "response",
            "__enter__",
            "__exit__",
            "__aenter__",
            "__aexit__",
        ):
            return
        case cst.Attribute() if all(site.method == "stream" for site in sites):
            return  # the rule for the helper looks at it
        case cst.From() | cst.WithItem() | cst.If() | cst.UnaryOperation() | cst.Comparison():
            return
        case cst.Arg() if _is_listed(context, parent, module):
            return
        case _ if _is_carried(context, node, module) or _escaping(context, node, shapes):
            return
        case cst.Arg():
            call = module.parents[parent]
            taker = context.source(call.func, module) if isinstance(call, cst.Call) else "a call"
            context.manual(node, module, sites, "MR404", f"the chunks are taken by `{taker}`")
        case _:
            context.manual(node, module, sites, "MR404", f"`{text}` is not understood")


def _is_carried(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether the value only goes on from here: its uses are looked at where they are."""
    parent = module.parents.get(node)
    match parent:
        case (
            cst.Assign()
            | cst.AnnAssign()
            | cst.AssignTarget()
            | cst.NamedExpr()
            | cst.Return()
            | cst.Await()
            | cst.Expr()
        ):
            return True
        case cst.AsName() | cst.IfExp() | cst.BooleanOperation() | cst.WithItem():
            return True
        case cst.Element():  # of a tuple that is returned, or unpacked later
            display = module.parents.get(parent)
            return isinstance(display, cst.Tuple) and isinstance(
                module.parents.get(display), (cst.Return, cst.Assign, cst.AssignTarget)
            )
        case cst.Arg():
            call = module.parents.get(parent)
            if not isinstance(call, cst.Call):
                return False
            from ..know.kinds import Bound, Class, Function

            values = context.project.values(call.func)
            return bool(values) and all(
                isinstance(value, (Function, Bound, Class))
                or (isinstance(value, External) and value.path in _SAME)
                for value in values
            )
        case _:
            return False


def _is_listed(context: Context, arg: cst.Arg, module: Module) -> bool:
    """``list(stream)``, of a list that is looped over: each chunk, however many there are."""
    call = module.parents.get(arg)
    callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
    if any(isinstance(callee, External) and callee.path in _COUNT for callee in callees):
        return False
    lists = context.project.values(call) if isinstance(call, cst.Call) else []
    return bool(lists) and all(is_only_looped_over(context, value) for value in lists)


_COUNT = frozenset({"collections.deque", "itertools.cycle", "itertools.islice"})


def _is_type_test(context: Context, arg: cst.Arg, module: Module) -> bool:
    call = module.parents.get(arg)
    return isinstance(call, cst.Call) and builtin(context, call) == "isinstance"


def _escaping(context: Context, node: cst.BaseExpression, shapes: list[Shape]) -> bool:
    return any(escape.node is node for shape in shapes for escape in context.escapes.of(shape))


def _sink(context: Context, arg: cst.CSTNode, module: Module) -> bool:
    call = module.parents.get(arg)
    if not isinstance(call, cst.Call):
        return False
    return any(
        isinstance(value, External)
        and value.path.startswith("streamlit")
        and value.path.rpartition(".")[2] in _TEXT_SINKS
        for value in context.project.values(call.func)
    )


def _text_sink(context: Context, node: cst.BaseExpression, module: Module, sites: set[Site]) -> None:
    """``st.write_stream(stream)`` gets the texts."""
    word = "async for" if any(client.is_async for site in sites for client in site.clients) else "for"
    template = f"f(event.delta {word} event in stream if {TEXT_TEST.replace('v.', 'event.')})"

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.BaseExpression)
        call = expr(template, stream=updated)
        assert isinstance(call, cst.Call)
        made = call.args[0].value
        several = isinstance(module.parents.get(node), cst.Arg) and len(_arguments(module, node)) > 1
        return made.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]) if several else made

    context.edit(node, module, sites, apply, "MR401")


def _arguments(module: Module, node: cst.BaseExpression) -> list[cst.Arg]:
    call = module.parents.get(module.parents[node])
    return list(call.args) if isinstance(call, cst.Call) else []


def _escapes(context: Context, site: Site) -> None:
    """A stream or a chunk in the hands of others keeps its old shape in their eyes (MR402)."""
    for kind in Kind:  # in the order in which they are listed, so that runs are alike
        if kind not in STREAM_KINDS or kind not in STRUCTURAL:
            continue
        for form in ("object", "dict", "json"):
            for escape in context.escapes.of(Shape(kind, site, form)):
                if escape.way.name == "DISPLAY" and (kind is Kind.STREAM or escape.to in ASKS):
                    continue
                arg = escape.module.parents.get(escape.node)
                if kind is Kind.STREAM and arg is not None and _sink(context, arg, escape.module):
                    continue
                if kind is Kind.CHUNK_FINISH:
                    continue
                text = context.source(escape.node, escape.module)
                detail = f"`{text}` is {escape.way.value} {escape.to}"
                context.unsafe(escape.node, escape.module, [site], "MR402", detail)


__all__ = ["plan", "regions"]

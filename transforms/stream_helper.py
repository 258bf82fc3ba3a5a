"""``client.chat.completions.stream(...)``: its events have other names (MR407). Raw responses stay.

An event of the helper is known by the test of its ``type`` around the code that reads it.
"""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Kind, Shape, Site
from ..know.modules import Module, walk
from .context import Context
from .helper_types import (
    CALL_DELTA,
    CALL_DONE,
    TYPES,
    patterns_of,
    tests_of,
    type_around,
    type_of,
    untyped,
)
from .reading import replace_read
from .snippets import attribute, expr, literals_of, operand, string
from .stream_parts import On, universe

# (type, field) -> field of the new event. None says which call of how many it is: places count all items.
_FIELDS = {
    ("content.delta", "delta"): "delta",
    ("content.delta", "snapshot"): "snapshot",
    ("content.done", "content"): "text",
    ("content.done", "parsed"): "parsed",
    ("refusal.delta", "delta"): "delta",
    ("refusal.done", "refusal"): "refusal",
    (CALL_DELTA, "arguments_delta"): "delta",
    (CALL_DELTA, "arguments"): "snapshot",
    (CALL_DONE, "arguments"): "arguments",
}
# Where the name is read too: only the event of the finished item has it.
_ITEM_TEST = 'e.type == "response.output_item.done" and e.item.type == "function_call"'
_ITEM_FIELDS = {"arguments": "item.arguments", "name": "item.name"}

_STREAM_MEMBERS = {"get_final_completion": "get_final_response", "until_done": "until_done", "close": "close"}
# What a raw response says besides its body, and what the response of httpx inside it does.
_RAW_MEMBERS = frozenset(
    "headers status_code http_request http_version request_id method url elapsed is_closed retries_taken"
    " parse close".split()
)
_HTTP_MEMBERS = frozenset(
    "headers status_code request http_version url elapsed is_closed is_success is_error reason_phrase close"
    " raise_for_status".split()
)


def plan(context: Context) -> set[cst.CSTNode]:
    """Rewrite the events and the streams of helpers; the nodes that are understood."""
    understood: set[cst.CSTNode] = set()
    for node, module, shapes in context.shaped:
        if not isinstance(node, cst.BaseExpression):
            continue
        kinds = {shape.kind for shape in shapes}
        if kinds == {Kind.EVENT}:
            _event(context, node, module, shapes, understood)
        elif kinds == {Kind.STREAM} and all(shape.site.method == "stream" for shape in shapes):
            _member(context, node, module, shapes)
        elif Kind.RAW in kinds:
            _raw(context, node, module, shapes)
        elif Kind.USAGE in kinds and isinstance(node, (cst.Attribute, cst.Subscript)):
            _usage(context, node, module, shapes)
    return understood


def _usage(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    """The usage of a final completion, which only a request with ``include_usage`` had."""
    sites = {shape.site for shape in shapes if shape.kind is Kind.USAGE and shape.site.method == "stream"}
    unasked = {site for site in sites if On.USAGE not in universe(context, [site])}
    if unasked:
        detail = f"`{context.source(node, module)}` was None, as `include_usage` is not asked for"
        context.unsafe(node, module, unasked, "MR404", detail, "use --unsafe-fixes to get it")


def _member(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    parent = module.parents.get(node)
    if not isinstance(parent, cst.Attribute) or parent.value is not node:
        return
    sites = {shape.site for shape in shapes}
    new = _STREAM_MEMBERS.get(parent.attr.value)
    if new is None:
        text = context.source(parent, module)
        context.manual(parent, module, sites, "MR404", f"`{text}` is not understood")
    elif new != parent.attr.value:
        context.edit(parent, module, sites, replace_read(lambda base: attribute(base, new)), "MR407")


def _raw(context: Context, node: cst.BaseExpression, module: Module, shapes: list[Shape]) -> None:
    """The bytes of an answer have another form; its headers and what ``parse`` gives are followed."""
    parent = module.parents.get(node)
    if not isinstance(parent, cst.Attribute) or parent.value is not node:
        return
    known, name = _RAW_MEMBERS, parent.attr.value
    if name == "http_response":
        outer = module.parents.get(parent)
        known, name = _HTTP_MEMBERS, outer.attr.value if isinstance(outer, cst.Attribute) else name
        parent = outer if isinstance(outer, cst.Attribute) else parent
    if name not in known:
        sites = {shape.site for shape in shapes}
        text = context.source(parent, module)
        context.manual(parent, module, sites, "MR309", f"`{text}` is the body as it was sent")


def _event(
    context: Context,
    node: cst.BaseExpression,
    module: Module,
    shapes: list[Shape],
    understood: set[cst.CSTNode],
) -> None:
    """One use of an event."""
    sites = {shape.site for shape in shapes}
    parent = module.parents.get(node)
    match parent:
        case cst.For(target=target) | cst.CompFor(target=target) if target is node:
            understood.add(node)
            for acting in untyped(context, parent.body) if isinstance(parent, cst.For) else ():
                text = context.source(acting, module)
                context.manual(
                    acting, module, sites, "MR404", f"`{text}` acts on every event, and there are others now"
                )
        case cst.Attribute(attr=cst.Name(value="type")):
            if _typed(context, parent, module, sites):
                understood.add(node)
        case cst.Attribute(attr=attr):
            old = type_around(context, parent, module)
            new = _field(context, parent, module, old, attr.value)
            if new is not None:
                understood.update((node, parent))
                if new != attr.value:
                    context.edit(parent, module, sites, _renamed(new), "MR407")
        case _:
            return


def _renamed(path: str) -> Apply:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Attribute)
        result: cst.BaseExpression = updated.value
        for name in path.split("."):
            result = attribute(result, name)
        return result.with_changes(lpar=updated.lpar, rpar=updated.rpar)

    return apply


def _typed(context: Context, node: cst.Attribute, module: Module, sites: set[Site]) -> bool:
    """``event.type == "content.delta"``."""
    comparison = module.parents.get(node)
    if isinstance(comparison, cst.Match) and comparison.subject is node:
        return _cases(context, comparison, module, sites)
    if (
        not isinstance(comparison, cst.Comparison)
        or comparison.left is not node
        or len(comparison.comparisons) != 1
    ):
        return False
    literals = literals_of(comparison.comparisons[0].comparator)
    if not literals or not all(literal.evaluated_value in TYPES for literal in literals):
        return False
    if _takes_item(context, comparison, module):

        def whole(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.Comparison)
            assert isinstance(updated.left, cst.Attribute)
            made = expr(_ITEM_TEST, e=updated.left.value)
            joined = isinstance(module.parents.get(comparison), (cst.BooleanOperation, cst.UnaryOperation))
            return operand(made) if joined else made

        context.edit(comparison, module, sites, whole, "MR407")
        return True
    for literal in literals:
        new = string(TYPES[str(literal.evaluated_value)], literal)
        context.edit(literal, module, sites, lambda o, u, new=new: new, "MR407")  # type: ignore[misc]
    return True


def _cases(context: Context, match: cst.Match, module: Module, sites: set[Site]) -> bool:
    """``match event.type:`` with a literal, or several, in each case."""
    found: list[cst.SimpleString] = []
    for case in match.cases:
        literals = patterns_of(case.pattern)
        if literals is None or any(literal.evaluated_value not in TYPES for literal in literals):
            return False
        if any(literal.evaluated_value == CALL_DONE for literal in literals) and _reads_name(
            context, case.body
        ):
            return False
        found += literals
    for literal in found:
        new = string(TYPES[str(literal.evaluated_value)], literal)
        context.edit(literal, module, sites, lambda o, u, new=new: new, "MR407")  # type: ignore[misc]
    return True


def _takes_item(context: Context, comparison: cst.Comparison, module: Module) -> bool:
    """Whether the code under the test reads the name of the finished call."""
    if type_of(context, comparison) != CALL_DONE:
        return False
    holder = next(
        (item for item in module.ancestors(comparison) if isinstance(item, (cst.If, cst.IfExp))), None
    )
    if holder is None:
        return False
    return _reads_name(context, holder.body)


def _reads_name(context: Context, body: cst.CSTNode) -> bool:
    return any(
        isinstance(inner, cst.Attribute)
        and inner.attr.value == "name"
        and any(shape.kind is Kind.EVENT for shape in context.project.shapes(inner.value))
        for inner in walk(body)
    )


def _field(context: Context, node: cst.Attribute, module: Module, old: str | None, name: str) -> str | None:
    """The way from the new event to what the field ``name`` of the old one held."""
    if old is None:
        return None
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.If, cst.IfExp)):
            for comparison in tests_of(parent.test):
                if _takes_item(context, comparison, module):
                    return _ITEM_FIELDS.get(name)
            if any(type_of(context, comparison) is not None for comparison in tests_of(parent.test)):
                break
    return _FIELDS.get((old, name))

"""Answers that are dumped: ``resp.model_dump()`` read by key is the Response itself (MR313).

``resp.usage.model_dump()`` stays a dict, with the new names as keys: the empty dict that is read in its
place where there was no usage has no attributes.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DUMPS, JSON_DUMPS, USAGES, External, Kind, Shape, Site
from ..know.modules import Module
from .context import Context
from .read_history import is_history
from .reading import Read, base_of, read_of
from .snippets import string

# The parts that can be dumped, and read by key as they can be by attribute.
DUMPED = frozenset(
    {Kind.COMPLETION, Kind.CHOICE, Kind.MESSAGE, Kind.USAGE, Kind.PROMPT_DETAILS, Kind.COMPLETION_DETAILS}
)


_CHOOSING = frozenset({"include", "exclude"})


def dump(
    context: Context, node: cst.BaseExpression, method: cst.Attribute, module: Module, shapes: list[Shape]
) -> None:
    """``resp.model_dump()``: the Response itself, where the dict is read by key."""
    call = module.parents.get(method)
    sites = {shape.site for shape in shapes}
    if not isinstance(call, cst.Call) or method.attr.value not in DUMPS | JSON_DUMPS:
        context.manual(
            method, module, sites, "MR309", f"`{context.source(method, module)}` is not understood"
        )
        return
    if shapes[0].kind not in DUMPED:
        context.manual(call, module, sites, "MR309", f"`{context.source(call, module)}` is not understood")
        return
    chosen = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value in _CHOOSING]
    if chosen and not is_history(context, call, module):
        text = context.source(call, module)
        context.unsafe(call, module, sites, "MR305", f"`{text}` chooses fields by their old names")
        return
    dumped = [value for value in context.project.values(call) if isinstance(value, Shape)]
    if any(stays_a_dict(context, shape) for shape in dumped):
        if not any(is_read_by_key(context, shape) for shape in dumped):
            context.note(
                call, module, sites, "MR314", f"`{context.source(call, module)}` shows the new answer"
            )
    elif any(is_read_by_key(context, shape) for shape in dumped):
        context.edit(call, module, sites, _undump, "MR313")
    elif not is_history(context, call, module):
        _note(context, call, module, sites)


def _note(context: Context, call: cst.Call, module: Module, sites: set[Site]) -> None:
    context.note(call, module, sites, "MR314", f"`{context.source(call, module)}` shows the new answer")


def loads(context: Context, call: cst.Call, module: Module, shapes: list[Shape]) -> None:
    """``json.loads(resp.model_dump_json())`` is the Response itself."""
    for value in context.project.values(call.func):
        if isinstance(value, External) and value.path == "json.loads":
            context.edit(call, module, {shape.site for shape in shapes}, lambda o, u: base_of(u), "MR313")


def stays_a_dict(context: Context, shape: Shape) -> bool:
    """Whether ``shape`` is a dump of the usage alone, and not what is read of a whole answer's."""
    if shape.form == "object" or shape.kind not in USAGES:
        return False
    known = context.memo.get("dumped answers")
    if known is None:
        known = context.memo["dumped answers"] = {
            other.site
            for _, _, shapes in context.shaped
            for other in shapes
            if other.form != "object" and other.kind in (Kind.COMPLETION, Kind.CHUNK)
        }
    assert isinstance(known, set)
    return shape.site not in known


# What has another name in the dumped usage of the new API.
ENTRIES = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "prompt_tokens_details": "input_tokens_details",
    "completion_tokens_details": "output_tokens_details",
}


def rename_entry(context: Context, read: Read, sites: set[Site], code: str) -> None:
    """An entry of a dict that stays one is read by its new name: ``usage["input_tokens"]``."""
    new = ENTRIES[read.name]
    match read.whole:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            pass
        case cst.Call(args=[cst.Arg(value=key), *_]):
            pass
        case _:
            return
    context.edit(key, read.module, sites, lambda original, _: string(new, original), code)


def _undump(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    assert isinstance(updated.func, cst.Attribute)
    return updated.func.value


def is_read_by_key(context: Context, shape: Shape) -> bool:
    """Whether a dict that a part of the same answer became is read by its keys."""
    if shape.form == "object":
        return False
    known = context.memo.get("read by key")
    if not isinstance(known, tuple) or known[0] is not context.shaped:  # some have turned out never to come
        known = context.memo["read by key"] = (context.shaped, set(_read_by_key(context)))
    return shape.site in known[1]


def _read_by_key(context: Context) -> Iterator[Site]:
    """The sites of which a dict is read so."""
    for node, module, shapes in context.shaped:
        dicts = [shape.site for shape in shapes if shape.form == "dict"]
        if dicts and isinstance(node, cst.BaseExpression):
            reading = read_of(context, node, module)
            if reading is not None and not isinstance(reading.whole, cst.Attribute):
                yield from dicts

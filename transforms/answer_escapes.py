"""Parts of an answer that leave the project, and keep their old shape in somebody's eyes (MR305, MR314)."""

from __future__ import annotations

import libcst as cst

from ..decide.escapes import Escape
from ..documents.names import DESCRIBED
from ..know.kinds import STREAM_KINDS, STRUCTURAL, Kind, Shape, Site
from ..know.modules import Module
from .context import Context
from .dumps import DUMPED, is_read_by_key, stays_a_dict
from .read_history import is_history
from .reading import ASKS


def plan(context: Context, site: Site) -> None:
    """Parts that leave the project keep their old shape in somebody's eyes (MR305)."""
    for kind in Kind:  # in the order in which they are listed, so that runs are alike
        if kind not in STRUCTURAL or kind in STREAM_KINDS or kind in (Kind.OTHER, Kind.STAMP):
            continue
        for form in ("object", "dict", "json"):
            for escape in context.escapes.of(Shape(kind, site, form)):
                if is_history(context, escape.node, escape.module):
                    continue  # the rule for histories judges what leaves with one
                if escape.to in DESCRIBED:
                    continue  # and the one for code that is not read, what leaves for that
                shape = Shape(kind, site, form)
                way = "ARGUMENT" if _is_no_json(context, shape, escape.to) else escape.way.name
                if form == "object" and escape.to.rpartition(".")[2] in _VALIDATORS:
                    _validated(context, site, escape)
                    continue
                verb = "handed to" if way == "ARGUMENT" else escape.way.value
                _escape(context, site, kind, escape.node, escape.module, way, verb, escape.to)


# They read the attributes of an object by the names of their fields.
_VALIDATORS = frozenset({"model_validate", "validate_python", "from_orm", "parse_obj"})


def _validated(context: Context, site: Site, escape: Escape) -> None:
    """``Usage.model_validate(r.usage)``: fields with old names find nothing, and keep their defaults."""
    detail = (
        f"`{context.source(escape.node, escape.module)}` is read by {escape.to} by the names of its fields"
    )
    step = "give these fields the names of a response, by hand"
    context.manual(escape.node, escape.module, [site], "MR305", detail, step)


def _is_no_json(context: Context, shape: Shape, to: str) -> bool:
    """Whether ``json.dumps`` gets something that is not a dump, or is none any more."""
    kept = stays_a_dict(context, shape) or not is_read_by_key(context, shape)
    dumped = shape.form == "dict" and shape.kind in DUMPED and kept
    return to == "json.dumps" and not dumped and shape.kind is not Kind.FINISH


def _escape(
    context: Context, site: Site, kind: Kind, node: cst.CSTNode, module: Module, way: str, verb: str, to: str
) -> None:
    text = context.source(node, module)
    if way == "DISPLAY":
        if kind is not Kind.FINISH and to not in ASKS:
            context.note(node, module, [site], "MR314", f"`{text}` shows the new answer")
        return
    if kind is Kind.FINISH:
        return  # a string: the rule for finish reasons decides
    context.unsafe(node, module, [site], "MR305", f"`{text}` is {verb} {to}")

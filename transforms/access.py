"""Reading the answer: each old part has one new representation (MR301 to MR313).

The response, its choice and its message are all the Response now, so ``resp.choices[0].message`` is
``resp``; ``TEMPLATES`` says what each field of them becomes. A use that no rule here (or in
:mod:`.finish`, :mod:`.tool_calls`, :mod:`.stream`) understands holds the flow back.
"""

from __future__ import annotations

import libcst as cst

from ..know.graph import Var
from ..know.kinds import (
    SHAPES,
    STREAM_KINDS,
    STRUCTURAL,
    Kind,
    Shape,
    Site,
)
from ..know.modules import Module
from . import answer_escapes, whole_parts
from .asked import is_of_neither
from .assigned_text import as_variable, variable
from .choices import choices
from .context import Context
from .dumps import ENTRIES, loads, rename_entry, stays_a_dict
from .folding import is_lost
from .last_entries import answer_read
from .maybe_none import may_be_none
from .only_kind import only_kind
from .read_history import is_history_read, is_told_apart
from .reading import (
    BARE,
    Read,
    Template,
    fixed,
    is_stored_to,
    named,
    read_of,
    replace_read,
    same,
)
from .snippets import attribute, expr, parenthesized
from .text import content_template
from .whole_parts import ELSEWHERE

# Reading these was refused where they were read.
_REFUSED = frozenset({Kind.OTHER, Kind.STAMP, Kind.LOGPROBS})
# Parts of the answer that are the Response itself now.
RESPONSE = frozenset({Kind.COMPLETION, Kind.CHOICE, Kind.MESSAGE})


# (kind, field) -> how to write it on the new representation of the kind.
TEMPLATES: dict[tuple[Kind, str], tuple[str, Template]] = {
    (Kind.COMPLETION, "id"): ("MR301", named("id")),
    (Kind.COMPLETION, "model"): ("MR301", named("model")),
    (Kind.COMPLETION, "service_tier"): ("MR301", named("service_tier")),
    (Kind.COMPLETION, "_request_id"): ("MR301", named("_request_id")),
    (Kind.COMPLETION, "usage"): ("MR303", named("usage")),
    (Kind.COMPLETION, "created"): ("MR301", lambda base: expr("int(r)", r=attribute(base, "created_at"))),
    (Kind.CHOICE, "message"): ("MR301", same),
    (Kind.CHOICE, "index"): ("MR312", fixed("0")),
    (Kind.MESSAGE, "content"): ("MR301", named("output_text")),
    (Kind.MESSAGE, "role"): ("MR301", fixed('"assistant"')),
    (Kind.USAGE, "prompt_tokens"): ("MR303", named("input_tokens")),
    (Kind.USAGE, "completion_tokens"): ("MR303", named("output_tokens")),
    (Kind.USAGE, "total_tokens"): ("MR303", named("total_tokens")),
    (Kind.USAGE, "prompt_tokens_details"): ("MR303", named("input_tokens_details")),
    (Kind.USAGE, "completion_tokens_details"): ("MR303", named("output_tokens_details")),
    (Kind.PROMPT_DETAILS, "cached_tokens"): ("MR303", named("cached_tokens")),
    (Kind.COMPLETION_DETAILS, "reasoning_tokens"): ("MR303", named("reasoning_tokens")),
}

# What is the same in every answer: who reads it no longer looks at the answer.
_CONSTANT = frozenset({(Kind.CHOICE, "index"), (Kind.MESSAGE, "role")})

# Fields of the old types that have nothing to go to (trap E8, E11).
_OLD_FIELDS = frozenset(
    """system_fingerprint object audio annotations logprobs audio_tokens accepted_prediction_tokens
    rejected_prediction_tokens model_extra choices prompt_filter_results content_filter_results""".split()
)


def plan(context: Context) -> None:
    """Look at every expression that can be a part of an answer."""
    stored = _stored_names(context)
    for node, module, shapes in context.shaped:
        kinds = {shape.kind for shape in shapes}
        if kinds <= STREAM_KINDS | _REFUSED or not isinstance(node, cst.BaseExpression):
            continue
        reading = read_of(context, node, module)
        if reading is not None:
            _read(context, reading, shapes, stored)
        elif kinds & STRUCTURAL - ELSEWHERE:
            whole_parts.plan(context, node, module, shapes)
        if isinstance(node, cst.Call) and any(
            shape.form == "dict" and not stays_a_dict(context, shape) for shape in shapes
        ):
            loads(context, node, module, shapes)
    for pattern, module, subject in context.project.patterns:
        _matched(context, pattern, module, subject)
    for site in context.sites:
        answer_escapes.plan(context, site)


def _matched(context: Context, pattern: cst.CSTNode, module: Module, subject: Var) -> None:
    """A pattern looks into a part of the answer."""
    if not isinstance(pattern, (cst.MatchClass, cst.MatchSequence, cst.MatchMapping, cst.MatchValue)):
        return
    shapes = [value for value in subject.values if isinstance(value, Shape) and value.kind in STRUCTURAL]
    if isinstance(pattern, cst.MatchValue) and not any(
        isinstance(outer, cst.MatchClass) for outer in module.ancestors(pattern)
    ):
        shapes = [shape for shape in shapes if shape.kind is not Kind.FINISH]  # a string stays one
    if shapes:
        text = context.source(pattern, module)
        sites = {shape.site for shape in shapes}
        context.manual(pattern, module, sites, "MR309", f"`case {text}` looks into the answer")


def _stored_names(context: Context) -> set[str]:
    """The attributes that the project sets on parts of an answer."""
    return {
        parent.attr.value
        for node, module, _ in context.shaped
        if isinstance(parent := module.parents.get(node), cst.Attribute) and is_stored_to(module, parent)
    }


def _read(context: Context, read: Read, shapes: list[Shape], stored: set[str]) -> None:
    node, module = read.base, read.module
    sites = {shape.site for shape in shapes}
    structural = [shape for shape in shapes if shape.kind in STRUCTURAL and shape.kind not in ELSEWHERE]
    if not structural:
        return
    if is_stored_to(module, read.whole):
        if is_history_read(context, node) and is_told_apart(context, node, module):
            return
        if (name := variable(context, read.whole, module)) is not None:
            context.edit(read.whole, module, sites, replace_read(as_variable(name)), "MR301")
            return
        context.manual(
            read.whole, module, sites, "MR307", f"`{context.source(read.whole, module)}` is assigned"
        )
        return
    if _is_entry(context, read, shapes):
        return
    last = answer_read(context, node, module) if read.name == "content" else None
    if last is not None:
        _last_text(context, read, last, sites)
        return
    kind = only_kind(context, node, module, shapes)
    if kind is None:
        return
    if (
        shapes[0].form == "object"
        and not isinstance(read.whole, cst.Attribute)
        and not _is_getattr(read.whole)
    ):
        text = context.source(read.whole, module)
        context.manual(read.whole, module, sites, "MR308", f"`{text}`: the answer is not a dict")
        return
    if kind is Kind.COMPLETION and read.name == "choices":
        choices(context, read, sites)
        return
    part = SHAPES.get((kind, read.name))
    if part in ELSEWHERE or part in (Kind.REFUSAL, Kind.PARSED):
        return
    template = TEMPLATES.get((kind, read.name))
    if template is None and _gives_default(kind, read, stored):
        return
    if template is None:
        _refuse(context, read, sites, part, stored)
        return
    code, build = template
    if (kind, read.name) in _CONSTANT and is_lost(context, node, module, sites):
        return
    if kind is Kind.MESSAGE and read.name == "content":
        kept = variable(context, read.whole, module)
        build = content_template(context, read, sites) if kept is None else as_variable(kept)
    if _is_getattr(read.whole) and may_be_none(context, node):
        build = _unless_none(context, read, build, sites)
    if not isinstance(read.whole, cst.Attribute) and all(stays_a_dict(context, shape) for shape in shapes):
        rename_entry(context, read, sites, code)
        return
    context.edit(read.whole, module, sites, replace_read(build), code)


def _last_text(context: Context, read: Read, answer: cst.Name, sites: set[Site]) -> None:
    """``messages[-1].content`` is the text of the ``answer`` that was put there just before."""
    from .shared import renamed

    sites = sites | {shape.site for shape in context.project.shapes(answer)}
    build = content_template(context, read, sites)
    code, _ = TEMPLATES[Kind.MESSAGE, "content"]

    def text(base: cst.BaseExpression) -> cst.BaseExpression:
        return build(renamed(context, answer, read.module))

    context.edit(read.whole, read.module, sites, replace_read(text), code)


def _is_entry(context: Context, read: Read, shapes: list[Shape]) -> bool:
    """Whether ``read`` takes an entry of dumped usage, or of whatever else it may be, that keeps its name."""
    return (
        not isinstance(read.whole, cst.Attribute)
        and read.name not in ENTRIES
        and len({shape.kind for shape in shapes}) == 1
        and (shapes[0].kind, read.name) in TEMPLATES
        and all(stays_a_dict(context, shape) for shape in shapes)
    )


def _unless_none(context: Context, read: Read, build: Template, sites: set[Site]) -> Template:
    """``getattr(resp, "usage", None)`` where ``resp`` is None at times: its default is for that as well."""
    assert isinstance(read.whole, cst.Call)
    if len(read.whole.args) < 3:
        return build
    default = read.whole.args[2].value
    if not isinstance(read.base, cst.Name):
        text = context.source(read.base, read.module)
        context.manual(read.whole, read.module, sites, "MR309", f"`{text}` may be None: give it a name")
    bare = isinstance(read.module.parents.get(read.whole), BARE)

    def either(base: cst.BaseExpression) -> cst.BaseExpression:
        made = expr("value if base is not None else default", value=build(base), base=base, default=default)
        return made if bare else parenthesized(made)

    return either


def _gives_default(kind: Kind, read: Read, stored: set[str]) -> bool:
    """``getattr(resp, "response_ms", 0)``: the default, of the old answer as of the new one."""
    return (
        kind in RESPONSE
        and _is_getattr(read.whole)
        and isinstance(read.whole, cst.Call)
        and len(read.whole.args) > 2
        and is_of_neither(kind, read.name)
        and read.name not in _OLD_FIELDS | _FOREIGN_FIELDS | stored
    )


def _is_getattr(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name)


def _refuse(context: Context, read: Read, sites: set[Site], part: Kind | None, stored: set[str]) -> None:
    """A field that has nothing to go to, or that never was one."""
    text, step = context.source(read.whole, read.module), ""
    parent = read.module.parents.get(read.whole)
    if isinstance(parent, cst.Call) and parent.func is read.whole:
        dumped = read.name in _OF_DICTS
        code, why = (
            "MR309",
            "takes a dumped answer, whose keys change" if dumped else "is a method of the old answer",
        )
    elif part is Kind.LOGPROBS:
        code, why = "MR115", "is a list beside each text"
        step = (
            'ask for it with `include=["message.output_text.logprobs"]`, and read'
            " `output[i].content[j].logprobs`: what was `logprobs.content`"
        )
    elif part is not None or read.name in _OLD_FIELDS:
        code, why = "MR304", "has no Responses equivalent"
    elif read.name in _FOREIGN_FIELDS:
        code, why = "MR304", "is what other providers add to the answer"
    elif read.name in stored:
        code, why = "MR307", "is set by this code on the old answer"
    else:
        code, why = "MR308", "is not a field of the old answer either"
    context.manual(read.whole, read.module, sites, code, f"`{text}` {why}", step)


_OF_DICTS = frozenset({"items", "keys", "values", "copy", "pop", "popitem", "update", "setdefault"})
# The reasoning of providers that serve the old API; OpenAI never sent it.
_FOREIGN_FIELDS = frozenset({"reasoning_content", "reasoning", "reasoning_details", "citations"})

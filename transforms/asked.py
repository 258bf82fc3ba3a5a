"""Questions whether a part of the answer has a field: ``hasattr(resp, "choices")`` (MR312, MR313).

The kind settles them. What the new answer has as well is left as it is: ``hasattr(resp, "model_dump")``.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Kind, Shape
from ..know.modules import Module
from .context import Context, constants
from .dumps import ENTRIES, stays_a_dict
from .folding import is_lost, settle
from .maybe_none import may_be_none
from .only_kind import only_kind
from .reading import BARE
from .snippets import expr, operand, parenthesized, spells_none, string

# The fields that each version of the SDK gives its objects, sent or not (openai.types.chat).
_FIELDS: dict[Kind, frozenset[str]] = {
    Kind.COMPLETION: frozenset(
        "id choices created model object service_tier system_fingerprint usage _request_id".split()
    ),
    Kind.CHOICE: frozenset("finish_reason index logprobs message".split()),
    Kind.MESSAGE: frozenset("content refusal role annotations audio function_call tool_calls".split()),
    Kind.USAGE: frozenset(
        "completion_tokens prompt_tokens total_tokens completion_tokens_details prompt_tokens_details".split()
    ),
    Kind.PROMPT_DETAILS: frozenset("audio_tokens cached_tokens".split()),
    Kind.COMPLETION_DETAILS: frozenset(
        "accepted_prediction_tokens audio_tokens reasoning_tokens rejected_prediction_tokens".split()
    ),
    Kind.TOOL_CALL: frozenset("id function type".split()),
    Kind.FUNCTION: frozenset("name arguments".split()),
    Kind.FUNCTION_CALL: frozenset("name arguments".split()),
    Kind.CHUNK: frozenset("id choices created model object service_tier system_fingerprint usage".split()),
    Kind.CHUNK_CHOICE: frozenset("delta finish_reason index logprobs".split()),
    Kind.DELTA: frozenset("content function_call refusal role tool_calls".split()),
    Kind.DELTA_CALL: frozenset("index id function type".split()),
    Kind.DELTA_FUNCTION: frozenset("name arguments".split()),
}
# Those that only some versions, some servers or some answers have.
_AT_TIMES: dict[Kind, frozenset[str]] = {
    Kind.COMPLETION: frozenset("metadata moderation prompt_filter_results".split()),
    Kind.CHOICE: frozenset("content_filter_results".split()),
    Kind.PROMPT_DETAILS: frozenset("cache_write_tokens image_tokens text_tokens".split()),
    Kind.COMPLETION_DETAILS: frozenset("text_tokens".split()),
    Kind.TOOL_CALL: frozenset({"custom"}),
    Kind.CHUNK: frozenset("moderation obfuscation prompt_filter_results".split()),
    Kind.DELTA: frozenset({"audio"}),
    Kind.CHUNK_CHOICE: frozenset("content_filter_results".split()),
}
# What a Response has (openai.types.responses.Response).
_NEW_FIELDS = frozenset(
    """access_programs background completed_at conversation created_at error id image incomplete_details
    input_transformations instructions max_output_tokens max_tool_calls metadata model moderation object
    output output_text parallel_tool_calls previous_response_id prompt prompt_cache_diagnostics
    prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier
    status temperature text tool_choice tool_usage tools top_logprobs top_p truncation usage user""".split()
)
# What every object of the SDK has, of the new API too (openai.BaseModel).
_METHODS = frozenset(
    "model_dump model_dump_json to_dict to_json dict json copy model_copy model_fields model_fields_set"
    " model_extra model_config model_json_schema model_construct construct model_validate".split()
)


def has_field(context: Context, call: cst.Call, module: Module, shapes: list[Shape]) -> None:
    """``hasattr(resp, "choices")``."""
    key = constants(context.project.vars.get(call.args[1].value)) if len(call.args) > 1 else None
    kind = only_kind(context, call.args[0].value, module, shapes)
    if kind is None:
        return
    sites = {shape.site for shape in shapes}
    name = str(key[0]) if key and len(set(key)) == 1 else None
    if name is not None and is_method(name) and all(shape.form == "object" for shape in shapes):
        return
    answer = _has(kind, name, shapes) if name is not None and not is_method(name) else None
    if answer is None:
        context.manual(call, module, sites, "MR309", f"`{context.source(call, module)}` is not understood")
    elif answer and may_be_none(context, call.args[0].value):
        bare = isinstance(module.parents.get(call), (*BARE, cst.BooleanOperation, cst.If, cst.IfExp))
        context.edit(call, module, sites, _is_there if bare else _in_parentheses, "MR312")
    else:
        settle(context, call, module, sites, answer, "MR312")


def _is_there(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    return expr("answer is not None", answer=operand(updated.args[0].value))


def _in_parentheses(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    made = _is_there(original, updated)
    assert isinstance(made, cst.BaseExpression)
    return parenthesized(made)


def contains(context: Context, target: cst.ComparisonTarget, module: Module, shapes: list[Shape]) -> None:
    """``"choices" in dumped``; ``None is resp`` stays."""
    comparison = module.parents[target]
    assert isinstance(comparison, cst.Comparison)
    sites = {shape.site for shape in shapes}
    keys = constants(context.project.vars.get(comparison.left))
    membership = isinstance(target.operator, (cst.In, cst.NotIn)) and len(comparison.comparisons) == 1
    kinds = {shape.kind for shape in shapes}
    known = _has(next(iter(kinds)), str(keys[0]), shapes) if keys and len(keys) == len(kinds) == 1 else None
    if membership and known and all(stays_a_dict(context, shape) for shape in shapes):
        name = str(keys[0]) if keys else ""
        if name in ENTRIES:
            context.edit(comparison.left, module, sites, lambda o, _: string(ENTRIES[name], o), "MR313")
    elif membership and known is not None:
        if is_lost(context, comparison, module, sites):
            return
        answer = str(known is isinstance(target.operator, cst.In))
        context.edit(comparison, module, sites, lambda o, u: cst.Name(answer), "MR313")
    elif not compares_with_none(comparison):
        text = context.source(comparison, module)
        context.manual(comparison, module, sites, "MR309", f"`{text}` compares the answer")


def _has(kind: Kind, name: str, shapes: list[Shape]) -> bool | None:
    """Whether a ``kind`` had the field ``name``; None if that is not known."""
    if kind is Kind.MESSAGE and name == "parsed":
        parsed = {shape.site.method != "create" for shape in shapes}
        return parsed.pop() if len(parsed) == 1 else None
    return had(kind, name)


def had(kind: Kind, name: str) -> bool | None:
    """Whether each ``kind`` of the old answer had the field ``name``; None if only some had."""
    return None if name in _AT_TIMES.get(kind, ()) else name in _FIELDS.get(kind, ())


def is_of_neither(kind: Kind, name: str) -> bool:
    """Whether no part ``kind`` had a field ``name``, and no Response has."""
    return had(kind, name) is False and name not in _NEW_FIELDS and not is_method(name)


def is_method(name: str) -> bool:
    """Whether all objects of the SDK have an attribute called ``name``, of either API."""
    return name in _METHODS or name.startswith("__")


def compares_with_none(node: cst.Comparison) -> bool:
    """Whether one side of a comparison is None, as it is written."""
    parts = [node.left, *(target.comparator for target in node.comparisons)]
    return any(spells_none(part) for part in parts)

"""Request parameters: renamed, reshaped, dropped, or a reason to hold back (MR101 to MR120).

``RULES`` is the table of SPEC section 4 of the migration guide, one function per parameter. A rule
sees one parameter at one site and answers with an :class:`Action` for all places that write it.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..know import models
from ..know.kinds import Const, DictValue, External, Kind, Place, Site, Typed
from ..know.modules import Module
from .actions import Action, act, remove
from .context import Context, Keyword, Request
from .folding import has_effect
from .low_limits import LEAST, low_computed, low_elsewhere
from .moved_limits import LIMITS
from .parameter import UNCHANGED, Parameter, is_or
from .response_format import takes_verbosity, writes_text
from .shared_dicts import shared_dicts
from .snippets import expr, operand, spells_none
from .stream_parts import asks_usage

# Handled by rules of their own.
ELSEWHERE = frozenset({"messages", "tools", "tool_choice", "functions", "function_call", "response_format"})


def plan(context: Context) -> None:
    """Apply the table to every parameter of every site."""
    for site in context.sites:
        request = context.request(site)
        for node, why in request.untracked:
            module = request.module_of(node)
            detail = f"`{context.source(node, module)}`: {why}"
            context.manual(node, module, [site], "MR119", detail)
        for options in (*request.dicts, *request.sources):
            if (callers := context.escapes.offers.givers(options)) is not None:
                detail = f"`{context.source(options.node, options.module)}` takes what {callers} give it"
                context.manual(options.node, options.module, [site], "MR119", detail)
        shared_dicts(context, site, request)
        names = dict.fromkeys(keyword.name for keyword in request.keywords)
        for name in names:
            if name in UNCHANGED or name in ELSEWHERE:
                continue
            keywords = request.named(name)
            parameter = Parameter(context, request, name, [item.place for item in keywords])
            act(context, site, keywords, RULES.get(name, _unknown)(parameter))
            if name == "extra_body":
                _body(context, site, parameter)
        for name in names:
            if name in UNCHANGED:
                _drop_none(context, site, request, name)


def _drop_none(context: Context, site: Site, request: Request, name: str) -> None:
    """A literal None at the call said "the default"; a ``timeout`` of None is none."""
    for item in request.named(name):
        node = item.place.node
        if name in ("store", "timeout") or not isinstance(node, cst.Arg) or item.holder is not None:
            continue
        if spells_none(node.value):
            context.edit(node, item.place.module, [site], remove, "MR108")


# -- the table ---------------------------------------------------------------------------


def _unknown(parameter: Parameter) -> Action:
    return Action("MR118", hold="manual", detail=f"`{parameter.name}` is not an argument of responses.create")


def _limit(parameter: Parameter) -> Action:
    known = [value.value for value in parameter.values if isinstance(value, Const)]
    low = [value for value in known if isinstance(value, int) and 0 <= value < LEAST]
    for value in parameter.values:
        if isinstance(value, Typed) and value.node is not None:
            low += low_computed(parameter.context, value.node)
    detail = f"`{parameter.name}={low[0]}`: the Responses API wants at least {LEAST}" if low else ""
    if not low and not all(isinstance(value, Const) for value in parameter.values):
        found = low_elsewhere(parameter.context, parameter.request.site, parameter.values)
        if found is not None:
            detail = (
                f"`{found.written}` may limit it to {found.limit}: the Responses API wants at least {LEAST}"
            )
    if detail and not all(map(_is_raised, parameter.places)):
        wrap = _at_least_16(parameter)
        action = Action("MR102", "max_output_tokens", wrap=wrap, hold="unsafe", detail=detail)
        return once(parameter, action)
    if parameter.is_nothing:
        return Action("MR108", drop=True)
    if _is_doubled(parameter):
        detail = "`max_tokens` and `max_completion_tokens` are one argument now: give it once"
        return Action("MR101", hold="manual", detail=detail)
    return Action("MR101", "max_output_tokens")


def _is_doubled(parameter: Parameter) -> bool:
    """Whether one call or dict display has both names of the limit, each with a value."""
    request = parameter.request
    held: list[dict[cst.CSTNode, cst.CSTNode]] = []  # by the call or display, what it says
    for name in LIMITS:
        places = [item.place for item in request.written(name) if item.place.how in _AT_ONCE]
        if Parameter(parameter.context, request, name, places).is_nothing:
            return False
        held.append({place.module.parents[place.node]: place.node for place in places})
    one, other = held
    return any(other.get(whole, node) is not node for whole, node in one.items())


_AT_ONCE = frozenset({"keyword", "literal"})


def _is_raised(place: Place) -> bool:
    """``max(16, n)``."""
    match place.node:
        case cst.Arg(value=cst.Call(func=cst.Name(value="max"), args=args)):
            numbers = [arg.value for arg in args if isinstance(arg.value, cst.Integer)]
            return any(number.evaluated_value >= 16 for number in numbers)
        case _:
            return False


def _at_least_16(parameter: Parameter) -> Callable[[cst.BaseExpression], cst.BaseExpression]:
    """A wrapper that raises what is too little, and leaves alone what is enough, or None."""
    general = optional("max(value, 16)", parameter)

    def wrap(value: cst.BaseExpression) -> cst.BaseExpression:
        match value:
            case cst.Integer():
                return value if value.evaluated_value >= 16 else cst.Integer("16")
            case cst.Name(value="None"):
                return value
            case cst.IfExp(body=body, orelse=orelse):
                return value.with_changes(body=wrap(body), orelse=wrap(orelse))
            case cst.BooleanOperation(operator=cst.Or(), right=cst.Integer()):
                return expr("max(value, 16)", value=value)
            case _:
                return general(value)

    return wrap


def _effort(parameter: Parameter) -> Action:
    if parameter.is_nothing:
        return Action("MR108", drop=True)
    if parameter.omitted_elsewhere:
        detail = f"`{parameter.name}` can be NOT_GIVEN, which must not get into a dict"
        return Action("MR103", hold="manual", detail=detail)
    return once(parameter, Action("MR103", "reasoning", wrap=optional('{"effort": value}', parameter)))


def once(parameter: Parameter, action: Action) -> Action:
    """``action``, unless it would write a value twice that must run once: ``kw.pop("effort", None)``."""
    for place in parameter.places if parameter.may_be_none else ():
        node = place.node
        value = node.value if isinstance(node, (cst.Arg, cst.DictElement)) else None
        if value is not None and has_effect(parameter.context, value):
            text = parameter.context.source(value, place.module)
            return Action(action.code, hold="manual", detail=f"`{text}` runs once: give what it gives a name")
    return action


def optional(template: str, parameter: Parameter) -> Callable[[cst.BaseExpression], cst.BaseExpression]:
    """A wrapper of a value that leaves None alone where None is possible."""
    may_be_none = parameter.may_be_none

    def wrap(value: cst.BaseExpression) -> cst.BaseExpression:
        if is_or(value) and may_be_none:  # what None stands for comes last
            assert isinstance(value, cst.BooleanOperation)
            given = value.left
            return expr(f"{template} if check else rest", value=given, check=operand(given), rest=value.right)
        literal = isinstance(value, (cst.BaseString, cst.Dict, cst.Integer))
        if literal or not may_be_none:
            return expr(template, value=value)
        return expr(f"{template} if check is not None else None", value=value, check=operand(value))

    return wrap


def _stream_options(parameter: Parameter) -> Action:
    kept = False
    for value in parameter.values:
        if isinstance(value, DictValue):
            kept |= "include_obfuscation" in value.places
            if value.others or value.merged or set(value.places) - {"include_usage", "include_obfuscation"}:
                return Action("MR118", hold="manual", detail="an option of `stream_options` is not known")
        elif not (isinstance(value, Const) and value.value is None) and not (
            isinstance(value, External) and value.path in models.OMITTED
        ):
            return Action("MR119", hold="manual", detail="`stream_options` cannot be followed")
    if not parameter.values:
        return Action("MR119", hold="manual", detail="`stream_options` cannot be followed")
    varies = len(asks_usage(parameter.request)) > 1 or _is_left_out(parameter)
    if varies and _reads_usage(parameter):
        detail = "`include_usage` is not true for every request, and every stream has its usage now"
        return Action("MR404", drop=True, hold="unsafe", detail=detail)
    if not kept:
        return Action("MR106", drop=True)
    return Action("MR106", wrap=_without_usage)


def _is_left_out(parameter: Parameter) -> bool:
    """Whether some of what the call streams comes without options: ``create(stream=True, **extra)``."""
    request = parameter.request
    items = request.written("stream_options")
    if any(item.holder is None for item in items):
        return False
    if any(item.holder is not None for item in request.written("stream")):
        return False  # where the one is left out, the other may be
    known = _conditions(parameter, request.site.node, request.site.module)
    return bool(set(request.dicts) - {item.holder for item in items}) or any(
        item.place.how == "store" and _conditions(parameter, item.place.node, item.place.module) - known
        for item in items
    )


def _conditions(parameter: Parameter, node: cst.CSTNode, module: Module) -> set[str]:
    """The tests that ``node`` stands under."""
    return {
        parameter.context.source(one.test, module)
        for one in module.ancestors(node)
        if isinstance(one, cst.If)
    }


def _reads_usage(parameter: Parameter) -> bool:
    kinds = {kind for _, _, kinds in parameter.context.parts(parameter.request.site) for kind in kinds}
    return Kind.CHUNK in kinds and Kind.USAGE in kinds


def _without_usage(value: cst.BaseExpression) -> cst.BaseExpression:
    if not isinstance(value, cst.Dict):
        return value
    rest = [e for e in value.elements if not (isinstance(e, cst.DictElement) and _is_key(e, "include_usage"))]
    if rest:
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return value.with_changes(elements=rest)


def _is_key(element: cst.DictElement, key: str) -> bool:
    return isinstance(element.key, cst.SimpleString) and element.key.evaluated_value == key


def _noop(*noops: object, code: str, hold: str, why: str) -> Callable[[Parameter], Action]:
    """A parameter without equivalent: dropped if it says nothing, else a reason."""

    def rule(parameter: Parameter) -> Action:
        if parameter.only(*noops):
            _tell_of_leftover(parameter)
            return Action("MR108", drop=True)
        owners = [owner for owner in map(parameter.offered_by, parameter.values) if owner is not None]
        whose = f"`{parameter.name}`, which `{owners[0]}` offers," if owners else f"`{parameter.name}`"
        return Action(code, drop=True, hold=hold, detail=f"{whose} {why}")

    return rule


def _tell_of_leftover(parameter: Parameter) -> None:
    """A function that hands on its own parameter still takes it, and nothing uses it any more."""
    for place in parameter.places:
        for value in place.var.values if place.var is not None else ():
            node = value.node if isinstance(value, Const) else None
            module = parameter.context.module_of(node) if node is not None else place.module
            if node is not None and isinstance(module.parents.get(node), cst.Param):
                detail = f"nothing takes the parameter `{parameter.name}` any more"
                parameter.context.note(node, module, [parameter.request.site], "MR108", detail)


def _logprobs(parameter: Parameter) -> Action:
    if parameter.only(False):
        return Action("MR108", drop=True)
    if parameter.constants == [True]:
        include = expr('["message.output_text.logprobs"]')
        detail = "`logprobs` becomes an entry of `include`, and they arrive elsewhere"
        return Action("MR115", "include", wrap=lambda value: include, hold="unsafe", detail=detail)
    return Action("MR115", hold="manual", detail="`logprobs` is decided at run time")


def _top_logprobs(parameter: Parameter) -> Action:
    if parameter.is_nothing:
        return Action("MR108", drop=True)
    return Action("MR115", "top_logprobs")


def _verbosity(parameter: Parameter) -> Action:
    if parameter.is_nothing:
        return Action("MR108", drop=True)
    if writes_text(parameter.context, parameter.request.site):
        if takes_verbosity(parameter.context, parameter.request.site):
            return Action("MR104", drop=True)  # written into text= by the rule for response_format
        return Action(
            "MR104", hold="manual", detail="`verbosity` and `response_format` meet in one `text` argument"
        )
    return Action("MR104", "text", wrap=lambda value: expr('{"verbosity": value}', value=value))


_RESPONSES_BODY = UNCHANGED | frozenset(
    "reasoning text include truncation max_output_tokens background prompt instructions previous_response_id"
    " max_tool_calls context_management".split()
)


def _body(context: Context, site: Site, parameter: Parameter) -> None:
    """Keys of ``extra_body`` that Chat knows are mapped like keywords."""
    for value in parameter.values:
        if isinstance(value, DictValue):
            for key, places in value.places.items():
                if key in RULES:
                    inner = Parameter(context, parameter.request, key, places)
                    act(context, site, [Keyword(key, place, value) for place in places], RULES[key](inner))


def _extra_body(parameter: Parameter) -> Action:
    """Keys that an API of OpenAI knows; others belong to some provider (trap A17)."""
    if parameter.only({}):
        return Action("MR108", drop=True)
    foreign: list[str] = []
    for value in parameter.values:
        if not isinstance(value, DictValue) or value.others or value.merged:
            return Action("MR117", hold="manual", detail="`extra_body` cannot be followed")
        foreign.extend(key for key in value.places if key not in _RESPONSES_BODY and key not in RULES)
    if foreign or not parameter.values:
        return Action(
            "MR117", hold="manual", detail=f"`extra_body` has {', '.join(f'`{key}`' for key in foreign[:3])}"
        )
    return Action("MR117", "extra_body")


_NO_EQUIVALENT = "has no Responses equivalent"

RULES: dict[str, Callable[[Parameter], Action]] = {
    "max_tokens": _limit,
    "max_completion_tokens": _limit,
    "reasoning_effort": _effort,
    "verbosity": _verbosity,
    "stream_options": _stream_options,
    "logprobs": _logprobs,
    "top_logprobs": _top_logprobs,
    "extra_body": _extra_body,
    "n": _noop(1, code="MR113", hold="manual", why=_NO_EQUIVALENT),
    "stop": _noop(code="MR112", hold="manual", why=_NO_EQUIVALENT),
    "seed": _noop(code="MR110", hold="unsafe", why=f"{_NO_EQUIVALENT}; answers stop being repeatable"),
    "frequency_penalty": _noop(0, code="MR111", hold="unsafe", why=_NO_EQUIVALENT),
    "presence_penalty": _noop(0, code="MR111", hold="unsafe", why=_NO_EQUIVALENT),
    "logit_bias": _noop({}, code="MR111", hold="unsafe", why=_NO_EQUIVALENT),
    "prediction": _noop(code="MR111", hold="unsafe", why=_NO_EQUIVALENT),
    "modalities": _noop(code="MR114", hold="manual", why="asks for audio, which stays on Chat Completions"),
    "audio": _noop(code="MR114", hold="manual", why="stays on Chat Completions"),
    "web_search_options": _noop(
        code="MR116", hold="manual", why="becomes a `web_search` tool; the model must change too"
    ),
}

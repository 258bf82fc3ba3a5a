"""The answer's own message in the history: ``messages.extend(resp.output)`` (MR209, traps B20, C1, C2).

An assistant message with calls that was rebuilt by hand from the answer is replaced by the answer's output,
which keeps reasoning items with their calls; one made of anything else is written out as items (MR213).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import libcst as cst

from ..decide.plan import Replacement
from ..decide.receivers import DOUBLES
from ..know.kinds import (
    DUMPS,
    JSON_DUMPS,
    Const,
    DictValue,
    External,
    Instance,
    Place,
    Shape,
    Site,
    Unknown,
    Value,
)
from ..know.modules import Module, walk
from . import history_bonds
from .adders import hand_over_calls, hand_over_items
from .built_up import annotate_list
from .context import Context
from .entries import is_entry, value_of
from .item_facts import ANSWERS, Facts, answers_in, facts, only, poured_answers
from .items import expand
from .listing import append
from .rebuilt import Rebuilt, rebuilt
from .shared import renamed
from .snippets import atom, attribute, expr, keyword, parenthesized
from .splice import dedented

Items = Callable[[cst.BaseExpression], cst.BaseExpression]  # a value -> the list that takes its place
# Models that reason, and so answer with items that must be sent back whole.
REASONING = re.compile(r"(o\d|gpt-[5-9])(?!.*-chat)")


def plan(context: Context) -> None:
    """Rewrite every place where an answer, or a message with calls, is put into a list that is sent."""
    known = facts(context)
    fed: dict[Site, None] = {}
    again = {message: rebuilt(context, known, message) for message in known.multiple}
    for _, senders, place in known.places():
        answers = answers_in(place.var)
        if is_entry(context, known, place):
            continue  # put in before, and seen to there
        if answers:
            fed.update(dict.fromkeys(shape.site for shape in answers))
            _answer(context, known, place, answers, senders)
        elif place.var is not None and any(value in known.multiple for value in place.var.values):
            _calls(context, known, place, again, senders, fed)
    for message, found in again.items():
        if found is None:
            expand(context, known, message)
    history_bonds.plan(context, known, fed)
    context.memo["fed"] = frozenset(fed)
    for site in context.sites:
        if site in fed and site not in known.plain:
            _keep_reasoning(context, site)


_SPACED = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))

# -- whole answers -----------------------------------------------------------------------


def _answer(
    context: Context,
    known: Facts,
    place: Place,
    answers: list[Shape],
    senders: set[Site],
) -> None:
    assert place.var is not None
    sites = {shape.site for shape in answers} | senders
    others = [
        v for v in place.var.values if not _is_answer(v) and not (isinstance(v, Const) and v.value is None)
    ]
    if any(not (isinstance(v, External) and v.path.startswith(DOUBLES)) for v in others):
        if hand_over_items(context, known, place, answers, sites, _bare, _as_message):
            return
        text = context.source(place.node, place.module)
        detail = f"`{text}` adds an answer or {_called(others)}"
        context.manual(place.node, place.module, sites, "MR506", detail)
        return
    value = value_of(place)
    if value is None:
        text = context.source(place.node, place.module)
        context.manual(place.node, place.module, sites, "MR506", f"`{text}`: an answer is several items now")
        return
    if all(shape.site in known.plain for shape in answers):
        context.edit(value, place.module, sites, _as_message, "MR209", key="message")
        return
    dumped = any(shape.form != "object" for shape in answers) or not all(
        isinstance(v, Shape) or v in others for v in place.var.values
    )
    dicts = dumped or known.dict_lists.wanted_at(place)
    if dumped:
        _undump(context, value, place.module, answers, sites)
    if dicts and any(site.method != "create" for site in sites):
        if dumped:
            detail = "dumped items of a parsed answer would keep their `parsed` keys"
            context.unsafe(place.node, place.module, sites, "MR207", detail)
        dicts = False
    put(context, place, lambda updated: output(_bare(updated), dicts), sites, "MR209")


def _called(others: Sequence[Value]) -> str:
    """What is added besides answers, for a person."""
    match others[0]:
        case DictValue():
            return "a message that is a dict"
        case Unknown(why=why):
            return f"what comes from {why}"
        case External(path=path):
            return f"something of `{path.partition('(')[0]}`"
        case Instance(type=cls):
            return f"a `{cls.name}`"
        case _:
            return "something else"


def _as_message(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    return expr('{"role": "assistant", "content": r.output_text}', r=atom(_bare(updated)))


def _is_answer(value: object) -> bool:
    if isinstance(value, DictValue):
        return bool(list(poured_answers(value)))
    return isinstance(value, Shape) and value.kind in ANSWERS


def _undump(
    context: Context, value: cst.BaseExpression, module: Module, answers: list[Shape], sites: set[Site]
) -> None:
    """A dump that was kept under a name: the name holds the answer now."""
    if isinstance(value, cst.Call):
        return
    for node, where, shapes in context.shaped:
        dumping = (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value in DUMPS
        )
        if dumping and any(shape in answers for shape in shapes):
            context.edit(node, where, sites, lambda o, u: _bare(u), "MR209")


def _bare(node: cst.CSTNode) -> cst.BaseExpression:
    """The answer itself, without the dump around it."""
    match node:
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=name))) if (
            name in DUMPS | JSON_DUMPS
        ):
            return value
        case cst.Call(func=cst.Name(value="dict"), args=[cst.Arg(value=value)]):
            return _bare(value)
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="loads")),
            args=[cst.Arg(value=cst.Call(func=cst.Attribute(value=value)))],
        ):
            return value
        case _:
            assert isinstance(node, cst.BaseExpression)
            return node


def output(base: cst.BaseExpression, dicts: bool) -> cst.BaseExpression:
    """``base.output``, or its items as dicts."""
    if dicts:
        return expr("[item.to_dict() for item in r.output]", r=base)
    return attribute(base, "output")


# -- putting several items where one message was -----------------------------------------


_ONCE = "put"  # the list there may be one of several: what is put into it is the same


def put(context: Context, place: Place, items: Items, sites: set[Site], code: str) -> None:
    """At ``place``, put the list that ``items`` makes of the updated value instead of the value."""
    node, module = place.node, place.module
    if isinstance(node, cst.Call):
        context.edit(node, module, sites, lambda o, u: _extend(u, items), code, key=_ONCE)
        return
    assert isinstance(node, cst.Element)
    holder = module.parents.get(node)
    if isinstance(holder, cst.List) and len(holder.elements) == 1 and _is_joined(module, holder):

        def whole(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.List)
            return items(updated.elements[0].value)

        context.edit(holder, module, sites, whole, code, key=_ONCE)
        return

    def starred(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        assert isinstance(updated, cst.Element)
        value = items(updated.value)
        if isinstance(value, cst.List) and all(
            isinstance(element, cst.Element) for element in value.elements
        ):
            comma = updated.comma if isinstance(updated.comma, cst.Comma) else _SPACED
            parts = [
                cst.Element(_unindented(value, element.value), comma=comma)
                for element in value.elements
                if isinstance(element, cst.Element)
            ]
            return cst.FlattenSentinel([*parts[:-1], parts[-1].with_changes(comma=updated.comma)])
        return cst.StarredElement(value, comma=updated.comma)

    context.edit(node, module, sites, starred, code, key=_ONCE)


def _is_joined(module: Module, holder: cst.List) -> bool:
    """Whether a list display is only there to be joined to another list."""
    parent = module.parents.get(holder)
    match parent:
        case cst.AugAssign() | cst.BinaryOperation(operator=cst.Add()):
            return True
        case cst.Arg():
            call = module.parents.get(parent)
            return (
                isinstance(call, cst.Call)
                and isinstance(call.func, cst.Attribute)
                and call.func.attr.value == "extend"
            )
        case _:
            return False


def _extend(updated: cst.CSTNode, items: Items) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    assert isinstance(updated.func, cst.Attribute)
    first = updated.args[0]
    value = items(first.value)
    if (
        isinstance(value, cst.List)
        and len(value.elements) == 1
        and isinstance(value.elements[0], cst.Element)
    ):
        single = _unindented(value, value.elements[0].value)
        return updated.with_changes(args=[first.with_changes(value=single), *updated.args[1:]])
    if isinstance(value, cst.ListComp):
        value = cst.GeneratorExp(value.elt, value.for_in, lpar=[], rpar=[])
    call = updated.with_changes(func=updated.func.with_changes(attr=cst.Name("extend")))
    if isinstance(first.value, cst.Dict):  # a message set out over lines makes room for one short expression
        none = cst.SimpleWhitespace("")
        return call.with_changes(args=[cst.Arg(value)], whitespace_before_args=none)
    return call.with_changes(args=[first.with_changes(value=value), *updated.args[1:]])


def _unindented(holder: cst.List, value: cst.BaseExpression) -> cst.BaseExpression:
    """``value`` moved out of the list that held it alone."""
    opening, closing = holder.lbracket.whitespace_after, holder.rbracket.whitespace_before
    if isinstance(opening, cst.ParenthesizedWhitespace) and isinstance(closing, cst.ParenthesizedWhitespace):
        return dedented(value, len(opening.last_line.value) - len(closing.last_line.value))
    return value


# -- messages with calls -----------------------------------------------------------------


def _calls(
    context: Context,
    known: Facts,
    place: Place,
    again: dict[DictValue, Rebuilt | None],
    senders: set[Site],
    fed: dict[Site, None],
) -> None:
    """A place where an assistant message with calls is put into a list."""
    assert place.var is not None
    messages = [
        value for value in place.var.values if isinstance(value, DictValue) and value in known.multiple
    ]
    value = value_of(place)
    listed = isinstance(place.node, (cst.ListComp, cst.GeneratorExp)) and isinstance(place.node.elt, cst.Call)
    if not only(place.var, known.multiple) or (value is None and not listed):
        handed = hand_over_calls(context, known, place, again, senders)
        if handed is not None:
            fed.update(dict.fromkeys(handed))
            return
        text = context.source(place.node, place.module)
        context.manual(place.node, place.module, senders, "MR506", f"`{text}` adds calls and other messages")
        return
    found = [again[message] for message in messages]
    if len(found) == 1 and found[0] is not None and not listed:
        answer = found[0]
        fed.update(dict.fromkeys(answer.sites))
        sites = senders | answer.sites
        answer.remove(context, sites)
        root = renamed(context, answer.root, answer.module)
        dicts = known.dict_lists.taken_at(place, answer.sites)
        dicts = dicts or (answer.is_typed and all(site.method == "create" for site in answer.sites))
        made = output(root, dicts)
        for node in answer.returned:
            context.edit(node, answer.module, sites, lambda o, u: made, "MR209")
        if answer.returned:
            annotate_list(context, answer.returned[0], answer.module, sites)
        put(context, place, _as_items if answer.returned else lambda updated: made, sites, "MR209")
        return
    for message in messages:
        again[message] = None  # several meet here: each is written out
    if listed:
        context.edit(place.node, place.module, senders, _item_by_item, "MR213")
        return
    put(context, place, _as_items, senders, "MR213")


def _item_by_item(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``[made(m) for m in messages]`` -> ``[item for m in messages for item in made(m)]``."""
    assert isinstance(updated, (cst.ListComp, cst.GeneratorExp))
    used = {node.value for node in walk(updated) if isinstance(node, cst.Name)}
    name = cst.Name(next(name for name in ("item", "one", "part", "entry_") if name not in used))
    space = cst.SimpleWhitespace(" ")
    made = parenthesized(updated.elt) if isinstance(updated.elt, cst.IfExp) else updated.elt
    inner = cst.CompFor(name, made, whitespace_before=space)
    return updated.with_changes(elt=name, for_in=_innermost(updated.for_in, inner))


def _innermost(outer: cst.CompFor, inner: cst.CompFor) -> cst.CompFor:
    below = outer.inner_for_in
    return outer.with_changes(inner_for_in=inner if below is None else _innermost(below, inner))


def _as_items(updated: cst.BaseExpression) -> cst.BaseExpression:
    return updated


# -- reasoning ---------------------------------------------------------------------------


def _keep_reasoning(context: Context, site: Site) -> None:
    """Ask for the encrypted reasoning where it is sent back and nothing is stored (trap C3)."""
    request = context.request(site)
    models = [value.value if isinstance(value, Const) else None for value in request.values("model")]
    reasons = [isinstance(model, str) and bool(REASONING.match(model)) for model in models]
    stored = [value.value if isinstance(value, Const) else None for value in request.values("store")]
    preserved = context.settings.api_defaults == "preserve"
    if any(stored) or not (stored or preserved) or request.passes("logprobs"):
        return
    if not all(reasons) or not reasons:
        if any(reasons) or not all(isinstance(model, str) for model in models) or not models:
            detail = "which model this is, is known only at run time: one that reasons may need"
            detail += ' `include=["reasoning.encrypted_content"]` here, and others refuse it'
            context.note(site.node, site.module, [site], "MR209", detail)
        return
    call = site.carrier
    if site.apart is not None:
        text = context.source(site.apart, site.module)
        context.manual(site.node, site.module, [site], "MR209", f"`include` belongs into `{text}`")
        return

    def include(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        argument = keyword("include", expr('["reasoning.encrypted_content"]'), updated.args)
        return append(updated, argument)

    context.edit(call, site.module, [site], include, "MR209")


def is_fed(context: Context, site: Site) -> bool:
    """Whether the answers of ``site`` are put into a list that is sent, with all their items."""
    fed = context.memo.get("fed", frozenset())
    assert isinstance(fed, frozenset)
    return site in fed

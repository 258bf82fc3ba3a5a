"""Calls that are migrated together or not at all, as the answers of some are in what others send.

A history has one form. Whoever sends one that holds an answer, or may hold it, waits for the call that
gave it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.modelled import DISPLAY
from ..know.kinds import Bound, DictValue, External, Function, SeqValue, Site
from ..know.modules import Module
from .context import WRITES, Context
from .item_facts import ANSWERS, Facts, answers_in, answers_of, poured_answers
from .messages import are_untold, messages_at
from .poured import looks

UNTOLD = "where these messages come from is not known: there may be answers of the other calls among them"


def plan(context: Context, known: Facts, fed: dict[Site, None]) -> None:
    """Join the calls; ``fed`` are those whose answers go into a history that is known."""
    _hold_unseen(context, known)
    _hold_copies(context, known)
    _hold_looks(context, known)
    _bind_elements(context, known)
    _bind_handed(context, known)
    _bind_untold(context, fed)


def _bind_elements(context: Context, known: Facts) -> None:
    """The calls that send a list together with those whose answers are in it, however they got there."""
    for sequence, sites in known.senders.items():
        answers = {shape.site for value in known.elements(sequence) for shape in answers_of(value)}
        if answers:
            why = "what is sent has answers in it"
            context.plan.bind(sequence.node, sequence.module, sites | answers, why)


def _bind_handed(context: Context, known: Facts) -> None:
    """``messages.append(message.model_copy())``, ``operator.iadd(messages, [message])``: it may be inside."""
    for node, module, shapes in context.shaped:
        sites = {shape.site for shape in shapes if shape.kind in ANSWERS}
        if not sites or not isinstance(node, cst.BaseExpression):
            continue
        for holder in _beside(node, module):
            for value in context.project.values(holder):
                if (
                    isinstance(value, SeqValue)
                    and value in known.senders
                    and not _is_followed(context, holder, module)
                ):
                    why = "what is sent may get an answer here"
                    context.plan.bind(node, module, known.senders[value] | sites, why)


def _beside(node: cst.BaseExpression, module: Module) -> Iterator[cst.BaseExpression]:
    """What the answer at ``node`` is handed to, or along with, in its statement."""
    for parent in module.ancestors(node):
        match parent:
            case cst.Call(func=func, args=args):
                yield from (arg.value for arg in args)
                if isinstance(func, cst.Attribute):
                    yield func.value
            case cst.AugAssign(target=target):
                yield target
            case cst.BaseStatement():
                return
            case _:
                continue


def _is_followed(context: Context, holder: cst.BaseExpression, module: Module) -> bool:
    """Whether what is done with the list is known: a function of the project gets it, or it is shown."""
    arg = module.parents.get(holder)
    call = module.parents.get(arg) if isinstance(arg, cst.Arg) else None
    callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
    return bool(callees) and all(
        isinstance(callee, (Function, Bound))
        or (isinstance(callee, External) and callee.path.startswith(DISPLAY))
        for callee in callees
    )


def _hold_unseen(context: Context, known: Facts) -> None:
    """``messages.extend(map(lambda c: c.message, r.choices))``: nobody is seen to put them in."""
    for sequence, senders in known.senders.items():
        if not isinstance(sequence.node, cst.Call) or sequence.places or sequence.derived:
            continue
        made = {shape.site for value in known.elements(sequence) for shape in answers_of(value)}
        if made:
            text = context.source(sequence.node, sequence.module)
            detail = f"`{text}` gives answers, each of which is several items now"
            context.manual(sequence.node, sequence.module, senders | made, "MR506", detail)


def _hold_copies(context: Context, known: Facts) -> None:
    """``{k: v for k, v in messages[-1].items() if v}``: a message made of an answer that is a dict."""
    for message, sites in known.messages.items():
        made = {shape.site for source in message.merged for shape in answers_in(source)}
        if made:
            context.plan.bind(
                message.node, message.module, sites | made, "a message that is made of an answer"
            )
        if any(isinstance(value, DictValue) for source in message.merged for value in source.values) and made:
            text = context.source(message.node, message.module)
            detail = f"`{text}` is made of an answer, whose keys change"
            context.unsafe(message.node, message.module, sites | made, "MR208", detail)


def _hold_looks(context: Context, known: Facts) -> None:
    """``dict((k, v) for k, v in messages[-1].items())``: all keys of ``dict(message)``, an item now."""
    for sequence, senders in known.senders.items():
        for value in [value for var in (sequence.element, *sequence.items.values()) for value in var.values]:
            made = {shape.site for shape in poured_answers(value)} if isinstance(value, DictValue) else None
            if not made or not isinstance(value, DictValue):
                continue
            changed = [place for found in value.places.values() for place in found if place.how in WRITES]
            places = [(place.node, place.module) for place in (*value.others, *changed)]
            for node, module in [*looks(context, value), *places]:
                text = context.source(node, module)
                detail = f"the keys of `{text}`, an answer in the history, change"
                context.unsafe(node, module, senders | made, "MR208", detail)


def _bind_untold(context: Context, fed: dict[Site, None]) -> None:
    """What is sent and could not be followed may be a history with answers: it has their form, old or new."""
    for site in context.sites:
        foreign = any(isinstance(value, External) for value in context.request(site).values("messages"))
        if foreign or are_untold(context, site):
            program = context.project.program(site.module)
            others = [other for other in fed if other.module in program]
            context.plan.bind(*messages_at(context, site), [site, *others], UNTOLD)

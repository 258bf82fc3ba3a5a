"""Histories that somebody looks at: read back (MR208), dumped (MR207) or given to other code (MR210).

Plain role/content messages look as before. Tool results have other keys, and an answer is several items, some
of them without a role: what depends on the old look holds the flow back.
"""

from __future__ import annotations

import libcst as cst

from ..decide.copies import sources_of
from ..decide.escapes import Escape, Way
from ..know.kinds import DictValue, Place, SeqValue, Shape, Site
from ..know.modules import Module
from .actions import rename_key
from .context import Context
from .history_cuts import positions
from .history_looks import counts, cuts, searches
from .item_facts import ANSWERS, STORES, Facts, Form, facts, poured_answers
from .last_entries import answer_read
from .read_before import is_read_before
from .role_tests import asks_role, told_form
from .role_tests import rewrite as rewrite_role

_READS = frozenset({"read", "get", "contains", "pop", "delete"})
_RESULT_NAMES = {"tool_call_id": "call_id", "content": "output"}


def plan(context: Context) -> None:
    """Look at all uses of the histories that hold more than plain messages."""
    known = facts(context)
    for sequence, sites in known.senders.items():
        if known.holds_items(sequence):
            _list(context, known, sequence, sites)
    for message, form in known.forms.items():
        for key, places in message.places.items():
            for place in places:
                if place.how in _READS:
                    _read(context, known, message, form, key, place)
        if form is not Form.PLAIN:
            for escape in context.escapes.of(message):
                if escape.direct and not known.is_added(escape.node, escape.module):
                    _escape(context, escape, known.messages[message])

    _copies(context, known)


def _copies(context: Context, known: Facts) -> None:
    """Copies that are not sent leave as what they were made of would."""
    lists = {sequence: sites for sequence, sites in known.senders.items() if known.holds_items(sequence)}
    changed = {
        message: known.messages[message] for message, form in known.forms.items() if form is not Form.PLAIN
    }
    for sequence in context.sequences() if lists else ():
        if sequence in known.senders:
            continue
        held = [sites for value, sites in changed.items() if value in sequence.element.values]
        made_from = dict.fromkeys(value for var in sequence.derived for value in var.values)
        held += [lists[value] for value in made_from if isinstance(value, SeqValue) and value in lists]
        for value in sequence.element.values:  # `map(dict, messages)`: copies that no expression is
            if isinstance(value, DictValue) and value.poured and value not in known.messages:
                held += [changed[message] for message in sources_of(value) if message in changed]
        for escape in context.escapes.of(sequence) if held else ():
            _escape(context, escape, set().union(*held))
    for copy in context.dicts() if changed else ():
        inside = [value for value in copy.everything.values if isinstance(value, DictValue)]
        held = [changed[message] for message in [*sources_of(copy), *inside] if message in changed]
        if held and copy not in known.messages:
            for escape in context.escapes.of(copy):
                _escape(context, escape, set().union(*held))


def is_history_read(context: Context, node: cst.CSTNode) -> bool:
    """Whether ``node`` is an entry of a history that can be an answer or a message dict."""
    known = facts(context)
    values = context.project.values(node)
    return any(isinstance(value, DictValue) and value in known.messages for value in values) and any(
        any(poured_answers(value)) if isinstance(value, DictValue) else _is_answer(value) for value in values
    )


def is_told_apart(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether the entry of a history at ``node`` is no answer there yet, or only asked whether it is one."""
    reading = module.parents.get(node)
    if isinstance(reading, cst.Attribute):
        reading = module.parents.get(reading)
    if not isinstance(node, cst.BaseExpression) or reading is None:
        return False
    return (
        told_form(node, module) is not None
        or asks_role(context, facts(context), reading, module)
        or is_read_before(context, facts(context), node, module)
    )


def _is_answer(value: object) -> bool:
    return isinstance(value, Shape) and value.kind in ANSWERS


def is_history(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` is a list of messages that some site sends, or what is added to one."""
    known = facts(context)
    if known.is_added(node, module):
        return True
    return any(
        isinstance(value, SeqValue) and value in known.senders for value in context.project.values(node)
    )


def hold_read(context: Context, node: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    detail = f"`{context.source(node, module)}` reads the history, whose items are of other kinds now"
    context.unsafe(node, module, sites, "MR208", detail)


def hold_object(context: Context, node: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    """An entry that can be an answer is read as the object it was."""
    if sites <= facts(context).plain:
        detail = f"`{context.source(node, module)}` may be an answer in the history, which is a dict now"
        context.manual(node, module, sites, "MR208", detail)
    else:
        hold_read(context, node, module, sites)


# -- the list ----------------------------------------------------------------------------


def _list(context: Context, known: Facts, sequence: SeqValue, sites: set[Site]) -> None:
    same = {node for node, _ in positions(context, known, sequence)}
    looks = [*cuts(context, sequence), *(counts(context, sequence) if known.holds_answers(sequence) else ())]
    for node, module in looks:
        if node not in same:
            hold_read(context, node, module, sites)
    for node, module in searches(context, sequence):
        detail = f"`{context.source(node, module)}` looks for an answer, which is several items now"
        context.manual(node, module, sites, "MR208", detail)
    for escape in context.escapes.of(sequence):
        _escape(context, escape, sites)


# -- entries -----------------------------------------------------------------------------


def _read(context: Context, known: Facts, message: DictValue, form: Form, key: str, place: Place) -> None:
    """A key of a message is read at ``place``."""
    base = _base(place.node)
    if base is None or context.is_gone(place.node, place.module):
        return
    if key == "content" and place.how in ("read", "get") and answer_read(context, base, place.module):
        return  # which is rewritten as a read of the answer
    forms = known.forms_of(context.project.vars.get(base))
    told = told_form(base, place.module)
    if told is not None:
        forms = frozenset({told})
    if forms == {Form.PLAIN} or (told is Form.RESULT and form is not told):
        return
    if is_read_before(context, known, base, place.module):
        return
    sites = set(known.messages[message])
    if key == "role" and place.how in ("read", "get") and asks_role(context, known, place.node, place.module):
        rewrite_role(context, place.node, place.module, sites)
        return
    if forms == {Form.RESULT} and key in _RESULT_NAMES and place.how != "contains":
        for site in sites:
            rename_key(context, [site], place, _RESULT_NAMES[key], "MR212")
    elif forms == {Form.RESULT} and key == "name":
        context.manual(place.node, place.module, sites, "MR506", "the `name` of a tool result is read")
    elif key == "role" and place.how == "read":
        detail = f"`{context.source(place.node, place.module)}` reads the history, where items have no role"
        context.manual(place.node, place.module, sites, "MR208", detail)
    else:
        hold_read(context, place.node, place.module, sites)


def _base(node: cst.CSTNode) -> cst.BaseExpression | None:
    match node:
        case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
            return value
        case cst.Comparison(comparisons=[target]):
            return target.comparator
        case _:
            return None


# -- who else has it ---------------------------------------------------------------------


def _escape(context: Context, escape: Escape, sites: set[Site]) -> None:
    text = context.source(escape.node, escape.module)
    if escape.way is Way.DISPLAY:
        context.note(escape.node, escape.module, sites, "MR314", f"`{text}` shows the new items")
        return
    stored = escape.way in (Way.TEXT, Way.STORE) or escape.to.startswith(STORES)
    code = "MR207" if stored else "MR210"
    detail = f"the history (`{text}`) is {escape.way.value} {escape.to}, and its items change"
    if stored:  # what is stored in one form is loaded in it
        sharing = sites | facts(context).loaders(context.project.program(escape.module))
        context.plan.bind(escape.node, escape.module, sharing, "messages that are stored, and read again")
    context.unsafe(escape.node, escape.module, sites, code, detail)

"""Which message dicts become something else for the new API, and which lists hold answers.

The facts that :mod:`.tool_messages`, :mod:`.history` and :mod:`.read_history` share.
"""

from __future__ import annotations

import enum
from collections.abc import Container, Iterator
from functools import cached_property

import libcst as cst

from ..decide.contents import contents
from ..decide.copies import sources_of
from ..know.graph import Var
from ..know.kinds import (
    Const,
    DictValue,
    External,
    Kind,
    Place,
    SeqValue,
    Shape,
    Site,
    Unknown,
    Value,
)
from ..know.modules import Module
from .context import WRITES, Context, is_none
from .dict_lists import DictLists
from .plain_answers import plain_answers
from .sent import roles, sequences_of

ANSWERS = frozenset({Kind.MESSAGE, Kind.CHOICE, Kind.COMPLETION})


STORES = (
    "json.",
    "pickle.",
    "yaml.",
    "shelve.",
    "marshal.",
    "joblib.",
    "sqlite3.",
    "builtins.open",
    "redis.",
)


class Form(enum.Enum):
    """What a message dict is for the new API."""

    PLAIN = "a message"
    RESULT = "a function_call_output"  # role tool
    LEGACY_RESULT = "a function_call_output without an id"  # role function
    CALLS = "a message and function_call items"  # assistant with tool_calls
    MIXED = "decided at run time"


def form_of(message: DictValue) -> Form:
    """The form of ``message``, by its role and keys."""
    if writes(message, "tool_calls") or writes(message, "function_call"):
        return Form.CALLS
    if not _PAIRED.isdisjoint(_paired(message)):
        return Form.MIXED
    found = roles(message)
    if found is None:
        return Form.MIXED if writes(message, "tool_call_id") else Form.PLAIN
    special = {role for role in found if role in ("tool", "function")}
    if not special:
        return Form.PLAIN
    if len(set(found)) > 1:
        return Form.MIXED
    return Form.RESULT if special == {"tool"} else Form.LEGACY_RESULT


_PAIRED = frozenset({"tool_call_id", "tool_calls", "function_call"})


def _paired(message: DictValue) -> Iterator[object]:
    """The constants in the pairs that a dict is made of: ``dict(zip(KEYS, values))``."""
    pairs = [value for source in message.merged for value in source.values if isinstance(value, SeqValue)]
    for listed in pairs:
        for pair in contents(listed):
            yield from (inner.value for inner in contents(pair) if isinstance(inner, Const))


def writes(message: DictValue, key: str) -> bool:
    """Whether ``key`` of a message, or of what it is a copy of, can be given something other than None."""
    return any(
        place.how in WRITES and not is_none(place.var)
        for source in (message, *sources_of(message))
        for place in source.places.get(key, ())
    )


def answers_in(var: Var | None) -> list[Shape]:
    """The whole answers, or their messages, that a variable can be."""
    if var is None:
        return []
    return [shape for value in var.values for shape in answers_of(value)]


def answers_of(value: Value) -> list[Shape]:
    """The whole answer, or its message, that ``value`` is or was made from."""
    if isinstance(value, Shape):
        return [value] if value.kind in ANSWERS else []
    return list(poured_answers(value)) if isinstance(value, DictValue) else []


def poured_answers(value: DictValue) -> Iterator[Shape]:
    """The answer that ``dict(message)`` was made from, whatever is changed in it afterwards."""
    written = any(place.how in _AT_ONCE for places in value.places.values() for place in places)
    if isinstance(value.node, cst.Call) and not written:
        for source in value.merged:
            for part in source.values:
                if isinstance(part, Shape) and part.kind in ANSWERS:
                    yield part


_AT_ONCE = frozenset({"literal", "keyword"})


class Facts:
    """The lists of messages of all sites, and what is put into them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.senders: dict[SeqValue, set[Site]] = {}  # who sends the list, or what it becomes part of
        self.outside: dict[Value, set[Site]] = {}  # lists made elsewhere, such as a parameter
        self.messages: dict[DictValue, set[Site]] = {}
        self.added: list[tuple[set[Site], Place]] = []  # what is appended to lists made elsewhere
        for site in context.sites:
            for sequence in sequences_of(context, site):
                self._send(sequence, {site})
            for value in context.request(site).values("messages"):
                self._from_outside(value, site)
        self._add_to_outside()
        self.plain: set[Site] = set()  # whose answers go into a history as plain messages
        self.plain = self._plain_answers()
        self.forms = {message: form_of(message) for message in self.messages}
        self._forms_of: dict[Var, frozenset[Form]] = {}
        self.multiple = dict.fromkeys(m for m, form in self.forms.items() if form is Form.CALLS)

    def _plain_answers(self) -> set[Site]:
        histories = {sequence: self.elements(sequence) for sequence in self.senders}
        entries = {entry for found in histories.values() for entry in found}
        return plain_answers(self.context, histories, {entry: answers_of(entry) for entry in entries})

    def _is_plain(self, value: Value) -> bool:
        """Whether an answer goes in as a plain message."""
        found = answers_of(value)
        return bool(found) and all(shape.site in self.plain for shape in found)

    def forms_of(self, var: Var | None) -> frozenset[Form]:
        """The forms that the messages in a variable can have; whatever else is in it counts as plain."""
        if var is None:
            return frozenset()
        found = self._forms_of.get(var)
        if found is None:
            found = self._forms_of[var] = frozenset(
                self._form(value)
                for value in var.values
                if not (isinstance(value, Const) and value.value is None)
            )
        return found

    def _form(self, value: Value) -> Form:
        if self._is_plain(value):
            return Form.PLAIN
        if isinstance(value, DictValue):
            return Form.MIXED if any(poured_answers(value)) else self.forms.get(value, Form.PLAIN)
        return Form.MIXED if isinstance(value, Shape) and value.kind in ANSWERS else Form.PLAIN

    def _send(self, sequence: SeqValue, sites: set[Site]) -> None:
        """``sequence`` is sent by ``sites``, and so is what it is made of."""
        if sites <= self.senders.get(sequence, set()):
            return
        self.senders.setdefault(sequence, set()).update(sites)
        for site in sites:
            for source in sequence.derived:
                for value in source.values:
                    self._from_outside(value, site)
                    if isinstance(value, SeqValue):
                        self._send(value, sites)
        for var in (sequence.element, *sequence.items.values()):
            self._hold(var, sites)

    def _hold(self, var: Var, sites: set[Site]) -> None:
        for value in var.values:
            if isinstance(value, DictValue) and not list(poured_answers(value)):
                self.messages.setdefault(value, set()).update(sites)

    def _from_outside(self, value: Value, site: Site) -> None:
        if isinstance(value, (Unknown, External)):
            self.outside.setdefault(value, set()).add(site)

    def _add_to_outside(self) -> None:
        """``messages.append(...)`` and ``messages += ...`` on a list that is not made in the project."""
        if not self.outside:
            return
        project = self.context.project
        for call in project.invocations:
            func = call.node.func
            if not isinstance(func, cst.Attribute) or not call.arguments:
                continue
            sites = self._sites_of(func.value)
            if sites and func.attr.value in ("append", "insert"):
                var = call.arguments[-1].var
                self.added.append((sites, Place(func.attr.value, call.node, call.module, var)))
                self._hold(var, sites)
            elif sites and func.attr.value == "extend":
                self._send_all(call.arguments[0].var, sites)
        for module in project.modules:
            for node in module.of(cst.AugAssign):
                if sites := self._sites_of(node.target):
                    self._send_all(project.vars[node.value], sites)

    def _send_all(self, var: Var, sites: set[Site]) -> None:
        for value in list(var.values):
            if isinstance(value, SeqValue):
                self._send(value, sites)

    def _sites_of(self, node: cst.CSTNode) -> set[Site]:
        """Who sends the list made elsewhere that ``node`` is; none for lists made in the project."""
        values = self.context.project.values(node)
        if any(isinstance(value, SeqValue) and value in self.senders for value in values):
            return set()
        return {site for value in values for site in self.outside.get(value, ())}

    def is_added(self, node: cst.CSTNode, module: Module) -> bool:
        """Whether ``node`` is what an ``append`` puts into one of the lists."""
        arg = module.parents.get(node)
        call = module.parents.get(arg) if isinstance(arg, cst.Arg) else None
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return False
        if call.func.attr.value not in ("append", "insert", "extend"):
            return False
        return any(
            value in self.outside or (isinstance(value, SeqValue) and value in self.senders)
            for value in self.context.project.values(call.func.value)
        )

    def places(self) -> Iterator[tuple[SeqValue | None, set[Site], Place]]:
        """Every place where something is put into one of the lists: the list, if known, and who sends it."""
        for sequence, sites in self.senders.items():
            for place in sequence.places:
                if place.var is not None and place.how in ("append", "insert", "literal", "comprehension"):
                    yield sequence, sites, place
        for sites, place in self.added:
            yield None, sites, place

    def loaders(self, program: Container[Module]) -> set[Site]:
        """The calls in ``program`` that send what was stored before."""
        return {
            site
            for value, sites in self.outside.items()
            if isinstance(value, External) and value.path.startswith(STORES)
            for site in sites
            if site.module in program
        }

    def holds_answers(self, sequence: SeqValue) -> bool:
        """Whether one answer can be several items of ``sequence``."""
        return any(self._is_several(value) for value in self.elements(sequence))

    def holds_items(self, sequence: SeqValue) -> bool:
        """Whether an element of ``sequence`` is no plain message afterwards."""
        return any(
            self._is_several(value)
            or (isinstance(value, DictValue) and self.forms.get(value, Form.PLAIN) is not Form.PLAIN)
            for value in self.elements(sequence)
        )

    @cached_property
    def dict_lists(self) -> DictLists:
        """Which of the lists have to hold dicts."""
        return DictLists(self)

    def _is_several(self, value: Value) -> bool:
        if self._is_plain(value):
            return False
        if isinstance(value, Shape):
            return value.kind in ANSWERS
        return isinstance(value, DictValue) and (value in self.multiple or bool(list(poured_answers(value))))

    def elements(self, sequence: SeqValue) -> list[Value]:
        found: dict[Value, None] = {}
        seen: set[SeqValue] = set()
        stack = [sequence]
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            found.update(dict.fromkeys(current.element.values))
            for var in current.items.values():
                found.update(dict.fromkeys(var.values))
            for source in current.derived:
                stack.extend(value for value in source.values if isinstance(value, SeqValue))
        return list(found)


def facts(context: Context) -> Facts:
    """The facts of a run, computed once."""
    known = context.notes.get("items")
    if not isinstance(known, Facts):
        known = context.notes["items"] = Facts(context)
    return known


def only(var: Var | None, wanted: Container[DictValue]) -> bool:
    """Whether every value of a variable is one of ``wanted`` (or None, which was never sent)."""
    values = (
        [value for value in var.values if not (isinstance(value, Const) and value.value is None)]
        if var
        else []
    )
    return bool(values) and all(isinstance(value, DictValue) and value in wanted for value in values)


__all__ = [
    "ANSWERS",
    "Facts",
    "Form",
    "answers_in",
    "facts",
    "form_of",
    "only",
    "poured_answers",
    "writes",
]

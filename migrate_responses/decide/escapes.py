"""Where values leave the project: arguments of foreign calls, answers of handlers, stores.

A value *escapes* when code that this tool does not see gets hold of it. A part of an answer that
escapes keeps its old shape in somebody else's eyes, and so does a message list that is dumped.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import libcst as cst

from ..documents import names
from ..know.graph import Var, groups
from ..know.kinds import (
    Bound,
    Class,
    Client,
    Const,
    External,
    Function,
    Instance,
    Invocation,
    Method,
    Partial,
    Resource,
    Typed,
    Unknown,
    Value,
)
from ..know.modules import Module
from ..know.project import Project
from .contents import PLAIN, contents
from .displayed import is_displayed, is_filed, is_taken_apart, names_keys
from .modelled import DISPLAY, is_modelled, is_not_followed, makes_another
from .offers import Offers
from .opened import OPENERS, is_updated, opened
from .receivers import DOUBLES
from .records import Records


class Way(enum.Enum):
    """How a value leaves."""

    ARGUMENT = "handed to"
    RETURN = "returned to"
    YIELD = "yielded to"
    STORE = "stored in"
    TEXT = "made into text by"
    DISPLAY = "displayed by"  # printed or logged: nobody depends on the shape

    __hash__ = object.__hash__  # each is one object; Enum's own hash, of the name, is slow


@dataclass(frozen=True, repr=False, eq=False)
class Escape:
    """A value leaves at ``node``; ``to`` names who gets it, ``node`` is the expression that leaves."""

    way: Way
    to: str
    node: cst.CSTNode
    module: Module
    direct: bool  # the value itself, not a container that holds it


# What is inside a crossroads leaves in hundreds of ways; the first few of each sort say it all.
_ENOUGH = 8

# Who writes what there is as data: many places that do so tell nothing of who else has it.
_WRITERS = ("json.", "yaml.", "toml", "pickle.")

# Functions that make a text of a value, as it looks.
_STRINGS = frozenset({"builtins.str", "builtins.format", "builtins.repr", "builtins.ascii"})

# The nodes at which a value can leave, besides calls.
_LEAVING = (
    cst.Return,
    cst.Yield,
    cst.FormattedStringExpression,
    cst.Assign,
    cst.AugAssign,
    cst.BinaryOperation,
    cst.Attribute,
)


class Escapes:
    """All escapes of a solved project, by value."""

    def __init__(self, project: Project, packaged: bool) -> None:
        self._project = project
        self.offers = Offers(project, packaged)
        self._records = Records(project)
        self._noted: dict[Value, list[Escape]] = {}
        self._holders: dict[Value, list[Value]] = {}  # the containers a value is in
        self._expanded: set[Value] = set()
        self._answers: dict[Value, list[Escape]] = {}
        self._inner: dict[Escape, Escape] = {}
        # Those that are written, and those of functions that others are given to run: ``Thread(target=f)``.
        for call in dict.fromkeys([*project.invocations, *project.callees]):
            self._call(call)
        for module in project.modules:
            self._module(module)

    def of(self, value: Value) -> list[Escape]:
        """Where ``value`` (an object or a shape) leaves the project, alone or inside something."""
        known = self._answers.get(value)
        if known is None:
            known = self._noted.get(value, [])
            around = self._around.get(value)
            if around is not None:
                own = set(known)
                others = [escape for escape in around if escape not in own]
                known = [*known, *map(self._inside, _enough(others, Counter(map(_sort, known))))]
            self._answers[value] = known
        return known

    @cached_property
    def _around(self) -> dict[Value, dict[Escape, None]]:
        """By value, the first escapes of each sort of the value and of what is around it, however far out.

        Values that are inside each other have the same around them: so each group is looked at once.
        """
        found: dict[Value, dict[Escape, None]] = {}
        for group in groups(self._holders, lambda value: self._holders.get(value, ())):
            own = [escape for value in group for escape in self._noted.get(value, ())]
            outer = [
                escape
                for value in group
                for holder in reversed(self._holders.get(value, ()))
                if holder in found  # and so in another group
                for escape in found[holder]
            ]
            found.update(dict.fromkeys(group, dict.fromkeys(_enough([*own, *outer], Counter()))))
        return found

    def _inside(self, escape: Escape) -> Escape:
        """``escape`` as what is inside of the value that leaves sees it."""
        known = self._inner.get(escape)
        if known is None:
            known = self._inner[escape] = replace(escape, direct=False)
        return known

    def _note(self, var: Var | None, way: Way, to: str, node: cst.CSTNode, module: Module) -> None:
        values = _followed(var)
        if not values:
            return
        escape = Escape(way, to, node, module, True)
        for value in values:
            self._noted.setdefault(value, []).append(escape)
            self._expand(value)

    def _expand(self, value: Value) -> None:
        """Note who is inside ``value``; each container is opened once."""
        stack = [value]
        while stack:
            holder = stack.pop()
            if holder in self._expanded:
                continue
            self._expanded.add(holder)
            fields = (value for var in self._records.fields(holder) for value in var.values)
            for inner in dict.fromkeys([*contents(holder), *fields]):
                if not isinstance(inner, PLAIN):
                    self._holders.setdefault(inner, []).append(holder)
                    stack.append(inner)

    # -- calls ---------------------------------------------------------------------------

    def _call(self, call: Invocation) -> None:
        self._show(call)
        if not any(_followed(argument.var) for argument in call.arguments):
            return
        names = list(self._foreign(call))
        if not names:
            return
        display = all(name.startswith(DISPLAY) for name in names) and not is_filed(call)
        again = "builtins.type" in names and makes_another(call.node, call.module)
        stringify = all(name in _STRINGS for name in names)
        dumps = all(name == "json.dumps" for name in names)
        for argument in call.arguments:
            node = argument.node.value if isinstance(argument.node, cst.Arg) else argument.node
            shown = display and not (is_taken_apart(argument, call) or again)
            if shown or ((stringify or dumps) and is_displayed(self._project, call.node, call.module)):
                way = Way.DISPLAY
            elif stringify:
                way = Way.TEXT
            else:
                way = Way.ARGUMENT
            self._note(argument.var, way, names[0].removeprefix("builtins."), node, call.module)
            if not OPENERS.isdisjoint(names):
                self._open(argument.var, names[0].removeprefix("builtins."), node, call.module)

    def _show(self, call: Invocation) -> None:
        """Note what records show that are dumped, and what they look at when they are made."""
        method = call.node.func
        for field in self._records.dumped(call):
            assert isinstance(method, cst.Attribute)
            shown = is_displayed(self._project, call.node, call.module)
            way, left = (Way.DISPLAY, call.node) if shown else (Way.ARGUMENT, method.value)
            self._note(field, way, f"`{_text(method, call.module)}`", left, call.module)
        for argument in self._records.validated(call):
            node = argument.node.value if isinstance(argument.node, cst.Arg) else argument.node
            self._note(argument.var, Way.ARGUMENT, f"`{_text(method, call.module)}`", node, call.module)

    def _open(self, var: Var, to: str, node: cst.CSTNode, module: Module) -> None:
        """The objects in ``var`` are made into dicts: what they hold leaves with them."""
        for field in opened(var):
            self._note(field, Way.ARGUMENT, to, node, module)

    def _foreign(self, call: Invocation) -> Iterator[str]:
        """The callees of ``call`` that are not the project's, nor known to pass values on."""
        callees = self._project.callees.get(call, {})
        if not callees:
            name = _text(call.node.func, call.module)
            yield names.described(name) if names.is_inert(name) else name
        of_client = any(isinstance(callee, Resource) for callee in callees)
        outside = self._asked_of_callers(call)
        if outside is not None and not of_client:
            yield outside
        for callee in callees:
            match callee:
                case Unknown() if of_client:
                    continue  # a client that somebody passes in: judged with the call
                case External(path=path) if of_client and path.startswith(DOUBLES):
                    continue
                case External(path="builtins.setattr") if len(call.arguments) > 1:
                    if all(isinstance(key, Const) for key in call.arguments[1].var.values) and not any(
                        isinstance(owner, Client) for owner in call.arguments[0].var.values
                    ):
                        continue
                    yield "builtins.setattr"
                case External(path="functools.partial") if call.arguments:
                    yield from self._bound(call)
                case External(path=path):
                    if not is_modelled(path):
                        yield path
                case Unknown(why=why):
                    yield why
                case Class() if self._is_opaque(callee):
                    yield callee.name
                case Method(owner=owner, name=name):
                    yield from _method(owner, name)
                case Bound(function=function) if (hook := self.offers.overriders(function)) is not None:
                    yield hook
                case Function() | Bound() | Instance() | Resource() | Partial() | Class():
                    continue
                case Const() | Typed():
                    continue
                case _:
                    yield _text(call.node.func, call.module)

    def _asked_of_callers(self, call: Invocation) -> str | None:
        """``on_answer(response)``: who outside the project may have given a public function what it calls."""
        match call.node.func, call.scope:
            case cst.Name(value=name), Function() as function if name in function.parameters:
                return self.offers.callers(function)
            case _:
                return None

    def _bound(self, call: Invocation) -> Iterator[str]:
        """Who gets what ``partial`` keeps, whoever calls it."""
        for target in call.arguments[0].var.values:
            if isinstance(target, External) and not is_modelled(target.path):
                yield target.path

    def _is_opaque(self, cls: Class) -> bool:
        """Whether a constructor from outside the project takes the arguments."""
        family = [cls, *self._project.ancestors(cls)]
        if any(owner.annotations or "__init__" in owner.members for owner in family):
            return False
        return any(owner.bases for owner in family)

    # -- statements ----------------------------------------------------------------------

    def _module(self, module: Module) -> None:
        for node in module.of(*_LEAVING):
            match node:
                case cst.Return(value=value) if value is not None:
                    function = self._outlet(module, node)
                    if function is not None:
                        self._note(self._project.vars.get(value), Way.RETURN, function, value, module)
                case cst.Yield(value=cst.BaseExpression() as value):
                    function = self._outlet(module, node)
                    if function is not None:
                        self._note(self._project.vars.get(value), Way.YIELD, function, value, module)
                case cst.FormattedStringExpression(expression=value):
                    way = Way.DISPLAY if is_displayed(self._project, node, module) else Way.TEXT
                    self._note(self._project.vars.get(value), way, "an f-string", value, module)
                case cst.Assign():
                    for target in node.targets:
                        self._store(target.target, node.value, module)
                case cst.AugAssign(target=target, value=value):
                    self._store(target, value, module)
                    self._operate(target, value, module)
                case cst.Attribute(value=owner, attr=cst.Name(value="__dict__")):
                    if not is_updated(node, module) and owner in self._project.vars:
                        self._open(self._project.vars[owner], "`__dict__`", node, module)
                case cst.BinaryOperation(left=cst.BaseString() as text, operator=cst.Modulo(), right=value):
                    whole = is_displayed(self._project, node, module) and not names_keys(text)
                    way = Way.DISPLAY if whole else Way.TEXT
                    self._note(self._project.vars.get(value), way, "a format string", value, module)
                case cst.BinaryOperation(left=left, right=right):
                    self._operate(left, right, module)
                case _:
                    continue
        if module.is_notebook:
            self._displayed(module)

    def _displayed(self, module: Module) -> None:
        """What the cells of a notebook show: the value of a last expression without a semicolon."""
        for cell in module.cells:
            match cell[-1]:
                case cst.SimpleStatementLine(body=[*_, cst.Expr(value=value, semicolon=cst.MaybeSentinel())]):
                    self._note(self._project.vars.get(value), Way.DISPLAY, "the cell", value, module)
                case _:
                    continue

    def _outlet(self, module: Module, node: cst.CSTNode) -> str | None:
        """Who outside the project receives what the function around ``node`` returns."""
        definition = module.function(node)
        function = self._project.functions.get(definition) if definition is not None else None
        if function is None:
            return None
        offered = self.offers.callers(function)
        return f"whoever calls `{function.name}`" if offered is None and function.escaped else offered

    def _operate(self, owner: cst.BaseExpression, value: cst.BaseExpression, module: Module) -> None:
        """``history += [message]``, ``history << message``: what an object's operators do is not followed."""
        if any(isinstance(found, Instance) for found in self._project.values(owner)):
            self._note(self._project.vars.get(value), Way.STORE, _text(owner, module), value, module)

    def _store(self, target: cst.BaseExpression, value: cst.BaseExpression, module: Module) -> None:
        if not isinstance(target, (cst.Attribute, cst.Subscript)):
            return
        owners = self._project.values(target.value)
        if not owners:
            self._note(self._project.vars.get(value), Way.STORE, _text(target, module), value, module)
        for owner in owners:
            if is_not_followed(owner, target):
                self._note(self._project.vars.get(value), Way.STORE, _text(target, module), value, module)
                return
            readers = self.offers.readers(owner, target, self._project.vars.get(value))
            if readers is not None:
                self._note(self._project.vars.get(value), Way.STORE, readers, value, module)


def _followed(var: Var | None) -> list[Value]:
    """The values in ``var`` for which it matters where they go."""
    return [value for value in var.values if not isinstance(value, PLAIN)] if var is not None else []


def _method(owner: Value, name: str) -> Iterator[str]:
    """Methods of project values never let a value escape, but for text that swallows it."""
    if isinstance(owner, (Const, Typed)) and name in ("format", "format_map"):
        yield "str.format"
    return


def _sort(escape: Escape) -> Hashable:
    return escape.way, escape.to.startswith(_WRITERS)


def _enough(escapes: Iterable[Escape], counts: Counter[Hashable]) -> Iterator[Escape]:
    """The first of ``escapes`` of each sort, where ``counts`` tells how many of each are known already."""
    for escape in dict.fromkeys(escapes):
        sort = _sort(escape)
        counts[sort] += 1
        if counts[sort] <= _ENOUGH:
            yield escape


def _text(node: cst.CSTNode, module: Module) -> str:
    """How the text of ``node`` begins. Of a chain of thousands of calls no more is looked at than that."""
    links = [node]
    while isinstance(links[-1], (cst.Call, cst.Attribute, cst.Subscript)):
        links.append(links[-1].func if isinstance(links[-1], cst.Call) else links[-1].value)
    first = links[max(len(links) - _SHOWN, 0)]  # each link has a character at least
    return " ".join(module.tree.code_for_node(first).split())[:_SHOWN]


_SHOWN = 60

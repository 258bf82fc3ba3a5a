"""Functions that a test puts in the place of ``create``: what they ask of the request (MR802, MR803)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..know import modules as syntax
from ..know.kinds import Bound, DictValue, Function, Instance, SeqValue, Value
from ..know.modules import Module
from ..know.testing import in_tests
from .context import Context
from .double_targets import RENAMED

_METHODS = frozenset({"create", "parse"})
_ANSWERS = frozenset({"side_effect", "new", "wraps"})
_UNDERSTOOD = frozenset({"get", "pop", "append", "copy", "update"})


class Replacements:
    """The functions of one test file that get the request."""

    def __init__(self, context: Context, module: Module, known: Collection[cst.CSTNode]) -> None:
        self._context = context
        self._module = module
        self.functions: list[Function] = []
        self.copies: set[DictValue] = set()  # dicts into which a whole request is put
        self._dicts: tuple[tuple[int, int], set[Value]] | None = None
        own = {one.name for one in context.project.functions.values() if not in_tests(one.module)} - _METHODS
        for node in module.of(cst.Call, cst.Assign, cst.Arg):
            for given in () if _is_of_own(node, own) else _given(node, known):
                for value in context.project.values(given):
                    self._add(value)
        for function in context.project.functions.values():
            if function.module is module and function.name in _METHODS and function.owner is not None:
                self._add(function)
        for function in self.functions:  # grows while it is read: functions hand the request on
            for node in syntax.walk(function.node):
                if isinstance(node, cst.Call) and any(
                    arg.star == "**" and self.is_request(arg.value) for arg in node.args
                ):
                    for value in context.project.values(node.func):
                        self._add(value)
        while self._copied():
            continue

    def share(self, others: Collection[Replacements]) -> None:
        """Take the functions of other test files for such, too: a fixture hands on what they keep."""
        found = [function for other in others for function in other.functions]
        copies = {value for other in others for value in other.copies}
        self.functions += [function for function in dict.fromkeys(found) if function not in self.functions]
        self.copies |= copies
        while self._copied():
            continue

    def _copied(self) -> bool:
        """Find dicts that take a request over, as ``seen.update(kwargs)`` does; whether some are new."""
        before = len(self.copies)
        for node in self._module.of(cst.Call, cst.Dict) if self.functions else ():
            match node:
                case cst.Call(func=cst.Attribute(value=into, attr=cst.Name(value="update")), args=[arg]):
                    target, given = into, [arg.value]
                case cst.Call(func=cst.Name(value="dict"), args=[arg, *_]):
                    target, given = node, [arg.value]
                case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="copy")), args=[]):
                    target, given = node, [owner]
                case cst.Dict(elements=elements):
                    target = node
                    given = [e.value for e in elements if isinstance(e, cst.StarredDictElement)]
                case _:
                    continue
            if any(map(self.is_request, given)):
                values = self._context.project.values(target)
                self.copies.update(value for value in values if isinstance(value, DictValue))
        return len(self.copies) > before

    def _add(self, value: Value) -> None:
        match value:
            case Bound(function=function):
                self._add(function)
            case Instance(type=cls):
                called = cls.members.get("__call__")
                for member in called.values if called is not None else ():
                    if isinstance(member, Function):
                        self._add(member)
            case Function() if value not in self.functions:
                self.functions.append(value)
            case _:
                return

    def is_request(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is the ``**kwargs`` of such a function."""
        kept = self._kept()
        return any(value in kept for value in self._context.project.values(node))

    def _kept(self) -> set[Value]:
        """The dicts that are requests, or copies of some."""
        known = len(self.functions), len(self.copies)
        if self._dicts is None or self._dicts[0] != known:
            own = {function.double_star for function in self.functions if function.double_star is not None}
            self._dicts = known, {*own, *self.copies}
        return self._dicts[1]

    def are_requests(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is a list in which whole requests are kept."""
        kept = self._kept()
        for value in self._context.project.values(node):
            if isinstance(value, SeqValue):
                held = {item for var in (value.element, *value.items.values()) for item in var.values}
                if not kept.isdisjoint(held):
                    return True
        return False

    def kept_under(self, is_list: bool) -> set[str]:
        """The attributes under which the functions keep requests: in a list, or one as it is."""
        found: set[str] = set()
        for function in self.functions:
            for node in syntax.walk(function.node):
                match node:
                    case cst.Call(
                        func=cst.Attribute(
                            value=cst.Attribute(attr=cst.Name(value=name)), attr=cst.Name(value=how)
                        ),
                        args=[cst.Arg(value=taken, star="", keyword=None)],
                    ) if how == ("append" if is_list else "update"):
                        pass
                    case cst.Assign(
                        targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value=name)))],
                        value=taken,
                    ) if not is_list:
                        pass
                    case _:
                        continue
                if self.is_request(taken):
                    found.add(name)
        return found

    def named(self, names: Collection[str]) -> Iterator[cst.Param]:
        """The parameters that are called like arguments of the old request."""
        for function in self._own():
            for parameter in syntax.parameters(function.node.params):
                if parameter.name.value in names:
                    yield parameter

    def renamed(self) -> Iterator[tuple[Function, cst.Param]]:
        """The parameters that have another name now."""
        for function in self._own():
            for parameter in syntax.parameters(function.node.params):
                if parameter.name.value in RENAMED:
                    yield function, parameter

    def uses(self, function: Function, parameter: cst.Param, new: str) -> list[cst.Name] | None:
        """The names in ``function`` that mean ``parameter``; None if they cannot be called ``new``."""
        old = parameter.name.value
        sites = self._context.project.sites
        for call in function.callers:
            if call.node not in sites and any(argument.keyword == old for argument in call.arguments):
                return None
        found: list[cst.Name] = []
        for node in syntax.walk(function.node):
            if not isinstance(node, cst.Name) or node is parameter.name:
                continue
            parent = self._module.parents.get(node)
            if (isinstance(parent, cst.Attribute) and parent.attr is node) or (
                isinstance(parent, cst.Arg) and parent.keyword is node
            ):
                continue
            if node.value == new or (isinstance(parent, cst.Param) and node.value == old):
                return None
            if node.value == old:
                found.append(node)
        return found

    def strict(self) -> Iterator[Function]:
        """The functions that name what they take, and so would refuse ``store``."""
        for function in self._own():
            parameters = syntax.parameters(function.node.params)
            names = {parameter.name.value for parameter in parameters}
            if function.double_star is None and "store" not in names and names & {"model", "messages"}:
                yield function

    def _own(self) -> list[Function]:
        return [function for function in self.functions if function.module is self._module]

    def unclear(self) -> Iterator[cst.BaseExpression]:
        """Uses of a whole request that may look at the names of its arguments."""
        for node in self._module.of(cst.Name) if self.functions else ():
            if not self.is_request(node):
                continue
            parent = self._module.parents.get(node)
            match parent:
                case cst.Attribute(value=value, attr=attr) if value is node:
                    if attr.value not in _UNDERSTOOD:
                        yield node
                case cst.Arg(star=""):
                    call = self._module.parents.get(parent)
                    func = call.func if isinstance(call, cst.Call) else None
                    known = isinstance(func, cst.Attribute) and func.attr.value in _UNDERSTOOD
                    if not known and (func is None or not self._is_of_the_tests(func)):
                        yield node
                case cst.StarredDictElement():
                    display = self._module.parents.get(parent)
                    values = self._context.project.values(display) if display is not None else ()
                    if not any(value in self.copies for value in values if isinstance(value, DictValue)):
                        yield node
                case cst.For() | cst.If() | cst.UnaryOperation(operator=cst.Not()):
                    yield node  # what is left of it, once the rest is taken out
                case _:
                    continue

    def _is_of_the_tests(self, func: cst.BaseExpression) -> bool:
        """Whether all that is called is a function of this file, where each use of its own is looked at."""
        values = self._context.project.values(func)
        return bool(values) and all(
            isinstance(value, Function) and value.module is self._module for value in values
        )


def with_store(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """Parameters that take ``store`` too."""
    assert isinstance(updated, cst.Parameters)
    store = cst.Param(
        cst.Name("store"),
        default=cst.Name("None"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    if updated.kwonly_params or isinstance(updated.star_arg, (cst.ParamStar, cst.Param)):
        return updated.with_changes(kwonly_params=_and(updated.kwonly_params, store))
    return updated.with_changes(params=_and(updated.params, store))


def _and(parameters: Collection[cst.Param], last: cst.Param) -> list[cst.Param]:
    """``parameters`` with another one, which takes over how the last one ends."""
    found = list(parameters)
    if not found:
        return [last]
    ending = found[-1].comma
    found[-1] = found[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return [*found, last.with_changes(comma=ending)]


def _telling(patch: cst.CSTNode) -> list[cst.Arg]:
    """The arguments that tell what is patched: where a literal names it, the answers given do not."""
    assert isinstance(patch, cst.Call)
    named = [arg for arg in patch.args if arg.keyword is None and isinstance(arg.value, _NAMES)]
    literal = any(isinstance(arg.value, cst.SimpleString) for arg in named)
    return named if literal else list(patch.args)


_NAMES = (cst.SimpleString, cst.Name, cst.Attribute)


def _is_of_own(node: cst.CSTNode, own: Collection[str]) -> bool:
    """``provider.complete.side_effect = fake``, where the program has a ``complete`` of its own."""
    match node:
        case cst.Assign(
            targets=[
                cst.AssignTarget(
                    target=cst.Attribute(value=cst.Attribute(attr=cst.Name(value=name)), attr=answers)
                )
            ]
        ):
            return name in own and answers.value in _ANSWERS | {"return_value"}
        case _:
            return False


def _given(node: cst.CSTNode, known: Collection[cst.CSTNode]) -> Iterator[cst.BaseExpression]:
    """What ``node`` puts in the place of a method of the old API."""
    match node:
        case cst.Call() if is_patcher(node):
            if any(inner in known for arg in _telling(node) for inner in syntax.walk(arg.value)):
                yield from (arg.value for arg in node.args)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=attr))], value=value):
            if attr.value in _METHODS | _ANSWERS:
                yield value
        case cst.Arg(keyword=cst.Name(value=name), value=value) if name in _METHODS | _ANSWERS:
            yield value
        case _:
            return

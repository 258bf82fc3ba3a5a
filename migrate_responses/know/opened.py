"""Names and attributes that are set under computed names: their defaults are not all that they can be.

``globals().update(json.load(file))``, ``setattr(agent, key, value)``, ``vars(settings).update(stored)``,
``exec(open("conf.py").read())``. Which one is set is not known, so what is a plain value so far (None, a
text, a list) may be another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from . import modules as syntax
from .binding import plain_type
from .graph import Var
from .kinds import Class, Const, DictValue, Instance, ModuleValue, SeqValue, Typed, Unknown, Value
from .modules import Module

if TYPE_CHECKING:
    from .project import Project

_SIGNS = re.compile(r"\b(?:globals|vars|locals|setattr|exec)\(|__dict__|\bnamespace\s*=|\bsys\.modules\[")
_READS = re.compile(r"\b(?:open|read|read_text|compile)\(")


@dataclass(frozen=True, eq=False)
class Opening:
    """Code that sets computed names of ``owner`` (None: of its own module) to what ``given`` has."""

    node: cst.CSTNode
    module: Module
    owner: cst.BaseExpression | None
    given: cst.BaseExpression | None = None  # a mapping, if it is one
    key: cst.BaseExpression | None = None  # the name, where one is set


def openings(module: Module) -> list[Opening]:
    """The places in ``module`` that set names which are not written out."""
    if _SIGNS.search(module.text) is None:
        return []
    found: list[Opening] = []
    for call in module.of(cst.Call):
        if isinstance(call, cst.Call):
            found += (Opening(call, module, *one) for one in _by_call(module, call))
    for target in module.of(cst.AssignTarget):
        match target:
            case cst.AssignTarget(
                target=cst.Subscript(
                    value=names,
                    slice=[cst.SubscriptElement(slice=cst.Index(value=key))],
                )
            ) if not isinstance(key, cst.SimpleString):
                mapping = _looped(module, target)
                found += (Opening(target, module, owner, mapping, key) for owner in _owner(names))
    return found


_Set = tuple[cst.BaseExpression | None, cst.BaseExpression | None, cst.BaseExpression | None]


def _by_call(module: Module, call: cst.Call) -> Iterator[_Set]:
    """The owners whose names ``call`` sets, each with the mapping that they get, and the name of one."""
    match call:
        case cst.Call(
            func=cst.Attribute(value=names, attr=cst.Name(value="update")), args=[cst.Arg() as arg]
        ):
            if arg.keyword is None:
                yield from ((owner, arg.value, None) for owner in _owner(names))
        case cst.Call(func=cst.Name(value="setattr"), args=[cst.Arg(value=owner), cst.Arg(value=key), _]):
            if not isinstance(key, cst.SimpleString):
                yield (None if _is_own(owner) else owner), _looped(module, call), key
        case cst.Call(func=cst.Name(value="exec"), args=[cst.Arg(value=code), *others]):
            at_top = module.function(call) is None
            in_here = [owner for arg in others[:1] for owner in _owner(arg.value)] if others else []
            if _READS.search(cst.Module([]).code_for_node(code)) and (
                None in in_here or (at_top and not others)
            ):
                yield None, None, None
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="parse_args" | "parse_known_args")), args=args):
            for arg in args:
                if arg.keyword is not None and arg.keyword.value == "namespace":
                    yield arg.value, None, None
        case _:
            return


def _owner(names: cst.BaseExpression) -> Iterator[cst.BaseExpression | None]:
    """Whose names the mapping ``names`` holds; None for those of the module itself."""
    match names:
        case cst.Call(func=cst.Name(value="globals" | "vars" | "locals"), args=[]):
            yield None
        case (
            cst.Call(func=cst.Name(value="vars"), args=[cst.Arg(value=owner)])
            | cst.Attribute(value=owner, attr=cst.Name(value="__dict__"))
        ):
            yield None if _is_own(owner) else owner
        case _:
            return


def _is_own(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is ``sys.modules[__name__]``."""
    match node:
        case cst.Subscript(
            value=cst.Attribute(value=cst.Name(value="sys"), attr=cst.Name(value="modules")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value="__name__")))],
        ):
            return True
        case _:
            return False


def _looped(module: Module, node: cst.CSTNode) -> cst.BaseExpression | None:
    """``d`` of the loop ``for key, value in d.items()`` around ``node``."""
    for outer in module.ancestors(node):
        match outer:
            case cst.For(
                iter=cst.Call(func=cst.Attribute(value=mapping, attr=cst.Name(value="items")), args=[])
            ):
                return mapping
            case cst.For() | cst.FunctionDef():
                return None
            case _:
                continue
    return None


def defaults(module: Module) -> set[str]:
    """The names of ``module`` that are only ever set to plain values at its top."""
    plain: set[str] = set()
    others: set[str] = set()
    for node in module.of(cst.Assign, cst.AnnAssign):
        if module.function(node) is not None or not isinstance(node, (cst.Assign, cst.AnnAssign)):
            continue
        targets = [one.target for one in node.targets] if isinstance(node, cst.Assign) else [node.target]
        names = {name for target in targets for name in syntax.target_names(target)}
        (plain if node.value is not None and _is_plain(node.value) else others).update(names)
    return (plain - others) & module.scope.bound


def _is_plain(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Name(value="None" | "True" | "False") | cst.SimpleString() | cst.ConcatenatedString():
            return True
        case cst.Integer() | cst.Float() | cst.UnaryOperation() | cst.List() | cst.Dict() | cst.Tuple():
            return True
        case _:
            return False


class Opened:
    """What places that set computed names do to those whose values are known."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._openings: list[Opening] = []
        self._done: set[Var] = set()

    def prepare(self) -> None:
        """Before anything is built: the order of definitions says nothing of names that are set so."""
        for module in self._project.modules:
            found = openings(module)
            self._openings += found
            if any(opening.owner is None for opening in found):
                module.scope.shared |= defaults(module)

    def open(self) -> bool:
        """Let plain values be others; whether anything was new."""
        changed = False
        for opening in self._openings:
            given = self._project.values(opening.given) if opening.given is not None else []
            names = self._spelled(opening)
            for name, var, kind in list(self._set_by(opening)):
                if names is not None and name not in names:
                    continue
                found = [value for one in given for value in self._entries(one, name)]
                if not given or any(not _is_known(one) for one in given):
                    unknown = Unknown("a name that is set at run time", opening.node)
                    found.append(Typed(kind) if kind else unknown)
                if var not in self._done and found:
                    self._done.add(var)
                    self._project.solver.add(var, found)
                    changed = True
        return changed

    def _spelled(self, opening: Opening) -> set[object] | None:
        """The names that ``opening`` sets, if they are known."""
        keys = self._project.values(opening.key) if opening.key is not None else []
        if not keys or not all(isinstance(key, Const) for key in keys):
            return None
        by_rule = isinstance(opening.node, cst.Call)  # of `setattr`, which follows what is set
        return set() if by_rule else {key.value for key in keys if isinstance(key, Const)}

    def _entries(self, value: Value, name: str) -> list[Value]:
        if isinstance(value, DictValue) and name in value.places:
            return list(self._project.field(value, name).values)
        return []

    def _set_by(self, opening: Opening) -> Iterator[tuple[str, Var, str | None]]:
        """The names with plain values that ``opening`` may set, with what they hold and their type."""
        if opening.owner is None:
            yield from self._names(opening.module)
            return
        for owner in self._project.values(opening.owner):
            match owner:
                case ModuleValue(module=module):
                    yield from self._names(module)
                case Instance(type=cls):
                    yield from self._fields(owner, cls)
                case Class():
                    for name, var in owner.members.items():
                        if _all_plain(var.values):
                            yield name, var, plain_type(owner.annotations.get(name))
                case _:
                    continue

    def _names(self, module: Module) -> Iterator[tuple[str, Var, str | None]]:
        for name in sorted(defaults(module)):
            var = module.scope.any(name)
            if _all_plain(var.values):
                yield name, var, None

    def _fields(self, instance: Instance, cls: Class) -> Iterator[tuple[str, Var, str | None]]:
        family = [cls, *self._project.ancestors(cls)]
        names = dict.fromkeys(name for one in family for name in (*one.members, *one.instance.fields))
        for name in names:
            var = self._project.instance_field(instance, name)
            known = [*var.values, *self._project.lookup(cls, name).values]
            if _all_plain(known):
                kinds = [plain_type(one.annotations[name]) for one in family if name in one.annotations]
                yield name, var, kinds[0] if kinds else None


def _all_plain(values: Iterable[Value]) -> bool:
    found = list(values)
    return bool(found) and all(isinstance(value, (Const, DictValue, SeqValue, Typed)) for value in found)


def _is_known(value: Value) -> bool:
    """Whether all entries of a mapping are written out."""
    return isinstance(value, DictValue) and not (
        value.others or value.merged or value.outside.values or value.unkeyed.values
    )

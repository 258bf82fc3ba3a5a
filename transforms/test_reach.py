"""Which calls a test can reach, by name: from what it mentions to what that mentions, and so on.

Names are taken for more than they can mean (any method called ``run`` for all of them), so that a call is
left out only where no way leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import External, Site
from ..know.modules import Module
from .context import Context

_WORD = re.compile(r"[A-Za-z_]\w*")
# Decorators that only change what a function does when it is called by its name.
_PLAIN = frozenset(
    "staticmethod classmethod property cached_property lru_cache cache contextmanager asynccontextmanager"
    " wraps retry dataclass abstractmethod override overload setter patch object fixture".split()
)
# Reads of a name that is known only at run time; and what stands for one among the names.
_DYNAMIC = frozenset(
    "globals import_module __import__ eval exec attrgetter methodcaller __subclasses__ entry_points"
    " getmembers iter_modules walk_packages import_string resolve_name".split()
)
_REGISTERED = re.compile(r"__init_subclass__|\bmetaclass=(?!(abc\.)?ABCMeta)")
_COMPUTED = "<computed>"
_ALWAYS = ""  # what is mentioned by code that runs when the module is loaded


class Reach:
    """The names that lead to the calls of some modules."""

    def __init__(self, context: Context, modules: Iterable[Module], tests: Iterable[Module]) -> None:
        self._mentions: dict[str, set[str]] = {}
        self._context = context
        modules, tests = list(modules), list(tests)
        for module in (*modules, *tests):
            self._aliases(module)
        for module in modules:
            for statement in module.tree.body:
                self._program(module, statement)
        for module in tests:
            for statement in module.tree.body:
                if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
                    self._add(statement.name.value, statement)
                    if _is_autouse(statement):
                        self._add(_ALWAYS, statement)
                elif not _is_import(statement):
                    names = syntax.bound_in([statement])
                    for name in names or {_ALWAYS}:
                        self._add(name, statement)

    def from_(self, nodes: Iterable[cst.CSTNode]) -> set[str]:
        """The names that are mentioned in ``nodes``, or on the way from there."""
        return _closure([_ALWAYS, *(name for node in nodes for name in self._words(node))], self._mentions)

    def leading_to(self, names: Iterable[str], nodes: Iterable[cst.CSTNode]) -> list[cst.CSTNode]:
        """Those of ``nodes`` from which a way leads to one of ``names``."""
        ways = _closure(names, self._mentioned_by)
        return [node for node in nodes if _ALWAYS in ways or not ways.isdisjoint(self._words(node))]

    @cached_property
    def _mentioned_by(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name, mentions in self._mentions.items():
            for mention in mentions:
                found.setdefault(mention, set()).add(name)
        return found

    def _add(self, name: str, node: cst.CSTNode) -> None:
        self._mentions.setdefault(name, set()).update(self._words(node))

    def _words(self, node: cst.CSTNode) -> frozenset[str]:
        known = self._context.memo.setdefault("words", {})
        assert isinstance(known, dict)
        found = known.get(node)
        if found is None:
            found = known[node] = frozenset(_mentioned(node))
        assert isinstance(found, frozenset)
        return found

    def _aliases(self, module: Module) -> None:
        """``import x as y``: who says ``y`` means ``x``."""
        for alias in module.of(cst.ImportAlias):
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                last = syntax.dotted(alias.name).rpartition(".")[2]
                self._mentions.setdefault(alias.asname.name.value, set()).add(last)

    def _program(self, module: Module, statement: cst.CSTNode) -> None:
        """The definitions of the program: what each mentions."""
        match statement:
            case cst.FunctionDef(name=cst.Name(value=name)):
                self._add(name, statement)
                if _is_registered(statement):
                    self._add(_ALWAYS, statement)
            case cst.ClassDef(name=cst.Name(value=name)):
                known = self._is_known(statement)
                if any(_last(item.decorator) not in _PLAIN for item in statement.decorators):
                    self._mentions.setdefault(_ALWAYS, set()).add(name)
                for item in statement.body.body:
                    if isinstance(item, cst.FunctionDef):
                        special = item.name.value.startswith("__") or not known
                        self._add(name if special else item.name.value, item)
                        if _is_registered(item):
                            self._add(_ALWAYS, item)
                    else:
                        self._program_of_class(module, name, item)
                for base in statement.bases:
                    self._add(name, base)
            case cst.If() if _is_main(statement):
                return
            case _:
                if not _is_import(statement):
                    self._add(_ALWAYS, statement)

    def _program_of_class(self, module: Module, name: str, item: cst.CSTNode) -> None:
        if isinstance(item, cst.ClassDef):
            self._program(module, item)
        self._add(name, item)

    def _is_known(self, node: cst.ClassDef) -> bool:
        """Whether nobody outside the project calls the methods of a class by their names."""
        return not _is_foreign(self._context, node)


def _closure(starts: Iterable[str], links: Mapping[str, set[str]]) -> set[str]:
    """``starts``, and all that ``links`` lead to from there."""
    found = set(starts)
    stack = list(found)
    while stack:
        for name in links.get(stack.pop(), ()):
            if name not in found:
                found.add(name)
                stack.append(name)
    return found


_BASES = frozenset(
    "object ABC Protocol Generic BaseModel BaseSettings NamedTuple TypedDict Enum Exception".split()
)


def _is_foreign(context: Context, node: cst.ClassDef) -> bool:
    """Whether a class builds on one from outside that may do something with it, or with its methods."""
    return any(
        isinstance(value, External) and value.path.rpartition(".")[2] not in _BASES
        for base in node.bases
        for value in context.project.values(base.value)
    )


def _registers(context: Context) -> bool:
    """Whether classes of the project may be kept, and made, by whoever they build on."""
    known = context.memo.get("registers")
    if known is None:
        known = context.memo["registers"] = any(
            _REGISTERED.search(module.text) for module in context.project.modules
        )
    assert isinstance(known, bool)
    return known


def leads_to(context: Context, names: set[str], site: Site) -> bool:
    """Whether one of ``names`` is that of the function or method around ``site``.

    Who makes an object of a class says its name, or that of a class that builds on it.
    """
    if _COMPUTED in names:
        return True
    holder: cst.FunctionDef | None = None
    owner: cst.ClassDef | None = None
    for parent in site.module.ancestors(site.node):
        if isinstance(parent, cst.FunctionDef):
            holder, owner = parent, None
        elif isinstance(parent, cst.ClassDef) and owner is None:
            owner = parent
    if holder is None:
        return True
    if owner is None:
        return holder.name.value in names
    if owner.name.value in names:
        return holder.name.value in names or holder.name.value.startswith("__") or bool(owner.bases)
    found_by_base = bool(owner.bases) and (_registers(context) or _is_foreign(context, owner))
    return found_by_base and holder.name.value in names


def _mentioned(node: cst.CSTNode) -> Iterator[str]:
    for inner in syntax.walk(node):
        if isinstance(inner, cst.Name):
            yield inner.value
        elif isinstance(inner, (cst.SimpleString, cst.FormattedStringText)):
            yield from _WORD.findall(inner.value)
        elif isinstance(inner, cst.Call) and _is_computed(inner):
            yield _COMPUTED


def _is_computed(node: cst.Call) -> bool:
    """Whether a call looks up a name that is not written there."""
    name = syntax.dotted(node.func).rpartition(".")[2]
    if name == "getattr":
        return len(node.args) > 1 and not isinstance(node.args[1].value, cst.SimpleString)
    return name in _DYNAMIC


def _is_import(statement: cst.CSTNode) -> bool:
    if isinstance(statement, (cst.If, cst.Try)):  # imports that depend on something
        return all(_is_import(line) for line in statement.body.body)
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(small, (cst.Import, cst.ImportFrom))
        or (isinstance(small, cst.Expr) and isinstance(small.value, cst.BaseString))
        or (isinstance(small, cst.Assign) and "__all__" in syntax.bound_in([small]))
        for small in statement.body
    )


def _is_main(node: cst.If) -> bool:
    return any(isinstance(inner, cst.Name) and inner.value == "__name__" for inner in syntax.walk(node.test))


def _is_registered(node: cst.FunctionDef) -> bool:
    """Whether a decorator may hand the function to somebody who calls it: a route, a command."""
    return any(
        _last(item.decorator) not in _PLAIN and not _last(item.decorator).startswith("retry")
        for item in node.decorators
    )


def _is_autouse(node: cst.FunctionDef | cst.ClassDef) -> bool:
    return any(
        isinstance(inner, cst.Name) and inner.value == "autouse"
        for item in node.decorators
        for inner in syntax.walk(item)
    )


def _last(node: cst.BaseExpression) -> str:
    made = node.func if isinstance(node, cst.Call) else node
    return syntax.dotted(made).rpartition(".")[2]

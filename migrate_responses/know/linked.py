"""Which module of the project an import means, who imports whom, and what runs together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from ..import_path import GIVEN_BY_FRAMEWORKS
from . import modules as syntax
from .index import Index
from .loading import begun_name
from .modules import Module
from .testing import find_helpers, in_tests

# ``"app.llm:Client"``: what stands for a module, so that somebody may load it.
_NAMED = re.compile(r"[\"']([A-Za-z_][\w.]*)[.:]\w+[\"']")
# The same with dots before it, and without a member, where modules are loaded.
_LOADED = re.compile(r"[\"'](\.*)([A-Za-z_][\w.]*)(?::\w+)?[\"']")


class Linked:
    """The modules of a project, as imports link them."""

    def __init__(self, modules: Sequence[Module]) -> None:
        super().__init__()
        self.modules = list(modules)
        self.index = Index(self.modules)
        self._links: dict[Module, set[Module]] = {}  # who imports whom, both ways
        self._programs: dict[Module, frozenset[Module]] = {}
        self._alongside: dict[frozenset[Module], list[Module]] = {}
        self._realms: dict[frozenset[Module], int] = {}

    def realm(self, module: Module) -> int:
        """A number for the program of ``module``."""
        program = self.program(module)
        return self._realms.setdefault(program, len(self._realms) + 1)

    def modules_inside(self, importer: Module, level: int, name: str) -> list[Module]:
        return self.index.inside(importer, level, name)

    def find_module(self, importer: Module, level: int, name: str) -> Module | None:
        """The project module that an import means, if it is one."""
        found = self.index.relative(importer, level, name) if level else self.index.absolute(importer, name)
        if found is importer and not level:
            return None
        if found is not None and not level and name == "openai" and _is_none_of(found):
            return None
        return found

    def given_by_framework(self, module: str, member: str) -> list[Module]:
        """The modules that ``from module import member`` can read, though it names a framework's object."""
        called = GIVEN_BY_FRAMEWORKS.get((module, member))
        if called is None:
            return []
        return [one for one in self.modules if called in one.name.split(".")[-2:] and not in_tests(one)]

    def link(self) -> None:
        """Find out which modules import which; to be done before anything is built."""
        importers: dict[Module, set[Module]] = {}
        by_name = any("import_module" in module.text for module in self.modules)
        for module in self.modules:
            for named in self._named(module) if by_name else ():
                self._links.setdefault(module, set()).add(named)
                self._links.setdefault(named, set()).add(module)
            by_call = (cst.Call,) if "import_module" in module.text or "__import__" in module.text else ()
            for node in module.of(cst.Import, cst.ImportFrom, *by_call):
                for found in self._imports(module, node):
                    if found is not module:
                        importers.setdefault(found, set()).add(module)
                    self._links.setdefault(module, set()).add(found)
                    self._links.setdefault(found, set()).add(module)
        find_helpers(importers)

    def _imports(self, module: Module, node: cst.CSTNode) -> Iterator[Module]:
        names: list[tuple[int, str]] = []
        if isinstance(node, cst.Call):
            names = [(0, name) for name in _imported_by_call(node)]
            begun = begun_name(node) if _imports_by_call(node) else None
            yield from self.index.inside(module, *begun) if begun is not None else ()
        elif isinstance(node, cst.Import):
            names = [(0, syntax.dotted(alias.name)) for alias in node.names]
        elif isinstance(node, cst.ImportFrom):
            base = syntax.dotted(node.module) if node.module is not None else ""
            level = len(node.relative)
            names = [(level, base)] if base else []
            if not isinstance(node.names, cst.ImportStar):
                prefix = f"{base}." if base else ""
                names += [(level, prefix + syntax.dotted(alias.name)) for alias in node.names]
                for _, name in names if not level else ():
                    yield from self.given_by_framework(*name.rpartition(".")[::2])
        for level, name in names:
            found = self.find_module(module, level, name)
            if found is not None:
                yield found

    def _named(self, module: Module) -> Iterator[Module]:
        """The modules that strings of ``module`` name, as ``"app.llm:Client"``: somebody may load them so."""
        named = [(0, name) for name in _NAMED.findall(module.text)]
        if "import_module" in module.text:
            named += [(len(dots), name) for dots, name in _LOADED.findall(module.text)]
        for level, name in dict.fromkeys(named):
            found = self.find_module(module, level, name)
            if found is not None and found is not module:
                yield found

    def program(self, module: Module) -> frozenset[Module]:
        """The modules that can run together with ``module``: linked to it by imports, either way.

        A repository of examples is many programs; what one of them does says nothing about another.
        """
        known = self._programs.get(module)
        if known is None:
            found = {module}
            stack = [module]
            while stack:
                for other in self._links.get(stack.pop(), ()):
                    if other not in found:
                        found.add(other)
                        stack.append(other)
            known = frozenset(found)
            self._programs.update(dict.fromkeys(found, known))
        return known

    def alongside(self, module: Module) -> list[Module]:
        """The modules of the program of ``module``, in the order of the project."""
        program = self.program(module)
        known = self._alongside.get(program)
        if known is None:
            known = self._alongside[program] = [one for one in self.modules if one in program]
        return known


def _imports_by_call(call: cst.Call) -> bool:
    function = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return isinstance(function, cst.Name) and function.value in ("import_module", "__import__")


def _imported_by_call(call: cst.Call) -> list[str]:
    """The name that ``import_module("...")`` spells out."""
    match call.args:
        case [cst.Arg(value=cst.SimpleString() as name), *_] if _imports_by_call(call):
            return [name.evaluated_value] if isinstance(name.evaluated_value, str) else []
        case _:
            return []


def _is_none_of(module: Module) -> bool:
    """Whether ``import openai`` means the SDK and not ``module``, which imports it or holds nothing."""
    return module.names_openai or not module.scope.bound

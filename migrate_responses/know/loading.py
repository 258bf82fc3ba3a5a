"""Modules that are imported by a call, by their name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator

import libcst as cst

from .graph import Var
from .iterating import Iterating
from .kinds import Const, External, Invocation, ModuleValue, SeqValue, Value
from .modules import Module

MODULES = "sys.modules"


class Loading(Iterating):
    """``importlib.import_module``, ``__import__``, ``sys.modules`` and ``importlib.reload``."""

    @abstractmethod
    def named_module(self, importer: Module, level: int, name: str) -> Var:
        """The module that ``import name`` means in ``importer``, below as many packages as ``level`` says."""

    @abstractmethod
    def modules_inside(self, importer: Module, level: int, name: str) -> Iterable[Module]:
        """The modules right in the package that ``name`` means in ``importer``."""

    def load_module(self, path: str, call: Invocation) -> bool:
        """Give the module that is imported at ``call``; whether ``path`` is a function that imports."""
        match path:
            case "importlib.import_module" | "importlib.__import__" | "builtins.__import__":
                if call.arguments:
                    self._import(path, call)
            case "importlib.reload" if call.arguments:
                self.solver.flow(call.arguments[0].var, call.result)
            case _:
                return False
        return True

    def _import(self, path: str, call: Invocation) -> None:
        outermost = path.endswith("__import__") and not _has_names(call)
        package = None if path.endswith("__import__") else _package(call)

        def on(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str) and found.value.strip("."):
                name = found.value.lstrip(".")
                level = len(found.value) - len(name)
                if level and package is not None:
                    above = package.split(".")[: 1 - level or None]
                    name, level = ".".join([*above, name]), 0
                whole = name.partition(".")[0] if outermost else name
                self.solver.flow(self.named_module(call.module, level, whole), call.result)
            else:
                self.solver.add(call.result, [External(path).step("()")])

        self.solver.watch(call.arguments[0].var, on)
        begun = begun_name(call.node)
        if begun is not None:
            found = self.modules_inside(call.module, *begun)
            self.solver.add(call.result, [ModuleValue(module) for module in found])

    def loaded_module(self, key: Var, importer: Module, target: Var) -> None:
        """``sys.modules[key]`` flows to ``target``."""

        def on(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str) and found.value:
                self.solver.flow(self.named_module(importer, 0, found.value), target)
            else:
                self.solver.add(target, [External(MODULES).step("[]")])

        self.solver.watch(key, on)


def begun_name(call: cst.CSTNode) -> tuple[int, str] | None:
    """The package in ``import_module(f"app.plugins.{name}")``, after the number of dots before it."""
    if not isinstance(call, cst.Call) or not call.args:
        return None
    level, text, rest = 0, "", _pieces(call.args[0].value)
    for piece in rest:
        if isinstance(piece, str):
            text += piece
        elif not text and isinstance(piece, cst.Name) and piece.value in ("__name__", "__package__"):
            level = 1
        else:
            break
    name = text.lstrip(".")
    if not level:
        level = len(text) - len(name)
    if not text.endswith(".") or (not name and not level):
        return None
    return level, name.rstrip(".")


def _pieces(node: cst.BaseExpression) -> Iterator[str | cst.BaseExpression]:
    """A text that is put together, piece by piece: what is spelled out as text."""
    match node:
        case cst.SimpleString():
            yield str(node.evaluated_value)
        case cst.FormattedString(parts=parts):
            for part in parts:
                if isinstance(part, cst.FormattedStringText):
                    yield part.value
                elif isinstance(part, cst.FormattedStringExpression):
                    yield part.expression
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            yield from _pieces(left)
            yield from _pieces(right)
        case cst.BinaryOperation(left=cst.SimpleString() as text, operator=cst.Modulo(), right=right):
            yield str(text.evaluated_value).partition("%")[0]
            yield right
        case cst.Call(func=cst.Attribute(value=cst.SimpleString() as text, attr=cst.Name(value="format"))):
            yield str(text.evaluated_value).partition("{")[0]
            yield node
        case _:
            yield node


def _package(call: Invocation) -> str | None:
    """The package that a name with dots before it is looked up in, if it is spelled out."""
    given = call.named("package")
    positional = [item for item in call.arguments if item.keyword is None]
    if given is None and len(positional) > 1:
        given = positional[1]
    for value in list(given.var.values) if given is not None else ():
        if isinstance(value, Const) and isinstance(value.value, str):
            return value.value
    return None


def _has_names(call: Invocation) -> bool:
    """Whether ``__import__`` is told which names are wanted: then it gives the innermost package."""
    given = call.named("fromlist")
    positional = [item for item in call.arguments if item.keyword is None]
    if given is None and len(positional) > 3:
        given = positional[3]
    if given is None:
        return False
    return any(
        not isinstance(value, SeqValue) or bool(value.items or value.derived) for value in given.var.values
    )

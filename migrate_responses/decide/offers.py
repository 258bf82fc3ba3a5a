"""What a distributed project offers to programs that nobody here sees: its public functions."""

from __future__ import annotations

from functools import cached_property

import libcst as cst

from ..know.exported import MADE, exported, is_shipped
from ..know.graph import Var
from ..know.kinds import STRUCTURAL, Class, DictValue, Function, Instance, Shape, Value
from ..know.project import Project


class Offers:
    """The public functions of a project, if it is ``packaged`` for others."""

    def __init__(self, project: Project, packaged: bool) -> None:
        self._project = project
        self._packaged = packaged

    def callers(self, function: Function) -> str | None:
        """Who outside the project may call ``function``, for a person; None if it is nobody's contract."""
        module = function.module
        if not self._packaged or not is_shipped(module) or module.is_notebook or module.is_snippet:
            return None
        owner = function.owner
        name = owner.name if function.name == MADE and owner is not None else function.name
        called = any(is_shipped(call.module) for call in function.callers)  # tests and examples show its use
        if name.startswith("_") or name == "main" or (called and function not in self._exported):
            return None
        return f"callers of the public `{name}`"

    def givers(self, options: DictValue) -> str | None:
        """Who outside the project may fill the ``**options`` of a function, for a person."""
        if not self._packaged or not isinstance(options.node, cst.Param):
            return None
        function = next((one for one in self._project.functions.values() if one.double_star is options), None)
        owner = function.owner if function is not None else None
        if function is None or (owner is not None and owner.name.startswith("_")):
            return None
        return self.callers(function)

    def readers(self, owner: Value, target: cst.Attribute | cst.Subscript, value: Var | None) -> str | None:
        """Who outside may read the part of an answer that ``target`` keeps, as nobody here does."""
        if not self._packaged or not isinstance(owner, Instance) or not isinstance(target, cst.Attribute):
            return None
        name = target.attr.value
        if name.startswith("_") or name in self._read or not self._is_public(owner.type):
            return None
        if value is None or not any(
            isinstance(one, Shape) and one.kind in STRUCTURAL for one in value.values
        ):
            return None
        return f"the public `{owner.type.name}.{name}`, for callers"

    def overriders(self, method: Function) -> str | None:
        """Who outside the project may write the body of ``method``, which has none here."""
        owner = method.owner
        if not self._packaged or owner is None or method.name.startswith("_") or not self._is_public(owner):
            return None
        return f"overriders of the public `{owner.name}.{method.name}`" if is_empty(method) else None

    def _is_public(self, cls: Class) -> bool:
        module = cls.module
        plain = not module.is_notebook and not module.is_snippet
        return plain and is_shipped(module) and not cls.name.startswith("_")

    @cached_property
    def _read(self) -> frozenset[str]:
        """The names of the attributes that anything but tests and examples reads."""
        return frozenset(
            node.attr.value
            for module in self._project.modules
            if is_shipped(module)
            for node in module.of(cst.Attribute)
            if isinstance(node, cst.Attribute)
            and not isinstance(module.parents.get(node), (cst.AssignTarget, cst.AnnAssign))
        )

    @cached_property
    def _exported(self) -> frozenset[Function]:
        return frozenset(exported(self._project.modules))


def is_empty(function: Function) -> bool:
    """Whether a function does nothing: ``...``, ``pass``, a docstring, ``raise NotImplementedError``."""
    body = function.node.body
    if not isinstance(body, (cst.IndentedBlock, cst.SimpleStatementSuite)):
        return False
    return all(map(_is_nothing, body.body))


def _is_nothing(line: cst.CSTNode) -> bool:
    match line:
        case cst.SimpleStatementLine(body=parts):
            return all(map(_is_nothing, parts))
        case cst.Pass() | cst.Expr(value=cst.Ellipsis() | cst.SimpleString()) | cst.Raise():
            return True
        case cst.Return(value=None | cst.Name(value="None")):
            return True
        case _:
            return False

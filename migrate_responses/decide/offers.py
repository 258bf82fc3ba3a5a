"""What a distributed project offers to programs that nobody here sees: its public functions."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import DictValue, Function
from ..know.project import Project
from .receivers import is_shipped

_MADE = "__init__"  # offered as the class


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
        name = owner.name if function.name == _MADE and owner is not None else function.name
        called = any(is_shipped(call.module) for call in function.callers)  # tests and examples show its use
        if name.startswith("_") or name == "main" or (called and not self._is_exported(function)):
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

    def _is_exported(self, function: Function) -> bool:
        """Whether a package offers the function, or the class that it makes, under its own name."""
        offered = function.owner if function.name == _MADE else function
        if offered is None or (offered is function and function.owner is not None):
            return False
        return any(
            module.is_package and offered in module.scope.any(offered.name).values
            for module in self._project.modules
            if offered.name in module.scope.bound
        )

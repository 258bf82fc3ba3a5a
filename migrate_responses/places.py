"""Where nodes stand: lines and columns, and diagnostics made from reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from .decide.plan import Reason
from .know.modules import Module
from .results import Diagnostic, Level
from .rules import rule


class _Positions(PositionProvider):
    """The positions of a tree, without the visit of all its nodes that a metadata wrapper makes besides."""

    def of(self, tree: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        self._gen_impl(tree)
        return {node: place for node, place in self._computed.items() if isinstance(place, CodeRange)}


@dataclass
class Places:
    """Positions of one run, worked out only for the modules that are asked about."""

    _positions: dict[Module, Mapping[cst.CSTNode, CodeRange]] = field(default_factory=dict)

    def position(self, node: cst.CSTNode, module: Module) -> tuple[int, int]:
        """Line and column of ``node``, 1-based; (0, 0) if it does not stand in the module."""
        positions = self._positions.get(module)
        if positions is None:
            positions = self._positions[module] = _Positions().of(module.tree)
        found = positions.get(node)
        return (found.start.line, found.start.column + 1) if found is not None else (0, 0)

    def diagnostic(self, reason: Reason) -> Diagnostic:
        """A reason as it is reported."""
        line, column = self.position(reason.node, reason.module)
        step = f"migrate-responses explain {reason.code}"
        return Diagnostic(reason.code, reason.module.path, line, column, reason.level, sentence(reason), step)


def sentence(reason: Reason) -> str:
    """What a reason says about its place; without a detail, the title of its rule."""
    return reason.detail or rule(reason.code).title


def failure(code: str, path: str, line: int, message: str) -> Diagnostic:
    """A diagnostic about a file."""
    return Diagnostic(code, path, line, 0, Level.MANUAL, message, f"migrate-responses explain {code}")

"""Lines and columns of nodes, noted while a tree is printed once."""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import AbstractContextManager
from itertools import accumulate

import libcst as cst
from libcst._nodes.internal import CodegenState

_NEWLINE = re.compile(r"\r\n?|\n")
# Nobody asks where white space is, and it is half of all nodes.
_SPACE = frozenset({cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.TrailingWhitespace, cst.Newline})


class Positions:
    """Where each node of a tree begins and ends, without the white space around it.

    These are the positions of LibCST's ``PositionProvider``, which makes four objects for each node of
    the tree and asks whole sets of nodes by value: it takes as long as all the rest of a run. Here only
    how much has been printed is noted, and lines are counted for the nodes that are asked about.
    """

    def __init__(self, tree: cst.Module) -> None:
        printed = _Printed(tree.default_indent, tree.default_newline)
        tree._codegen(printed)
        self._tree = tree  # the nodes are known by identity, so they have to live
        self._starts, self._ends = printed.starts, printed.ends
        self._offsets = [0, *accumulate(map(len, printed.tokens))]
        text = "".join(printed.tokens)
        self._lines = [0, *(found.end() for found in _NEWLINE.finditer(text))]

    def start(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Line and column, 1-based; None for a node that is not in the tree, and for white space."""
        return self._place(self._starts.get(id(node)))

    def end(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Line and column just behind ``node``, 1-based; None for a node that is not in the tree."""
        return self._place(self._ends.get(id(node)))

    def _place(self, tokens: int | None) -> tuple[int, int] | None:
        if tokens is None:
            return None
        offset = self._offsets[tokens]
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1


class _Printed(CodegenState):
    """Notes how many tokens stand before and after each node. Nodes are known by ``id``."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}

    def before_codegen(self, node: cst.CSTNode) -> None:
        if type(node) not in _SPACE:
            self.starts[id(node)] = len(self.tokens)

    def after_codegen(self, node: cst.CSTNode) -> None:
        if type(node) not in _SPACE:
            self.ends.setdefault(id(node), len(self.tokens))

    def pop_trailing_newline(self) -> None:
        pass  # nodes have been noted as ending behind it

    def record_syntactic_position(  # type: ignore[override]  # any context manager will do
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> AbstractContextManager[None]:
        self.starts[id(node)] = len(self.tokens)
        return _Inner(self, node, start_node, end_node)


class _Inner:
    """The part of a node that is no white space: it ends where this is left."""

    __slots__ = ("_end", "_node", "_printed", "_start")

    def __init__(
        self, printed: _Printed, node: cst.CSTNode, start: cst.CSTNode | None, end: cst.CSTNode | None
    ) -> None:
        self._printed, self._node, self._start, self._end = printed, node, start, end

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_failure: object) -> None:
        printed, node = self._printed, id(self._node)
        if self._start is not None:
            printed.starts[node] = printed.starts[id(self._start)]
        ends = printed.ends
        ends[node] = len(printed.tokens) if self._end is None else ends[id(self._end)]

"""Bytes to syntax tree, by LibCST's parser."""

from __future__ import annotations

import libcst as cst

from .limits import refused
from .places import failure, syntax_error
from .results import Diagnostic
from .source import EncodingError, Source, decode


def understood(path: str, data: bytes) -> tuple[Source, cst.Module] | Diagnostic:
    """The text and the tree of a file; what is wrong with it if it has none."""
    try:
        source = decode(data)
    except EncodingError as error:
        return failure("MR902", path, 0, str(error))
    if (why := refused(source.text)) is not None:
        return failure(why[0], path, *why[1:])
    try:
        return source, parse(source.text)
    except cst.ParserSyntaxError as error:
        return syntax_error(path, source.text, error)
    except RecursionError:
        return failure("MR904", path, 0, "expressions are nested too deeply")


def parse(text: str) -> cst.Module:
    """The tree of a module. Raises what ``libcst.parse_module`` raises.

    Each node that LibCST makes checks itself. What the parser makes has just been read from text that is
    right, and checking it takes as long as a quarter of the parsing, so that is left out here. Nodes that
    edits make are checked.
    """
    check = cst.CSTNode.__post_init__
    cst.CSTNode.__post_init__ = _unchecked  # type: ignore[method-assign, assignment]
    try:
        return cst.parse_module(text)
    finally:
        cst.CSTNode.__post_init__ = check  # type: ignore[method-assign]


def _unchecked(_node: cst.CSTNode) -> None:
    pass


def _hash_fast() -> None:
    """Hash a node by its identity, which is what LibCST does too, but in Python.

    Nodes are the keys of most that is known here: each of them is hashed some ten times.
    """
    for kind in vars(cst).values():
        if isinstance(kind, type) and cst.CSTNode in kind.__mro__ and not kind.__subclasses__():
            kind.__hash__ = object.__hash__  # type: ignore[assignment]


_hash_fast()

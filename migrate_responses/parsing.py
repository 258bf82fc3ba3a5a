"""Bytes to syntax tree, by LibCST's parser."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from .limits import DEEPEST, deepest, may_nest, refused
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
        tree = parse(source.text)
        if deepest() < DEEPEST and may_nest(source.text):
            tree.code_for_node(tree)  # as it will be: strings side by side nest for LibCST alone
        return source, tree
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


class _Concrete(type(cst.CSTNode)):  # type: ignore[misc]  # LibCST's metaclass, which is that of abstract classes
    """Asks whether something is a node of a kind as of any class: no class is registered as a kind of node.

    Abstract classes ask in Python, which took as long as a tenth of a run.
    """

    __instancecheck__ = type.__instancecheck__


def _ask_fast() -> None:
    for kind in vars(cst).values():
        if isinstance(kind, type) and cst.CSTNode in kind.__mro__:
            kind.__class__ = _Concrete


_ask_fast()


def _evaluate(kind: type[cst.CSTNode], plain: re.Pattern[str], value_of: Callable[[str], object]) -> None:
    """Read literals that are ``plain`` as they stand; LibCST has ``ast.literal_eval`` parse each of them.

    That leaves cycles of garbage behind, too, which nobody collects during a run: a list of thousands of
    texts took twice the memory.
    """
    slow: Callable[[cst.CSTNode], object] = kind.evaluated_value.fget  # type: ignore[attr-defined]

    def evaluated_value(node: cst.CSTNode) -> object:
        found = plain.fullmatch(node.value)  # type: ignore[attr-defined]
        return slow(node) if found is None else value_of(found[found.lastindex or 0])

    kind.evaluated_value = property(evaluated_value)  # type: ignore[attr-defined]


_TEXT = r"""[uU]?(?:"([^"\\\r\n]*)"|'([^'\\\r\n]*)'|\"{3}([^\\\r]*)"{3}|'{3}([^\\\r]*)'{3})"""
_evaluate(cst.SimpleString, re.compile(_TEXT), str)
_evaluate(cst.Integer, re.compile(r"(0|[1-9][0-9]{0,17})"), int)
_evaluate(cst.Float, re.compile(r"([0-9]{1,17}\.[0-9]{1,17})"), float)

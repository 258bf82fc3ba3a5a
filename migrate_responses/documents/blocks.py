"""Blocks of Python in a text: which of them make a program together, and edited blocks back into the text."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from . import names, rst
from .block import PYTHON, Block
from .magics import Inert, mask, words
from .program import Piece, Program, Unread, parses
from .text import decoded, encoded, lines_of

_DOCTEST = re.compile(r"^\s*(?:>>>|In \[\d*\]:)", re.MULTILINE)
# What a block that does not parse must hold for others to depend on it.
_TELLING = re.compile(r"chat\.completions|\.choices\b|\.tool_calls\b|finish_reason|_tokens\b")
_SKIP = "migrate-responses: skip-file"
_SKIP_FILE = re.compile(rb"(?:<!--|\{/\*|^\.\.)\s+migrate[-_]responses?:", re.MULTILINE)
_BUILTINS = frozenset(dir(builtins))


class Text:
    """A document with blocks of code, which are programs as far as they do not need one another.

    Raises ``NotReadableError`` for bytes that are no text.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self._data = data
        self._lines = lines_of(decoded(data))
        self._inert = Inert()
        self.unread: list[Unread] = []
        self._all = list(_blocks(path, self._lines))
        found: list[tuple[Block, str, _Needs]] = []
        for number, block in enumerate(self._all):
            masked = self._masked(number, block)
            if masked is not None:
                found.append((block, masked, _needs(masked)))
        self.programs: list[Program] = []
        self._blocks: dict[str, list[Block]] = {}
        for group in _groups([needs for _, _, needs in found]):
            members = [found[number] for number in group]
            name = names.snippet(path, members[0][0].first + 1)
            pieces = [_piece(block, masked) for block, masked, _ in members]
            self.programs.append(Program(name, pieces, _SKIP if _SKIP_FILE.search(data) else ""))
            self._blocks[name] = [block for block, _, _ in members]

    def place(self, program: Program, line: int, column: int) -> tuple[int, int, None]:
        """Line and column in the file of a place in ``program``."""
        piece, inside, wide = program.place(line, column)
        return self._blocks[program.path][piece].first + inside + 1, wide, None

    def place_in(self, piece: int, line: int, column: int) -> tuple[int, int, None]:
        """The same of a ``column`` (from 1) in a ``line`` (from 0) of the block ``piece``."""
        block = self._all[piece]
        return block.first + line + 1, column + len(block.lines[line][0]), None

    def _masked(self, number: int, block: Block) -> str | None:
        """The code of a block as Python, or what stands for it if others may depend on it; or nothing."""
        text = block.text
        if not block.language:
            if parses(text):
                why = "the block does not say that it is Python (let it say so, and run again)"
                self.unread.append(Unread(text, number, 0, why))
            return None
        known = len(self._inert.originals)
        masked = mask(text, self._inert)
        if block.language in PYTHON and not names.inert_lines(text) and parses(masked):
            return masked
        self._inert.forget(known)
        why = "the block is a session with prompts" if _DOCTEST.search(text) else "the block does not parse"
        self.unread.append(Unread(text, number, 0, why))
        return self._inert.unread(text) if _TELLING.search(text) else None

    def encode(self, texts: Mapping[str, str]) -> bytes:
        """The document with ``texts``, the edited programs by name, in its blocks."""
        changed: list[tuple[Block, str]] = []
        for program in self.programs:
            edited = texts.get(program.path, program.text)
            pairs = zip(program.split(program.text), program.split(edited), strict=True)
            for block, (old, new) in zip(self._blocks[program.path], pairs, strict=True):
                if old != new:
                    changed.append((block, self._inert.restore(new)))
        parts: list[str] = []
        at = 0
        for block, new in sorted(changed, key=lambda pair: pair[0].first):
            parts += [*self._lines[at : block.first], *block.rewritten(new)]
            at = block.first + len(block.lines)
        return encoded("".join([*parts, *self._lines[at:]]), self._data)


def _blocks(path: str, lines: Sequence[str]) -> Iterable[Block]:
    if path.lower().endswith(names.RST):
        return rst.blocks(lines)
    from . import markdown  # its parser takes long to load

    return markdown.blocks(lines, path.lower().endswith(".mdx"))


def _piece(block: Block, masked: str) -> Piece:
    return Piece(masked, tuple(len(margin) for margin, _, _ in block.lines))


# -- which blocks need one another


@dataclass(frozen=True)
class _Needs:
    """The names that a block binds, and those it uses before it does."""

    bound: frozenset[str]
    used: frozenset[str]


def _needs(code: str) -> _Needs:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):  # a syntax newer than the Python that runs this tool
        everything = frozenset(words(code))
        return _Needs(everything, everything - _BUILTINS)
    bound: set[str] = set()
    used: set[str] = set()
    later: set[str] = set()
    for statement in tree.body:
        seen = _Names()
        seen.visit(statement)
        ordered = seen.stored if hasattr(statement, "body") else set()
        used |= seen.loaded - bound - ordered
        bound |= seen.stored
        later |= seen.inner
    return _Needs(frozenset(bound), frozenset((used | (later - bound)) - _BUILTINS))


class _Names(ast.NodeVisitor):
    """The names that one statement binds and loads; those that functions in it load apart."""

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.loaded: set[str] = set()
        self.inner: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        (self.loaded if isinstance(node.ctx, ast.Load) else self.stored).add(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.loaded.add(node.target.id)

    def visit_alias(self, node: ast.alias) -> None:
        self.stored.add((node.asname or node.name).partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.generic_visit(node)
        if node.name:
            self.stored.add(node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.stored.add(node.name)
        self._scope(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._scope(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.stored.add(node.name)
        self._scope(node)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        inner = _Names()
        inner.generic_visit(node)
        self.loaded |= inner.loaded - inner.stored
        self.inner |= inner.inner

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def _scope(self, node: ast.AST) -> None:
        inner = _Names()
        inner.generic_visit(node)
        own = inner.stored | {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
        self.inner |= (inner.loaded | inner.inner) - own


def _groups(needs: Sequence[_Needs]) -> list[list[int]]:
    """The blocks by program: one that uses a name belongs with all before it that bind the name."""
    group = list(range(len(needs)))
    for number, block in enumerate(needs):
        for other in range(number):
            if group[other] != group[number] and not block.used.isdisjoint(needs[other].bound):
                old, new = group[number], group[other]
                group = [new if one == old else one for one in group]
    members: dict[int, list[int]] = {}
    for number, one in enumerate(group):
        members.setdefault(one, []).append(number)
    return list(members.values())

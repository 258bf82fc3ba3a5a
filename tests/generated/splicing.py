"""Put snippets into code at random, between its statements and at their depth."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from .snippets import ASYNC_SNIPPETS, CLIENT, SNIPPETS


def spliced(text: str, choose: random.Random, count: int) -> tuple[str, set[int]] | None:
    """``text`` with up to ``count`` snippets in it, and the numbers of the lines that are new.

    None if there is no place for any: a snippet goes before a statement that has its lines to itself.
    """
    lines = text.splitlines(keepends=True)
    places = list(_places(ast.parse(text), lines))
    start = _after_docstring(ast.parse(text))
    if not places or start is None or not text.endswith("\n"):
        return None
    chosen = dict(sorted(choose.sample(places, min(count, len(places)))))
    result: list[str] = []
    new: set[int] = set()

    def put(snippet: str, indent: str, end: str) -> None:
        for line in snippet.splitlines():
            result.append(f"{indent}{line}{end}" if line else end)
            new.add(len(result))

    for number, line in enumerate(lines, 1):
        end = line[len(line.rstrip("\r\n")) :] or "\n"
        if number == start:
            put(CLIENT, "", end)
        if number in chosen:
            indent = line[: len(line) - len(line.lstrip())]
            pieces = (*SNIPPETS, *ASYNC_SNIPPETS) if chosen[number] else SNIPPETS
            put(choose.choice(pieces), indent, end)
        result.append(line)
    return "".join(result), new


def _after_docstring(tree: ast.Module) -> int | None:
    """The first line for an import that ``from __future__`` does not have to precede."""
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        return _first_line(statement)
    return None


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _places(tree: ast.Module, lines: list[str]) -> Iterator[tuple[int, bool]]:
    """Lines before which a statement may stand, and whether ``await`` may."""
    start = _after_docstring(tree)

    def visit(node: ast.AST, is_async: bool) -> Iterator[tuple[int, bool]]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_async = isinstance(node, ast.AsyncFunctionDef)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            for number, statement in enumerate(block if isinstance(block, list) else ()):
                is_docstring = number == 0 and isinstance(statement, ast.Expr)
                line = _first_line(statement)
                alone = not lines[line - 1][: statement.col_offset].strip()
                elif_branch = field == "orelse" and lines[line - 1].lstrip().startswith("elif")
                if start is not None and line > start and alone and not is_docstring and not elif_branch:
                    yield line, is_async
                yield from visit(statement, is_async)
        for handler in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
            yield from visit(handler, is_async)

    yield from visit(tree, False)

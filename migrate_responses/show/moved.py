"""Calls that are on the Responses API already, as they are spelled: how far a migration has come."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterable

from migrate_responses.documents.names import is_notebook, is_text

_METHODS = frozenset({"create", "parse", "stream"})
_WRAPPERS = frozenset({"with_raw_response", "with_streaming_response"})


def responses_calls(path: str, data: bytes) -> dict[str, int]:
    """How many ``X.responses.create`` (``parse``, ``stream``) each scope of the file ``path`` has.

    A scope is the dotted names of the classes and functions around it, empty at module level. Notebooks
    and texts are read as a run reads them; a file or a cell that Python cannot parse has none.
    """
    if b".responses." not in data:
        return {}
    found: Counter[str] = Counter()
    for code in _programs(path, data):
        found.update(_calls(code))
    return dict(sorted(found.items()))


def _programs(path: str, data: bytes) -> Iterable[bytes]:
    if not (is_notebook(path) or is_text(path)):
        return (data,)
    from migrate_responses.documents.edge import Documents  # LibCST with it

    return Documents({path: data}).python.values()


def _calls(code: bytes) -> Counter[str]:
    found: Counter[str] = Counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, scope = stack.pop()
        if isinstance(node, ast.Attribute) and node.attr in _METHODS and _is_responses(node.value):
            found[scope] += 1
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope = f"{scope}.{node.name}" if scope else node.name
        stack.extend((child, scope) for child in ast.iter_child_nodes(node))
    return found


def _is_responses(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        if node.attr == "responses":
            return True
        if node.attr not in _WRAPPERS:
            return False
        node = node.value
    return False

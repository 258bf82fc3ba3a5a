"""Calls that are on the Responses API already, as they are spelled: how far a migration has come."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import Counter

_METHODS = frozenset({"create", "parse", "stream"})
_WRAPPERS = frozenset({"with_raw_response", "with_streaming_response"})


def responses_calls(data: bytes) -> dict[str, int]:
    """How many ``X.responses.create`` (``parse``, ``stream``) each scope of a file has.

    A scope is the dotted names of the classes and functions around it, empty at module level. A file
    that Python cannot parse has none.
    """
    if b".responses." not in data:
        return {}
    found: Counter[str] = Counter()
    for code in _cells(data) if data.lstrip().startswith(b"{") else [data]:
        found.update(_calls(code))
    return dict(sorted(found.items()))


def _cells(data: bytes) -> list[bytes]:
    """The code of a notebook, cell by cell, without its magics."""
    try:
        cells = json.loads(data)["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return [_MAGIC.sub(b"pass", text.encode("utf-8", "surrogatepass")) for text in texts]


_MAGIC = re.compile(rb"(?<![^\n])[%!?].*$", re.MULTILINE)


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

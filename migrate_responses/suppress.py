"""Suppression: ``# migrate-responses: skip`` on a statement, ``skip-file`` anywhere in a file."""

from __future__ import annotations

import re

import libcst as cst

from .know.kinds import Site

_SKIP = re.compile(r"#\s*migrate-responses:\s*skip(?P<file>-file)?\b")


def is_suppressed(site: Site) -> bool:
    """Whether a comment asks to leave the statement of ``site``, or its file, alone."""
    found = list(_SKIP.finditer(site.module.text))
    if not found:
        return False
    if any(match["file"] for match in found):
        return True
    return any(
        isinstance(node, cst.Comment) and _SKIP.search(node.value)
        for node in _head(site.module.statement(site.node))
    )


def _head(statement: cst.CSTNode) -> list[cst.CSTNode]:
    """All nodes of a statement line, or of the header of a compound statement."""
    found: list[cst.CSTNode] = []
    stack = [statement]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend([node.header] if isinstance(node, cst.IndentedBlock) else node.children)
    return found

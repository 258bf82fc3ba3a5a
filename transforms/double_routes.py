"""Routes of tests: what answers in the place of the server, under ``/responses`` now (MR802).

The body of an answer is a dict that the SDK reads, so it gets the fields of a response.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import libcst as cst

from ..decide import providers
from ..know.modules import Module
from .double_dicts import answer, content_of, is_answer, parts_of
from .snippets import entry

if TYPE_CHECKING:
    from .double_shapes import Shapes

ROUTE = re.compile(r"chat/completions\b")
_SPACE = re.compile(r"\s")


def has_routes(module: Module) -> bool:
    """Whether a test answers HTTP requests to the old endpoint."""
    return bool(ROUTE.search(module.text))


def plan(shapes: Shapes) -> None:
    """The addresses, and the bodies of the answers."""
    module = shapes.module
    if not has_routes(module):
        return
    for node in module.of(cst.SimpleString, cst.FormattedStringText):
        text = node.value
        if ROUTE.search(text) and not _SPACE.search(text) and _is_ours(text):
            shapes.edit(node, _renamed)
    for display in module.of(cst.Dict):
        if display in shapes.known or entry(display, "choices") is None or not is_answer(display):
            continue
        shapes.known.update(parts_of(display))
        shapes.edit(display, answer(shapes.may_be_none(content_of(display))))


def _is_ours(text: str) -> bool:
    """Whether an address is that of OpenAI, or has no host."""
    host = urlsplit(text.strip("rbuf'\"^")).hostname if "://" in text else None
    return host is None or providers.is_openai(host)


def _renamed(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, (cst.SimpleString, cst.FormattedStringText))
    return updated.with_changes(value=ROUTE.sub("responses", updated.value))

"""Places of a client that a test replaces by a name: nothing of the old API need be said there (MR803).

``monkeypatch.setattr(client.chat, "completions", fake)`` goes on replacing a part that nobody asks any more,
and so does a patch whose path is put together as the test runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..know import modules as syntax
from ..know.kinds import Client, Const, External
from ..know.models import is_client_class
from ..know.modules import Module
from .context import Context


def places(
    context: Context, module: Module, known: Collection[cst.CSTNode]
) -> Iterator[tuple[cst.CSTNode, str]]:
    """The nodes in ``module`` that name such a place, each with what is wrong about it."""
    found: cst.CSTNode | None
    for node in module.of(cst.Call, cst.Index):
        if isinstance(node, cst.Index):
            found = node if _text(node.value) == "completions" and node.value not in known else None
        elif is_patcher(node):
            found = _place(context, node, known)
        else:
            continue
        if found is not None:
            yield found, f"`{context.source(found, module)}` is replaced in a test, by a name"


def _place(context: Context, call: cst.Call, known: Collection[cst.CSTNode]) -> cst.CSTNode | None:
    """What ``call`` replaces, if that is a step on the way to Chat Completions or a path put together."""
    for arg in call.args[:2]:
        named = {value.value for value in context.project.values(arg.value) if isinstance(value, Const)}
        if "completions" in named or ("chat" in named and _is_of_client(context, call)):
            return call
    for arg in call.args[:1]:
        whole = arg.value
        if isinstance(whole, cst.SimpleString) or whole in known:
            continue
        for inner in syntax.walk(whole):
            if isinstance(inner, cst.Lambda):
                break
            text = inner.value if isinstance(inner, cst.FormattedStringText) else _text(inner)
            if text is not None and "completions" in text and inner not in known:
                return call
    return None


def _is_of_client(context: Context, call: cst.Call) -> bool:
    """Whether ``call`` replaces an attribute of a client, or of its class."""
    return any(
        isinstance(value, Client) or (isinstance(value, External) and is_client_class(value.path))
        for arg in call.args[:2]
        for value in context.project.values(arg.value)
    )


def _text(node: cst.CSTNode) -> str | None:
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
        return node.evaluated_value
    return None

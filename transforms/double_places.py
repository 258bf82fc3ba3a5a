"""Places of a client that a test replaces by a name or by hand: the old API need not be named there (MR803).

``monkeypatch.setattr(client.chat, "completions", fake)`` goes on replacing a part that nobody asks any more,
and so does a patch whose path is put together as the test runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..know import modules as syntax
from ..know.kinds import Client, Const, External, Instance
from ..know.models import METHODS, is_client_class
from ..know.modules import Module
from .context import Context

_OF_SDK = re.compile(r"^openai\.resources\..*\b(Async)?Chat\.completions$")
_RESOURCES = ("Completions", "AsyncCompletions")


def places(
    context: Context, module: Module, known: Collection[cst.CSTNode]
) -> Iterator[tuple[cst.CSTNode, str]]:
    """The nodes in ``module`` that name such a place, each with what is wrong about it."""
    found: cst.CSTNode | None
    for node in module.of(cst.Call, cst.Index, cst.AssignTarget):
        if isinstance(node, cst.AssignTarget):
            if _is_method_of_sdk(context, node.target):
                yield node.target, f"`{context.source(node.target, module)}` is set by hand in a test"
            continue
        if isinstance(node, cst.Index):
            found = node if _text(node.value) == "completions" and node.value not in known else None
        elif isinstance(node, cst.Call) and is_patcher(node):
            found = _place(context, node, module, known)
        else:
            continue
        if found is not None:
            yield found, f"`{context.source(found, module)}` is replaced in a test, by a name"


def _place(
    context: Context, call: cst.Call, module: Module, known: Collection[cst.CSTNode]
) -> cst.CSTNode | None:
    """What ``call`` replaces, if that is a step on the way to Chat Completions or a path put together."""
    for arg in call.args[:2]:
        named = {value.value for value in context.project.values(arg.value) if isinstance(value, Const)}
        if "completions" in named or ("chat" in named and _is_of_client(context, call)):
            return call
    for arg in call.args[:1]:
        whole = arg.value
        path = _text(whole)
        if path is not None and (_OF_SDK.search(path) or _is_chat_of_client(context, module, path)):
            return call
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


def _is_chat_of_client(context: Context, module: Module, path: str) -> bool:
    """``"app.bot.client.chat"`` of a client that a module of the project holds."""
    parts = path.split(".")
    if len(parts) < 3 or parts.pop() != "chat":
        return False
    for end in range(len(parts) - 1, 0, -1):
        found = context.project.find_module(module, 0, ".".join(parts[:end]))
        if found is not None:
            values = list(context.project.module_member(found, parts[end]).values)
            for name in parts[end + 1 :]:
                owners = [value for value in values if isinstance(value, Instance)]
                values = [
                    one for owner in owners for one in context.project.instance_field(owner, name).values
                ]
            return any(isinstance(value, Client) for value in values)
    return False


def _is_method_of_sdk(context: Context, target: cst.BaseExpression) -> bool:
    """``Completions.create = ...``, for all clients."""
    return (
        isinstance(target, cst.Attribute)
        and target.attr.value in METHODS
        and any(
            isinstance(value, External) and value.path.rpartition(".")[2] in _RESOURCES
            for value in context.project.values(target.value)
        )
    )


def _text(node: cst.CSTNode) -> str | None:
    if isinstance(node, cst.SimpleString) and isinstance(node.evaluated_value, str):
        return node.evaluated_value
    return None

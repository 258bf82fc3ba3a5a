"""Parts and messages that objects of the project stand for: their dicts are made out of sight.

A ``TextPart(type="text", text=...)``, a dataclass or model with a field ``type`` that says ``"image_url"``,
a message whose ``content`` is declared to be a list at times: what they are turned into by ``asdict`` or
``model_dump`` cannot be rewritten, so messages that are not written out may hold the old parts.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

import libcst as cst

from ..know.kinds import Class, Site
from ..know.modules import Module, walk
from .context import Context
from .snippets import spells_none

# A part's type -> the key beside it that tells it from other things with a type.
_PARTS = {"text": "text", "image_url": "image_url", "input_audio": "input_audio", "file": "file"}


def writes_part_objects(context: Context, site: Site) -> bool:
    """Whether the program of ``site`` makes parts, or messages with tool calls, as objects."""
    known = context.memo.setdefault("part objects", {})
    assert isinstance(known, dict)
    for module in context.project.alongside(site.module):
        if module not in known:
            known[module] = any(_parts(module)) or _makes_messages_of_tools(context, module)
        if known[module]:
            return True
    return False


def _parts(module: Module) -> Iterator[bool]:
    for call in module.of(cst.Call):
        if isinstance(call, cst.Call) and not (isinstance(call.func, cst.Name) and call.func.value == "dict"):
            given = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
            yield _is_part(given.get("type"), given.keys())
    for node in module.of(cst.ClassDef):
        if isinstance(node, cst.ClassDef):
            fields = dict(_fields(node))
            kinds = walk(fields["type"]) if "type" in fields else ()
            yield any(_is_part(value, fields.keys()) for value in kinds)
            yield "role" in fields and _may_be_list(fields.get("content"))


def _makes_messages_of_tools(context: Context, module: Module) -> bool:
    """``Message(role="tool", content=text, tool_call_id=call_id)`` of a class of the project."""
    return any(
        isinstance(call, cst.Call)
        and any(
            arg.keyword is not None and arg.keyword.value in _OF_TOOLS and not spells_none(arg.value)
            for arg in call.args
        )
        and any(isinstance(callee, Class) for callee in context.project.values(call.func))
        for call in module.of(cst.Call)
    )


_OF_TOOLS = frozenset({"tool_calls", "tool_call_id"})


def _may_be_list(declaration: cst.CSTNode | None) -> bool:
    """``content: str | list[dict]``: whoever makes such a message may give it parts."""
    if not isinstance(declaration, cst.AnnAssign):
        return False
    names = (
        node.value for node in walk(declaration.annotation) if isinstance(node, (cst.Name, cst.SimpleString))
    )
    return any(_LIST.search(name) for name in names)


_LIST = re.compile(r"\b(list|List|Sequence|Iterable)\b")


def _is_part(value: cst.CSTNode | None, names: Container[str]) -> bool:
    kind = value.evaluated_value if isinstance(value, cst.SimpleString) else None
    return isinstance(kind, str) and _PARTS.get(kind, "") in names


def _fields(node: cst.ClassDef) -> Iterator[tuple[str, cst.CSTNode]]:
    """The annotated fields of a class, each with its whole declaration."""
    for line in node.body.body:
        for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(part, cst.AnnAssign) and isinstance(part.target, cst.Name):
                yield part.target.value, part

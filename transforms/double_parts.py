"""What a test asks of messages that have parts: their texts and types, and the pictures in them (MR802).

``sent["messages"][0]["content"][1]["image_url"]["url"]`` becomes ``["input"][0]["content"][1]["image_url"]``.
Each message and each part is still one entry of its list, so all is asked by its place as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Site
from ..know.modules import Module, walk
from .context import Context, constants
from .double_edits import new_string
from .double_trees import is_read
from .double_uses import Unclear, keys_asked, uses
from .sent import messages_of
from .snippets import literals_of
from .tested import key_asked

Edits = list[tuple[cst.CSTNode, Apply]]
_TYPES = {"text": "input_text", "image_url": "input_image", "file": "input_file"}
_NESTED = frozenset({"image_url", "file"})


class Parts:
    """The looks of one test file at the parts of messages."""

    def __init__(self, context: Context, module: Module) -> None:
        self._context = context
        self._module = module
        self._edits: Edits = []

    def asked(self, messages: cst.BaseExpression) -> Edits | None:
        """The edits of all that is asked of ``messages``, the list in a request; None if not all is known."""
        self._edits = []
        try:
            self._list(messages)
        except Unclear:
            return None
        return list(dict.fromkeys(self._edits))

    # -- what is done with a list of messages, a message, a content, a part -----------------

    def _list(self, node: cst.BaseExpression) -> None:
        for use in self._entries(node):
            self._message(use)

    def _message(self, node: cst.BaseExpression) -> None:
        for key, read in keys_asked(self._module, node):
            if key == "content":
                for use in self._entries(read):
                    self._part(use)
            elif key != "role":
                raise Unclear

    def _part(self, node: cst.BaseExpression) -> None:
        for key, read in keys_asked(self._module, node):
            if key == "type":
                self._type(read)
            elif key in _NESTED:
                self._nested(read)
            elif key != "text":
                raise Unclear

    def _type(self, node: cst.BaseExpression) -> None:
        """``part["type"] == "image_url"``."""
        comparison = self._module.parents.get(node)
        match comparison:
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=other)]) if (
                left is node
            ):
                literals = literals_of(other)
            case _:
                raise Unclear
        if not literals:
            raise Unclear
        for literal in literals:
            new = _TYPES.get(str(literal.evaluated_value))
            if new is not None:
                self._edits.append((literal, new_string(new)))

    def _nested(self, node: cst.BaseExpression) -> None:
        """``part["image_url"]["url"]`` is ``part["image_url"]``, other keys move up."""
        found = False
        for key, read in keys_asked(self._module, node):
            if self._module.parents.get(node) not in (read, getattr(read, "func", None)):
                raise Unclear  # under a name
            found = True
            if key == "url":
                self._edits.append((read, _receiver))
            elif isinstance(read, cst.Subscript):
                self._edits.append((node, _receiver))
            else:
                raise Unclear  # a detail may be written out now
        if not found:
            raise Unclear

    # -- syntax ------------------------------------------------------------------------------

    def _entries(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The entries that are taken of a list; its length and whether it is one may be asked as well."""
        parent = self._module.parents.get(node)
        match parent:
            case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index())]) if value is node:
                if key_asked(parent) is not None:
                    raise Unclear
                yield parent
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)], value=value) if (
                value is node
            ):
                for use in uses(self._module, parent, name):
                    yield from self._entries(use)
            case cst.For(target=cst.Name() as name, iter=source) if source is node:
                yield from self._named(parent.body, name)
            case cst.CompFor(target=cst.Name() as name, iter=source) if source is node:
                yield from self._of_comprehension(parent, name)
            case cst.Arg() if self._is_harmless(parent):
                return
            case cst.Comparison() | cst.ComparisonTarget() if self._is_with_text(node):
                return  # a content that is a text
            case cst.Assert(test=test) if test is node:
                return
            case _:
                raise Unclear

    def _of_comprehension(self, loop: cst.CompFor, name: cst.Name) -> Iterator[cst.BaseExpression]:
        """The entries in a comprehension, and what comes out of it, if that is entries."""
        whole = next(item for item in self._module.ancestors(loop) if isinstance(item, cst.BaseComp))
        for use in self._named(whole, name):
            if getattr(whole, "elt", None) is not use:
                yield use
                continue
            call = self._module.parents.get(self._module.parents[whole])
            if isinstance(whole, (cst.ListComp, cst.SetComp)):
                yield from self._entries(whole)
            elif isinstance(call, cst.Call) and _is_named(call, "next"):
                yield call
            elif isinstance(call, cst.Call) and _is_named(call, "list"):
                yield from self._entries(call)
            else:
                raise Unclear

    def _named(self, around: cst.CSTNode, name: cst.Name) -> Iterator[cst.Name]:
        for node in walk(around):
            if isinstance(node, cst.Name) and node.value == name.value and node is not name:
                if not is_read(self._module, node):
                    raise Unclear
                yield node

    def _is_harmless(self, arg: cst.Arg) -> bool:
        """``len(content)``, ``isinstance(content, list)``."""
        call = self._module.parents.get(arg)
        return isinstance(call, cst.Call) and (_is_named(call, "len") or _is_named(call, "isinstance"))

    def _is_with_text(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is compared with a text, or looked through for one."""
        parent = self._module.parents[node]
        comparison = self._module.parents[parent] if isinstance(parent, cst.ComparisonTarget) else parent
        if not isinstance(comparison, cst.Comparison) or len(comparison.comparisons) != 1:
            return False
        right = comparison.comparisons[0].comparator
        other = right if comparison.left is node else comparison.left
        known = constants(self._context.project.vars.get(other))
        return bool(known) and all(isinstance(value, str) for value in known or ())


def has_answers_with_parts(context: Context, sites: Iterable[Site]) -> bool:
    """Whether an answer among the messages can have parts, whose texts have another name."""
    for site in sites:
        for message in messages_of(context, site):
            role, content = message.fields.get("role"), message.fields.get("content")
            roles = constants(role) if role is not None else None
            listed = content is not None and constants(content) is None
            if listed and (roles is None or "assistant" in roles):
                return True
    return False


def _receiver(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    match updated:
        case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
            return value
        case _:
            return updated


def _is_named(call: cst.Call, name: str) -> bool:
    return isinstance(call.func, cst.Name) and call.func.value == name

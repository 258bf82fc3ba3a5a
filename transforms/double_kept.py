"""Requests that a double of the client keeps, asked for by way of it: ``client.chat.completions.calls[0]``.

Namespaces and mocks are not followed; the name under which the double keeps requests is told by its code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import libcst as cst

from ..know.kinds import External, Unknown
from ..know.modules import Module, walk
from .context import Context
from .double_functions import Replacements
from .double_targets import Targets
from .tested import key_asked

_DEPTH = 3


class Kept:
    """The expressions of one test file that are such requests; ``known`` is what is known of the API."""

    def __init__(
        self,
        context: Context,
        module: Module,
        replacements: Replacements,
        targets: Targets,
        known: Collection[cst.CSTNode],
    ) -> None:
        self._context = context
        self._module = module
        self._targets = targets
        self._known = known
        self._lists = replacements.kept_under(is_list=True)
        self._single = replacements.kept_under(is_list=False)

    def is_request(self, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
        """Whether an expression is one request."""
        match node:
            case cst.Name() if depth and (self._lists or self._single):
                looped = self._looped(node)
                if looped is not None:
                    return self.are_requests(looped, depth - 1)
                origins = self._targets.origins(node)
                return bool(origins) and all(self.is_request(origin, depth - 1) for origin in origins)
            case cst.Subscript(value=owner) if key_asked(node) is None:
                return self.are_requests(owner)
            case cst.Attribute(attr=cst.Name(value=name), value=owner) if name in self._single:
                return self._is_of_api(node, owner)
            case _:
                return False

    def are_requests(self, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
        """Whether an expression is a list of requests."""
        match node:
            case cst.Name() if depth and self._lists and self._looped(node) is None:
                origins = self._targets.origins(node)
                return bool(origins) and all(self.are_requests(origin, depth - 1) for origin in origins)
            case cst.Attribute(attr=cst.Name(value=name), value=owner) if name in self._lists:
                return self._is_of_api(node, owner)
            case _:
                return False

    def _looped(self, node: cst.Name) -> cst.BaseExpression | None:
        """What a loop around ``node`` draws it from."""
        for parent in self._module.ancestors(node):
            loops: list[cst.For | cst.CompFor] = [parent] if isinstance(parent, cst.For) else []
            inner = parent.for_in if isinstance(parent, (cst.BaseSimpleComp, cst.DictComp)) else None
            while inner is not None:
                loops.append(inner)
                inner = inner.inner_for_in
            for loop in loops:
                if isinstance(loop.target, cst.Name) and loop.target.value == node.value:
                    return loop.iter
        return None

    def _is_of_api(self, node: cst.BaseExpression, owner: cst.BaseExpression) -> bool:
        """Whether ``owner`` is a double of a part of the client, and what it keeps is not followed."""
        values = self._context.project.values(node)
        is_followed = any(not isinstance(value, (External, Unknown)) for value in values)
        return not is_followed and any(inner in self._known for inner in walk(owner))

    def unclear(self) -> Iterator[cst.BaseExpression]:
        """Uses of whole requests, or of all of them, that may look at the names of arguments."""
        if not (self._lists or self._single):
            return
        for node in self._module.of(cst.Name, cst.Attribute, cst.Subscript):
            assert isinstance(node, (cst.Name, cst.Attribute, cst.Subscript))
            if (self.is_request(node) or self.are_requests(node)) and not self._is_plain(node):
                yield node

    def _is_plain(self, node: cst.BaseExpression) -> bool:
        """Whether nothing but known keys, the number of requests, or the whole is asked there."""
        parent = self._module.parents.get(node)
        match parent:
            case cst.Subscript(value=value):
                return value is node and (key_asked(parent) is not None or self.are_requests(node))
            case cst.Attribute(attr=cst.Name(value="get")):
                return True
            case cst.Attribute(value=value):
                return value is not node
            case cst.AssignTarget():
                return True
            case cst.For(target=target) | cst.CompFor(target=target) if isinstance(target, cst.Name):
                return target is node or self.are_requests(node)
            case cst.Assign(value=value, targets=[cst.AssignTarget(target=target)]):
                return value is node and isinstance(target, cst.Name)
            case cst.Arg():
                call = self._module.parents.get(parent)
                return (
                    isinstance(call, cst.Call)
                    and isinstance(call.func, cst.Name)
                    and call.func.value == "len"
                    and self.are_requests(node)
                )
            case cst.Comparison() | cst.ComparisonTarget() | cst.Assert():
                return True  # looked at by those who ask about whole requests, and about keys
            case _:
                return False

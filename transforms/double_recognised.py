"""Which expressions of a test are the keywords of a request, or an argument of one."""

from __future__ import annotations

import re

import libcst as cst

from ..know.kinds import DictValue, External, Unknown
from ..know.modules import Module
from .context import Context
from .double_functions import Replacements
from .double_kept import Kept
from .double_routes import has_routes
from .double_targets import RENAMED, RESHAPED, Targets
from .tested import key_asked

OLD = RENAMED.keys() | RESHAPED
# Keys that little else than a request has.
TELLING = frozenset({"messages", "max_tokens", "max_completion_tokens", "response_format"})
# What a test framework calls a request that it has caught.
_BODY = re.compile(r"\brequest\.(content|body|read\(|json\()|\bget_requests?\(|\.last_request\b")


class Recognised:
    """The requests in one test file."""

    def __init__(
        self, context: Context, module: Module, replacements: Replacements, targets: Targets, kept: Kept
    ) -> None:
        self.context = context
        self.module = module
        self.replacements = replacements
        self.targets = targets
        self.kept = kept
        self.has_routes = has_routes(module)

    def is_keyed(self, node: cst.BaseExpression, seen: frozenset[str] = frozenset()) -> bool:
        """Whether ``node`` is an argument of a request, or a part of one: ``kwargs["model"]``.

        ``seen`` are the names on the way to it.
        """
        while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
            if key_asked(node) is not None:
                return True
            if isinstance(node, cst.Call) and not isinstance(node.func, cst.Attribute):
                return False
            node = node.func if isinstance(node, cst.Call) else node.value
        if isinstance(node, cst.Name) and node.value not in seen:
            return any(
                self.is_keyed(origin, seen | {node.value})
                for origin in self.targets.origins(node)
                if not isinstance(origin, cst.Name)
            )
        return False

    def is_request(self, node: cst.BaseExpression, key: str) -> bool | None:
        """Whether an expression is the keywords of a request; None where that is not to be seen."""
        if self.replacements.is_request(node):
            return True
        recorded, is_api = self.targets.recorded(node)
        if recorded:
            return is_api
        values = self.context.project.values(node)
        if any(isinstance(value, DictValue) and self.context.senders(value) for value in values):
            return True
        if not any(isinstance(value, DictValue) for value in values) and self.kept.is_request(node):
            return True
        if key in OLD and self.has_routes and self._is_body(node):
            return True
        if key not in TELLING or (
            values and not any(isinstance(value, (Unknown, External)) for value in values)
        ):
            return False
        return False if self._is_of_something_else(node) else None

    def _is_of_something_else(self, node: cst.BaseExpression) -> bool:
        """Whether what is read is a body or a file: nothing of the API, unless it answers requests here."""
        if self.has_routes:
            return False
        text = self.module.tree.code_for_node(node)
        if isinstance(node, cst.Name):
            text += "".join(self.module.tree.code_for_node(origin) for origin in self.targets.origins(node))
        return bool(re.search(r"json\(|\bjsons?\b|loads?\(|read|response|result|body|config|setting", text))

    def _is_body(self, node: cst.BaseExpression, depth: int = 3) -> bool:
        """Whether ``node`` is what a route got: ``json.loads(route.calls[0].request.content)``."""
        if _BODY.search(self.module.tree.code_for_node(node)):
            return True
        while isinstance(node, (cst.Attribute, cst.Subscript)):
            node = node.value
        if not isinstance(node, cst.Name) or not depth:
            return False
        kept = [
            call.args[0].value
            for call in self.module.of(cst.Call)
            if isinstance(call.func, cst.Attribute)
            and call.func.attr.value in ("append", "update")
            and isinstance(call.func.value, cst.Name)
            and call.func.value.value == node.value
            and len(call.args) == 1
        ]
        return any(self._is_body(origin, depth - 1) for origin in [*self.targets.origins(node), *kept])

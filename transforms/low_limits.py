"""Limits below 16 that come by ways that are not followed: options, variables, namespaces (MR102).

``parser.add_argument("--max-tokens", default=10)``, ``os.getenv("MAX_TOKENS", "10")``,
``SimpleNamespace(max_tokens=8)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Const, Site
from ..know.modules import Module
from .context import Context

LEAST = 16  # max_output_tokens of openai.types.responses.ResponseCreateParams
# What an option or a variable for a limit of tokens is called.
_OPTION = re.compile(r"-*tokens?|[-\w]*(max[-_](\w+[-_])?tokens?|tokens?[-_](limit|max))", re.IGNORECASE)


def low_elsewhere(context: Context, site: Site) -> tuple[str, int] | None:
    """A low limit that may reach ``site`` by a way that is not followed: how it is written, and how low."""
    known = context.memo.setdefault("low limits", {})
    assert isinstance(known, dict)
    for module in context.project.alongside(site.module):
        if module not in known:
            known[module] = next(_low(context, module), None)
        found = known[module]
        if isinstance(found, tuple):
            return found
    return None


def _low(context: Context, module: Module) -> Iterator[tuple[str, int]]:
    for node in module.of(cst.Call):
        assert isinstance(node, cst.Call)
        if node in context.project.sites:
            continue
        named = any(
            isinstance(arg.value, cst.SimpleString) and _OPTION.fullmatch(str(arg.value.evaluated_value))
            for arg in node.args
        )
        for arg in node.args:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            limit = _number(context, arg.value)
            gives = (named and keyword in ("", "default")) or _OPTION.fullmatch(keyword)
            if limit is not None and limit < LEAST and gives:
                yield context.source(node, module), limit


def _number(context: Context, node: cst.BaseExpression) -> int | None:
    """The whole number that is written at ``node``, or spelled in a string there."""
    for value in context.project.values(node):
        if isinstance(value, Const):
            if isinstance(value.value, int) and not isinstance(value.value, bool):
                return value.value
            if isinstance(value.value, str) and value.value.isdecimal():
                return int(value.value)
    return None

"""A keyword that a wrapper takes in ``**options`` gets its new name inside the wrapper (MR101).

Callers that also mean somebody else with it, another provider or the double of a test, keep the old name::

    def complete(self, messages, **options):
        if "max_tokens" in options:
            options["max_output_tokens"] = options.pop("max_tokens")
        return client.responses.create(model=..., input=messages, **options)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from ..know.kinds import DictValue, Site
from ..know.modules import Module, walk
from ..know.testing import in_tests
from .context import Context, Keyword
from .double_targets import METHODS, RECORDS
from .taken_out import taker
from .tested import ASSERTS

_ANY = frozenset({"Any", "typing.Any", "object"})


def renamed_inside(context: Context, sites: Sequence[Site], item: Keyword, name: str, code: str) -> bool:
    """Plan to rename the keyword in the functions that hand it to the calls; whether that can be."""
    if _is_recorded(context, item.name) or any(_is_looked_at(context, site, item.name) for site in sites):
        return False
    wrappers: dict[DictValue, list[Site]] = {}
    for site in sites:
        options = _options(context, site)
        if options is None:
            return False
        wrappers.setdefault(options, []).append(site)
    if not all(_hands_on(options, own) for options, own in wrappers.items()):
        return False
    for options in wrappers:
        function = taker(options)
        assert function is not None
        assert isinstance(options.node, cst.Param)
        text = f'if "{item.name}" in {{0}}:\n    {{0}}["{name}"] = {{0}}.pop("{item.name}")\n'
        line = _statement(text.format(options.node.name.value), options.module)
        context.edit(function.body, options.module, sites, _first(line), code, key=("inside", item.name))
    return bool(wrappers)


def _options(context: Context, site: Site) -> DictValue | None:
    """The ``**options`` of the function around a call, if the call gets them."""
    function = context.project.functions.get(site.module.function(site.node) or site.node)
    if function is None or not isinstance(function.node.body, cst.IndentedBlock) or function.name in METHODS:
        return None
    options = function.double_star
    return options if options in context.request(site).dicts else None


def _hands_on(options: DictValue, sites: Sequence[Site]) -> bool:
    """Whether all that a function does with its keywords is to hand them to the calls."""
    parameter, function = options.node, taker(options)
    assert function is not None
    assert isinstance(parameter, cst.Param)
    note = parameter.annotation
    if note is not None and options.module.tree.code_for_node(note.annotation) not in _ANY:
        return False
    name = parameter.name.value
    given = {arg.value for site in sites for arg in site.node.args if arg.star == "**"}
    uses = [node for node in walk(function) if isinstance(node, cst.Name) and node.value == name]
    return all(node is parameter.name or node in given for node in uses)


def _is_looked_at(context: Context, site: Site, name: str) -> bool:
    """Whether somebody on the way does more with the keyword than to give it."""
    return any(one.place.how not in ("keyword", "literal") for one in context.request(site).named(name))


def _is_recorded(context: Context, name: str) -> bool:
    """Whether a test that mentions the keyword asks a mock of anything but the API for its calls."""
    for module in context.project.modules:
        if not in_tests(module) or name not in module.text:
            continue
        for node in module.of(cst.Attribute):
            assert isinstance(node, cst.Attribute)
            asked = node.attr.value in RECORDS or node.attr.value in ASSERTS
            owner = node.value.attr.value if isinstance(node.value, cst.Attribute) else ""
            if asked and owner not in METHODS:
                return True
    return False


def _statement(text: str, module: Module) -> cst.BaseStatement:
    return cst.parse_statement(text, config=module.tree.config_for_parsing)


def _first(line: cst.BaseStatement) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """Put ``line`` before all else in a body, but for its docstring."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.IndentedBlock)
        body = list(updated.body)
        after = 1 if body and _is_docstring(body[0]) and len(body) > 1 else 0
        return updated.with_changes(body=[*body[:after], line, *body[after:]])

    return apply


def _is_docstring(line: cst.BaseStatement) -> bool:
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
        case _:
            return False

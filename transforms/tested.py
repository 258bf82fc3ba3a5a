"""Which calls a test file is about: those of the modules that it imports or patches."""

from __future__ import annotations

import libcst as cst

from ..decide.receivers import in_tests
from ..know import modules as syntax
from ..know.kinds import (
    Site,
)
from ..know.modules import Module
from .context import Context


def observed(context: Context, site: Site) -> bool:
    """Whether a test looks at the messages that ``site`` sends: then they stay a list."""
    return any(site in sites and _reads_messages(module) for module, sites in tested(context).items())


def is_tested(context: Context, site: Site) -> bool:
    """Whether a test file that mentions the old API is about ``site``."""
    return any(site in sites for sites in tested(context).values())


def tested(context: Context) -> dict[Module, list[Site]]:
    """The test modules that mention the old API, with the calls they are about."""
    found = context.memo.get("tested")
    if found is None:
        found = context.memo["tested"] = {
            module: _sites(context, module)
            for module in context.project.modules
            if is_test(module) and _concerns(context, module)
        }
    assert isinstance(found, dict)
    return found


def is_test(module: Module) -> bool:
    """Whether ``module`` is test code."""
    return in_tests(module)


def _concerns(context: Context, module: Module) -> bool:
    code = module.text
    return "completions" in code or "choices" in code or "ChatCompletion" in code


def _sites(context: Context, module: Module) -> list[Site]:
    """The calls in the modules that a test imports or patches; in what those import, else."""
    near = _named(context, module)
    for depth in range(4):
        sites = [site for site in context.sites if site.module in near and site.module is not module]
        if sites:
            return sites
        wider = {other for one in near for other in _imported(context, one)}
        if wider <= near or depth == 3:
            return []
        near = near | wider
    return []


def _named(context: Context, module: Module) -> set[Module]:
    found = _imported(context, module)
    for node in module.of(cst.SimpleString):
        text = node.evaluated_value
        if isinstance(text, str) and "." in text and len(text) < 200:
            parts = text.split(".")
            for end in range(len(parts) - 1, 0, -1):
                target = context.project.find_module(module, 0, ".".join(parts[:end]))
                if target is not None:
                    found.add(target)
                    break
    for other in context.project.modules:  # fakes are about what their users test
        if other is not module and is_test(other) and is_test(module) and module in _imported(context, other):
            found |= _imported(context, other)
    return {other for other in found if not is_test(other)} or found


def _imported(context: Context, module: Module) -> set[Module]:
    """The project modules that ``module`` imports."""
    known = context.memo.setdefault("imported", {})
    assert isinstance(known, dict)
    found = known.get(module)
    if found is None:
        found = known[module] = set(_imports(context, module))
    assert isinstance(found, set)
    return set(found)


def _imports(context: Context, module: Module) -> set[Module]:
    found: set[Module] = set()
    for node in module.of(cst.Import, cst.ImportFrom):
        if isinstance(node, cst.ImportFrom):
            head = syntax.dotted(node.module) if node.module is not None else ""
            target = context.project.find_module(module, len(node.relative), head)
            if target is not None:
                found.add(target)
            for alias in () if isinstance(node.names, cst.ImportStar) else node.names:
                name = f"{head}.{syntax.dotted(alias.name)}" if head else syntax.dotted(alias.name)
                inner = context.project.find_module(module, len(node.relative), name)
                if inner is not None:
                    found.add(inner)
        elif isinstance(node, cst.Import):
            for alias in node.names:
                target = context.project.find_module(module, 0, syntax.dotted(alias.name))
                if target is not None:
                    found.add(target)
    found.discard(module)
    return found


def _reads_messages(module: Module) -> bool:
    return any(key_asked(node) == "messages" for node in module.of(cst.Subscript, cst.Call))


def key_asked(node: cst.CSTNode) -> str | None:
    """The constant key of a subscript or a ``.get``."""
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            text = key.evaluated_value
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="get")),
            args=[cst.Arg(value=cst.SimpleString() as key), *_],
        ):
            text = key.evaluated_value
        case _:
            return None
    return text if isinstance(text, str) else None

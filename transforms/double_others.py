"""Tests that are also about calls which stay: of another SDK, of a client that is not known (MR803).

What stands for answers of both cannot have the new form for one of them alone. Such a test is known by the
words in it: the name of the other SDK, or of a module whose calls all stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from ..decide.receivers import receiver
from ..know import modules as syntax
from ..know.kinds import External
from ..know.modules import Module
from ..know.others import SDKS
from .context import Context
from .tested import at, imported_by, is_test, users_of


@dataclass(frozen=True)
class _Other:
    """A module with calls that stay, and by what words tests show that they are about these."""

    module: Module
    sdks: frozenset[str]
    stays: bool  # all of its calls


def plan(context: Context) -> None:
    """Hold back what edits a test that is about others too. To be asked when the doubles are planned."""
    others = list(_others(context))
    if not others:
        return
    units: dict[cst.CSTNode, Module] = {}
    for edit in context.plan.edits:
        if edit.module in context.plan.test_modules:
            units[_unit(edit.module, edit.node)] = edit.module
    for unit, module in units.items():
        for user, where in [(unit, module), *users_of(context, module, unit)]:
            other = next((other for other in others if _is_about(context, where, user, other)), None)
            if other is not None:
                name = user.name.value if isinstance(user, (cst.FunctionDef, cst.ClassDef)) else where.path
                detail = f"`{name}` is also about `{other.module.path}`, whose calls stay"
                context.unsafe(unit, module, at(context, module, unit), "MR803", detail)
                break


def _unit(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    """The statement at the top of the file that ``node`` is in."""
    unit = node
    for parent in module.ancestors(node):
        if isinstance(parent, cst.Module):
            break
        unit = parent
    return unit


def _others(context: Context) -> Iterator[_Other]:
    own = {site.node for site in context.sites}
    moving = {site.module for site in context.sites}
    for module in context.project.modules:
        if is_test(module) or "completions" not in module.text:
            continue
        sdks: set[str] = set()
        stays = False
        for call in module.of(cst.Call):
            if call in own or not _CHAIN.search(syntax.dotted(call.func)):
                continue
            values = context.project.values(receiver(call.func))
            roots = {value.path.partition(".")[0] for value in values if isinstance(value, External)}
            sdks |= roots & SDKS
            stays = True
        if stays:
            yield _Other(module, frozenset(sdks), module not in moving)


_CHAIN = re.compile(r"\bchat\.completions\.(create|parse|stream)$")


def _is_about(context: Context, module: Module, unit: cst.CSTNode, other: _Other) -> bool:
    """Whether a word in ``unit``, a statement of a test, tells that it is about the calls of ``other``."""
    words = set()
    for node in syntax.walk(unit):
        match node:
            case cst.Name(value=text):
                words.add(text)
            case cst.SimpleString(value=text):
                words.update(_WORD.findall(text))
            case _:
                continue
    if any(sdk in word.lower() for sdk in other.sdks for word in words):
        return True
    return other.stays and not words.isdisjoint(_names_of(context, module, other.module))


_WORD = re.compile(r"[A-Za-z_]\w*")


def _names_of(context: Context, module: Module, other: Module) -> set[str]:
    """The names that the test file ``module`` has for ``other`` and what is in it."""
    found = {other.name.rpartition(".")[2]}
    for line in module.of(cst.Import, cst.ImportFrom):
        if isinstance(line.names, cst.ImportStar) or other not in imported_by(context, module, line):
            continue
        head = syntax.dotted(line.module) if isinstance(line, cst.ImportFrom) and line.module else ""
        level = len(line.relative) if isinstance(line, cst.ImportFrom) else 0
        inside = bool(head or level) and context.project.find_module(module, level, head) is other
        for alias in line.names:
            name = f"{head}.{alias.evaluated_name}" if head else alias.evaluated_name
            if inside or context.project.find_module(module, level, name) is other:
                found.add(alias.evaluated_alias or alias.evaluated_name)
    return found

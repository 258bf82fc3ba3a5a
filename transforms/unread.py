"""Names of a flow in a magic, or in code of a document that does not parse, hold it back (MR913)."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..documents import names
from ..know import modules as syntax
from ..know.kinds import Client, Const, External, ModuleValue, Site, Typed
from ..know.modules import Module
from .context import Context

_STEADY = (Client, Const, External, ModuleValue, Typed)


def plan(context: Context) -> None:
    """Hold back the flows that such code has to do with. To be asked when all other rules have been."""
    for module in context.project.modules:
        if module.is_notebook or module.is_snippet:
            for call, name in _stand_ins(module):
                if not names.is_unread(name):
                    _values(context, call, module)
                _mentions(context, call, module, names.is_unread(name))


def _stand_ins(module: Module) -> Iterator[tuple[cst.Call, str]]:
    """The calls in the place of what is not Python, with their names."""
    for node in module.parents:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and names.is_inert(node.func.value):
            yield node, node.func.value


def _values(context: Context, call: cst.Call, module: Module) -> None:
    """A magic that takes a part of an answer."""
    for arg in call.args:
        sites = {shape.site for shape in context.project.shapes(arg.value)}
        if sites and arg.keyword is None:
            detail = f"a magic uses `{context.source(arg.value, module)}`, and is not rewritten"
            context.manual(call, module, sites, "MR913", detail)


def _mentions(context: Context, call: cst.Call, module: Module, broken: bool) -> None:
    """Code that is not looked into may bind anything anew; what it reads must stay if it is ``broken``."""
    imported = _imported(module)
    words = {
        arg.value.value
        for arg in call.args
        if isinstance(arg.value, cst.Name)
        and arg.value.value not in imported
        and (arg.keyword is not None or (broken and not _is_steady(context, arg.value)))
    }
    told: set[tuple[str, frozenset[Site]]] = set()
    part = f"{'cell' if module.is_notebook else 'block'} that does not parse" if broken else "magic"
    for edit in context.plan.edits:
        if edit.module is module and edit.sites:
            for name in sorted(words & _variables(edit.node, module)):
                if (name, edit.sites) not in told:
                    told.add((name, edit.sites))
                    detail = f"a {part} uses `{name}`" if broken else f"a {part} may bind `{name}`"
                    context.manual(call, module, edit.sites, "MR913", detail)


def _is_steady(context: Context, node: cst.Name) -> bool:
    """Whether ``node`` can only be what no migration changes."""
    values = context.project.values(node)
    return bool(values) and all(isinstance(value, _STEADY) for value in values)


def _imported(module: Module) -> set[str]:
    """The names that imports bind, and nothing else does."""
    imported: set[str] = set()
    others: set[str] = set()
    for node in module.parents:
        is_import = isinstance(node, (cst.Import, cst.ImportFrom))
        if isinstance(node, cst.AsName) and isinstance(module.parents[node], cst.ImportAlias):
            is_import = True
        (imported if is_import else others).update(syntax.bound_by(node))
    return imported - others


def _variables(node: cst.CSTNode, module: Module) -> set[str]:
    """The variables of the module in the line of ``node``, or in ``node`` where a block begins there."""
    line = module.statement(node)
    whole = line if isinstance(line, cst.SimpleStatementLine) else node
    found = {inner.value for inner in syntax.walk(whole) if isinstance(inner, cst.Name)}
    return found & module.scope.bound

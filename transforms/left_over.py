"""Functions that the program has and nobody names: what they read of their parameters is no answer (MR315).

``def text(r): return r.choices[0].message.content`` in a module of helpers may be left from something else. A
function of a package is anybody's to call, and one that a name, a text or a module handed on may lead to is
somebody's. ``__add__`` is called by operators: these are all known where an answer is on one side.
"""

from __future__ import annotations

import libcst as cst

from ..decide.contents import hands_on
from ..know.kinds import Bound, Class, Function, ModuleValue, Value
from ..know.modules import Module, walk
from ..know.operators import METHODS
from .context import Context
from .tested import is_test

OPERATORS = frozenset(f"__{prefix}{name}__" for name in METHODS.values() for prefix in ("", "r", "i"))


def left_over(context: Context, node: cst.CSTNode, module: Module) -> Function | None:
    """The function around ``node`` that nobody calls or names, if ``node`` reads one of its parameters."""
    definition = module.function(node)
    if not isinstance(definition, cst.FunctionDef):
        return None
    function = context.project.functions.get(definition)
    if function is None or not _is_of_parameter(node, definition, set()):
        return None
    known = context.memo.setdefault("left over", {})
    assert isinstance(known, dict)
    if function not in known:
        known[function] = _is_left_over(context, function, module)
    return function if known[function] else None


def _is_left_over(context: Context, function: Function, module: Module) -> bool:
    node = function.node
    if not isinstance(node, cst.FunctionDef) or node.decorators or function.callers or function.escaped:
        return False
    if module.is_notebook or module.is_snippet or is_test(module):
        return False
    operator = function.name.startswith("__")
    if operator and (function.name not in OPERATORS or function in context.project.operated):
        return False
    if not operator and (function.owner is not None or module.function(node) is not None):
        return False  # of an object, that may be anywhere; made by a function, that gives it away
    if context.escapes.offers.callers(function) is not None:
        return False
    return function not in _in_use(context) and not _may_be_meant(context, function)


def _is_of_parameter(node: cst.CSTNode, definition: cst.FunctionDef, seen: set[str]) -> bool:
    """Whether ``node`` is read from a parameter, or from what is only ever part of one."""
    root = node
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        root = root.value
    if not isinstance(root, cst.Name) or root.value in seen:
        return isinstance(root, cst.Name) and bool(seen)  # `part = part.next` adds nothing
    seen = {*seen, root.value}
    sources = _sources(definition, root.value)
    if any(source is None for source in sources):
        return False
    params = definition.params
    named = any(
        param.name.value == root.value
        for param in (*params.posonly_params, *params.params, *params.kwonly_params)
    )
    return (named or bool(sources)) and all(
        source is not None and _is_of_parameter(source, definition, seen) for source in sources
    )


def _sources(definition: cst.FunctionDef, name: str) -> list[cst.BaseExpression | None]:
    """What ``name`` is bound to in the function; None where that is not plain to see."""
    found: list[cst.BaseExpression | None] = []
    for node in walk(definition.body):
        match node:
            case cst.Assign(targets=targets, value=value):
                for target in targets:
                    found += _bound(target.target, value, name)
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                found += _bound(target, value, name)
            case cst.NamedExpr(target=target, value=value):
                found += _bound(target, value, name)
            case cst.For(target=target, iter=value) | cst.CompFor(target=target, iter=value):
                found += _bound(target, value, name)
            case cst.AsName(name=target) | cst.AugAssign(target=target):
                found += [None for one in walk(target) if isinstance(one, cst.Name) and one.value == name]
            case cst.Global(names=names) | cst.Nonlocal(names=names):
                found += [None for item in names if item.name.value == name]
            case (
                cst.FunctionDef()
                | cst.Lambda()
                | cst.ClassDef()
                | cst.Match()
                | cst.Import()
                | cst.ImportFrom()
            ):
                found += [None for one in walk(node) if isinstance(one, cst.Name) and one.value == name]
            case _:
                pass
    return found


def _bound(target: cst.CSTNode, value: cst.BaseExpression, name: str) -> list[cst.BaseExpression | None]:
    if isinstance(target, cst.Name):
        return [value] if target.value == name else []
    stored = (cst.Attribute, cst.Subscript)
    if isinstance(target, stored):
        return []
    return [None for one in walk(target) if isinstance(one, cst.Name) and one.value == name]


def _in_use(context: Context) -> frozenset[Value]:
    """The functions that an expression of the program means, and the modules that are handed on whole."""
    known = context.memo.get("functions in use")
    if known is None:
        found: set[Value] = set()
        for module in context.project.modules:
            for node in module.of(cst.Name, cst.Attribute, cst.Subscript, cst.Call):
                if _is_binding(node, module):
                    continue
                for value in context.project.values(node):
                    found.add(value.function if isinstance(value, Bound) else value)
        known = context.memo["functions in use"] = frozenset(
            value for value in found if isinstance(value, (Function, Class))
        )
    assert isinstance(known, frozenset)
    return known


def _is_binding(node: cst.CSTNode, module: Module) -> bool:
    """Whether the name is only bound there: ``def text``, ``from helpers import text``."""
    parent = module.parents.get(node)
    named = isinstance(parent, cst.FunctionDef) and parent.name is node
    return named or isinstance(parent, (cst.ImportAlias, cst.AsName))


def _may_be_meant(context: Context, function: Function) -> bool:
    """Whether a text, something of unknown kind, or the module as a whole may lead to the function."""
    name = function.name
    own = set(walk(function.node))
    for module in context.project.modules:
        for node in module.of(cst.Attribute, cst.Name, cst.Call, cst.SimpleString):
            match node:
                case cst.Attribute(value=value, attr=cst.Name(value=attr)) if attr == name:
                    values = context.project.values(value)
                    unknown = not values or any(map(hands_on, values))
                    if unknown and not _is_read_further(node, module) and node not in own:
                        return True
                case cst.SimpleString():
                    text = node.evaluated_value
                    if isinstance(text, str) and text.endswith((f".{name}", f":{name}")):
                        return True
                case cst.Call(func=cst.Name(value="eval" | "exec")):
                    return True
                case cst.Call(func=cst.Name(value="globals" | "locals" | "vars" | "dir"), args=[]):
                    return True
                case cst.Attribute(value=cst.Name(value="sys"), attr=cst.Name(value="modules")):
                    return True
                case _:
                    pass
            if not isinstance(node, cst.SimpleString) and _gives_module(
                context, node, module, function.module
            ):
                return True
    return False


def _is_read_further(node: cst.Attribute, module: Module) -> bool:
    """``answer.usage.total_tokens``: no function has such a field."""
    parent = module.parents.get(node)
    return isinstance(parent, cst.Attribute) and not parent.attr.value.startswith("__")


def _gives_module(context: Context, node: cst.CSTNode, module: Module, wanted: Module) -> bool:
    """Whether ``node`` is the module as a whole, and not for one of its names."""
    parent = module.parents.get(node)
    if _is_binding(node, module) or (
        isinstance(parent, cst.Attribute)
        and not (parent.value is node and parent.attr.value.startswith("__"))
    ):
        return False
    return any(
        isinstance(value, ModuleValue) and value.module is wanted for value in context.project.values(node)
    )

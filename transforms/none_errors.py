"""Who hears that the text of an answer was None: handlers of the errors that this gave (MR310, trap E1).

An empty text gives no error there, or another one. Where both end in the same handler nobody can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from ..know.kinds import External, Function, SeqValue
from ..know.modules import Module, walk
from .context import Context

_NOTHING: frozenset[str] = frozenset()
_BROAD = frozenset({"Exception", "BaseException"})


@dataclass(frozen=True)
class Failure:
    """The errors that None gives in some use of a text, and those that an empty text gives there."""

    of_none: frozenset[str]
    of_empty: frozenset[str] = _NOTHING


def failure(node: cst.BaseExpression, module: Module) -> Failure | None:
    """What happens to None in what is done with the text at ``node``; None where nothing does."""
    parent = module.parents.get(node)
    empty = _of_empty(node, module)
    match parent:
        case cst.Attribute():
            return Failure(frozenset({"AttributeError"}), empty)
        case cst.Comparison() | cst.ComparisonTarget():
            comparison = module.parents[parent] if isinstance(parent, cst.ComparisonTarget) else parent
            assert isinstance(comparison, cst.Comparison)
            ordered = any(isinstance(target.operator, _ORDERS) for target in comparison.comparisons)
            return Failure(_TYPE) if ordered or is_searched(parent) else None
        case cst.Subscript() | cst.BinaryOperation() | cst.For() | cst.CompFor() | cst.Arg():
            return Failure(_TYPE, empty)
        case _:
            return None


_TYPE = frozenset({"TypeError"})
_ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


def is_searched(parent: cst.CSTNode | None) -> bool:
    """``"x" in text``."""
    return isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, (cst.In, cst.NotIn))


# What takes a text, and the errors it has for an empty one.
_TAKERS = {
    "loads": frozenset({"ValueError", "JSONDecodeError"}),
    "int": frozenset({"ValueError"}),
    "float": frozenset({"ValueError"}),
    "literal_eval": frozenset({"SyntaxError"}),
    "len": _NOTHING,
}
_STAYS_EMPTY = frozenset(
    "strip lstrip rstrip lower upper casefold title replace removeprefix removesuffix".split()
)


def _of_empty(node: cst.BaseExpression, module: Module) -> frozenset[str]:
    """The errors that an empty text gives: ``json.loads(text.strip())``, ``text[0]``."""
    parent = module.parents.get(node)
    match parent:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index())], value=value) if value is node:
            return frozenset({"IndexError"})
        case cst.Attribute(attr=cst.Name(value=method)) if method in _STAYS_EMPTY:
            call = module.parents.get(parent)
            return _of_empty(call, module) if isinstance(call, cst.Call) else _NOTHING
        case cst.Arg(keyword=None, star=""):
            return _TAKERS.get(_called(module.parents.get(parent)), _NOTHING)
        case _:
            return _NOTHING


def _called(call: cst.CSTNode | None) -> str:
    func = call.func if isinstance(call, cst.Call) else None
    name = func.attr if isinstance(func, cst.Attribute) else func
    return name.value if isinstance(name, cst.Name) else ""


def fails_for_certain(node: cst.CSTNode, module: Module) -> bool:
    """Whether None is an error there whatever is called: not so where it is an argument of some function."""
    parent = module.parents.get(node)
    return not isinstance(parent, cst.Arg) or _called(module.parents.get(parent)) in _TAKERS


def is_heard(node: cst.CSTNode, module: Module, failed: Failure, broad: bool = False) -> bool:
    """Whether a handler around ``node`` hears of None, and not in the same way of an empty text.

    ``broad``: also those that wait for any error.
    """
    return bool(_around(node, module, failed, broad)[0])


def is_heard_above(
    context: Context, node: cst.CSTNode, module: Module, failed: Failure, broad: bool = False
) -> bool:
    """The same of handlers around ``node`` or a call that leads to it."""
    known = _known(context)
    seen: set[tuple[cst.CSTNode, Failure]] = set()
    left: dict[tuple[Function, Failure, bool], None] = {}  # functions, and what gets out of them
    stack = [(node, module, failed)]
    while stack:
        node, module, failed = stack.pop()
        if (node, failed) in seen or node not in module.parents:
            continue
        seen.add((node, failed))
        heard, raised = _around(node, module, failed, broad)
        function = context.project.functions.get(module.function(node) or node)
        way = None if function is None or raised is None else (function, raised, broad)
        if heard or known.get(way):
            known.update(dict.fromkeys(list(left)[:1], True))  # of those in between it is not certain
            return True
        if way is not None and way not in left and way not in known:
            left[way] = None
            stack.extend((caller.node, caller.module, way[1]) for caller in way[0].callers)
    known.update(dict.fromkeys(left, False))
    return False


_Known = dict[tuple[Function, Failure, bool] | None, bool]


def _known(context: Context) -> _Known:
    """Whether what gets out of a function is heard by those above: found out once, not for each text."""
    known = context.notes.get("heard")
    if not isinstance(known, dict):
        known = context.notes["heard"] = {}
    return known


def _around(node: cst.CSTNode, module: Module, failed: Failure, broad: bool) -> tuple[bool, Failure | None]:
    """Whether a handler in this function hears of it; and what gets out of the function."""
    below: cst.CSTNode = node
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(parent, (cst.Try, cst.TryStar)) and parent.body is below:
            taker = _first(parent.handlers, failed.of_none, module, broad)
            if taker is not None:
                # Who asks for this error by name and looks at it sees that it is another one.
                same = taker is _first(parent.handlers, failed.of_empty, module, broad)
                if same and (taker.name is None or _is_broad(taker, module)):
                    return False, None
                raised = _raised(taker)
                if raised is None or not _is_broad(taker, module):
                    return True, None
                failed = replace(failed, of_none=failed.of_none | raised)
        if isinstance(parent, cst.With) and parent.body is below:
            expected = {name for item in parent.items for name in _expected(item.item, module)}
            if failed.of_none & expected or (broad and expected & _BROAD):
                return not (failed.of_empty and failed.of_empty | _BROAD) & expected, None
        below = parent
    return False, failed


Handler = cst.ExceptHandler | cst.ExceptStarHandler


def _first(
    handlers: Sequence[Handler], errors: frozenset[str], module: Module, broad: bool
) -> Handler | None:
    """The handler that takes one of ``errors``."""
    for handler in handlers if errors else ():
        if handler.type is not None and errors & _named(handler.type, module):
            return handler
        if broad and _is_broad(handler, module):
            return handler
    return None


def _is_broad(handler: Handler, module: Module) -> bool:
    return handler.type is None or bool(_BROAD & _named(handler.type, module))


def _raised(handler: Handler) -> frozenset[str] | None:
    """What a handler raises at its end, by name; None if it goes on."""
    line = handler.body.body[-1] if handler.body.body else None
    last = line.body[-1] if isinstance(line, cst.SimpleStatementLine) else line
    if not isinstance(last, cst.Raise):
        return None
    error = last.exc.func if isinstance(last.exc, cst.Call) else last.exc
    name = error.attr if isinstance(error, cst.Attribute) else error
    return frozenset({name.value}) if isinstance(name, cst.Name) else _NOTHING


def _expected(manager: cst.BaseExpression, module: Module) -> set[str]:
    """The names of the errors that ``with suppress(TypeError)`` and its like expect."""
    if _called(manager) not in ("suppress", "raises", "assertRaises", "assertRaisesRegex"):
        return set()
    assert isinstance(manager, cst.Call)
    return {name for arg in manager.args for name in _named(arg.value, module)}


def _named(node: cst.BaseExpression, module: Module) -> set[str]:
    """The names of the errors that a handler is for; a constant of the module may hold them."""
    names = {inner.value for inner in walk(node) if isinstance(inner, cst.Name)}
    for value in [value for name in names for value in module.scope.any(name).values]:
        if isinstance(value, SeqValue):
            names |= {
                item.path.rpartition(".")[2] for item in value.element.values if isinstance(item, External)
            }
    return names

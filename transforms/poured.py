"""Dicts that others are poured into: ``{**d, "run": 1}``, ``d | e``, ``n.update(d)``, ``f(**d)``.

A copy has the keys of what it was made from. Where those change, whoever reads the copy sees it.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.copying import copied_by_loop
from ..know.kinds import Const, DictValue, External, Method, SeqValue, Typed, Value
from ..know.modules import Module, target_names, walk
from .context import Context
from .taken_out import held_back

READS = frozenset({"read", "get", "contains", "pop", "delete"})


def inherited(context: Context, roots: dict[DictValue, frozenset[str]]) -> dict[DictValue, frozenset[str]]:
    """``roots``, with the keys that change in each, and the dicts that get these keys from them."""
    copies = _copies(context)
    found = dict(roots)
    stack = list(roots)
    while stack:
        source = stack.pop()
        for copy in copies.get(source, ()):
            known = found.get(copy, frozenset())
            ways = [held_back(copy, var) for var in copy.merged if source in var.values]
            names = known | found[source].difference(frozenset.intersection(*ways) if ways else ())
            if names != known:
                found[copy] = names
                stack.append(copy)
    return found


def _copies(context: Context) -> dict[DictValue, list[DictValue]]:
    """The dicts that each dict is poured into."""
    known = context.memo.get("copies")
    if known is None:
        found: dict[DictValue, list[DictValue]] = {}
        for value in context.dicts():
            for source in value.poured:
                found.setdefault(source, []).append(value)
        known = context.memo["copies"] = found
    assert isinstance(known, dict)
    return known


def looks(context: Context, value: DictValue) -> Iterator[tuple[cst.CSTNode, Module]]:
    """Where the keys of ``value`` are looked at all together, or in a way that is not known."""
    for node, module in context.holders(value):
        if not _is_plain(context, node, module):
            yield node, module


# What only hands a dict on, or tests whether there is one.
_CARRIES = (
    cst.AnnAssign,
    cst.AsName,
    cst.Assert,
    cst.AssignTarget,
    cst.AugAssign,
    cst.Await,
    cst.BooleanOperation,
    cst.CompIf,
    cst.Del,
    cst.DictComp,
    cst.DictElement,
    cst.Element,
    cst.Expr,
    cst.FormattedStringExpression,
    cst.GeneratorExp,
    cst.If,
    cst.IfExp,
    cst.ImportAlias,
    cst.Lambda,
    cst.ListComp,
    cst.MatchAs,
    cst.NameItem,
    cst.NamedExpr,
    cst.Param,
    cst.Parameters,
    cst.Return,
    cst.StarredDictElement,
    cst.UnaryOperation,
    cst.While,
    cst.WithItem,
    cst.Yield,
)
_METHODS = frozenset({"get", "pop", "setdefault", "update", "copy", "values", "clear", "items"})
# Foreign callees that go through the keys of what they get; what else is not known lets it escape.
_LISTS_KEYS = frozenset(
    "sorted list tuple set frozenset enumerate iter reversed max min zip map filter any all sum next".split()
)


def _is_plain(context: Context, node: cst.CSTNode, module: Module) -> bool:
    parent = module.parents.get(node)
    match parent:
        case cst.Attribute(value=owner, attr=cst.Name(value="items")) if owner is node:
            call = module.parents[parent]
            loop = module.parents.get(call)
            if isinstance(loop, cst.For):
                return copied_by_loop(loop) is not None and not _is_known_later(loop, module)
            return isinstance(loop, cst.CompFor) and _is_copy(module.parents.get(loop), loop)
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if owner is node:
            return name in _METHODS or not hasattr(dict, name)
        case cst.Attribute() | cst.Annotation():
            return True
        case cst.Assign(targets=targets):
            return not any(isinstance(item.target, (cst.Tuple, cst.List)) for item in targets)
        case cst.For() | cst.CompFor():
            return parent.target is node
        case cst.Subscript(value=owner):
            return owner is node
        case cst.BinaryOperation(operator=operator):
            return isinstance(operator, (cst.BitOr, cst.Modulo))  # text of it: an escape
        case cst.Comparison() | cst.ComparisonTarget():
            return True  # for equality there is a rule of its own
        case cst.Arg(star=star):
            call = module.parents[parent]
            return star != "*" and (not isinstance(call, cst.Call) or _takes_whole(context, call, star))
        case _:
            return (
                parent is None or isinstance(parent, _CARRIES) or isinstance(node, (cst.Param, cst.MatchAs))
            )


def _is_copy(comprehension: cst.CSTNode | None, loop: cst.CompFor) -> bool:
    """``{k: v for k, v in d.items() if v}``: no key is asked for by name."""
    if not isinstance(comprehension, cst.DictComp) or not isinstance(loop.target, cst.Tuple):
        return False
    first = loop.target.elements[0].value
    return isinstance(first, cst.Name) and not any(
        isinstance(node, cst.Name) and node.value == first.value for test in loop.ifs for node in walk(test)
    )


def _is_known_later(loop: cst.For, module: Module) -> bool:
    """Whether the key that ``loop`` came to last may be read where no other loop has given the name one."""
    assert isinstance(loop.target, cst.Tuple)
    key = loop.target.elements[0].value
    name = key.value if isinstance(key, cst.Name) else ""
    around = module.function(loop) or module.tree
    return any(
        isinstance(node, cst.Name) and node.value == name and not _is_bound_by_loop(node, module)
        for node in walk(around)
    )


def _is_bound_by_loop(node: cst.Name, module: Module) -> bool:
    """Whether ``node`` is in a loop or comprehension that binds it, or is no variable."""
    parent = module.parents[node]
    if isinstance(parent, cst.Attribute) and parent.attr is node:
        return True
    if isinstance(parent, cst.Arg) and parent.keyword is node:
        return True
    for outer in module.ancestors(node):
        inner = outer.for_in if isinstance(outer, (cst.BaseSimpleComp, cst.DictComp)) else outer
        if isinstance(inner, (cst.For, cst.CompFor)) and node.value in target_names(inner.target):
            return True
    return False


def _takes_whole(context: Context, call: cst.Call, star: str) -> bool:
    """Whether ``call`` goes on with the dict it gets, or lets it escape: no key is looked at here."""
    return star == "**" or not any(_goes_through(callee) for callee in context.project.values(call.func))


def _goes_through(callee: Value) -> bool:
    match callee:
        case External(path=path):
            return path.removeprefix("builtins.") in _LISTS_KEYS or path.startswith(
                ("itertools.", "functools.reduce")
            )
        case Method(owner=SeqValue(), name=name):
            return name in ("extend", "extendleft", "update")
        case Method(owner=Const() | Typed()):
            return True
        case _:
            return False

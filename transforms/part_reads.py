"""Code that reads message parts back: ``part["type"] == "image_url"``, ``part["image_url"]["url"]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import libcst as cst

from ..know.kinds import Const, DictValue, Site, Typed, Value
from ..know.modules import Module
from .context import WRITES, Context
from .snippets import literals_of, string

_NESTED = ("image_url", "file")


# A part that moves: the sites it belongs to, and the new names of part types as its roles have them.
Moving = Mapping[DictValue, tuple[list[Site], Mapping[str, str]]]


def plan(context: Context, moving: Moving) -> None:
    """Rewrite every read of the parts in ``moving``, each once."""
    reads: dict[cst.CSTNode, tuple[str, list[DictValue]]] = {}
    for value in moving:
        for key in ("type", *_NESTED):
            places = value.places.get(key, [])
            if key != "type" and not any(place.how in WRITES for place in places):
                continue  # it has none: the read of it fails, or gives None, as before
            for place in places:
                if place.how in ("read", "get"):
                    reads.setdefault(place.node, (key, []))[1].append(value)
    for node, (key, values) in reads.items():
        _read(context, node, key, values, moving)


def _read(context: Context, node: cst.CSTNode, key: str, values: list[DictValue], moving: Moving) -> None:
    module = context.module_of(node)
    sites = list(dict.fromkeys(site for value in values for site in moving[value][0]))
    names = [moving[value][1] for value in values]
    base = _base(node)
    text = context.source(node, module)
    if base is None or any(not _is_read(value, moving) for value in context.project.values(base)):
        context.manual(node, module, sites, "MR604", f"`{text}` also reads something else")
    elif key != "type":
        _nested(context, node, module, sites)
    else:
        _type(context, node, module, sites, names)


def _is_read(value: Value, moving: Moving) -> bool:
    """Whether the rule knows what a read gives: a text has no keys, and reading one raises as before."""
    if isinstance(value, Typed):
        return value.type == "str"
    return value in moving or (isinstance(value, Const) and isinstance(value.value, (str, type(None))))


def _base(node: cst.CSTNode) -> cst.BaseExpression | None:
    match node:
        case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
            return value
        case _:
            return None


def _type(
    context: Context, node: cst.CSTNode, module: Module, sites: list[Site], names: Sequence[Mapping[str, str]]
) -> None:
    """A comparison of the type with constants names the new types: of a text, as each role has it."""
    parent = module.parents.get(node)
    literals: list[cst.SimpleString] = []
    match parent:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=other)]) if left is node:
            literals = literals_of(other)
        case _:
            pass
    text = context.source(node, module)
    if not literals:
        context.unsafe(node, module, sites, "MR604", f"`{text}` gives another name for the type now")
        return
    for literal in literals:
        old = str(literal.evaluated_value)
        new = sorted({known.get(old, old) for known in names})
        target = module.parents.get(literal)
        if len(new) == 1:
            if new != [old]:
                context.edit(literal, module, sites, renamed(new[0]), "MR604")
        elif isinstance(target, cst.ComparisonTarget) and isinstance(target.operator, tuple(_ONE_OF)):
            context.edit(target, module, sites, _one_of(new), "MR604")
        else:
            context.manual(node, module, sites, "MR604", f"`{text}` has several names for text now")


_ONE_OF: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {cst.Equal: cst.In, cst.NotEqual: cst.NotIn}


def _one_of(names: Sequence[str]) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An edit of ``== "text"``: ``in ("input_text", "output_text")``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(original, cst.ComparisonTarget)
        assert isinstance(updated, cst.ComparisonTarget)
        written = [cst.Element(string(name, original.comparator)) for name in names]
        operator = _ONE_OF[type(original.operator)]()
        return updated.with_changes(operator=operator, comparator=cst.Tuple(written))

    return apply


def renamed(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An edit that writes another string, in the same quotes."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        return string(name, original)

    return apply


def _nested(context: Context, node: cst.CSTNode, module: Module, sites: list[Site]) -> None:
    """``part["image_url"]["url"]`` is ``part["image_url"]``, other keys move up."""
    outer = module.parents.get(node)
    if isinstance(outer, cst.Attribute) and outer.attr.value == "get":
        call = module.parents.get(outer)
        key = call.args[0].value if isinstance(call, cst.Call) and call.args else None
        whole: cst.CSTNode | None = call
    elif isinstance(outer, cst.Subscript) and outer.value is node:
        index = outer.slice[0].slice
        key = index.value if isinstance(index, cst.Index) else None
        whole = outer
    else:
        key, whole = None, None
    if not isinstance(key, cst.SimpleString) or whole is None or not _has_no_dict(node):
        text = context.source(node, module)
        context.manual(node, module, sites, "MR604", f"`{text}` is not a dict any more")
        return
    if key.evaluated_value == "url":
        context.edit(whole, module, sites, _inside, "MR604")
    else:
        context.edit(node, module, sites, lambda o, u: _base(u) or u, "MR604")


def _has_no_dict(node: cst.CSTNode) -> bool:
    """Whether a read gives nothing of its own where there is no such key: ``part.get("image_url", {})``."""
    if not isinstance(node, cst.Call) or len(node.args) < 2:
        return True
    default = node.args[1].value
    return isinstance(default, cst.Dict) and not default.elements


def _inside(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``part.get("image_url", {}).get("url", x)`` -> ``part.get("image_url", x)``."""
    inner = _base(updated)
    if not isinstance(inner, cst.Call) or len(inner.args) < 2:
        return inner or updated
    key = inner.args[0]
    if isinstance(updated, cst.Call):
        return inner.with_changes(args=[key, *updated.args[1:]] if len(updated.args) > 1 else [_last(key)])
    owner = _base(inner)
    assert owner is not None
    return cst.Subscript(owner, [cst.SubscriptElement(cst.Index(key.value))])


def _last(arg: cst.Arg) -> cst.Arg:
    return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)

"""Doubles whose parts have names of their own, written out as if they stood in one place.

``message = MagicMock(content=X); choice = MagicMock(message=message); MagicMock(choices=[choice])`` is
``MagicMock(choices=[MagicMock(message=MagicMock(content=X))])``: only then do the rules for doubles look at
it, and the lines that made the parts are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..know import modules as syntax
from ..know.modules import Module
from .double_edits import has_others, only
from .double_forms import Keywords, alike, call_with, keywords_of, typed_dict
from .snippets import TIGHT, key_of

Maker = Callable[[cst.CSTNode], str | None]
# The fields through which an answer is put together.
_JOINED = frozenset({"message", "delta"})
_DEPTH = 4


@dataclass
class Tree:
    """A double without names for its parts, and the statements that are in it now."""

    node: cst.Call
    gone: list[cst.BaseSmallStatement] = field(default_factory=list)


def written_out(module: Module, node: cst.Call, maker: Maker) -> Tree | None:
    """``node``, with the parts of its choice that are names replaced by what they are bound to.

    None if a part has a name that is also used in another way.
    """
    tree = Tree(node)
    try:
        made = _out(module, node, maker, tree, _DEPTH)
    except _Unclear:
        return None
    assert isinstance(made, cst.Call)
    tree.node = made
    return tree


class _Unclear(Exception):
    """A part that cannot be written out."""


def _out(module: Module, node: cst.Call, maker: Maker, tree: Tree, depth: int) -> cst.Call:
    fields = typed_dict(node)
    held: Sequence[cst.Arg | cst.DictElement] = node.args
    if fields is not None:
        held = [element for element in fields.elements if isinstance(element, cst.DictElement)]
    args = []
    for arg in held:
        name = _name_of(arg)
        value = arg.value
        if name == "choices":
            if isinstance(value, cst.Name) and depth:
                value = _listed(module, value, tree)
            choice = only(value)
            if choice is not None:
                assert isinstance(value, (cst.List, cst.Tuple))
                part = _part(module, choice, maker, tree, depth)
                if part is not choice:
                    value = value.with_changes(elements=[value.elements[0].with_changes(value=part)])
        elif name in _JOINED:
            value = _part(module, value, maker, tree, depth)
        args.append(arg if value is arg.value else arg.with_changes(value=value))
    if all(new is old for new, old in zip(args, held, strict=True)):
        return node
    if fields is not None:
        made = node.deep_replace(fields, fields.with_changes(elements=args))
        assert isinstance(made, cst.Call)
        return made
    return node.with_changes(args=args)


def _listed(module: Module, name: cst.Name, tree: Tree) -> cst.BaseExpression:
    """The list of choices that ``name`` is bound to, if it has that name for nothing else."""
    bound = binding(module, name)
    if bound is None or list(uses(module, name)) != [name] or not _stands_alone(module)(bound):
        return name
    if not isinstance(bound.value, (cst.List, cst.IfExp)):
        return name
    tree.gone.append(bound)
    return bound.value


def _name_of(field: cst.Arg | cst.DictElement) -> str:
    if isinstance(field, cst.DictElement):
        return key_of(field) or ""
    return field.keyword.value if field.keyword is not None else ""


def _part(
    module: Module, node: cst.BaseExpression, maker: Maker, tree: Tree, depth: int
) -> cst.BaseExpression:
    if isinstance(node, cst.Call):
        return _out(module, node, maker, tree, depth)
    if not isinstance(node, cst.Name) or not depth:
        return node
    bound = binding(module, node)
    if bound is None or maker(bound.value) is None:
        return node
    assert isinstance(bound.value, cst.Call)
    fields: dict[tuple[str, ...], cst.BaseExpression] = {}
    lines: list[cst.BaseSmallStatement] = [bound]
    for use in uses(module, node):
        if use is node:
            continue
        path, assign = assigned_through(module, use)
        if assign is None or not path or path in fields or not _is_before(module, assign, node):
            raise _Unclear
        fields[path] = assign.value
        lines.append(assign)
    if not all(map(_stands_alone(module), lines)):
        raise _Unclear
    tree.gone.extend(lines)
    call = _with_fields(bound.value, fields)
    return _out(module, call, maker, tree, depth - 1)


def binding(module: Module, name: cst.Name) -> cst.Assign | None:
    """The statement that binds ``name`` where it is used: ``x = ...``, and nothing else gives it a value."""
    found = None
    for assign in _bindings(module, name) or ():
        if module.order[assign] < module.order[name]:
            found = assign
    return found


def _bindings(module: Module, name: cst.Name) -> list[cst.Assign] | None:
    """All statements that bind the name, in order; None if it is bound in other ways, or in branches."""
    scope = module.function(name)
    if isinstance(scope, (cst.FunctionDef, cst.Lambda)) and name.value in {
        parameter.name.value for parameter in syntax.parameters(scope.params)
    }:
        return None
    found: list[cst.Assign] = []
    for node in syntax.walk(scope or module.tree):
        if name.value not in syntax.bound_by(node):
            continue
        assign = module.parents.get(node)
        if (
            not isinstance(node, cst.AssignTarget)
            or not isinstance(node.target, cst.Name)
            or not isinstance(assign, cst.Assign)
            or len(assign.targets) != 1
        ):
            return None
        if module.function(node) is scope:
            found.append(assign)
    found.sort(key=module.order.__getitem__)
    blocks = {module.parents.get(module.statement(assign)) for assign in found}
    return found if len(blocks) <= 1 else None


def uses(module: Module, name: cst.Name) -> Iterator[cst.Name]:
    """Where the value that ``name`` has is read, in the function around it."""
    bindings = _bindings(module, name) or []
    borders = [module.order[assign] for assign in bindings]
    here = sum(border < module.order[name] for border in borders)
    for node in syntax.walk(module.function(name) or module.tree):
        if (
            isinstance(node, cst.Name)
            and node.value == name.value
            and is_read(module, node)
            and sum(border < module.order[node] for border in borders) == here
        ):
            yield node


def is_read(module: Module, node: cst.Name) -> bool:
    """Whether the name is used, and not bound, nor the name of an attribute or a keyword."""
    match module.parents.get(node):
        case cst.AssignTarget():
            return False
        case cst.Attribute(attr=attr):
            return attr is not node
        case cst.Arg(keyword=keyword):
            return keyword is not node
        case _:
            return True


def assigned_through(module: Module, node: cst.Name) -> tuple[tuple[str, ...], cst.Assign | None]:
    """``name.message.content = X`` -> (("message", "content"), the statement)."""
    path: list[str] = []
    current: cst.CSTNode = node
    while isinstance(parent := module.parents.get(current), cst.Attribute) and parent.value is current:
        path.append(parent.attr.value)
        current = parent
    if isinstance(parent, cst.AssignTarget):
        assign = module.parents.get(parent)
        if isinstance(assign, cst.Assign) and len(assign.targets) == 1:
            return tuple(path), assign
    return tuple(path), None


def _stands_alone(module: Module) -> Callable[[cst.CSTNode], bool]:
    """Tells whether a statement has a line, and its block something besides."""

    def check(small: cst.CSTNode) -> bool:
        line = module.parents.get(small)
        return isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 and has_others(module, line)

    return check


def _is_before(module: Module, first: cst.CSTNode, second: cst.CSTNode) -> bool:
    return module.order[first] < module.order[second]


def _with_fields(call: cst.Call, fields: dict[tuple[str, ...], cst.BaseExpression]) -> cst.Call:
    """``call`` with what attributes are set to as keywords."""
    keywords: Keywords = dict(keywords_of(call))
    nested: dict[str, dict[tuple[str, ...], cst.BaseExpression]] = {}
    for path, value in fields.items():
        if len(path) == 1:
            if path[0] in keywords or path[0] in nested:
                raise _Unclear
            keywords[path[0]] = value
        else:
            nested.setdefault(path[0], {})[path[1:]] = value
    for name, inner in nested.items():
        held = keywords.get(name)
        if held is not None and not isinstance(held, cst.Call):
            raise _Unclear
        keywords[name] = _with_fields(held or alike(call, {}), inner)
    if not fields:
        return call
    if typed_dict(call) is not None:
        return call_with(call, keywords)
    args = [
        cst.Arg(
            value,
            keyword=cst.Name(name),
            equal=TIGHT,
            comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")),
        )
        for name, value in keywords.items()
    ]
    if args:
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return call.with_changes(args=args, whitespace_before_args=cst.SimpleWhitespace(""))

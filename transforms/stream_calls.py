"""Streamed tool calls: how their pieces are taken (MR408, trap D13).

``response.output_item.done`` brings a whole call: code that adds up pieces does the same with one piece.
Code that shows the arguments while they are written takes the deltas; code that asks only which function
is called takes ``response.output_item.added``.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Class, DictValue, External, Kind, Value
from ..know.modules import Module, walk
from .context import Context
from .reading import fixed, named, replace_read, same, truth_tested
from .stream_lists import indices
from .stream_parts import On
from .stream_region import Region
from .stream_syntax import is_empty

_GATHERING = (
    frozenset("append extend setdefault update get add insert len".split(" "))
    | frozenset("dict list str int getattr hasattr isinstance".split(" "))
    | {"defaultdict", "SimpleNamespace"}
)
_NAMES = {"id": "call_id", "name": "name", "arguments": "arguments"}


def choose(region: Region) -> None:
    """Decide how ``region`` takes the pieces, and find the lists that are filled by index."""
    asked: set[str] = set()
    read: set[str] = set()
    live = False
    for node in region.nodes():
        if not isinstance(node, cst.BaseExpression):
            continue
        piece = region.piece(node)
        if piece is not None:
            asked.add(piece)
        if piece is not None and not _is_tested(region, node):
            read.add(piece)
            live |= piece == "arguments" and _is_shown(region, node)
        elif region.kind(node) is Kind.DELTA_CALL and _is_kept(region, node):
            read.add("whole")
    if live and not asked & {"id", "name"}:
        region.calls = "arguments"
    elif live and "whole" not in read:
        region.calls = "live"
        region.everything |= {On.PIECE}
    elif not live and not asked & {"arguments"} and "whole" not in read:
        region.calls = "opening"
    region.lists = {index for index, grows in indices(region) if grows}


def misused(region: Region) -> Iterator[cst.BaseExpression]:
    """Indices of calls that are more than keys: a call's place in the answer is another number."""
    for node in region.nodes():
        if isinstance(node, cst.BaseExpression) and region.is_index(node) and not _is_key(region, node):
            yield node
    yield from (index for index, grows in indices(region) if not grows)


def _is_key(region: Region, node: cst.BaseExpression) -> bool:
    parent = region.module.parents.get(node)
    match parent:
        case cst.Index():
            return True
        case cst.Arg():
            call = region.module.parents.get(parent)
            if not isinstance(call, cst.Call) or call.args[0] is not parent:
                return False
            return isinstance(call.func, cst.Attribute) and call.func.attr.value in (
                "setdefault",
                "get",
                "pop",
            )
        case cst.Assign() | cst.AssignTarget() | cst.AnnAssign():
            return True
        case cst.Comparison() | cst.ComparisonTarget():
            test = parent if isinstance(parent, cst.Comparison) else region.module.parents[parent]
            return isinstance(test, cst.Comparison) and region.pure(test) is not None
        case cst.Attribute(attr=attr):
            return attr is node  # no variable at all
        case cst.BinaryOperation():
            return _is_key(region, parent)
        case cst.BooleanOperation():  # `call.index or 0`
            return region.is_index(parent) and _is_key(region, parent)
        case _:
            return False


def _is_tested(region: Region, node: cst.BaseExpression) -> bool:
    return truth_tested(region.module, node) or isinstance(region.module.parents.get(node), cst.Comparison)


def _is_kept(region: Region, node: cst.BaseExpression) -> bool:
    parent = region.module.parents.get(node)
    if isinstance(parent, cst.Assign):
        return not isinstance(parent.targets[0].target, cst.Name)
    return isinstance(parent, (cst.Arg, cst.Element, cst.DictElement, cst.Yield, cst.Return))


def _is_shown(region: Region, node: cst.BaseExpression) -> bool:
    """Whether the piece goes where somebody sees it as it comes."""
    for parent in region.module.ancestors(node):
        if isinstance(parent, cst.Call):
            func = parent.func
            name = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
            if name not in _GATHERING:
                return True
        elif isinstance(parent, cst.Yield):
            return True
        elif isinstance(parent, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
    return False


def gathers(region: Region, node: cst.CSTNode) -> bool:
    """Whether ``node`` does with one event what it did with the pieces of a call, one after the other."""
    if (
        isinstance(node, (cst.Pass, cst.Continue))
        or region.calls in ("arguments", "live")
        or _is_for_the_first(region, node)
    ):
        return True
    if region.calls == "opening" and isinstance(node, (cst.Return, cst.Break)):
        return True
    if isinstance(node, (cst.Return, cst.Break, cst.Raise)) or (
        region.calls == "opening" and isinstance(node, cst.AugAssign)
    ):
        return False
    for inner in walk(node):
        if isinstance(inner, (cst.Yield, cst.Await)):
            return False
        if isinstance(inner, cst.Call) and not _is_gathering(region, inner):
            return False
    return True


def is_added(region: Region, node: cst.CSTNode) -> bool:
    """``calls[index].function.arguments += call.function.arguments``: one more piece of a kept call."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1 or region.calls != "whole":
        return False
    match node.body[0]:
        case cst.AugAssign(target=cst.Attribute() as target, operator=cst.AddAssign(), value=piece):
            pass
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Attribute() as target)],
            value=cst.BinaryOperation(left=before, operator=cst.Add(), right=piece),
        ):
            if isinstance(before, cst.BooleanOperation) and is_empty(before.right):
                before = before.left
            if not before.with_changes(lpar=[], rpar=[]).deep_equals(target):
                return False
        case _:
            return False
    kinds = {shape.kind for shape in region.context.project.shapes(target.value)}
    return kinds == {Kind.DELTA_FUNCTION} and region.piece(piece) == target.attr.value


def is_changed(region: Region, node: cst.CSTNode) -> bool:
    """Whether ``node`` sets a field of a streamed call."""
    match node:
        case (
            cst.AugAssign(target=cst.Attribute() as target)
            | cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)])
        ):
            kinds = {shape.kind for shape in region.context.project.shapes(target.value)}
            return bool(kinds & {Kind.DELTA_FUNCTION, Kind.DELTA_CALL})
        case _:
            return False


def _is_gathering(region: Region, call: cst.Call) -> bool:
    func = call.func
    name = func.attr.value if isinstance(func, cst.Attribute) else getattr(func, "value", "")
    if region.calls == "opening" and name in ("append", "extend", "insert"):
        return False
    values = region.context.project.values(func)
    if any(
        isinstance(value, External) and value.path.startswith(("logging.", "loguru.")) for value in values
    ):
        return True
    return name in _GATHERING or (bool(values) and all(isinstance(value, Class) for value in values))


def _is_for_the_first(region: Region, node: cst.CSTNode) -> bool:
    """Whether a test around ``node`` let through only the first piece of a call, which has its name."""
    child = node
    for parent in region.module.ancestors(node):
        if isinstance(parent, cst.If) and child is parent.body:
            for inner in walk(parent.test):
                if isinstance(inner, cst.BaseExpression) and (
                    region.piece(inner) in ("id", "name") or region.is_index(inner)
                ):
                    return True
        if parent is region.node:
            return False
        child = parent
    return False


def numbered(region: Region) -> Iterator[tuple[cst.CSTNode, str]]:
    """Uses of a dict of calls that count on keys 0, 1, 2: a key is a place in the answer now."""
    project = region.context.project
    inside = set(region.nodes())
    dicts: set[Value] = set()
    keyed: set[str] = set()  # what is subscripted by such an index, as written
    for node in inside:
        if isinstance(node, cst.Subscript) and any(map(region.is_index, _keys(node))):
            keyed.add(region.module.tree.code_for_node(node.value))
            dicts.update(value for value in project.values(node.value) if isinstance(value, DictValue))
        match node:
            case cst.Call(func=cst.Attribute(value=owner), args=[first, *_]) if region.is_index(first.value):
                dicts.update(value for value in project.values(owner) if isinstance(value, DictValue))
            case _:
                continue
    for value in dicts:
        assert isinstance(value, DictValue)
        keyed.update(
            module.tree.code_for_node(holder)
            for holder, module in region.context.holders(value)
            if isinstance(holder, (cst.Name, cst.Attribute))
        )
        for holder, module in region.context.holders(value):
            parent = module.parents.get(holder)
            if holder not in inside:
                for shown in _shown_keys(module, holder, keyed):
                    yield shown, "is the place of a call in the answer now, and not its number"
                if _asks_by_number(region.context, module, holder):
                    yield parent or holder, "may count on keys from 0 up"
            if holder in inside or not isinstance(parent, cst.Subscript) or parent.value is not holder:
                continue
            for key in _keys(parent):
                if isinstance(key, cst.Integer) or _counts(module, key):
                    yield parent, "counts on keys from 0 up"


def _asks_by_number(context: Context, module: Module, holder: cst.CSTNode) -> bool:
    """Whether a dict of calls is asked for a key, or goes where its keys can be seen."""
    parent = module.parents.get(holder)
    match parent:
        case cst.Attribute(attr=cst.Name(value=name)) if parent.value is holder:
            return name not in ("values", "items", "keys", "clear", "copy", "update")
        case cst.Comparison() | cst.ComparisonTarget():
            comparison = parent if isinstance(parent, cst.Comparison) else module.parents[parent]
            return module.tree.code_for_node(comparison).rpartition(" ")[2] not in ("None", "{}")
        case cst.Arg():
            call = module.parents.get(parent)
            callees = context.project.values(call.func) if isinstance(call, cst.Call) else []
            return any(isinstance(value, External) and value.path not in _KEYLESS for value in callees)
        case _:
            return False


_KEYLESS = frozenset(
    f"builtins.{name}" for name in ("len", "bool", "sorted", "isinstance", "type", "id", "list", "dict")
)


def _shown_keys(module: Module, holder: cst.CSTNode, keyed: set[str]) -> Iterator[cst.Name]:
    """Where a loop over a dict of calls uses their keys for more than to look something up in ``keyed``."""
    source: cst.CSTNode | None = holder
    parent = module.parents.get(holder)
    pairs = isinstance(parent, cst.Attribute) and parent.attr.value == "items"
    if isinstance(parent, cst.Attribute) and parent.attr.value in ("items", "keys"):
        source = module.parents.get(parent)
    outer = module.parents.get(source) if source is not None else None
    if isinstance(outer, cst.Arg):  # sorted(calls.items())
        source = module.parents.get(outer)
    loop = module.parents.get(source) if source is not None else None
    if not isinstance(loop, (cst.For, cst.CompFor)) or loop.iter is not source:
        return
    target: cst.BaseExpression = loop.target
    if pairs and isinstance(target, cst.Tuple):
        target = target.elements[0].value
    extent = loop.body if isinstance(loop, cst.For) else module.parents[loop]
    for node in walk(extent):
        if isinstance(node, cst.Name) and isinstance(target, cst.Name) and node.value == target.value:
            use = module.parents.get(node)
            if node is target or isinstance(use, (cst.Attribute, cst.Element)):
                continue
            if not isinstance(use, cst.Index) or not _looks_up(module, use, keyed):
                yield node


def _looks_up(module: Module, index: cst.Index, keyed: set[str]) -> bool:
    """Whether ``[index]`` is that of something that has such keys."""
    element = module.parents.get(index)
    subscript = module.parents.get(element) if element is not None else None
    return isinstance(subscript, cst.Subscript) and module.tree.code_for_node(subscript.value) in keyed


def _keys(node: cst.Subscript) -> Iterator[cst.BaseExpression]:
    for element in node.slice:
        if isinstance(element.slice, cst.Index):
            yield element.slice.value


def _counts(module: Module, key: cst.BaseExpression) -> bool:
    """Whether ``key`` is the variable of a loop over ``range(...)``."""
    if not isinstance(key, cst.Name):
        return False
    for parent in module.ancestors(key):
        loops = [parent] if isinstance(parent, (cst.For, cst.CompFor)) else []
        if isinstance(parent, (cst.ListComp, cst.GeneratorExp, cst.SetComp)):
            loops = [parent.for_in]
        for loop in loops:
            if isinstance(loop.target, cst.Name) and loop.target.value == key.value:
                return isinstance(loop.iter, cst.Call) and getattr(loop.iter.func, "value", "") == "range"
    return False


def outside(context: Context, understood: set[cst.CSTNode]) -> set[cst.CSTNode]:
    """Calls that were kept as they came are items of the answer: their fields have new names."""
    found: set[cst.CSTNode] = set()
    for node, module, shapes in context.shaped:
        kinds = {shape.kind for shape in shapes}
        if (
            node in understood
            or not isinstance(node, cst.BaseExpression)
            or not kinds <= {Kind.DELTA_CALL, Kind.DELTA_FUNCTION}
        ):
            continue
        sites = {shape.site for shape in shapes}
        parent = module.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.value is node:
            name = parent.attr.value
            if kinds == {Kind.DELTA_CALL} and name == "function":
                context.edit(parent, module, sites, replace_read(same), "MR408")
            elif kinds == {Kind.DELTA_CALL} and name == "type":
                context.edit(parent, module, sites, replace_read(fixed('"function"')), "MR408")
            elif name in _NAMES:
                context.edit(parent, module, sites, replace_read(named(_NAMES[name])), "MR408")
            else:
                continue
            found.add(node)
        elif (
            (isinstance(parent, (cst.For, cst.CompFor)) and parent.target is node)
            or (isinstance(parent, cst.Element) and _is_loop_target(parent, module))
            or (isinstance(parent, (cst.Assign, cst.AssignTarget)) and kinds == {Kind.DELTA_CALL})
            or isinstance(node, cst.Subscript)
        ):
            found.add(node)
    return found


def _is_loop_target(node: cst.Element, module: Module) -> bool:
    """Whether ``node`` is the ``call`` of ``for index, call in calls.items():``."""
    pair = module.parents[node]
    loop = module.parents.get(pair)
    return isinstance(loop, (cst.For, cst.CompFor)) and loop.target is pair


__all__ = ["choose", "outside"]

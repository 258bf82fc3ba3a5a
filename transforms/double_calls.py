"""Doubles of tool calls: the call and its function are one item now (MR802).

``call.function.name = "add"`` is ``call.name = "add"``, and ``SimpleNamespace(id=X, function=SimpleNamespace(
name=N, arguments=A))`` an item of its own kind, wherever it is made: in the list of a message, under a name,
or in a helper of the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import Const, Function, Instance
from ..know.modules import Module
from .double_callers import own_fields
from .double_edits import as_item, has_others, is_call, is_empty, new_name, new_string
from .double_forms import Keywords, call_with, keywords_of
from .double_trees import assigned_through, binding, is_read, uses
from .snippets import expr

if TYPE_CHECKING:
    from .context import Context
    from .double_shapes import Shapes

# What a call and its function are asked, and where it is now.
_READ = {
    ("id",): "call_id",
    ("type",): "type",
    ("function", "name"): "name",
    ("function", "arguments"): "arguments",
}
_DEPTH = 4
# Reads of a name, each with the attributes that are asked of it, and the statement that sets them.
_Uses = list[tuple[cst.Name, tuple[str, ...], "cst.Assign | None"]]


class Calls:
    """The doubles of calls in one test file."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._context = shapes.context
        self._module = shapes.module
        self.items: set[cst.CSTNode] = set()  # expressions that make an item: calls of makers
        self.classes: set[cst.ClassDef] = set()  # classes of the tests whose objects are items
        self._everywhere = everywhere(shapes.context)
        self._everywhere[self._module] = self
        self._bound: set[cst.Assign] = set()  # statements that bind a name to an item

    def plan(self) -> None:
        module = self._module
        for node in module.of(cst.Assign):
            match node:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name() as name)], value=cst.Call() as made
                ) if self._shapes.maker(made) is not None:
                    self._named(node, name, made)
                case _:
                    continue
        for call in module.of(cst.Call):
            if call not in self.items and self._shapes.maker(call) is not None:
                self._inline(call)

    # -- calls with a name ---------------------------------------------------------------

    def _named(self, assign: cst.Assign, name: cst.Name, made: cst.Call) -> None:
        """``call = MagicMock(); call.id = X; call.function.name = N``."""
        module = self._module
        reads = list(self._uses(assign, name))
        through = [(use, *assigned_through(module, use)) for use in reads]
        keywords = keywords_of(made)
        function = keywords.get("function")
        if function is None and not any(path[:1] == ("function",) for _, path, _ in through):
            return
        if keywords.keys() - {"id", "type", "function"}:
            return
        if isinstance(function, cst.Call):
            self._whole(assign, made, through)
            return
        if isinstance(function, cst.Name):
            self._of_function(assign, function, keywords, through)
            return
        if function is not None or not _are_known(through):
            return
        has_type = "type" in keywords or any(path == ("type",) and at for _, path, at in through)
        self._rename_all(through)
        self._bound.add(assign)
        self.items.add(made)
        new: Keywords = {} if has_type and "type" not in keywords else {"type": expr('"function_call"')}
        if "id" in keywords:
            new["call_id"] = keywords["id"]
        if new:
            self._shapes.edit(made, lambda o, u: _made_with(u, new))

    def _whole(
        self,
        assign: cst.Assign,
        made: cst.Call,
        through: _Uses,
    ) -> None:
        """``call = SimpleNamespace(id=X, function=SimpleNamespace(...))``, and what is asked of it.

        ``call.function.name = N`` may follow: a mock takes no name when it is made.
        """
        function = keywords_of(made)["function"]
        if self._shapes.maker(function) is None or keywords_of(function).keys() - {"name", "arguments"}:
            return
        if not _are_known(through):
            return
        self._rename_all(through)
        self._bound.add(assign)
        self._item(made)

    def _of_function(
        self,
        assign: cst.Assign,
        function: cst.Name,
        keywords: Keywords,
        through: _Uses,
    ) -> None:
        """``call = MagicMock(id=X, function=fn)``: the function is the item now, under the call's name."""
        module = self._module
        first = self._function(function)
        line = module.parents.get(assign)
        name = assign.targets[0].target
        if (
            first is None
            or not isinstance(name, cst.Name)
            or not isinstance(line, cst.SimpleStatementLine)
            or len(line.body) != 1
            or not has_others(module, line)
            or not _are_known(through)
            or not self._can_stand_at(keywords.get("id"), first)
        ):
            return
        self._rename_all(through)
        for use in uses(module, function):
            if use is not function:
                self._shapes.edit(use, new_name(name.value))
        target = first.targets[0].target
        self._shapes.edit(target, new_name(name.value))
        self._begin(first, keywords.get("id"))
        self._bound.update((assign, first))
        self._shapes.remove([assign], first)

    def _function(self, name: cst.Name) -> cst.Assign | None:
        """Where the function of a call is made, if its name is used for nothing else."""
        module = self._module
        first = binding(module, name)
        if first is None or self._shapes.maker(first.value) is None:
            return None
        if keywords_of(first.value).keys() - {"name", "arguments"}:
            return None
        for use in uses(module, name):
            path, at = assigned_through(module, use)
            if use is not name and (at is None or path not in (("name",), ("arguments",))):
                return None
        return first

    def _begin(self, first: cst.Assign, id: cst.BaseExpression | None) -> None:
        """What makes a function makes an item."""
        made = first.value
        new: Keywords = {"type": expr('"function_call"')}
        if id is not None:
            new["call_id"] = id
        self.items.add(made)
        self._shapes.edit(made, lambda o, u: _made_with(u, {**new, **keywords_of(u)}))

    def _can_stand_at(self, node: cst.BaseExpression | None, place: cst.CSTNode) -> bool:
        """Whether what ``node`` names is there at ``place`` too."""
        if node is None:
            return True
        module = self._module
        inside = {name.value for name in syntax.walk(node) if isinstance(name, cst.Name)}
        return not any(
            inside.intersection(syntax.bound_by(other)) and module.order[other] > module.order[place]
            for other in syntax.walk(module.function(place) or module.tree)
        )

    def _uses(self, assign: cst.Assign, name: cst.Name) -> Iterator[cst.Name]:
        """Where what ``assign`` binds is read."""
        module = self._module
        for node in syntax.walk(module.function(assign) or module.tree):
            if (
                isinstance(node, cst.Name)
                and node.value == name.value
                and is_read(module, node)
                and binding(module, node) is assign
            ):
                yield node

    def _rename_all(self, through: _Uses) -> None:
        for use, path, at in through:
            if path:
                self._rename(use, path)
            if at is not None and path == ("type",) and isinstance(at.value, cst.SimpleString):
                self._shapes.edit(at.value, new_string("function_call"))

    def _rename(self, use: cst.Name, path: tuple[str, ...]) -> None:
        """``call.function.name`` -> ``call.name``."""
        module = self._module
        steps = path[:2] if path[0] == "function" else path[:1]
        node: cst.CSTNode = use
        for _ in steps:
            node = module.parents[node]
        new = _READ[steps]
        levels = len(steps)
        self._shapes.known.update(syntax.walk(node))

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.Attribute)
            base = updated.value
            if levels == 2:
                assert isinstance(base, cst.Attribute)
                base = base.value
            return updated.with_changes(value=base, attr=cst.Name(new))

        self._shapes.edit(node, apply)

    # -- calls made where they are needed ------------------------------------------------

    def _inline(self, node: cst.Call) -> None:
        """``SimpleNamespace(id=X, function=SimpleNamespace(...))``, or with a function that has a name."""
        keywords = keywords_of(node)
        function = keywords.get("function")
        if function is None or keywords.keys() - {"id", "type", "function"}:
            return
        if isinstance(function, cst.Call) and self._shapes.maker(function) is not None:
            if not keywords_of(function).keys() - {"name", "arguments"}:
                self._item(node)
            return
        if isinstance(function, cst.Name):
            first = self._function(function)
            if first is None or not self._can_stand_at(keywords.get("id"), first):
                return
            self.items.add(node)
            self._begin(first, keywords.get("id"))
            name = function.value
            self._shapes.known.update(syntax.walk(node))
            self._shapes.edit_part(node, lambda o, u: cst.Name(name))

    def _item(self, node: cst.Call) -> None:
        path = self._shapes.maker(node) or ""
        self.items.add(node)
        if path.startswith("openai.types.") and self._is_listed(node):
            return  # written with the answer
        self._shapes.known.update(syntax.walk(node))
        if path.startswith("openai.types."):
            self._shapes.needs(("ResponseFunctionToolCall",), node)
            self._shapes.edit(
                node,
                lambda o, u: _as_item(u).with_changes(func=cst.Name("ResponseFunctionToolCall")),
            )
        else:
            self._shapes.edit_part(node, lambda o, u: _as_item(u))

    def _is_listed(self, node: cst.Call) -> bool:
        """Whether a call stands in the list of a message."""
        parents = list(self._module.ancestors(node))[:3]
        match parents:
            case [cst.Element(), cst.List(), cst.Arg(keyword=cst.Name(value="tool_calls"))]:
                return True
            case _:
                return False

    # -- what is known to be items -------------------------------------------------------

    def is_item(self, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
        """Whether an expression of the tests is an item, after the edits of this class."""
        if node in self.items or is_call(keywords_of(node)):
            return True
        values = self._context.project.values(node) if isinstance(node, cst.Call) else ()
        if values and all(isinstance(v, Instance) and self._is_of_items(v) for v in values):
            return True
        match node:
            case cst.Name():
                return binding(self._module, node) in self._bound
            case cst.Call(func=cst.Name()) if depth:
                returned = list(self._returned(node))
                return bool(returned) and all(calls.is_item(v, depth - 1) for calls, v in returned)
            case _:
                return False

    def _is_of_items(self, value: Instance) -> bool:
        """Whether an object is of a class whose objects are items now."""
        calls = self._everywhere.get(value.type.module)
        return calls is not None and value.type.node in calls.classes

    def are_items(self, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
        """Whether an expression is a list of items, an empty one, or None."""
        if is_empty(node):
            return True
        match node:
            case cst.List(elements=elements) | cst.Tuple(elements=elements):
                return all(isinstance(e, cst.Element) and self.is_item(e.value) for e in elements)
            case cst.ListComp(elt=elt):
                return self.is_item(elt)
            case cst.BooleanOperation(left=left, operator=cst.Or(), right=right):
                return self.are_items(left) and self.are_items(right)
            case cst.IfExp(body=body, orelse=orelse):
                return self.are_items(body) and self.are_items(orelse)
            case cst.Name() if depth:
                bound = binding(self._module, node)
                if bound is not None:
                    return self.are_items(bound.value, depth - 1)
                return self._given(node, depth - 1)
            case cst.Attribute() if depth:
                set_to = own_fields(self._module, node)
                return bool(set_to) and all(self.are_items(value, depth - 1) for _, value in set_to)
            case _:
                return False

    def may_be_none(self, node: cst.BaseExpression) -> bool:
        """Whether a list of calls is None at times."""
        match node:
            case cst.List() | cst.ListComp() | cst.Tuple():
                return False
            case cst.BooleanOperation(operator=cst.Or(), right=right):
                return is_empty(right) and not isinstance(right, cst.List)
            case _:
                values = self._context.project.values(node)
                return not values or any(isinstance(v, Const) and v.value is None for v in values)

    def _returned(self, call: cst.Call) -> Iterator[tuple[Calls, cst.BaseExpression]]:
        """What the function of the tests that is called returns, with who knows the calls there."""
        for value in self._context.project.values(call.func):
            calls = self._everywhere.get(value.module) if isinstance(value, Function) else None
            if not isinstance(value, Function) or calls is None:
                continue
            for node in syntax.walk(value.node):
                if (
                    isinstance(node, cst.Return)
                    and node.value is not None
                    and value.module.function(node) is value.node
                ):
                    yield calls, node.value

    def _given(self, name: cst.Name, depth: int) -> bool:
        """Whether all that the tests pass for the parameter ``name`` are lists of items."""
        function = self._module.function(name)
        if not isinstance(function, cst.FunctionDef):
            return False
        known = self._context.project.functions.get(function)
        parameter = next((p for p in syntax.parameters(function.params) if p.name.value == name.value), None)
        if known is None or parameter is None or parameter.star:
            return False
        if parameter.default is not None and not is_empty(parameter.default):
            return False
        names = [p.name.value for p in function.params.params]
        position = names.index(name.value) if name.value in names else None
        for caller in known.callers:
            call = caller.node
            calls = self._everywhere.get(caller.module)
            if not isinstance(call, cst.Call) or caller.inner is not None or calls is None:
                return False
            given = _argument(call, name.value, position, known.owner is not None)
            if given is _STARRED:
                return False
            if given is not None and not calls.are_items(given, depth):
                return False
        return True


def everywhere(context: Context) -> dict[Module, Calls]:
    """The doubles of calls by test file."""
    return cast(dict[Module, Calls], context.memo.setdefault("doubles of calls", {}))


_STARRED = cst.Name("_")


def _argument(call: cst.Call, name: str, position: int | None, is_method: bool) -> cst.BaseExpression | None:
    for number, arg in enumerate(call.args):
        if arg.star:
            return _STARRED
        if arg.keyword is not None:
            if arg.keyword.value == name:
                return arg.value
        elif position is not None and number == position - is_method:
            return arg.value
    return None


def _are_known(through: _Uses) -> bool:
    """Whether nothing is asked of a call that an item does not have."""
    return all(not path or path[: 2 if path[0] == "function" else 1] in _READ for _, path, _ in through)


def _as_item(node: cst.CSTNode) -> cst.Call:
    assert isinstance(node, cst.Call)
    made = as_item(node)
    assert isinstance(made, cst.Call)
    return made


def _made_with(node: cst.CSTNode, keywords: Keywords) -> cst.CSTNode:
    assert isinstance(node, cst.Call)
    return call_with(node, keywords)

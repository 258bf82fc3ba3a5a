"""Dicts of streamed calls: their keys are places in an answer now, which do not count calls from 0 (MR408).

What is kept under such keys is the same as before. So whoever asks for the values, how many there are, or
looks one up by a key of such a dict goes on as it did; any other use can tell.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Bound, Class, DictValue, Function, SeqValue
from ..know.modules import Module, walk
from .context import Context
from .reading import builtin
from .stream_region import Region

_COUNTED = "may count on keys from 0 up"
_SHOWN = "is the place of a call in the answer now, and not its number"
_KEYLESS = frozenset({"len", "bool", "isinstance", "type", "id"})
_ORDERED = frozenset({"sorted", "list", "tuple", "reversed", "iter"})  # hand on the keys, for a loop
_LOOKUPS = frozenset({"get", "pop", "setdefault"})


def numbered(region: Region) -> Iterator[tuple[cst.CSTNode, str]]:
    """Uses of dicts of calls that tell which keys these have."""
    yield from Keys(region).told()


class Keys:
    """The dicts that one region fills by the index of a call."""

    def __init__(self, region: Region) -> None:
        self.context: Context = region.context
        self.region = region
        self.written: set[str] = set()  # how they are spelled
        self.values: dict[DictValue, None] = {}
        for node in region.nodes():
            match node:
                case cst.Subscript(value=owner) if any(map(region.is_index, keys(node))):
                    self._add(owner)
                case cst.Call(func=cst.Attribute(value=owner), args=[first, *_]) if region.is_index(
                    first.value
                ):
                    self._add(owner)
                case _:
                    continue

    def _add(self, owner: cst.BaseExpression) -> None:
        known = self.context.project.values(owner)
        if any(isinstance(value, SeqValue) for value in known) or self.region.grows(owner):
            return
        dicts = [value for value in known if isinstance(value, DictValue)]
        self.values.update(dict.fromkeys(dicts))
        self.written.add(self.region.module.tree.code_for_node(owner))
        for value in dicts:
            for holder, module in self.context.holders(value):
                if isinstance(holder, (cst.Name, cst.Attribute)):
                    self.written.add(module.tree.code_for_node(holder))

    def told(self) -> Iterator[tuple[cst.CSTNode, str]]:
        """Each use that can tell, and why."""
        for value in self.values:
            for escape in self.context.escapes.of(value):
                if not escape.direct:  # in something that is shown: `print((text, calls))`
                    yield escape.node, _SHOWN
        for holder, module in dict.fromkeys(self._holders()):
            yield from self._use(holder, module)

    def _holders(self) -> Iterator[tuple[cst.CSTNode, Module]]:
        for value in self.values:
            yield from self.context.holders(value)
        module = self.region.module
        if not self.written:
            return
        for node in walk(module.function(self.region.node) or module.tree):
            if isinstance(node, (cst.Name, cst.Attribute)) and self._is_one(node, module):
                yield node, module

    def _is_one(self, node: cst.CSTNode, module: Module) -> bool:
        return module.tree.code_for_node(node) in self.written

    def _use(self, holder: cst.CSTNode, module: Module) -> Iterator[tuple[cst.CSTNode, str]]:
        parent = module.parents.get(holder)
        match parent:
            case cst.Attribute() if parent.value is holder:
                yield from self._asked(parent, module)
            case cst.Subscript(value=whole) if whole is holder:
                if not all(self._is_key(key, module) for key in keys(parent)):
                    yield parent, _COUNTED
            case cst.Comparison() | cst.ComparisonTarget():
                if not self._is_compared(parent, module):
                    yield parent, _COUNTED
            case cst.For() | cst.CompFor():
                yield from self._looped(holder, module)
            case cst.Arg(star=""):
                yield from self._given(parent, module)
            case (
                cst.Element()
                | cst.Arg()
                | cst.DictElement()
                | cst.StarredElement()
                | cst.StarredDictElement()
            ):
                outer = module.parents.get(module.parents[parent])
                if not isinstance(
                    outer, (cst.Return, cst.Assign, cst.AssignTarget, cst.Yield)
                ) or not isinstance(parent, cst.Element):
                    yield holder, _COUNTED
            case cst.FormattedStringExpression() | cst.AugAssign() | cst.BinaryOperation():
                yield holder, _COUNTED
            case _:
                return

    def _asked(self, method: cst.Attribute, module: Module) -> Iterator[tuple[cst.CSTNode, str]]:
        call = module.parents.get(method)
        name = method.attr.value
        if name in ("items", "keys"):
            yield from self._looped(call, module, pairs=name == "items")
        elif name in _LOOKUPS and isinstance(call, cst.Call) and call.args:
            if not self._is_key(call.args[0].value, module):
                yield method, _COUNTED
        elif name not in ("values", "clear", "copy", "update"):
            yield method, _COUNTED

    def _is_compared(self, part: cst.CSTNode, module: Module) -> bool:
        """``calls == {}``, ``calls is None``, ``index in calls``."""
        whole = part if isinstance(part, cst.Comparison) else module.parents[part]
        match whole:
            case cst.Comparison(left=key, comparisons=[cst.ComparisonTarget(cst.In() | cst.NotIn())]):
                return self._is_key(key, module)
            case cst.Comparison(comparisons=[target]):
                return module.tree.code_for_node(target.comparator) in ("None", "{}")
            case _:
                return False

    def _given(self, arg: cst.Arg, module: Module) -> Iterator[tuple[cst.CSTNode, str]]:
        call = module.parents.get(arg)
        if not isinstance(call, cst.Call):
            return
        name = builtin(self.context, call)
        callees = self.context.project.values(call.func)
        if name in _ORDERED:
            yield from self._looped(call, module)
        elif name not in _KEYLESS and not (
            callees and all(isinstance(value, (Function, Bound, Class)) for value in callees)
        ):
            yield call, _COUNTED

    def _looped(
        self, source: cst.CSTNode | None, module: Module, pairs: bool = False
    ) -> Iterator[tuple[cst.CSTNode, str]]:
        """Where what comes of ``source``, keys or pairs, is more than looped over to look something up."""
        while source is not None:
            arg = module.parents.get(source)
            call = module.parents.get(arg) if isinstance(arg, cst.Arg) else None
            if not isinstance(call, cst.Call) or builtin(self.context, call) not in _ORDERED:
                break
            source = call
        loop = module.parents.get(source) if source is not None else None
        if not isinstance(loop, (cst.For, cst.CompFor)):
            yield source or self.region.node, _COUNTED
            return
        target: cst.BaseExpression = loop.target
        if pairs and isinstance(target, cst.Tuple):
            target = target.elements[0].value
        if not isinstance(target, cst.Name):
            yield target, _SHOWN
            return
        extent = loop.body if isinstance(loop, cst.For) else module.parents[loop]
        for node in walk(extent):
            is_key = isinstance(node, cst.Name) and node.value == target.value and node is not target
            if is_key and not self._looks_up(node, module):
                yield node, _SHOWN

    def _looks_up(self, node: cst.CSTNode, module: Module) -> bool:
        """Whether ``node``, a key of such a dict, is only used to find something in one."""
        parent = module.parents.get(node)
        match parent:
            case cst.Attribute(attr=attr):
                return attr is node  # no variable at all
            case cst.Arg(keyword=keyword) if keyword is node:
                return True
            case cst.Index():
                subscript = module.parents[module.parents[parent]]
                return isinstance(subscript, cst.Subscript) and self._is_one(subscript.value, module)
            case _:
                return False

    def _is_key(self, node: cst.BaseExpression, module: Module) -> bool:
        """Whether ``node`` is the index of a call, or a key that comes from such a dict."""
        if module is self.region.module and self.region.is_index(node):
            return True
        if isinstance(node, cst.BooleanOperation):
            return self._is_key(node.left, module)
        return isinstance(node, cst.Name) and any(
            self._is_of_keys(loop.iter, module) for loop in _loops(node, module)
        )

    def _is_of_keys(self, node: cst.BaseExpression, module: Module) -> bool:
        """Whether a loop over ``node`` goes through the keys of such a dict."""
        match node:
            case cst.Call(args=[first, *_]) if builtin(self.context, node) in _ORDERED:
                return self._is_of_keys(first.value, module)
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="items" | "keys"))):
                return self._is_one(owner, module)
            case _:
                return self._is_one(node, module)


def _loops(node: cst.Name, module: Module) -> Iterator[cst.For | cst.CompFor]:
    """The loops around ``node`` that bind it, alone or as the first of a pair."""
    for parent in module.ancestors(node):
        loop: cst.CSTNode = parent
        if isinstance(parent, (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)):
            loop = parent.for_in
        if isinstance(loop, (cst.For, cst.CompFor)):
            target: cst.BaseExpression = loop.target
            if isinstance(target, cst.Tuple):
                target = target.elements[0].value
            if isinstance(target, cst.Name) and target.value == node.value:
                yield loop


def keys(node: cst.Subscript) -> Iterator[cst.BaseExpression]:
    """What stands between the brackets."""
    for element in node.slice:
        if isinstance(element.slice, cst.Index):
            yield element.slice.value

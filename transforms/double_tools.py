"""What a test asks of the tools of a request: a tool and its function are one dict now (MR802).

``kwargs["tools"][0]["function"]["name"]`` becomes ``kwargs["tools"][0]["name"]``, in loops and
under names too. A whole tool, or a whole list of them, that is compared is not understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import Const, DictValue, Site
from ..know.modules import Module
from .context import Context, is_none
from .double_trees import is_read
from .snippets import entry
from .splice import splice
from .tested import key_asked

_ASKED = frozenset({"name", "description", "parameters"})
_TRUE = frozenset({"assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"})
Edits = list[tuple[cst.CSTNode, Apply]]


class _Unclear(Exception):
    """A question that is not understood."""


class ToolQuestions:
    """The questions of one test file about tools, and about which of them is to be called."""

    def __init__(self, context: Context, module: Module) -> None:
        self._context = context
        self._module = module
        self._edits: Edits = []

    def asked(self, node: cst.BaseExpression, name: str, sites: Sequence[Site]) -> Edits | None:
        """The edits of a question, which ``node`` is: ``request["tools"]``; None if it is not understood."""
        if not all(self._is_plain(name, site) for site in sites if self._context.request(site).named(name)):
            return None
        self._edits = []
        try:
            if name == "tools":
                self._list(node)
            else:
                self._choice(node, sites)
        except _Unclear:
            return None
        return self._edits

    def _is_plain(self, name: str, site: Site) -> bool:
        """Whether the argument says something wherever it is passed: else it may be gone now."""
        written = self._context.request(site).written(name)
        return bool(written) and not any(is_none(item.place.var) for item in written)

    # -- what is what ----------------------------------------------------------------------

    def _list(self, node: cst.CSTNode) -> None:
        """A list of tools: counted, or one of it is looked at."""
        parent = self._module.parents.get(node)
        match parent:
            case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index())]) if value is node:
                self._tool(parent)
            case cst.CompFor(target=cst.Name() as name, iter=looped) if looped is node:
                whole = next(p for p in self._module.ancestors(node) if isinstance(p, cst.BaseComp))
                self._each(name, whole, self._tool)
            case cst.For(target=cst.Name() as name, iter=looped) if looped is node:
                self._each(name, self._module.function(node) or self._module.tree, self._tool)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
                self._each(name, self._module.function(node) or self._module.tree, self._list)
            case cst.Arg() if _called(self._module.parents.get(parent)) == "len":
                return
            case _:
                self._truth(node, parent)

    def _tool(self, node: cst.CSTNode) -> None:
        """One tool: its type, or its function."""
        asked = self._reader(node)
        if asked is None:
            self._named(node, self._tool)
        elif key_asked(asked) == "function":
            self._edits.append((asked, _collapsed))
            self._function(asked)
        elif key_asked(asked) != "type":
            raise _Unclear

    def _function(self, node: cst.CSTNode) -> None:
        """The function of a tool, which is the tool itself now."""
        asked = self._reader(node)
        if asked is None:
            self._named(node, self._function)
        elif key_asked(asked) not in _ASKED or isinstance(asked, cst.Call):  # parameters may be added
            raise _Unclear

    def _choice(self, node: cst.BaseExpression, sites: Sequence[Site]) -> None:
        """Which tool is to be called: a word, or a dict with the name of one."""
        values = {value for s in sites for value in self._context.request(s).values("tool_choice")}
        if not values or not all(_is_choice(value) for value in values):
            raise _Unclear
        parent = self._module.parents.get(node)
        other = _equal(node, parent, self._module)
        if isinstance(other, cst.SimpleString):
            return
        if isinstance(other, cst.Dict):
            inner = entry(other, "function")
            if inner is None or not isinstance(inner.value, cst.Dict):
                raise _Unclear
            self._edits.append((other, _spliced))
            return
        asked = self._reader(node)
        if asked is None or key_asked(asked) != "function":
            self._truth(node, parent)
            return
        self._edits.append((asked, _collapsed))
        named = self._reader(asked)
        if named is None or key_asked(named) != "name":
            raise _Unclear

    # -- how it is asked -------------------------------------------------------------------

    def _named(self, node: cst.CSTNode, ask: Callable[[cst.CSTNode], None]) -> None:
        """What is under a name of its own is asked by that."""
        match self._module.parents.get(node):
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
                self._each(name, self._module.function(node) or self._module.tree, ask)
            case parent:
                self._truth(node, parent)

    def _each(self, name: cst.Name, scope: cst.CSTNode, ask: Callable[[cst.CSTNode], None]) -> None:
        """Every read of ``name``, which is bound once in ``scope``."""
        if sum(name.value in syntax.bound_by(node) for node in syntax.walk(scope)) != 1:
            raise _Unclear
        for use in self._reads(name, scope):
            ask(use)

    def _reads(self, name: cst.Name, scope: cst.CSTNode) -> Iterator[cst.Name]:
        for node in syntax.walk(scope):
            if not isinstance(node, cst.Name) or node.value != name.value or node is name:
                continue
            if is_read(self._module, node):
                yield node

    def _reader(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The read by a literal key of ``node``: ``node["name"]``, ``node.get("name")``."""
        parent = self._module.parents.get(node)
        if not isinstance(parent, (cst.Subscript, cst.Attribute)) or parent.value is not node:
            return None
        asked = parent if isinstance(parent, cst.Subscript) else self._module.parents.get(parent)
        if asked is None or key_asked(asked) is None:
            raise _Unclear
        return asked

    def _truth(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> None:
        """It only matters that there is something."""
        match parent:
            case cst.Assert() | cst.UnaryOperation(operator=cst.Not()):
                return
            case cst.Comparison(
                comparisons=[
                    cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name(value="None"))
                ]
            ):
                return
            case cst.Arg() if _called(self._module.parents.get(parent)) in _TRUE:
                return
            case _:
                pass
        raise _Unclear


def _called(node: cst.CSTNode | None) -> str:
    match node:
        case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
            return name
        case _:
            return ""


def _equal(node: cst.BaseExpression, parent: cst.CSTNode | None, module: Module) -> cst.BaseExpression | None:
    """What ``node`` is said to be equal to."""
    match parent:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal()) as target]):
            return target.comparator if left is node else None
        case cst.Arg():
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and _called(call) == "assertEqual" and len(call.args) > 1:
                return call.args[1].value if call.args[0] is parent else call.args[0].value
            return None
        case _:
            return None


def _is_choice(value: object) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str)
    return isinstance(value, DictValue) and "function" in value.fields


def _collapsed(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    match updated:
        case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
            return value
        case _:
            return updated


def _spliced(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Dict)
    return splice(updated, "function")

"""Uses of a recorded call as a whole, in which the names of its arguments may be seen (MR803).

``set(create.call_args.kwargs)``, ``str(create.call_args)``, ``name in kwargs``: there is no argument by a
literal name to rewrite, and the new names, and ``store``, would show. What is not known to be harmless holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.modules import Module, parameters
from .double_targets import RECORDS, Targets

_DEPTH = 3  # how many names are followed back
# These, and ``==``, are looked at where single arguments and whole requests are.
_ASSERTIONS = frozenset(
    "assertEqual assertDictEqual assertListEqual assertIn assertNotIn assertTrue assertFalse assertIsNone"
    " assertIsNotNone assertIsInstance".split()
)
_KEYED = frozenset({"get", "pop", "setdefault"})
_COUNTING = frozenset({"len", "bool", "isinstance", "type", "print"})
_TESTED = (cst.Assert, cst.If, cst.While, cst.IfExp, cst.BooleanOperation, cst.UnaryOperation, cst.Expr)


def listed(module: Module, targets: Targets) -> Iterator[cst.BaseExpression]:
    """The expressions of ``module`` that are such calls, or all their arguments, where names may be seen."""
    if not any(record in module.text for record in RECORDS):
        return
    found = _Records(module, targets)
    for node in module.of(cst.Attribute, cst.Subscript, cst.Name, cst.Call):
        assert isinstance(node, cst.BaseExpression)
        if found.are_arguments(node):
            if not found.is_keyed(node):
                yield node
        elif found.is_call(node) and not found.is_taken_apart(node):
            yield node


class _Records:
    """What one test file does with recorded calls."""

    def __init__(self, module: Module, targets: Targets) -> None:
        self._module = module
        self._parents = module.parents
        self._targets = targets

    # -- what is what ----------------------------------------------------------------------

    def are_arguments(self, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
        """Whether ``node`` is the keywords of a call: ``create.call_args.kwargs``, ``call_args[1]``."""
        match node:
            case cst.Attribute(value=whole, attr=cst.Name(value="kwargs")):
                return self.is_call(whole)
            case cst.Subscript(value=whole) if _index(node) in ("1", "2"):
                return self.is_call(whole) and not _is_list(whole)
            case cst.Call() if depth and (returned := self._targets.helpers.returned(node)) is not None:
                return self.are_arguments(returned, depth - 1)
            case cst.Name(value=name) if depth and self._is_read(node):
                return any(
                    self.are_arguments(origin, depth - 1)
                    or ("kw" in name and self.is_call(origin))  # ``args, kwargs = create.call_args``
                    for origin in self._targets.origins(node)
                    if not isinstance(origin, cst.Name)
                )
            case _:
                return False

    def is_call(self, node: cst.BaseExpression, depth: int = _DEPTH) -> bool:
        """Whether ``node`` is a recorded call, or a list of them."""
        match node:
            case cst.Attribute(value=mock, attr=cst.Name(value=name)) if name in RECORDS:
                is_api = self._targets.is_api(mock)
                return is_api or (is_api is None and self._is_handed_in(mock))
            case cst.Subscript(value=whole) if _is_list(whole):
                return self.is_call(whole, depth)
            case cst.Call() if depth and (returned := self._targets.helpers.returned(node)) is not None:
                return self.is_call(returned, depth - 1)
            case cst.Name(value=name) if depth and self._is_read(node) and "arg" not in name:
                return any(
                    self.is_call(origin, depth - 1)
                    for origin in self._targets.origins(node)
                    if not isinstance(origin, cst.Name)
                )
            case _:
                return False

    def _is_handed_in(self, mock: cst.BaseExpression) -> bool:
        """Whether a helper of the tests gets ``mock``: it may be any."""
        helper = self._module.function(mock)
        return (
            isinstance(mock, cst.Name)
            and isinstance(helper, cst.FunctionDef)
            and not helper.name.value.startswith("test")
            and any(param.name.value == mock.value for param in parameters(helper.params))
        )

    def _is_read(self, node: cst.Name) -> bool:
        match self._parents.get(node):
            case cst.Attribute(attr=attr):
                return attr is not node
            case cst.Arg(keyword=keyword):
                return keyword is not node
            case cst.Param() | cst.AsName() | cst.NameItem():
                return False
            case _:
                return not self._is_bound(node)

    def _is_bound(self, node: cst.CSTNode) -> bool:
        """Whether ``node`` is, or is a part of, what something is assigned to."""
        parent = self._parents.get(node)
        while isinstance(parent, (cst.BaseElement, cst.Tuple, cst.List)):
            node, parent = parent, self._parents.get(parent)
        return getattr(parent, "target", None) is node

    # -- what is done with it --------------------------------------------------------------

    def is_keyed(self, node: cst.BaseExpression) -> bool:
        """Whether one argument is asked for by a literal name, or the whole is kept or compared."""
        parent = self._parents.get(node)
        match parent:
            case cst.Subscript(value=value):
                return value is node and isinstance(_key(parent), cst.SimpleString)
            case cst.Attribute(value=value, attr=cst.Name(value=name)) if value is node:
                call = self._parents.get(parent)
                return (
                    name in _KEYED
                    and isinstance(call, cst.Call)
                    and bool(call.args)
                    and isinstance(call.args[0].value, cst.SimpleString)
                )
            case cst.ComparisonTarget(operator=cst.In() | cst.NotIn()):
                whole = self._parents.get(parent)
                return isinstance(whole, cst.Comparison) and isinstance(whole.left, cst.SimpleString)
            case cst.Arg() if _name_called(self._parents.get(parent)) == "len":
                return False
            case cst.Return():
                return self._targets.helpers.is_returned(node)
            case cst.Arg(star="") if (uses := self._targets.helpers.uses(parent)) is not None:
                return all(self.is_keyed(use) for use in uses)
            case _:
                return self._is_harmless(node, parent)

    def is_taken_apart(self, node: cst.BaseExpression) -> bool:
        """Whether parts of the call are asked for, or it is counted, kept or compared."""
        parent = self._parents.get(node)
        match parent:
            case cst.Subscript(value=value):
                return value is node
            case cst.Attribute(value=value):
                return value is node
            case cst.For() | cst.CompFor():
                return True
            case cst.Return():
                return self._targets.helpers.is_returned(node)
            case _:
                return self._is_harmless(node, parent)

    def _is_harmless(self, node: cst.BaseExpression, parent: cst.CSTNode | None) -> bool:
        match parent:
            case cst.Comparison() | cst.ComparisonTarget(operator=cst.Equal() | cst.NotEqual()):
                return True
            case cst.ComparisonTarget(operator=cst.Is() | cst.IsNot()):
                return True
            case cst.Assign(targets=targets):
                return all(isinstance(one.target, (cst.Name, cst.Tuple, cst.Attribute)) for one in targets)
            case cst.AnnAssign() | cst.AssignTarget() | cst.Param():
                return True
            case cst.Arg(star=""):
                return _name_called(self._parents.get(parent)) in _COUNTING | _ASSERTIONS
            case _:
                return isinstance(parent, _TESTED)


def _name_called(node: cst.CSTNode | None) -> str:
    match node:
        case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
            return name
        case _:
            return ""


def _key(node: cst.Subscript) -> cst.BaseExpression | None:
    inner = node.slice[0].slice if len(node.slice) == 1 else None
    return inner.value if isinstance(inner, cst.Index) else None


def _index(node: cst.Subscript) -> str | None:
    key = _key(node)
    return key.value if isinstance(key, cst.Integer) else None


def _is_list(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is a list of calls, whose second is one call."""
    return isinstance(node, cst.Attribute) and node.attr.value.endswith(("_list", "_calls"))

"""What a test asks of arguments that have another shape now: a format, an effort, a verbosity (MR802).

``kwargs["response_format"] == {"type": "json_object"}`` becomes
``kwargs["text"] == {"format": {"type": "json_object"}}``, and ``kwargs["response_format"]["type"]`` becomes
``kwargs["text"]["format"]["type"]``. What is asked in another way is not understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import DictValue, Site
from ..know.modules import Module
from .context import Context, is_none
from .double_tools import ToolQuestions
from .double_trees import uses
from .response_format import JSON, MODEL, SCHEMA, kind_of
from .snippets import entry, expr, spells_none, string
from .splice import around, splice
from .tested import key_asked

_SCHEMA_KEYS = frozenset({"name", "schema", "strict", "description"})


@dataclass(frozen=True)
class Form:
    """Where an argument is now: ``name``, or the entry ``key`` of it."""

    name: str
    key: str | None = None


_FORMS = {
    "response_format": Form("text", "format"),
    "verbosity": Form("text", "verbosity"),
    "reasoning_effort": Form("reasoning", "effort"),
}


class Reshaped:
    """The questions of one test file about such arguments."""

    def __init__(self, context: Context, module: Module) -> None:
        self._context = context
        self._module = module
        self._edits: list[tuple[cst.CSTNode, Apply]] = []
        self._tools = ToolQuestions(context, module)

    def asked(
        self, node: cst.CSTNode, key: cst.SimpleString, name: str, sites: Sequence[Site]
    ) -> list[tuple[cst.CSTNode, Apply]] | None:
        """The edits of a question: ``node`` is ``request["name"]`` or ``"name" in request``.

        None if it is not understood.
        """
        if name in ("tools", "tool_choice"):
            return self._tools.asked(node, name, sites) if isinstance(node, cst.BaseExpression) else None
        form = self.form(name, sites)
        if form is None:
            return None
        self._edits = [(key, lambda o, u: string(form.name, o))]
        is_test = isinstance(node, cst.Comparison) or key_asked(node) is None  # assertIn
        if is_test or form.key is None or self._is_truth(node):
            return self._edits
        assert isinstance(node, cst.BaseExpression)
        other = self._compared(node)
        if other is not None:
            expected = self.expected(other, form, sites)
            return None if expected is None else [*self._edits, (other, expected)]
        if not isinstance(node, cst.Subscript) or not self._is_read(node, name):
            return None
        self._edits.append((node, _under(form.key)))
        return self._edits

    def form(self, name: str, sites: Sequence[Site]) -> Form | None:
        """Where the argument ``name`` of the calls at ``sites`` is now, if it is the same place for all."""
        form = _FORMS.get(name)
        writers = [site for site in sites if self._context.request(site).named(name)]
        if form is None or not all(self._is_plain(name, site) for site in writers):
            return None
        if form.name == "text" and any(
            self._context.request(site).named("response_format")
            and self._context.request(site).named("verbosity")
            for site in sites
        ):
            return None
        if name != "response_format":
            return form
        kinds = {kind_of(v, s) for s in writers for v in self._context.request(s).values(name)}
        if kinds == {MODEL}:
            return Form("text_format")
        return form if kinds <= {JSON, SCHEMA} else None

    def _is_plain(self, name: str, site: Site) -> bool:
        """Whether the argument says something wherever it is passed: else it may be gone now."""
        written = self._context.request(site).written(name)
        return bool(written) and not any(is_none(item.place.var) for item in written)

    def expected(self, node: cst.BaseExpression, form: Form, sites: Sequence[Site]) -> Apply | None:
        """The edit of what an argument is compared with; None if its shape is not known."""
        if form.key is None or spells_none(node):
            return lambda o, u: u
        if form.key != "format":
            return _within(form.key)
        if isinstance(node, cst.Dict):
            kind = entry(node, "type")
            named = kind.value.evaluated_value if kind and isinstance(kind.value, cst.SimpleString) else None
            inner = entry(node, "json_schema")
            if named == SCHEMA and inner is not None and isinstance(inner.value, cst.Dict):
                return _flat
            return _within(form.key) if named == JSON and len(node.elements) == 1 else None
        sent = {value for site in sites for value in self._context.request(site).values("response_format")}
        values = set(self._context.project.values(node))
        same = bool(values) and values <= sent and all(isinstance(value, DictValue) for value in values)
        return _within(form.key) if same else None

    # -- how it is asked -----------------------------------------------------------------

    def _is_truth(self, node: cst.CSTNode) -> bool:
        """Whether only matters if there is something: ``assert x``, ``x is not None``."""
        match self._module.parents.get(node):
            case cst.Assert(test=test):
                return test is node
            case cst.UnaryOperation(operator=cst.Not()) | cst.BooleanOperation():
                return True
            case cst.Arg() as arg:
                call = self._module.parents.get(arg)
                names = ("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone")
                return (
                    isinstance(call, cst.Call)
                    and isinstance(call.func, cst.Attribute)
                    and call.func.attr.value in names
                    and call.args[0] is arg
                )
            case _:
                return False

    def _compared(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What ``node`` is compared with: ``node == other``, ``assertEqual(node, other)``."""
        parent = self._module.parents.get(node)
        match parent:
            case cst.Comparison(left=left, comparisons=[target]) if left is node:
                return target.comparator if _is_equality(target) else None
            case cst.ComparisonTarget():
                whole = self._module.parents.get(parent)
                one = isinstance(whole, cst.Comparison) and len(whole.comparisons) == 1
                return (
                    whole.left if isinstance(whole, cst.Comparison) and one and _is_equality(parent) else None
                )
            case cst.Arg():
                call = self._module.parents.get(parent)
                match call:
                    case cst.Call(
                        func=cst.Attribute(attr=cst.Name(value="assertEqual" | "assertDictEqual")),
                        args=[first, second, *_],
                    ):
                        return second.value if first is parent else first.value
                    case _:
                        return None
            case _:
                return None

    def _is_read(self, node: cst.CSTNode, name: str) -> bool:
        """Whether a part of the argument is read: a format's ``["type"]``, or its schema's ``["name"]``."""
        if name != "response_format":
            return False
        parent = self._module.parents.get(node)
        match parent:
            case cst.Subscript() | cst.Attribute() if parent.value is node:
                asked = self._reader(parent)
                if asked is not None and key_asked(asked) == "json_schema":
                    return self._is_schema_read(asked)
                return asked is not None and key_asked(asked) == "type"
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)], value=value):
                return value is node and all(
                    self._is_read(use, name) for use in uses(self._module, self._after(parent, target))
                )
            case _:
                return False

    def _after(self, assign: cst.Assign, target: cst.Name) -> cst.Name:
        """A read of the name that ``assign`` binds, to find the others by; itself where nothing reads it."""
        start = self._module.order[assign]
        reads = [
            node
            for node in self._module.of(cst.Name)
            if node.value == target.value
            and node is not target
            and self._module.order[node] > start
            and self._module.function(node) is self._module.function(target)
        ]
        return reads[0] if reads else target

    def _reader(self, node: cst.Subscript | cst.Attribute) -> cst.CSTNode | None:
        """The read by key that ``node`` is, or is the method of."""
        reader = node if isinstance(node, cst.Subscript) else self._module.parents.get(node)
        return reader if reader is not None and key_asked(reader) is not None else None

    def _is_schema_read(self, node: cst.CSTNode) -> bool:
        """``format["json_schema"]["name"]``: the inner dict is gone."""
        parent = self._module.parents.get(node)
        if not isinstance(parent, (cst.Subscript, cst.Attribute)) or parent.value is not node:
            return False
        asked = self._reader(parent)
        if asked is None or key_asked(asked) not in _SCHEMA_KEYS:
            return False
        self._edits.append((node, _collapsed))
        return True


def _is_equality(target: cst.ComparisonTarget) -> bool:
    if isinstance(target.operator, (cst.Is, cst.IsNot)):
        return isinstance(target.comparator, cst.Name)
    return isinstance(target.operator, (cst.Equal, cst.NotEqual))


def _under(key: str) -> Apply:
    """``x`` becomes ``x["key"]``, in the quotes that are there."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Subscript)
        index = updated.slice[0].slice
        quoted = string(key, index.value if isinstance(index, cst.Index) else None)
        return cst.Subscript(updated, [cst.SubscriptElement(cst.Index(quoted))])

    return apply


def _within(key: str) -> Apply:
    """``value`` becomes ``{"key": value}``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.BaseExpression)
        return around(expr(f'{{"{key}": value}}', value=updated), updated)

    return apply


def _flat(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """A whole format with a schema, as the new API has it."""
    assert isinstance(updated, cst.Dict)
    flat = splice(updated, "json_schema")
    return around(expr('{"format": value}', value=flat), flat)


def _collapsed(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    match updated:
        case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
            return value
        case _:
            return updated

"""Expressions of a region: reads of the chunk become reads of the event, tests become tests of its type."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import DUMPS, JSON_DUMPS, Bound, External, Function, Kind, Shape, Site
from ..know.modules import children, walk
from .snippets import expr, in_lines, operand, parenthesized, terms_in_lines
from .stream_finish import is_only_asked, keeps_itself, reason_text, starts_as_none
from .stream_kept import is_only_looped_over
from .stream_need import WANTS, Need
from .stream_parts import FINISH, SAME, TEXT_TEST, On, Reach
from .stream_region import Region
from .stream_syntax import is_call_of, is_empty, is_nothing, is_truth
from .stream_visible import is_seen

_DEMANDS = {
    Kind.DELTA_TEXT: "text",
    Kind.DELTA_REFUSAL: "refusal",
    Kind.DELTA_ROLE: "role",
    Kind.DELTA_CALL: "call",
    Kind.CHUNK_FINISH: "finish",
    Kind.USAGE: "usage",
}
_RESPONSE_FIELDS = {
    "id": "v.response.id",
    "model": "v.response.model",
    "created": "int(v.response.created_at)",
}
_PIECES = {
    "whole": {
        "id": "v.item.call_id",
        "name": "v.item.name",
        "arguments": "v.item.arguments",
        "index": "v.output_index",
        "type": '"function"',
    },
    "opening": {
        "id": "v.item.call_id",
        "name": "v.item.name",
        "index": "v.output_index",
        "type": '"function"',
    },
    "arguments": {"arguments": "v.delta", "index": "v.output_index"},
}
_PIECES["live"] = {**_PIECES["opening"], **_PIECES["arguments"]}
_SEEN = "goes into a list whose items are counted or shown"
_UNCLEAR = "is not understood"
Outcome = tuple[Reach, Reach]  # for what a test may be true, and for what it must be


class Reads:
    """Walks expressions: with a :class:`Need` it gathers what they ask for, without it asks for edits."""

    def __init__(self, region: Region, understood: set[cst.CSTNode]) -> None:
        self.region = region
        self.context = region.context
        self.module = region.module
        self.understood = understood
        self.need: Need | None = None
        self.returning = False
        self.refused: set[cst.CSTNode] = set()
        self.unguarded: set[cst.CSTNode] = set()  # what is read of chunks that do not have it, too
        self.ended: Reach = frozenset()  # ends of the stream that other code keeps to itself

    # -- asking --------------------------------------------------------------------------

    @property
    def sites(self) -> frozenset[Site]:
        return self.region.sites

    def edit(self, node: cst.CSTNode, apply: Apply, code: str) -> None:
        if self.need is None:
            self.context.edit(node, self.module, self.sites, apply, code)
            self.understood.update(walk(node))

    def hold(self, node: cst.CSTNode, why: str = _UNCLEAR) -> None:
        if self.need is None:
            text = self.context.source(node, self.module)
            self.context.manual(node, self.module, self.sites, "MR404", f"`{text}` {why}")
            self.understood.update(walk(node))

    def refuse(self, node: cst.CSTNode, why: str) -> None:
        """Hold back for ``node`` as soon as it is seen, and once."""
        if node not in self.refused:
            self.refused.add(node)
            text = self.context.source(node, self.module)
            self.context.manual(node, self.module, self.sites, "MR404", f"`{text}` {why}")

    def write(self, text: str) -> cst.BaseExpression:
        """The expression ``text``, in which ``v`` is the event."""
        return expr(text, v=cst.Name(self.region.new))

    def replace(self, node: cst.BaseExpression, text: str, code: str) -> None:
        """``node`` becomes ``text``, in parentheses where it needs them."""
        made = self.write(text)
        parent = self.module.parents.get(node)
        indent = self.module.tree.default_indent

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            result = made
            if isinstance(
                parent, (cst.BooleanOperation, cst.UnaryOperation, cst.Comparison, cst.BinaryOperation)
            ):
                both = isinstance(parent, cst.BooleanOperation) and isinstance(made, cst.Comparison)
                result = made if both else operand(made)
            elif isinstance(made, cst.IfExp):
                inside = isinstance(parent, (cst.Attribute, cst.IfExp, cst.NamedExpr))
                chain = isinstance(made.orelse, cst.IfExp) and isinstance(parent, (cst.Assign, cst.Return))
                result = in_lines(made, indent) if chain else operand(made) if inside else made
            elif isinstance(parent, (cst.If, cst.While)):
                result = terms_in_lines(made, indent)
            before = getattr(parent, "whitespace_before_test", None) or getattr(
                parent, "whitespace_after_return", None
            )
            tight = isinstance(before, cst.SimpleWhitespace) and not before.value
            return parenthesized(result) if tight and getattr(original, "lpar", None) else result

        self.edit(node, apply, code)

    def involves(self, node: cst.CSTNode) -> bool:
        """Whether anything of the chunk is in ``node``."""
        return any(
            isinstance(inner, cst.BaseExpression)
            and (
                self.region.kind(inner) is not None
                or self.region.piece(inner) is not None
                or self.region.is_index(inner)
            )
            for inner in walk(node)
        )

    # -- values --------------------------------------------------------------------------

    def expression(self, node: cst.BaseExpression, reach: Reach) -> None:
        """Look at ``node`` where the chunk can say ``reach``."""
        kind = self.region.kind(node)
        if isinstance(node, cst.NamedExpr) and kind is None and self._is_kept(node):
            self.expression(node.value, reach)
        elif kind in SAME:
            self._same(node)
        elif kind in _DEMANDS:
            self._leaf(node, _DEMANDS[kind], reach)
        elif kind is not None:
            self.hold(node)
        elif self.region.piece(node) is not None:
            self._leaf(node, "call", reach)
        elif node in self.region.lists:  # the name of an index
            self.replace(node, "-1", "MR408")
        elif self._field(node, reach):
            return
        elif isinstance(node, cst.IfExp):
            self._conditional(node, reach)
        elif self._is_text_of(node):
            if self.need is not None and not reach <= WANTS["text"] and not self.returning:
                self.need.wants.add("text")
                self._show(node, reach)
            self.below(node, reach)
        elif self._has_default(node):
            if not reach <= WANTS["text"]:
                self.refuse(node, "also says something for chunks without text")
            self.below(node, reach)
        elif self._is_truth(node):
            self._asked(node, reach)
            self.test(node, reach)
        else:
            self.below(node, reach)

    def below(self, node: cst.CSTNode, reach: Reach) -> None:
        for child in children(node):
            if isinstance(child, cst.BaseExpression):
                self.expression(child, reach)
            else:
                self.below(child, reach)

    def _show(self, node: cst.BaseExpression, reach: Reach) -> None:
        """Hold back where chunks without text, too, gave a list an item."""
        if not reach - {On.OTHER} <= WANTS["text"] and is_seen(self.region, node):
            self.refuse(node, _SEEN)

    def _is_text_of(self, node: cst.BaseExpression) -> bool:
        """Whether a function of the project takes the chunk and gives its text."""
        if not isinstance(node, cst.Call):
            return False
        values = self.context.project.values(node)
        texts = [value for value in values if isinstance(value, Shape) and value.kind is Kind.DELTA_TEXT]
        if not texts or not all(value in texts or is_nothing(value) for value in values):
            return False
        return any(self.region.kind(arg.value) in SAME for arg in node.args)

    def _has_default(self, node: cst.BaseExpression) -> bool:
        """``content or "."``: a chunk without text counts too."""
        if not isinstance(node, cst.BooleanOperation) or not isinstance(node.operator, cst.Or):
            return False
        texts = self.region.kind(node.left) is Kind.DELTA_TEXT
        return texts and isinstance(node.right, cst.SimpleString) and not is_empty(node.right)

    def _is_kept(self, node: cst.NamedExpr) -> bool:
        return isinstance(node.target, cst.Name) and node.target.value in self.region.aliases

    def _is_truth(self, node: cst.BaseExpression) -> bool:
        return is_truth(node) and self.region.pure(node) is not None and self.involves(node)

    def _same(self, node: cst.BaseExpression) -> None:
        """The chunk itself, or what is the event now: passed on."""
        parent = self.module.parents.get(node)
        if self.need is None and not self._is_passed(node, parent):
            call = self.module.parents.get(parent) if isinstance(parent, cst.Arg) else None
            func = call.func if isinstance(call, cst.Call) else None
            kept = isinstance(func, cst.Attribute) and func.attr.value == "append"
            self.hold(node, "is kept in a list that is counted or read by place" if kept else _UNCLEAR)
            return
        name = cst.Name(self.region.new)
        if isinstance(node, cst.Name) and node.value == self.region.new:
            self.understood.add(node)
        else:
            self.edit(node, lambda o, u: name, "MR401")

    def _is_passed(self, node: cst.BaseExpression, parent: cst.CSTNode | None) -> bool:
        match parent:
            case cst.Yield():
                return True
            case cst.Arg():
                call = self.module.parents.get(parent)
                if isinstance(call, cst.Call) and is_call_of(call, "hasattr"):
                    return False
                values = self.context.project.values(call.func) if isinstance(call, cst.Call) else []
                own = bool(values) and all(isinstance(value, (Function, Bound)) for value in values)
                escaping = any(isinstance(value, External) for value in values) and self._escapes(node)
                return own or escaping or (isinstance(call, cst.Call) and self._is_kept_in_list(call.func))
            case cst.Attribute(attr=attr):
                return attr.value in DUMPS | JSON_DUMPS and self._escapes(node, dumped=True)
            case _:
                return self._escapes(node)

    def _is_kept_in_list(self, func: cst.BaseExpression) -> bool:
        """``chunks.append(chunk)``, where the list is looped over, or never read."""
        if not isinstance(func, cst.Attribute) or func.attr.value != "append":
            return False
        lists = self.context.project.values(func.value)
        return bool(lists) and all(is_only_looped_over(self.context, value) for value in lists)

    def _escapes(self, node: cst.BaseExpression, dumped: bool = False) -> bool:
        """Whether the chunk leaves the project here: then that is the reason to hold back."""
        if not dumped:
            shapes = self.context.project.shapes(node)
            return any(escape.node is node for shape in shapes for escape in self.context.escapes.of(shape))
        call = self.module.parents.get(self.module.parents[node])
        shapes = self.context.project.shapes(call) if call is not None else []
        return any(self.context.escapes.of(Shape(shape.kind, shape.site, shape.form)) for shape in shapes)

    def _field(self, node: cst.BaseExpression, reach: Reach) -> bool:
        """``chunk.id`` and other fields of the chunk; whether ``node`` is one."""
        base = self.region.base(node)
        if base is None or self.region.kind(base) not in SAME | {Kind.DELTA_CALL, Kind.DELTA_FUNCTION}:
            return False
        name = self.region.field(node) or ""
        if isinstance(node, cst.Attribute) and name in DUMPS | JSON_DUMPS:
            self.expression(base, reach)
        elif self.region.kind(base) is Kind.CHUNK and name in _RESPONSE_FIELDS:
            if reach <= WANTS["response"]:
                self.replace(node, _RESPONSE_FIELDS[name], "MR401")
            else:
                self.hold(node, "is not there on every event")
        elif self.region.kind(base) is Kind.CHUNK_CHOICE and name == "index":
            self.replace(node, "0", "MR401")
        else:
            self.hold(node, "has no Responses equivalent")
        return True

    def _leaf(self, node: cst.BaseExpression, demand: str, reach: Reach) -> None:
        """A part that only some events have."""
        if demand == "usage" and On.USAGE not in self.region.everything:
            self.replace(node, "None", "MR405")
            return
        piece = self.region.piece(node) if demand == "call" and self.region.calls == "live" else None
        there = (self.region.pure(node) if piece is not None else None) or WANTS[demand]
        if reach <= there:
            self._there(node, demand, reach)
            return
        if self.need is not None:
            if not self.returning:
                if demand == "text":
                    self._show(node, reach)
                self.need.wants.add(demand)
                self.need.aliases.update(self._variables(node))
                if not keeps_itself(self.region, node) and not starts_as_none(self.region, node):
                    self.unguarded.add(node)
            return
        if demand == "text" and self.returning:
            default = '""' if isinstance(node, cst.BooleanOperation) else "None"
            self.replace(node, f"v.delta if {TEXT_TEST} else {default}", "MR401")
        else:
            self.hold(node, "is not there on every event")

    def _asked(self, node: cst.BaseExpression, reach: Reach) -> None:
        """A test whose outcome is kept is a read of what it asks for."""
        pure = self.region.pure(node)
        if self.need is None or pure is None or self.returning or On.OTHER not in reach:
            return
        for demand, there in WANTS.items():
            if demand != "response" and pure & reach & there:
                self.need.wants.add(demand)

    def _variables(self, node: cst.BaseExpression) -> Iterator[str]:
        """The aliases in ``node`` that hold a part which is not the event itself."""
        for inner in walk(node):
            alias = self.region.aliases.get(inner.value) if isinstance(inner, cst.Name) else None
            if alias is not None and alias.kind not in SAME:
                yield alias.name

    def _there(self, node: cst.BaseExpression, demand: str, reach: Reach) -> None:
        match demand:
            case "text" | "refusal":
                self.replace(node, "v.delta", "MR401")
            case "role":
                self.replace(node, '"assistant"', "MR401")
            case "usage":
                self.replace(node, "v.response.usage", "MR405")
            case "finish":
                self._reason(node, reach)
            case _:
                piece = self.region.piece(node)
                if piece is None:
                    whole = self.region.calls not in ("arguments", "live")
                    if whole:
                        self.replace(node, "v.item", "MR408")
                    else:
                        self.hold(node)
                elif piece in _PIECES[self.region.calls]:
                    self._piece(node, piece)
                else:
                    self.hold(node)

    def _piece(self, node: cst.BaseExpression, piece: str) -> None:
        parent = self.module.parents.get(node)
        if piece == "index" and isinstance(parent, cst.Index) and node in self.region.lists:
            self.replace(node, "-1", "MR408")
        else:
            self.replace(node, _PIECES[self.region.calls][piece], "MR408")

    def _reason(self, node: cst.BaseExpression, reach: Reach) -> None:
        """The finish reason as text."""
        ended = reach & FINISH
        text = reason_text(self.region, ended)
        asked = node not in self.unguarded and is_only_asked(self.region, node)
        if len(ended) > 1 and self.need is None and not asked:
            detail = f"`{self.context.source(node, self.module)}` is used as text"
            self.context.unsafe(node, self.module, self.sites, "MR302", detail)
        whole = self.module.parents[node] if keeps_itself(self.region, node) else node
        assert isinstance(whole, cst.BaseExpression)
        self.replace(whole, text, "MR406")

    def _conditional(self, node: cst.IfExp, reach: Reach) -> None:
        pure = self.region.pure(node.test) if self.involves(node.test) else None
        classes = reach - {On.OTHER}
        if pure is None:
            self.below(node, reach)
            return
        pos = pure & classes
        if not pos or (pos == classes and On.OTHER not in reach):
            stays, name = (node.body, "body") if pos else (node.orelse, "orelse")
            self.expression(stays, reach)
            self.edit(node, _pick(name), "MR401")
            return
        may, must = self.test(node.test, reach)
        self.expression(node.body, may)
        self.expression(node.orelse, reach - must)
        if pos <= {On.TEXT} and isinstance(node.orelse, cst.SimpleString) and not is_empty(node.orelse):
            self.refuse(node, "also says something for chunks without text")
        if self.need is not None and pos <= {On.TEXT, On.FIRST} and not self.returning:
            self.need.wants.add("text")

    def test(self, node: cst.BaseExpression, reach: Reach) -> Outcome:
        """Rewrite a test; say for what it may be and must be true."""
        raise NotImplementedError


def _pick(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        picked = getattr(updated, name)
        assert isinstance(picked, cst.CSTNode)
        return picked

    return apply

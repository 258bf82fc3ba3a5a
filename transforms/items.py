"""An assistant message with calls written out as items: its text, then one ``function_call`` each (MR213)."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Const, DictValue
from ..know.operators import is_text
from .built_up import annotate_list, build_up, is_built_up
from .call_lists import is_empty
from .context import WRITES, Context, is_none
from .gathered import gathered
from .item_facts import Facts
from .snippets import entry, expr, is_simple, spells_none
from .splice import dedented
from .written_calls import write_calls

_NAMES = {"id": "call_id"}
_READS = frozenset({"get", "contains"})


def expand(context: Context, known: Facts, message: DictValue) -> None:
    """Turn the dict into a list of items; the places that take it were told to expect one."""
    sites = known.messages[message]
    module, node = message.module, message.node
    if (
        message.merged
        or message.others
        or not isinstance(node, cst.Dict)
        or "tool_calls" not in message.places
    ):
        context.manual(
            node,
            module,
            sites,
            "MR506",
            "an assistant message with calls that cannot be written out as items",
        )
        return
    unseen = gathered(context, message)
    if unseen is not None:
        detail = f"`{context.source(unseen.node, unseen.module)}` has messages with calls, several items now"
        context.manual(unseen.node, unseen.module, sites, "MR506", detail)
        return
    hows = {place.how for places in message.places.values() for place in places} - {"literal", "keyword"}
    if hows == {"store"} and is_built_up(context, known, message):
        if write_calls(context, message, sites):
            build_up(context, message, _text(context, message), sites)
        else:
            context.manual(node, module, sites, "MR506", "where these calls are made could not be found")
        return
    if hows:
        later = "changed after it is made" if hows - _READS else "read as a dict"
        context.manual(node, module, sites, "MR506", f"an assistant message with calls is {later}")
        return
    for key in message.places:
        if key not in ("role", "content", "tool_calls", "refusal", "function_call", "name", "audio"):
            context.manual(node, module, sites, "MR206", f"`{key}` belongs to another API")
    if not write_calls(context, message, sites):
        detail = "where these calls are made could not be found"
        context.manual(node, module, sites, "MR506", detail)
        return
    if not _is_taken(context, message, known):
        context.manual(node, module, sites, "MR506", "this message with calls is also used in another way")
        return
    text = _text(context, message)
    if text is None:
        context.manual(node, module, sites, "MR506", "whether this message has text is decided at run time")
        return
    may_be_none = _may_be_none(message)
    context.edit(node, module, sites, lambda o, u: _items(u, text, may_be_none), "MR213")
    if isinstance(message.module.parents.get(message.node), cst.Return):
        annotate_list(context, message.node, message.module, sites)


def _is_taken(context: Context, message: DictValue, known: Facts) -> bool:
    """Whether every use of the message only passes it on to a list."""
    for node, module in context.holders(message):
        parent = module.parents.get(node)
        match parent:
            case cst.Assign() | cst.AssignTarget() | cst.AnnAssign() | cst.Return() | cst.Element():
                continue
            case cst.Arg():
                call = module.parents.get(parent)
                if (
                    isinstance(call, cst.Call)
                    and isinstance(call.func, cst.Attribute)
                    and call.func.attr.value == "append"
                ):
                    continue
                return False
            case cst.IfExp() | cst.Expr() | cst.Await():
                continue
            case _:
                return False
    return True


def _text(context: Context, message: DictValue) -> str | None:
    """How the text shows up: "none", "always", or "maybe"; None if it cannot be asked."""
    var = message.fields.get("content")
    if var is None or is_none(var):
        return "none"
    if var.values and all(isinstance(v, Const) and not v.value for v in var.values):
        return "none"
    if var.values and all(is_text(v) and not (isinstance(v, Const) and not v.value) for v in var.values):
        return "always"
    element = entry(message.node, "content") if isinstance(message.node, cst.Dict) else None
    return "maybe" if element is not None and _can_be_repeated(_bare_text(element.value)) else None


def _bare_text(value: cst.BaseExpression) -> cst.BaseExpression:
    """``text`` of ``text or None`` and ``text or ""``."""
    if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or):
        other = value.right
        nothing = isinstance(other, cst.SimpleString) and not other.evaluated_value
        if nothing or spells_none(other):
            return value.left
    return value


def _can_be_repeated(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is a name, an attribute, or an entry of a dict: ``m.get("content")``."""
    match node:
        case (
            cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=key))])
            | cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="get")), args=[cst.Arg(value=key)])
            | cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="get")),
                args=[cst.Arg(value=key), cst.Arg(value=cst.SimpleString() | cst.Name(value="None"))],
            )
        ):
            return isinstance(key, cst.SimpleString) and _can_be_repeated(owner)
        case _:
            return is_simple(node)


def _may_be_none(message: DictValue) -> bool:
    return any(
        isinstance(value, Const) and value.value is None
        for place in message.places["tool_calls"]
        if place.how in WRITES and place.var is not None
        for value in place.var.values
    )


def _items(updated: cst.CSTNode, text: str, may_be_none: bool) -> cst.CSTNode:
    """The list that takes the place of the message, in its layout."""
    assert isinstance(updated, cst.Dict)
    calls = entry(updated, "tool_calls")
    content = entry(updated, "content")
    role = entry(updated, "role")
    assert calls is not None
    assert role is not None
    elements: list[cst.BaseElement] = []
    if content is not None and text != "none":
        spaced = role.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        text_value = content.value if text == "always" else _bare_text(content.value)
        shown_text = content.with_changes(value=text_value, comma=cst.MaybeSentinel.DEFAULT)
        message = cst.Dict([spaced, shown_text])
        if text == "always":
            elements.append(cst.Element(message))
        else:
            value = expr("[m] if c else []", m=message, c=text_value)
            elements.append(cst.StarredElement(_in_parentheses(value)))
    value = calls.value
    if isinstance(value, cst.List):
        shown = dedented(value, _depth(value) - _depth(updated))
        elements.extend(shown.elements)
    elif not elements and not may_be_none:
        return dedented(value, _depth(value) - _depth(updated))
    else:
        value = expr("(calls or [])", calls=value) if may_be_none and not is_empty(value) else value
        elements.append(cst.StarredElement(value))
    return _laid_out(updated, elements)


def _depth(node: cst.BaseExpression) -> int:
    """How deep the entries of a container are indented."""
    space: object = None
    if isinstance(node, cst.Dict):
        space = node.lbrace.whitespace_after
    elif isinstance(node, (cst.List, cst.ListComp)):
        space = node.lbracket.whitespace_after
    return len(space.last_line.value) if isinstance(space, cst.ParenthesizedWhitespace) else 0


def _laid_out(like: cst.Dict, elements: list[cst.BaseElement]) -> cst.List:
    """A list of ``elements`` in the layout of the dict ``like``."""
    opening, closing = like.lbrace.whitespace_after, like.rbrace.whitespace_before
    between: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    last: cst.Comma | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT
    if isinstance(opening, cst.ParenthesizedWhitespace):
        plain = cst.TrailingWhitespace(newline=opening.first_line.newline)
        between = opening.with_changes(first_line=plain, empty_lines=[])
        comma = like.elements[-1].comma
        last = comma if isinstance(comma, cst.Comma) else last
    spaced = [element.with_changes(comma=cst.Comma(whitespace_after=between)) for element in elements[:-1]]
    return cst.List(
        [*spaced, elements[-1].with_changes(comma=last)],
        lbracket=cst.LeftSquareBracket(whitespace_after=opening),
        rbracket=cst.RightSquareBracket(whitespace_before=closing),
    )


def _in_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])

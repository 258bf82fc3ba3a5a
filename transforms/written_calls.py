"""The calls inside an assistant message that is written by hand, as ``function_call`` items (MR213)."""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Const, DictValue, Kind, SeqValue, Shape, Site, Value
from .call_reads import read_back
from .context import Context
from .flatten import can_flatten, flatten
from .snippets import entry, expr, is_simple, key_of, string


def write_calls(context: Context, message: DictValue, sites: set[Site]) -> bool:
    """Rewrite the calls of ``message``; whether they were all found."""
    for value in message.fields["tool_calls"].values:
        if isinstance(value, Const) and value.value is None:
            continue
        if not isinstance(value, SeqValue):
            return False
        for call in list(value.element.values):
            if isinstance(call, DictValue) and can_flatten(call.node) and "function" in call.places:
                context.edit(call.node, call.module, sites, _as_item(call), "MR213")
                read_back(context, call, sites)
            elif not _whole(context, message, value, call, sites):
                return False
    return True


def _whole(context: Context, message: DictValue, calls: SeqValue, call: Value, sites: set[Site]) -> bool:
    """A call of the answer that goes as it is into a list that is written in the message itself.

    Its fields are written out: the item would refer to reasoning that does not come along.
    """
    written = entry(message.node, "tool_calls") if isinstance(message.node, cst.Dict) else None
    if not (isinstance(call, Shape) and call.kind is Kind.TOOL_CALL and call.form == "object"):
        return False
    if written is None or written.value is not calls.node:
        return False
    if isinstance(calls.node, cst.ListComp):
        nodes = [calls.node.elt]
    elif isinstance(calls.node, cst.List) and all(place.how == "literal" for place in calls.places):
        nodes = [
            place.node.value
            for place in calls.places
            if isinstance(place.node, cst.Element) and place.var is not None and call in place.var.values
        ]
    else:
        return False
    if not all(isinstance(node, cst.Name) for node in nodes):
        return False
    for node in nodes:
        context.edit(node, calls.module, {*sites, call.site}, lambda o, u: _item(u), "MR213")
    return bool(nodes)


def _item(node: cst.CSTNode) -> cst.BaseExpression:
    assert isinstance(node, cst.BaseExpression)
    text = '{"type": "function_call", "call_id": c.call_id, "name": c.name, "arguments": c.arguments}'
    return expr(text, c=node)


def _as_item(call: DictValue) -> Apply:
    """A call written as a dict: one level, ``id`` is ``call_id``."""
    var = call.fields.get("function")
    read = var is not None and any(isinstance(value, Shape) for value in var.values)
    return lambda original, updated: _renamed(flatten(_spelled(updated) if read else updated, ["function"]))


def _spelled(node: cst.CSTNode) -> cst.CSTNode:
    """``"function": call.function`` with its fields written out: an item is no mapping."""
    element = entry(node, "function") if isinstance(node, cst.Dict) else None
    if element is None or not is_simple(element.value):
        return node
    fields = expr('{"name": c.name, "arguments": c.arguments}', c=element.value)
    assert isinstance(node, cst.Dict)
    changed = element.with_changes(value=fields)
    return node.with_changes(elements=[changed if e is element else e for e in node.elements])


def _renamed(shown: cst.CSTNode) -> cst.CSTNode:
    if not isinstance(shown, cst.Dict):
        return shown
    elements: list[cst.BaseDictElement] = []
    for element in shown.elements:
        key = key_of(element)
        if isinstance(element, cst.DictElement) and key == "id":
            element = element.with_changes(key=string("call_id", element.key))
        elif isinstance(element, cst.DictElement) and key == "type":
            element = element.with_changes(value=string("function_call", element.value))
        elements.append(element)
    if entry(shown, "type") is None and elements:
        first = elements[0]
        assert isinstance(first, cst.DictElement)
        kind = cst.DictElement(
            string("type", first.key), string("function_call", first.key), comma=first.comma
        )
        elements.insert(0, kind)
    return shown.with_changes(elements=elements)

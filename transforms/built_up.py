"""A message that is a plain one at first, and gets calls, or the id of one, later (MR213).

``message["tool_calls"] = calls`` under a test becomes a list of items in the place of the message, whose name
holds a list from the start, of one message. What takes it was told to expect several.
"""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import Const, DictValue, Place, SeqValue, Shape, Site
from ..know.modules import Module, walk
from .actions import remove
from .context import Context, constants
from .dict_lists import says_dict
from .item_facts import Facts
from .none_text import is_guarded
from .shared import bindings
from .snippets import entry, expr

_LATER = frozenset({"tool_calls", "tool_call_id"})


def is_built_up(context: Context, known: Facts, message: DictValue) -> bool:
    """Whether ``message`` gets calls or an id by statements, is then passed on, and that is all."""
    node, module = message.node, message.module
    if not isinstance(node, cst.Dict) or _name(node, module) is None or message.merged or message.others:
        return False
    for key, places in message.places.items():
        for place in places:
            if key in ("role", "content"):
                understood = place.how == "literal" and place.node in node.elements
            elif key == "name":
                understood = names_result(message, place)
            else:
                understood = key in _LATER and _is_later(context, message, key, place)
            if not understood:
                return False
    content = message.fields.get("content")
    held = list(content.values) if content is not None else []
    parts = any(isinstance(value, (SeqValue, DictValue)) for value in held)
    return not parts and "content" in message.places and _is_passed(context, known, message)


def _name(node: cst.Dict, module: Module) -> cst.Name | None:
    """The name that is given to the message when it is made."""
    match module.parents.get(node):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)]):
            return name
        case cst.AnnAssign(target=cst.Name() as name, annotation=annotation) if says_dict(annotation, module):
            return name
        case _:
            return None


def _is_later(context: Context, message: DictValue, key: str, place: Place) -> bool:
    """Whether ``place`` is a statement under a test which sees to it that there is something to store."""
    statement = _statement(place)
    if place.how != "store" or statement is None:
        return False
    value, module = statement.value, place.module
    if module.function(place.node) is not module.function(message.node):
        return False
    if key == "tool_call_id":
        return is_guarded(value, module) or _asks_for_results(context, value, module)
    values = context.project.values(value)
    nothing = any(isinstance(item, Const) and not item.value for item in values)
    return bool(values) and (not nothing or is_guarded(value, module))


def names_result(message: DictValue, place: Place) -> bool:
    """Whether ``place`` names the function beside the id of its call: the old API took no notice."""
    module = place.module
    if place.how != "store" or _statement(place) is None:
        return False
    block = module.parents[module.statement(place.node)]
    return any(
        other.how == "store" and module.parents.get(module.statement(other.node)) is block
        for other in message.places.get("tool_call_id", ())
    )


def _asks_for_results(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` stands under ``if role == "tool":``."""
    below = node
    for parent in module.ancestors(node):
        match parent:
            case cst.If(
                test=cst.Comparison(
                    comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=other)]
                )
            ):
                if parent.body is below and constants(context.project.vars.get(other)) == ["tool"]:
                    return True
            case cst.FunctionDef() | cst.Lambda():
                return False
        below = parent
    return False


def _statement(place: Place) -> cst.Assign | None:
    """``message["tool_calls"] = calls``, alone on its line."""
    target = place.module.parents.get(place.node)
    statement = place.module.parents.get(target) if isinstance(target, cst.AssignTarget) else None
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    base = place.node.value if isinstance(place.node, cst.Subscript) else None
    return statement if isinstance(base, cst.Name) else None


def _is_passed(context: Context, known: Facts, message: DictValue) -> bool:
    """Whether the message is put into lists, or returned to be put there, after all has been stored in it."""
    home = message.module.function(message.node)
    order = {known: number for number, known in enumerate(message.module.parents)}
    stored = [place.node for key in (*_LATER, "name") for place in message.places.get(key, ())]
    last = max((order.get(node, 0) for node in stored), default=0)
    loops = _loops(message.node, message.module)
    if any(_loops(node, message.module) != loops for node in stored):
        return False
    for node, module in context.holders(message):
        at_home = module is message.module and module.function(node) is home
        if node is message.node or _is_stored_into(node, module):
            continue
        if at_home and any(value is not message for value in context.project.values(node)):
            return False
        match module.parents.get(node):
            case cst.AssignTarget() | cst.AnnAssign() if at_home:
                continue
            case cst.Return() if _returns_dicts(node, module):
                pass
            case cst.Arg() | cst.Element() if _is_put_in(known, node, module):
                pass
            case cst.ListComp() | cst.GeneratorExp() as listed if not at_home and _is_sent(known, listed):
                continue
            case cst.Assign() | cst.AssignTarget() if not at_home:
                continue
            case _:
                return False
        if at_home and (order[node] < last or _loops(node, module) != loops):
            return False
    return True


def _returns_dicts(node: cst.CSTNode, module: Module) -> bool:
    """Whether the function around ``node`` is not declared to return something else than a dict."""
    function = module.function(node)
    returns = function.returns if isinstance(function, cst.FunctionDef) else None
    return returns is None or says_dict(returns, module)


def _is_stored_into(node: cst.CSTNode, module: Module) -> bool:
    parent = module.parents.get(node)
    return isinstance(parent, cst.Subscript) and isinstance(module.parents.get(parent), cst.AssignTarget)


def _is_put_in(known: Facts, node: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` is appended to a list that is sent, or an element of one."""
    outer = module.parents[node]
    whole = module.parents.get(outer)
    if isinstance(outer, cst.Element) and isinstance(whole, cst.List):
        values = known.context.project.values(whole)
        return bool(values) and all(
            isinstance(value, SeqValue) and value in known.senders for value in values
        )
    match whole:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="append")), args=[_]):
            return known.is_added(node, module)
        case _:
            return False


def _is_sent(known: Facts, listed: cst.BaseExpression) -> bool:
    values = known.context.project.values(listed)
    return bool(values) and all(isinstance(value, SeqValue) and value in known.senders for value in values)


def _loops(node: cst.CSTNode, module: Module) -> list[cst.CSTNode]:
    """The loops around ``node`` in its function."""
    found: list[cst.CSTNode] = []
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(parent, (cst.For, cst.While)):
            found.append(parent)
    return found


def build_up(context: Context, message: DictValue, text: str | None, sites: set[Site]) -> None:
    """Make the name hold items from the start. ``text`` says how the message's text shows up."""
    node, module = message.node, message.module
    assert isinstance(node, cst.Dict)
    context.edit(node, module, sites, lambda o, u: expr("[m]", m=_expression(u)), "MR213")
    made = module.parents[node]
    if isinstance(made, cst.AnnAssign):
        listed: Apply = lambda o, u: expr("list[x]", x=_expression(u))  # noqa: E731
        context.edit(made.annotation.annotation, module, sites, listed, "MR213")
    for holder, where in context.holders(message):
        if isinstance(where.parents.get(holder), cst.Return):
            annotate_list(context, holder, where, sites)
    for place in message.places.get("name", ()):
        context.edit(place.module.statement(place.node), place.module, sites, remove, "MR212")
    said = _said(context, message)
    for key in filter(_LATER.__contains__, message.places):
        for place in message.places[key]:
            statement = _statement(place)
            assert statement is not None
            change = _as_result(said) if key == "tool_call_id" else _with_calls(said, text)
            context.edit(statement, place.module, sites, change, "MR213")


def _expression(node: cst.CSTNode) -> cst.BaseExpression:
    assert isinstance(node, cst.BaseExpression)
    return node


def _said(context: Context, message: DictValue) -> cst.BaseExpression | None:
    """The text of the message as it is written, if it means the same further down."""
    assert isinstance(message.node, cst.Dict)
    element = entry(message.node, "content")
    value = element.value if element is not None else None
    root = value
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name) or value is None:
        return None
    scope = message.module.function(message.node) or message.module.tree
    if isinstance(scope, cst.Lambda) or len(list(bindings(scope, root.value))) > 1:
        return None
    if any(isinstance(part, cst.AssignTarget) and part.target.deep_equals(value) for part in walk(scope)):
        return None
    if any(isinstance(part, Shape) for part in context.project.values(value)):
        return None  # read in another way afterwards
    return value


def _as_result(said: cst.BaseExpression | None) -> Apply:
    """``m["tool_call_id"] = x`` -> ``m = [{"type": "function_call_output", ...}]``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Assign)
        name = _base(updated)
        text = said if said is not None else expr('m[0]["content"]', m=name)
        item = expr('[{"type": "function_call_output", "call_id": x, "output": t}]', x=updated.value, t=text)
        return updated.with_changes(targets=[cst.AssignTarget(name)], value=item)

    return apply


def _with_calls(said: cst.BaseExpression | None, text: str | None) -> Apply:
    """``m["tool_calls"] = calls`` -> ``m = [*(m if text else []), *calls]``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Assign)
        name = _base(updated)
        if text == "none":
            return updated.with_changes(targets=[cst.AssignTarget(name)])
        if text == "always":
            return cst.AugAssign(name, cst.AddAssign(), updated.value)
        asked = said if said is not None else expr('m[0]["content"]', m=name)
        items = expr("[*(m if t else []), *calls]", m=name, t=asked, calls=updated.value)
        return updated.with_changes(targets=[cst.AssignTarget(name)], value=items)

    return apply


def _base(statement: cst.Assign) -> cst.Name:
    """``m`` of ``m["tool_calls"] = calls``."""
    target = statement.targets[0].target
    assert isinstance(target, cst.Subscript)
    assert isinstance(target.value, cst.Name)
    return target.value


def annotate_list(context: Context, returned: cst.CSTNode, module: Module, sites: set[Site]) -> None:
    """``-> dict`` of the function that returns the message says ``list[dict]`` now."""
    function = module.function(returned)
    if isinstance(function, cst.FunctionDef) and function.returns is not None:
        node = function.returns.annotation

        def listed(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.BaseExpression)
            return expr("list[x]", x=updated)

        context.edit(node, module, sites, listed, "MR213")

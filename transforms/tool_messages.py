"""Tool results become ``function_call_output`` items (MR212); those of 2023 need their call (MR211)."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..decide.plan import Apply
from ..know.graph import Var
from ..know.kinds import DictValue, Kind, Place, Site
from ..know.modules import Module
from .actions import rename_key
from .call_lists import single_call
from .context import WRITES, Context
from .item_facts import Facts, Form, answers_in, facts
from .rebuilt import origins
from .role_tests import told_form
from .shared import bindings
from .snippets import string

_NAMES = {"role": "type", "tool_call_id": "call_id", "content": "output"}


def plan(context: Context) -> None:
    """Rewrite the results that any site sends."""
    known = facts(context)
    for message, form in known.forms.items():
        sites = known.messages[message]
        match form:
            case Form.RESULT:
                _result(context, message, sites)
            case Form.LEGACY_RESULT:
                _legacy(context, message, sites)
            case Form.MIXED:
                detail = "whether this message is a tool result is decided at run time"
                context.manual(message.node, message.module, sites, "MR506", detail)
            case _:
                continue


def _result(context: Context, message: DictValue, sites: set[Site]) -> None:
    if message.merged or message.others or isinstance(message.node, cst.Param):
        context.manual(
            message.node, message.module, sites, "MR506", "not all keys of this tool result are known"
        )
        return
    if not any(place.how in WRITES for place in message.places.get("tool_call_id", ())):
        context.manual(
            message.node, message.module, sites, "MR506", "this tool result does not name its call"
        )
        return
    for key, places in message.places.items():
        for place in places:
            if place.how in WRITES and _is_of_result(context, place, sites):
                _entry(context, key, place, sites)


def _is_of_result(context: Context, place: Place, sites: set[Site]) -> bool:
    """Whether ``m["content"] = ...`` is of a tool result, and of nothing else."""
    match place.node:
        case cst.Subscript(value=base) | cst.Call(func=cst.Attribute(value=base)):
            told = told_form(base, place.module)
            forms = {told} if told is not None else facts(context).forms_of(context.project.vars.get(base))
            if told is None and forms != {Form.RESULT}:
                text = context.source(place.node, place.module)
                detail = f"`{text}` writes a tool result or another message"
                context.manual(place.node, place.module, sites, "MR506", detail)
            return forms == {Form.RESULT}
        case _:
            return True


def _entry(context: Context, key: str, place: Place, sites: set[Site]) -> None:
    """One entry of a tool result, as it is written."""
    node, module = place.node, place.module
    if key in ("name", "tool_name"):  # the old API took no notice of them
        _remove(context, place, sites)
    elif key not in _NAMES:
        context.manual(node, module, sites, "MR206", f"`{key}` on a tool result belongs to another API")
    elif key == "role":
        context.edit(node, module, sites, _typed, "MR212")
        if place.how not in ("literal", "keyword"):
            context.manual(node, module, sites, "MR506", "the role of this message is put in later")
    elif isinstance(node, (cst.DictElement, cst.Arg)):
        context.edit(node, module, sites, _renamed(_NAMES[key]), "MR212")
    else:
        for site in sites:
            rename_key(context, [site], place, _NAMES[key], "MR212")


def _typed(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``"role": "tool"`` -> ``"type": "function_call_output"``."""
    return _renamed("type")(original, _with_value(updated, "function_call_output"))


def _with_value(node: cst.CSTNode, value: str) -> cst.CSTNode:
    assert isinstance(node, (cst.DictElement, cst.Arg))
    return node.with_changes(
        value=string(value, node.value if isinstance(node.value, cst.SimpleString) else None)
    )


def _renamed(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if isinstance(updated, cst.Arg):
            return updated.with_changes(keyword=cst.Name(name))
        assert isinstance(updated, cst.DictElement)
        return updated.with_changes(key=string(name, updated.key))

    return apply


def _remove(context: Context, place: Place, sites: set[Site]) -> None:
    node, module = place.node, place.module
    if isinstance(node, (cst.DictElement, cst.Arg)):
        context.edit(node, module, sites, lambda o, u: cst.RemovalSentinel.REMOVE, "MR212")
        return
    line = module.statement(node)
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        context.edit(line, module, sites, lambda o, u: cst.RemovalSentinel.REMOVE, "MR212")
    else:
        context.manual(node, module, sites, "MR506", "this key cannot be removed here")


# -- role function -----------------------------------------------------------------------


def _legacy(context: Context, message: DictValue, sites: set[Site]) -> None:
    """A result with role function is paired with the call that its name was read from (trap B12)."""
    name = next((place.node for place in message.places.get("name", ()) if place.how in WRITES), None)
    value = name.value if isinstance(name, (cst.DictElement, cst.Arg)) else None
    read = _call_of(context, value, message.module) if value is not None else None
    known = facts(context)
    owners = {shape.site for shape in context.project.shapes(read)} if read is not None else set()
    paired = read is not None and any(_keeps(known, place.var, owners) for _, _, place in known.places())
    if not paired or message.merged or message.others or set(message.places) - {"role", "name", "content"}:
        detail = "the call that this result belongs to is not in sight"
        context.manual(message.node, message.module, sites, "MR211", detail)
        return
    owners = owners | sites
    for key, places in message.places.items():
        for place in places:
            if key == "name" and isinstance(place.node, (cst.DictElement, cst.Arg)):
                context.edit(
                    place.node, place.module, owners, _identified(context, read, message.module), "MR212"
                )
            elif place.how in WRITES:
                _entry(context, key, place, owners)


def _keeps(known: Facts, var: Var | None, owners: set[Site]) -> bool:
    """Whether a value that is put into a history holds the calls of one of ``owners``."""
    if any(shape.site in owners for shape in answers_in(var)):
        return True
    values = [value for value in var.values if isinstance(value, DictValue)] if var is not None else []
    return any(
        shape.site in owners for value in values if value in known.multiple for shape in origins(value)
    )


def _call_of(context: Context, value: cst.BaseExpression, module: Module) -> cst.BaseExpression | None:
    """``message.function_call`` where ``value`` is its name, read here or kept under a name before."""
    match value:
        case cst.Attribute(value=base, attr=cst.Name(value="name")):
            is_call = any(shape.kind is Kind.FUNCTION_CALL for shape in context.project.shapes(base))
            return base if is_call else None
        case cst.Name(value=name):
            bound = list(bindings(module.function(value) or module.tree, name))
            statement = module.parents.get(bound[0]) if len(bound) == 1 else None
            if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
                return _call_of(context, statement.value, module)
            return None
        case _:
            return None


def _identified(context: Context, read: cst.BaseExpression | None, module: Module) -> Apply:
    """``"name": N`` -> ``"call_id": function_call.call_id``."""
    assert read is not None

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        holder = read if isinstance(read, cst.Name) else single_call(context, read, module)
        renamed = _renamed("call_id")(original, updated)
        return renamed.with_changes(value=cst.Attribute(holder, cst.Name("call_id")))

    return apply

"""What becomes of an argument of a request, carried out at every place that writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import (
    Place,
    Site,
)
from ..know.modules import Module, walk
from .callees import other_taker, replaced_in_test
from .chosen_keys import is_chosen, rename_chosen
from .context import WRITES, Context, Keyword, key_node
from .dumped_settings import never_dumped, one_hides_the_other, renamed_in_dump
from .folding import has_effect
from .inside import renamed_inside
from .moved_limits import LIMITS, moving_lines
from .snippets import string
from .taken_out import parameters_beside


@dataclass(frozen=True)
class Action:
    """What becomes of a parameter: a new name, a new value, nothing (``drop``), or a reason."""

    code: str
    name: str | None = None
    wrap: Callable[[cst.BaseExpression], cst.BaseExpression] | None = None
    drop: bool = False
    hold: str | None = None  # "unsafe" or "manual"
    detail: str = ""


def act(context: Context, site: Site, keywords: list[Keyword], action: Action) -> None:
    """Carry out ``action`` at every place that writes or reads the parameter."""
    if action.hold is not None:
        first = keywords[0].place
        hold = context.unsafe if action.hold == "unsafe" else context.manual
        hold(first.node, first.module, [site], action.code, action.detail)
        if action.hold == "manual":
            return
    if action.name is not None:
        _two_become_one(context, site, keywords, action.name)
    for item in keywords:
        if item.holder is not None and action.name in _taken(context, site):
            place = item.place
            detail = f"`{item.name}` would be `{action.name}`, which is a parameter on its way"
            context.manual(place.node, place.module, [site], "MR119", detail)
        if item.holder is None:
            _place(context, [site], item, action)
        elif (item.place, action.code, item.name) not in context.done:
            context.done.add((item.place, action.code, item.name))
            _place(context, context.senders(item.holder), item, action)


def _two_become_one(context: Context, site: Site, keywords: list[Keyword], name: str) -> None:
    """A look at one of two keys of a dict that are one afterwards: ``"max_tokens" in kw``."""
    for item in keywords:
        place = item.place
        if place.how in WRITES or item.holder is None or place.how == "delete":
            continue
        others = {other.name for other in context.request(site).of(item.holder)} & _SAME.get(
            name, frozenset()
        )
        if others - {item.name} and not moving_lines(context, item):
            detail = f"`{context.source(place.node, place.module)}` would find what was under another key"
            context.manual(place.node, place.module, [site], "MR120", detail)


# Old names that have one new name in common.
_SAME = {"max_output_tokens": LIMITS}


def _taken(context: Context, site: Site) -> set[str]:
    """The parameters of the functions through whose ``**kwargs`` the arguments of ``site`` come."""
    return {name for value in context.request(site).dicts for name in parameters_beside(value)}


def _place(context: Context, sites: Sequence[Site], item: Keyword, action: Action) -> None:
    place = item.place
    node = place.node
    # A place with only None at a call that is otherwise given a value: `timeout=None` and the like.
    drop = action.drop
    taker = other_taker(context, item)
    shared = action.name in _SAME and action.wrap is None and _is_shared(context, sites, item)
    if shared and renamed_inside(context, sites, item, str(action.name), action.code):
        return
    if taker is not None:
        text = context.source(place.module.parents[node], place.module)
        detail = f"`{item.name}` in `{text}` also goes to `{taker}`"
        context.manual(node, place.module, sites, "MR120", detail)
        return
    double = replaced_in_test(context, item)
    if double is not None:
        name, test = double
        detail = f"`{test.path}` replaces `{name}`, and names `{item.name}`"
        context.unsafe(node, place.module, sites, "MR803", detail)
    if lines := moving_lines(context, item):
        for line in lines:
            context.edit(line, place.module, sites, remove, action.code)
        return
    value = node.value if isinstance(node, (cst.Arg, cst.DictElement)) else None
    if drop and action.code == "MR108" and value is not None and has_effect(context, value):
        detail = f"`{context.source(value, place.module)}` would no longer run"
        context.manual(node, place.module, sites, action.code, detail)
        return
    if is_chosen(context, place):
        rename_chosen(context, sites, item, None if drop or action.wrap else action.name, action.code)
        return
    match place.how:
        case "keyword" if isinstance(node, cst.Arg):
            context.edit(node, place.module, sites, remove if drop else _argument(action), action.code)
        case "literal" if isinstance(node, cst.DictElement):
            context.edit(node, place.module, sites, remove if drop else _element(action), action.code)
        case "store" if isinstance(node, cst.Subscript):
            _store(context, sites, place, action)
        case "setdefault" if isinstance(place.module.parents.get(node), cst.Expr):
            _set_default(context, sites, place, action)
        case "dumped" if one_hides_the_other(_beside(context, sites, item), place):
            text = context.source(node, place.module)
            detail = f"`{text}` would find what was under another key"
            context.manual(node, place.module, sites, "MR120", detail)
        case "dumped" if action.wrap is None and (not drop or never_dumped(place)):
            if not drop:
                context.edit(node, place.module, sites, renamed_in_dump(item.name, action.name), action.code)
        case _ if drop or action.wrap is not None:
            detail = f"`{context.source(node, place.module)}` looks at an argument that changes its form"
            context.manual(node, place.module, sites, "MR120", detail)
        case _:
            rename_key(context, sites, place, action.name or item.name, action.code)


def _beside(context: Context, sites: Sequence[Site], item: Keyword) -> set[str]:
    """The names of all arguments that come in the same dict as ``item``."""
    return {one.name for site in sites for one in context.request(site).keywords if one.holder is item.holder}


def _is_shared(context: Context, sites: Sequence[Site], item: Keyword) -> bool:
    """Whether a caller that gives a wrapper the keyword of ``item`` gives it to others too."""
    known = context.memo.setdefault("shared keywords", {})
    assert isinstance(known, dict)
    if (item.holder, item.name) not in known:
        known[item.holder, item.name] = any(
            other_taker(context, one) or replaced_in_test(context, one)
            for site in sites
            for one in context.request(site).named(item.name)
            if one.holder is item.holder and one.place.how == "keyword"
        )
    return bool(known[item.holder, item.name])


def remove(original: cst.CSTNode, updated: cst.CSTNode) -> cst.RemovalSentinel:
    return cst.RemovalSentinel.REMOVE


def _argument(action: Action) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Arg)
        assert updated.keyword is not None
        value = action.wrap(updated.value) if action.wrap else updated.value
        return updated.with_changes(keyword=cst.Name(action.name or updated.keyword.value), value=value)

    return apply


def _element(action: Action) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.DictElement)
        value = action.wrap(updated.value) if action.wrap else updated.value
        key = string(action.name, updated.key) if action.name else updated.key
        return updated.with_changes(key=key, value=value)

    return apply


def _store(context: Context, sites: Sequence[Site], place: Place, action: Action) -> None:
    """``params["x"] = value``: the key, the value, or the whole statement."""
    module, node = place.module, place.node
    assignment = _assignment(context, place)
    if assignment is None:
        detail = f"`{context.source(node, module)}` is assigned in an unusual way"
        context.manual(node, module, sites, "MR119", detail)
        return
    _statement(context, sites, place, assignment, assignment.value, action)


def _set_default(context: Context, sites: Sequence[Site], place: Place, action: Action) -> None:
    """``params.setdefault("x", value)`` as a statement."""
    assert isinstance(place.node, cst.Call)
    value = place.node.args[1].value if len(place.node.args) > 1 else None
    _statement(context, sites, place, place.module.parents[place.node], value, action)


def _statement(
    context: Context,
    sites: Sequence[Site],
    place: Place,
    statement: cst.CSTNode,
    value: cst.BaseExpression | None,
    action: Action,
) -> None:
    """The ``statement`` at ``place`` puts ``value`` into a dict: it goes, or both key and value change."""
    module = place.module
    if action.drop:
        line = module.parents[statement]
        if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
            context.edit(_alone_under_a_test(line, module) or line, module, sites, remove, action.code)
        else:
            context.edit(statement, module, sites, _pass, action.code)
        return
    if action.name:
        rename_key(context, sites, place, action.name, action.code)
    if action.wrap is not None and value is not None:
        wrap = action.wrap

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, (cst.Assign, cst.Arg))
            return updated.with_changes(value=wrap(updated.value))

        # At what holds the value: other rules change the value itself, as it was written.
        context.edit(module.parents[value], module, sites, apply, action.code)


def _alone_under_a_test(line: cst.CSTNode, module: Module) -> cst.If | None:
    """``if stop:`` around nothing but ``line``."""
    block = module.parents.get(line)
    outer = module.parents.get(block) if isinstance(block, cst.IndentedBlock) else None
    if not isinstance(outer, cst.If) or outer.orelse is not None or isinstance(module.parents[outer], cst.If):
        return None
    calls = any(isinstance(inner, (cst.Call, cst.NamedExpr, cst.Await)) for inner in walk(outer.test))
    return None if calls or len(outer.body.body) > 1 else outer


def _assignment(context: Context, place: Place) -> cst.Assign | None:
    parent = place.module.parents.get(place.node)
    statement = place.module.parents.get(parent) if isinstance(parent, cst.AssignTarget) else None
    return statement if isinstance(statement, cst.Assign) and len(statement.targets) == 1 else None


def _pass(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    return cst.Pass()


def rename_key(context: Context, sites: Sequence[Site], place: Place, name: str, code: str) -> None:
    """Write another key where a dict is subscripted, asked or popped."""
    key = key_node(place)
    if isinstance(key, cst.Arg):
        context.edit(key, place.module, sites, lambda o, u: u.with_changes(keyword=cst.Name(name)), code)
    elif isinstance(key, cst.SimpleString):
        context.edit(key, place.module, sites, lambda o, u: string(name, o), code)
    else:
        detail = f"`{context.source(place.node, place.module)}`: the key is not written there"
        context.manual(place.node, place.module, sites, "MR119", detail)

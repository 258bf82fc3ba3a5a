"""The system message becomes ``instructions`` (MR202), a lone user message the ``input`` itself (MR203)."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import (
    Const,
    DictValue,
    External,
    SeqValue,
    Site,
    Unknown,
    Value,
)
from ..know.modules import Module
from .context import Context, constants
from .declared_contents import may_be_list
from .filled import is_filled
from .response_format import json_mode
from .sent import is_str, roles, sequences_of
from .snippets import entry, key_of
from .splice import settled
from .tested import observed


def inline(context: Context, site: Site, arg: cst.Arg, node: cst.List) -> None:
    """A list written at the call."""
    seen = observed(context, site)
    hoisted = None if seen else hoistable(context, site, node)
    rest = [element for element in node.elements if hoisted is None or element is not hoisted[0]]
    collapsed = None if seen else _collapsible(context, rest, site.module)
    if collapsed is not None and _is_remarked(node, rest[0]):
        collapsed = None  # its comments need the list
    lead = _lead(site.module, arg)
    if hoisted is not None:
        element, content = hoisted

        def pull(original: cst.CSTNode, updated: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
            assert isinstance(updated, cst.Arg)
            return _split(updated, _find(updated.value, content, node, element), collapsed is not None, lead)

        context.edit(arg, site.module, [site], pull, "MR202")
        return

    def rename(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Arg)
        value = updated.value
        if collapsed is not None and isinstance(value, cst.List):
            value = settled(_content(value.elements[0], collapsed), lead)
        return updated.with_changes(keyword=cst.Name("input"), value=value)

    context.edit(arg, site.module, [site], rename, "MR203" if collapsed is not None else "MR201")


def _find(
    updated: cst.BaseExpression, content: cst.BaseExpression, node: cst.List, element: cst.BaseElement
) -> cst.BaseExpression:
    """The content of the first message, as the other edits left it."""
    assert isinstance(updated, cst.List)
    first = updated.elements[0].value
    assert isinstance(first, cst.Dict)
    found = entry(first, "content")
    return found.value if found is not None else content


def _split(
    arg: cst.Arg, content: cst.BaseExpression, collapse: bool, lead: cst.BaseParenthesizableWhitespace
) -> cst.FlattenSentinel[cst.CSTNode]:
    """``messages=[system, ...]`` as ``instructions=..., input=[...]``, in the layout of the call."""
    value = arg.value
    assert isinstance(value, cst.List)
    between: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if isinstance(lead, cst.ParenthesizedWhitespace):
        between = lead.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    remarks = _remarks(value)
    if remarks is not None:
        if not isinstance(between, cst.ParenthesizedWhitespace):
            between = _indent_of(arg)
        spaced = cst.TrailingWhitespace(whitespace=cst.SimpleWhitespace("  "), comment=remarks)
        between = between.with_changes(first_line=spaced)
    first = arg.with_changes(
        keyword=cst.Name("instructions"),
        value=settled(content, lead),
        comma=cst.Comma(whitespace_after=between),
        whitespace_after_arg=cst.SimpleWhitespace(""),
    )
    rest = without_first(value)
    body: cst.BaseExpression = settled(_content(rest.elements[0], None), lead) if collapse else rest
    return cst.FlattenSentinel([first, arg.with_changes(keyword=cst.Name("input"), value=body)])


def _lead(module: Module, arg: cst.Arg) -> cst.BaseParenthesizableWhitespace:
    """The white space before an argument: how arguments are set off in this call."""
    call = module.parents[arg]
    assert isinstance(call, cst.Call)
    position = next(number for number, item in enumerate(call.args) if item is arg)
    if position == 0:
        return call.whitespace_before_args
    comma = call.args[position - 1].comma
    return comma.whitespace_after if isinstance(comma, cst.Comma) else cst.SimpleWhitespace(" ")


def _indent_of(arg: cst.Arg) -> cst.ParenthesizedWhitespace:
    """A line break before an argument, for a call whose arguments do not start on lines of their own."""
    ending = arg.whitespace_after_arg
    if isinstance(arg.comma, cst.Comma):
        ending = arg.comma.whitespace_after
    base = ending.last_line.value if isinstance(ending, cst.ParenthesizedWhitespace) else ""
    return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(f"{base}    "))


def _remarks(node: cst.List) -> cst.Comment | None:
    """The comments of the first message, as one: they go where the message goes."""
    first = node.elements[0]
    found = [comment.value for comment in _comments(node.lbracket.whitespace_after)]
    found.extend(comment.value for comment in _comments(first.value))
    if isinstance(first.comma, cst.Comma) and isinstance(
        first.comma.whitespace_after, cst.ParenthesizedWhitespace
    ):
        found.extend(comment.value for comment in _comments(first.comma.whitespace_after.first_line))
    if not found:
        return None
    return cst.Comment("; ".join([found[0], *(text.lstrip("#").strip() for text in found[1:])]))


def _comments(node: cst.CSTNode) -> Iterator[cst.Comment]:
    """The comments in a piece of syntax, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Comment):
            yield current
        stack.extend(reversed(current.children))


def without_first(node: cst.List) -> cst.List:
    """``node`` without its first element and the comments of that; those of the second stay."""
    first, *rest = node.elements
    opening = node.lbracket.whitespace_after
    comma = first.comma
    if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
        after = comma.whitespace_after.with_changes(first_line=cst.TrailingWhitespace())
        if isinstance(opening, cst.ParenthesizedWhitespace) or any(
            line.comment for line in after.empty_lines
        ):
            opening = after
    elif isinstance(opening, cst.ParenthesizedWhitespace):
        opening = opening.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    return node.with_changes(elements=rest, lbracket=node.lbracket.with_changes(whitespace_after=opening))


def hoistable(
    context: Context, site: Site, node: cst.List
) -> tuple[cst.BaseElement, cst.BaseExpression] | None:
    """The first message and its content, if it may become ``instructions``."""
    if len(node.elements) < 2 or context.request(site).passes("instructions"):
        return None
    first = node.elements[0]
    if not isinstance(first.value, cst.Dict) or not _is_system(context, first.value):
        return None
    content = entry(first.value, "content")
    if content is None or not _is_text(context, content.value, site.module):
        return None
    texts = context.project.values(content.value)
    if any(isinstance(text, Const) and text.value == "" for text in texts):
        return None  # empty instructions are none at all
    if any(key_of(element) not in ("role", "content") for element in first.value.elements):
        return None
    others = context.project.values(node)
    for value in others:
        if isinstance(value, SeqValue) and _other_system(value, first, context):
            return None
    if not is_filled(context, site.module, node.elements[1:]):
        return None  # an input must not be empty
    if _json_only_there(context, site, node, content.value):
        return None
    return first, content.value


def _is_system(context: Context, node: cst.Dict) -> bool:
    role = entry(node, "role")
    if role is None:
        return False
    found = constants(context.project.vars.get(role.value))
    return bool(found) and all(value in ("system", "developer") for value in found or [])


def _other_system(sequence: SeqValue, first: cst.BaseElement, context: Context) -> bool:
    """Whether another element of the list can be a system message."""
    candidates: dict[Value, None] = dict.fromkeys(sequence.element.values)
    for source in sequence.derived:
        candidates.update(dict.fromkeys(source.values))
        for value in source.values:
            if isinstance(value, SeqValue):
                candidates.update(dict.fromkeys(value.element.values))
    for value in candidates:
        if isinstance(value, DictValue):
            if value.node is first.value:
                continue
            known = roles(value)
            if known is None or any(role in ("system", "developer") for role in known):
                return True
        elif isinstance(value, (Unknown, External)):
            return True  # it might be one: then the order of the two would matter
    return False


def _json_only_there(context: Context, site: Site, node: cst.List, content: cst.BaseExpression) -> bool:
    """JSON mode wants the word in the input (trap A9)."""
    if not json_mode(context, site):
        return False
    for element in node.elements[1:]:
        for inner in syntax.walk(element):
            text = getattr(inner, "value", None)
            literal = isinstance(inner, (cst.SimpleString, cst.FormattedStringText))
            if literal and isinstance(text, str) and "json" in text.lower():
                return False
    return True


def _collapsible(
    context: Context, elements: list[cst.BaseElement], module: Module
) -> cst.BaseExpression | None:
    """The content of the one user message that is left, if it is certainly text."""
    if (
        len(elements) != 1
        or not isinstance(elements[0], cst.Element)
        or not isinstance(elements[0].value, cst.Dict)
    ):
        return None
    message = elements[0].value
    if any(key_of(element) not in ("role", "content") for element in message.elements):
        return None
    role, content = entry(message, "role"), entry(message, "content")
    if role is None or content is None or constants(context.project.vars.get(role.value)) != ["user"]:
        return None
    return content.value if _is_text(context, content.value, module) else None


def _is_text(context: Context, content: cst.BaseExpression, module: Module) -> bool:
    """Whether a content is a text, and not only as far as callers in sight go."""
    return is_str(context, content) and not may_be_list(context, content, module)


def _is_remarked(node: cst.List, last: cst.BaseElement) -> bool:
    """Whether comments stand at the last message of a list, where collapsing would lose them."""
    around: list[cst.CSTNode] = [last, node.rbracket]
    if len(node.elements) == 1:
        around.append(node.lbracket)
    else:
        comma = node.elements[-2].comma
        if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
            around.extend(comma.whitespace_after.empty_lines)
    return any(True for part in around for _ in _comments(part))


def _content(element: cst.BaseElement, fallback: cst.BaseExpression | None) -> cst.BaseExpression:
    """The content of a message element, as the other edits left it."""
    assert isinstance(element.value, cst.Dict)
    found = entry(element.value, "content")
    if found is None:
        assert fallback is not None
        return fallback
    return found.value


def local_list(context: Context, site: Site, arg: cst.Arg) -> cst.List | None:
    """The list display behind a local name that only this call uses, complete before it."""
    if not isinstance(arg.value, cst.Name):
        return None
    values = context.project.values(arg.value)
    if len(values) != 1 or not isinstance(values[0], SeqValue) or not isinstance(values[0].node, cst.List):
        return None
    sequence = values[0]
    node = sequence.node
    module = site.module
    if sequence.module is not module or module.function(node) is not module.function(site.node):
        return None
    if not isinstance(module.parents.get(node), (cst.Assign, cst.AnnAssign)):
        return None
    if _loop(module, node) is not _loop(module, site.node):
        return None
    order = {known: number for number, known in enumerate(_preorder(module, site))}
    here = order.get(arg.value, -1)
    for other, _ in context.holders(sequence):
        if other not in order or order[other] > here:
            return None
        if other is not arg.value and not _only_added_to(module, other, node):
            return None
    if any(other is not site and sequence in sequences_of(context, other) for other in context.sites):
        return None
    return node if isinstance(node, cst.List) else None


def _only_added_to(module: Module, use: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a use of a list puts something into it, or is the list display itself."""
    parent = module.parents.get(use)
    match parent:
        case cst.Attribute(attr=cst.Name(value="append" | "extend")) | cst.AssignTarget() | cst.AnnAssign():
            return True
        case cst.AugAssign():
            return parent.target is use
        case _:
            return use is node


def _preorder(module: Module, site: Site) -> Iterator[cst.CSTNode]:
    function = module.function(site.node)
    return syntax.walk(function if function is not None else module.tree)


def _loop(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.For, cst.While, cst.CompFor)):
            return parent
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return None
    return None


def hoist_local(context: Context, site: Site, arg: cst.Arg, node: cst.List) -> None:
    hoisted = None if observed(context, site) else hoistable(context, site, node)
    movable = hoisted is not None and isinstance(hoisted[1], (cst.SimpleString, cst.ConcatenatedString))
    if hoisted is None or not movable or _edited_before_first(context, site):
        context.edit(arg, site.module, [site], _rename_input, "MR201")
        return
    content = hoisted[1]

    def shorten(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.List)
        return without_first(updated)

    def both(original: cst.CSTNode, updated: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
        assert isinstance(updated, cst.Arg)
        after = (
            updated.comma.whitespace_after
            if isinstance(updated.comma, cst.Comma)
            else cst.SimpleWhitespace(" ")
        )
        if isinstance(after, cst.ParenthesizedWhitespace):
            if after.last_line.value == "":
                after = cst.SimpleWhitespace(" ")
            else:
                after = after.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
        head = cst.Arg(
            keyword=cst.Name("instructions"),
            value=content,
            equal=updated.equal,
            comma=cst.Comma(whitespace_after=after),
        )
        return cst.FlattenSentinel([head, updated.with_changes(keyword=cst.Name("input"))])

    context.edit(node, site.module, [site], shorten, "MR202")
    context.edit(arg, site.module, [site], both, "MR202")


def _edited_before_first(context: Context, site: Site) -> bool:
    """Whether the list is changed other than by adding at its end."""
    return any(
        place.how not in ("literal", "append", "extend")
        for sequence in sequences_of(context, site)
        for place in sequence.places
    ) or any(_indexed(context, sequence) for sequence in sequences_of(context, site))


def _indexed(context: Context, sequence: SeqValue) -> bool:
    """Whether the list is read by position anywhere."""
    for node, module in context.holders(sequence):
        parent = module.parents.get(node)
        if isinstance(parent, cst.Subscript):
            return True
    return False


def _rename_input(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Arg)
    return updated.with_changes(keyword=cst.Name("input"))

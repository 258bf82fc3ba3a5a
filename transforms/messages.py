"""``messages`` becomes ``input`` (MR201); a leading system message may become ``instructions`` (MR202).

A plain history of role/content messages is valid input as it is, so most lists stay untouched.
Tool messages and parts have rules of their own (:mod:`.tool_messages`, :mod:`.parts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..know import modules as syntax
from ..know.graph import Var
from ..know.heap import is_text
from ..know.kinds import (
    Const,
    DictValue,
    External,
    Kind,
    SeqValue,
    Shape,
    Site,
    Unknown,
    Value,
)
from ..know.modules import Module
from .context import WRITES, Context, Keyword, constants, is_none
from .snippets import entry, key_of

PLAIN_ROLES = frozenset({"system", "developer", "user", "assistant"})
_KNOWN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "function_call", "name", "type", "phase"})
_NULLABLE_KEYS = frozenset({"refusal", "annotations", "audio", "function_call", "tool_calls", "name", "parsed"})


def plan(context: Context) -> None:
    for site in context.sites:
        keywords = context.request(site).named("messages")
        for item in keywords:
            _input(context, site, item)
        for message in messages_of(context, site):
            _message(context, site, message)
        _origin(context, site)


# -- what is sent ------------------------------------------------------------------------


def sequences_of(context: Context, site: Site) -> list[SeqValue]:
    """The lists that feed ``messages``, those they were joined from included."""
    found: dict[SeqValue, None] = {}
    stack: list[Value] = context.request(site).values("messages")
    while stack:
        value = stack.pop()
        if isinstance(value, SeqValue) and value not in found:
            found[value] = None
            for source in value.derived:
                stack.extend(source.values)
    return list(found)


def elements_of(context: Context, site: Site) -> list[Value]:
    """Everything that can be an element of the messages of ``site``."""
    found: dict[Value, None] = {}
    for sequence in sequences_of(context, site):
        found.update(dict.fromkeys(sequence.element.values))
        for var in sequence.items.values():
            found.update(dict.fromkeys(var.values))
    return list(found)


def messages_of(context: Context, site: Site) -> list[DictValue]:
    """The message dicts that can be sent."""
    return [value for value in elements_of(context, site) if isinstance(value, DictValue)]


def roles(message: DictValue) -> list[object] | None:
    """The roles a message can have, or None if they are not all known."""
    return constants(message.fields.get("role"))


def _input(context: Context, site: Site, item: Keyword) -> None:
    place = item.place
    node = place.node
    if isinstance(node, cst.Arg) and item.holder is None and node in site.module.parents:
        if isinstance(node.value, cst.List):
            inline(context, site, node, node.value)
            return
        local = _local_list(context, site, node)
        if local is not None:
            _hoist_local(context, site, node, local)
            return
        if _one_shot(context, site):
            context.edit(node.value, place.module, [site], _as_list, "MR201")
    from .params import Action, act

    act(context, site, [item], Action("MR201", "input"))


def _one_shot(context: Context, site: Site) -> bool:
    """Whether ``messages`` is an iterator: the new request body needs a list."""
    return any(
        isinstance(value, SeqValue) and value.type == "generator" for value in context.request(site).values("messages")
    )


def _as_list(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.BaseExpression)
    if isinstance(updated, cst.GeneratorExp):
        return cst.ListComp(updated.elt, updated.for_in)
    return cst.Call(cst.Name("list"), [cst.Arg(updated)])


# -- hoisting and collapsing -------------------------------------------------------------


def inline(context: Context, site: Site, arg: cst.Arg, node: cst.List) -> None:
    """A list written at the call."""
    from .doubles import observed

    seen = observed(context, site)
    hoisted = None if seen else hoistable(context, site, node)
    rest = [element for element in node.elements if hoisted is None or element is not hoisted[0]]
    collapsed = None if seen else _collapsible(context, rest)
    if collapsed is not None and _is_remarked(node, rest[0]):
        collapsed = None  # its comments need the list
    if hoisted is not None:
        element, content = hoisted
        lead = _lead(site.module, arg)

        def pull(original: cst.CSTNode, updated: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
            assert isinstance(updated, cst.Arg)
            return _split(updated, _find(updated.value, content, node, element), collapsed is not None, lead)

        context.edit(arg, site.module, [site], pull, "MR202")
        return

    def rename(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Arg)
        value = updated.value
        if collapsed is not None and isinstance(value, cst.List):
            value = _content(value.elements[0], collapsed)
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
        value=content,
        comma=cst.Comma(whitespace_after=between),
        whitespace_after_arg=cst.SimpleWhitespace(""),
    )
    rest = without_first(value)
    body: cst.BaseExpression = _content(rest.elements[0], None) if collapse else rest
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
    if isinstance(first.comma, cst.Comma) and isinstance(first.comma.whitespace_after, cst.ParenthesizedWhitespace):
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
        if isinstance(opening, cst.ParenthesizedWhitespace) or any(line.comment for line in after.empty_lines):
            opening = after
    elif isinstance(opening, cst.ParenthesizedWhitespace):
        opening = opening.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    return node.with_changes(elements=rest, lbracket=node.lbracket.with_changes(whitespace_after=opening))


def hoistable(context: Context, site: Site, node: cst.List) -> tuple[cst.BaseElement, cst.BaseExpression] | None:
    """The first message and its content, if it may become ``instructions``."""
    if len(node.elements) < 2 or context.request(site).passes("instructions"):
        return None
    first = node.elements[0]
    if not isinstance(first.value, cst.Dict) or not _is_system(context, first.value):
        return None
    content = entry(first.value, "content")
    if content is None or not is_str(context, content.value):
        return None
    if constants(context.project.vars.get(content.value)) == [""]:
        return None  # empty instructions are none at all
    if any(key_of(element) not in ("role", "content") for element in first.value.elements):
        return None
    others = context.project.values(node)
    for value in others:
        if isinstance(value, SeqValue) and _other_system(value, first, context):
            return None
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
    from .response_format import json_mode

    if not json_mode(context, site):
        return False
    for element in node.elements[1:]:
        for inner in syntax.walk(element):
            text = getattr(inner, "value", None)
            literal = isinstance(inner, (cst.SimpleString, cst.FormattedStringText))
            if literal and isinstance(text, str) and "json" in text.lower():
                return False
    return True


def is_str(context: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression is certainly a string."""
    var = context.project.vars.get(node)
    return var is not None and text_var(var)


def text_var(var: Var) -> bool:
    """Whether every value of a variable is text."""
    textual = (Kind.CONTENT, Kind.DELTA_TEXT)
    return bool(var.values) and all(
        is_text(value) or (isinstance(value, Shape) and value.kind in textual) for value in var.values
    )


def _collapsible(context: Context, elements: list[cst.BaseElement]) -> cst.BaseExpression | None:
    """The content of the one user message that is left, if it is certainly text."""
    if len(elements) != 1 or not isinstance(elements[0], cst.Element) or not isinstance(elements[0].value, cst.Dict):
        return None
    message = elements[0].value
    if any(key_of(element) not in ("role", "content") for element in message.elements):
        return None
    role, content = entry(message, "role"), entry(message, "content")
    if role is None or content is None or constants(context.project.vars.get(role.value)) != ["user"]:
        return None
    if not is_str(context, content.value):
        return None
    return content.value


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


def _local_list(context: Context, site: Site, arg: cst.Arg) -> cst.List | None:
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


def _hoist_local(context: Context, site: Site, arg: cst.Arg, node: cst.List) -> None:
    from .doubles import observed

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
        after = updated.comma.whitespace_after if isinstance(updated.comma, cst.Comma) else cst.SimpleWhitespace(" ")
        if isinstance(after, cst.ParenthesizedWhitespace):
            if after.last_line.value == "":
                after = cst.SimpleWhitespace(" ")
            else:
                after = after.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
        head = cst.Arg(
            keyword=cst.Name("instructions"), value=content, equal=updated.equal, comma=cst.Comma(whitespace_after=after)
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


# -- single messages ---------------------------------------------------------------------


def _message(context: Context, site: Site, message: DictValue) -> None:
    """Keys that an input message cannot have (traps B1, B26)."""
    known = roles(message)
    if known is not None and any(role not in PLAIN_ROLES for role in known):
        return  # tool and function messages: another rule
    for key, places in message.places.items():
        for place in places:
            if place.how not in ("literal", "keyword", "store", "setdefault"):
                continue
            if key in _NULLABLE_KEYS and is_none(place.var):
                _drop_key(context, site, place.node, place.module)
            elif key == "name":
                context.unsafe(place.node, place.module, [site], "MR205", "`name` on a message is refused")
                _drop_key(context, site, place.node, place.module)
            elif key not in _KNOWN_KEYS:
                context.manual(place.node, place.module, [site], "MR206", f"`{key}` belongs to another API")


def _drop_key(context: Context, site: Site, node: cst.CSTNode, module: Module) -> None:
    if isinstance(node, (cst.DictElement, cst.Arg)):
        context.edit(node, module, [site], lambda o, u: cst.RemovalSentinel.REMOVE, "MR108")
        return
    parent = module.parents.get(node)
    assign = module.parents.get(parent) if parent is not None else None
    line = module.parents.get(assign) if assign is not None else None
    if isinstance(parent, cst.AssignTarget) and isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        context.edit(line, module, [site], lambda o, u: cst.RemovalSentinel.REMOVE, "MR108")
    else:
        context.manual(node, module, [site], "MR206", "this key cannot be removed here")


# -- where they come from ----------------------------------------------------------------


def _origin(context: Context, site: Site) -> None:
    """Messages from outside are taken as plain, unless something speaks against it (trap B25)."""
    request = context.request(site)
    values = [*request.values("messages"), *elements_of(context, site)]
    unknown = [value for value in values if isinstance(value, (Unknown, External))]
    if not request.written("messages") and not request.untracked:
        return
    if (unknown or not values) and (request.passes_tools or writes_items(context, site)):
        item = request.written("messages")
        node = item[0].place.node if item else site.node
        module = item[0].place.module if item else site.module
        why = unknown[0].why if unknown and isinstance(unknown[0], Unknown) else "code this tool does not see"
        context.unsafe(node, module, [site], "MR204", f"some messages come from {why}")


def writes_items(context: Context, site: Site) -> bool:
    """Whether anything in the program of ``site`` writes tool messages or parts."""
    program = context.project.program(site.module)
    return any(
        isinstance(value, DictValue) and value.module in program and is_item(value)
        for value in context.project.built.values()
    )


_PART_TYPES = frozenset({"image_url", "input_audio", "file", "tool_use", "tool_result"})


def is_item(value: DictValue) -> bool:
    """Whether a dict is a tool message, an assistant message with calls, or a part that is not text."""
    if any(place.how in WRITES for key in ("tool_calls", "tool_call_id") for place in value.places.get(key, ())):
        return True
    found = constants(value.fields.get("role")) or []
    if any(role in ("tool", "function") for role in found):
        return True
    types = constants(value.fields.get("type")) or []
    return any(kind in _PART_TYPES for kind in types)


def owners(context: Context, value: DictValue) -> Iterable[Site]:
    """The sites that ``value`` can be sent by, as a message."""
    return [site for site in context.sites if value in messages_of(context, site)]

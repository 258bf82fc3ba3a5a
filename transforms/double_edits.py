"""How doubles of answers are rewritten: small pieces of syntax, and edits of namespaces and mocks."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..decide.plan import Replacement
from ..know.modules import Module
from .double_forms import Keywords, alike, call_with, keywords_of, laid_out, typed_dict
from .snippets import expr, operand, spells_none, string

Edit = Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]
USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
# What the finish reason of a double says about the new answer.
FINISH = {
    "stop": "completed",
    "tool_calls": "completed",
    "length": "incomplete",
    "content_filter": "incomplete",
}
REASON = {"length": "max_output_tokens", "content_filter": "content_filter"}
# Keywords of a double that the new answer has nothing for.
DROPPED = frozenset({"role", "index", "object", "logprobs", "function_call", "refusal", "system_fingerprint"})


def its_line(module: Module, small: cst.CSTNode) -> cst.CSTNode:
    """What goes with the statement ``small``: its line, unless that has others (``a = 1; b = 2``)."""
    line = module.parents[small]
    return line if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else small


def new_string(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An edit that writes another string, in the same quotes."""
    return lambda original, updated: string(name, original)


def new_name(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An edit that writes another name."""
    return lambda original, updated: cst.Name(name)


def text_of(content: cst.BaseExpression, may_be_none: bool) -> cst.BaseExpression:
    """The text of an answer whose content was ``content``: "" where that was None."""
    if is_empty(content):
        return expr('""')
    return expr('c or ""', c=operand(content)) if may_be_none else content


def or_empty(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``text_of`` as an edit of a content that may be None."""
    assert isinstance(updated, cst.BaseExpression)
    return text_of(updated, may_be_none=True)


def only(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The one element of a list display."""
    if isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) == 1:
        return node.elements[0].value
    return None


def is_empty(node: cst.BaseExpression) -> bool:
    return spells_none(node) or (isinstance(node, (cst.List, cst.Tuple)) and not node.elements)


def is_call(keywords: Keywords) -> bool:
    function = keywords.get("function")
    return (
        isinstance(function, cst.Call)
        and keywords.keys() <= {"id", "function", "type"}
        and keywords_of(function).keys() <= {"name", "arguments"}
    )


def path_of(node: cst.Attribute) -> tuple[tuple[str, ...], cst.Attribute | None]:
    """``x.choices[0].message.content`` -> (("message", "content"), the node of ``x.choices``)."""
    names: list[str] = []
    current: cst.BaseExpression = node
    while isinstance(current, cst.Attribute):
        names.insert(0, current.attr.value)
        current = current.value
        match current:
            case cst.Subscript(
                value=cst.Attribute(attr=cst.Name(value="choices")) as choices,
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
            ):
                return tuple(names), choices
            case _:
                continue
    return (), None


def has_others(module: Module, line: cst.SimpleStatementLine) -> bool:
    block = module.parents.get(line)
    return isinstance(block, (cst.IndentedBlock, cst.Module)) and len(block.body) > 1


def onto(name: str, levels: int) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An attribute of what stands ``levels`` steps further in."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        base: cst.CSTNode = updated
        for _ in range(levels):
            assert isinstance(base, (cst.Attribute, cst.Subscript))
            base = base.value
        assert isinstance(updated, cst.Attribute)
        assert isinstance(base, cst.BaseExpression)
        return updated.with_changes(value=base, attr=cst.Name(name))

    return apply


def rename_keywords(names: dict[str, str]) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        if typed_dict(updated) is not None:
            return call_with(updated, {names.get(n, n): value for n, value in keywords_of(updated).items()})
        args = [
            arg.with_changes(keyword=cst.Name(names.get(arg.keyword.value, arg.keyword.value)))
            if arg.keyword is not None
            else arg
            for arg in updated.args
        ]
        return updated.with_changes(args=args)

    return apply


def lone_message(may_be_none: bool) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """``SimpleNamespace(content=X)``, which stands for the response itself now."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        return call_with(updated, {"output_text": text_of(keywords_of(updated)["content"], may_be_none)})

    return apply


def to_message(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    choice = only(keywords_of(updated)["choices"])
    assert choice is not None
    return keywords_of(choice)["message"]


def set_parsed(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """``mock.choices = [MagicMock(message=MagicMock(parsed=X))]`` -> ``mock.output_parsed = X``."""
    assert isinstance(updated, cst.Assign)
    choice = only(updated.value)
    assert choice is not None
    target = updated.targets[0].target
    assert isinstance(target, cst.Attribute)
    named = updated.targets[0].with_changes(target=target.with_changes(attr=cst.Name("output_parsed")))
    return updated.with_changes(targets=[named], value=keywords_of(keywords_of(choice)["message"])["parsed"])


def attribute_set(node: cst.CSTNode) -> tuple[cst.SimpleStatementLine, cst.Assign, cst.Attribute]:
    """The parts of a line that sets an attribute: itself, the assignment, and what is set."""
    assert isinstance(node, cst.SimpleStatementLine)
    assign = node.body[0]
    assert isinstance(assign, cst.Assign)
    target = assign.targets[0].target
    assert isinstance(target, cst.Attribute)
    return node, assign, target


def set_fields(
    fields: Keywords, owner: cst.BaseExpression | None = None
) -> Callable[[cst.CSTNode, cst.CSTNode], Replacement]:
    """A line for each field (of ``owner``), a path perhaps, instead of the one that sets ``choices``."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:
        line, _, target = attribute_set(updated)
        base = owner or target.value
        lines = [
            line.with_changes(
                body=[cst.Assign([cst.AssignTarget(_through(base, name))], value)],
                leading_lines=line.leading_lines if number == 0 else [],
            )
            for number, (name, value) in enumerate(fields.items())
        ]
        return cst.FlattenSentinel(lines)

    return apply


def _through(base: cst.BaseExpression, path: str) -> cst.Attribute:
    """``base.response.output`` for the path ``response.output``."""
    first, *rest = path.split(".")
    found = cst.Attribute(base, cst.Name(first))
    for name in rest:
        found = cst.Attribute(found, cst.Name(name))
    return found


def items_of(node: cst.CSTNode, may_be_none: bool) -> cst.BaseExpression:
    """``output`` for what ``tool_calls`` was set to."""
    assert isinstance(node, cst.BaseExpression)
    return cst.List([]) if is_empty(node) else output_of(node, may_be_none)


def no_choices(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """An answer without choices is one without output."""
    assert isinstance(updated, cst.Call)
    found: Keywords = {}
    for name, value in keywords_of(updated).items():
        if name == "choices":
            found |= {"output": cst.List([]), "output_text": expr('""')}
        elif name not in DROPPED:
            found["created_at" if name == "created" else name] = value
    return call_with(updated, found)


def flat(
    reads_output: bool,
    may_be_none: bool,
    calls_may_be_none: bool,
    finish: Keywords,
    needs_items: bool = False,
) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """One namespace for the response, its choice and its message; ``finish`` says how it ended."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        found: Keywords = {}
        for name, value in keywords_of(updated).items():
            if name == "choices":
                choice = only(value)
                assert choice is not None
                inner = of_choice(keywords_of(choice), reads_output, may_be_none, calls_may_be_none) | finish
                if needs_items and is_empty(inner.get("output", cst.List([]))):
                    message = alike(updated, {"type": expr('"message"')})
                    inner["output"] = cst.List([cst.Element(message)])
                found.update(inner)
            elif name == "created":
                found["created_at"] = value
            elif name not in DROPPED:
                found[name] = value
        made = call_with(updated, found)
        return laid_out(made) if finish else made

    return apply


def of_choice(choice: Keywords, reads_output: bool, may_be_none: bool, calls_may_be_none: bool) -> Keywords:
    """What a choice and its message say of the answer."""
    found: Keywords = {}
    message = keywords_of(choice["message"])
    if "content" in message:
        found["output_text"] = text_of(message["content"], may_be_none)
    if "parsed" in message:
        found["output_parsed"] = message["parsed"]
    calls = message.get("tool_calls")
    if calls is not None and not is_empty(calls):
        found["output"] = output_of(calls, calls_may_be_none)
    elif calls is not None or reads_output:
        found["output"] = cst.List([])
    return found


def refused(maker: cst.Call, refusal: cst.BaseExpression) -> cst.BaseExpression:
    """The items for a refusal, which may be None where it is not written out; made as ``maker`` makes one."""
    if is_empty(refusal):
        return cst.List([])
    part = alike(maker, {"type": expr('"refusal"'), "refusal": refusal})
    content = cst.List([cst.Element(part)])
    items = cst.List([cst.Element(alike(maker, {"type": expr('"message"'), "content": content}))])
    if isinstance(refusal, cst.SimpleString):
        return items
    return expr("items if r else []", items=items, r=operand(refusal))


def output_of(calls: cst.BaseExpression, may_be_none: bool) -> cst.BaseExpression:
    """The items for a list of calls, of which those that are written there are calls still."""
    if isinstance(calls, cst.List):
        items = [element.with_changes(value=as_item(element.value)) for element in calls.elements]
        return calls.with_changes(elements=items)
    return expr("c or []", c=operand(calls)) if may_be_none else calls


def as_item(node: cst.BaseExpression) -> cst.BaseExpression:
    """A call with its function inside as one item; anything else is an item already."""
    keywords = keywords_of(node)
    if not is_call(keywords):
        return node
    assert isinstance(node, cst.Call)
    function = keywords_of(keywords["function"])
    found: Keywords = {"type": expr('"function_call"')}
    if "id" in keywords:
        found["call_id"] = keywords["id"]
    found |= {name: function[name] for name in ("name", "arguments") if name in function}
    return call_with(node, found)

"""What a test asks of the messages of a tool loop: the first one, and the results of tools (MR802).

``sent["messages"][-1]["role"] == "tool"`` becomes ``sent["input"][-1]["type"] == "function_call_output"``. An
answer with calls was one message and is several items now, so nothing else is asked by its place, unless each
answer of the tests has one call.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.contents import contents
from ..decide.plan import Apply
from ..know.kinds import DictValue, SeqValue, Site
from ..know.modules import Module, walk
from .context import Context
from .double_calls import Calls
from .double_edits import new_string
from .double_uses import Unclear, keys_asked, uses
from .history import is_fed
from .sent import elements_of, is_item, messages_of, sequences_of
from .snippets import entry, key_of

# The keys of a tool's result, and how they are called now.
_RESULT = {"role": "type", "tool_call_id": "call_id", "content": "output"}
_NEW_TYPE = "function_call_output"
_FARTHEST = 3  # [system, user, answer, result]
Edits = list[tuple[cst.CSTNode, Apply]]


class Histories:
    """The looks of one test file at the messages of a request."""

    def __init__(self, module: Module, calls: Calls) -> None:
        self._module = module
        self._calls = calls
        self._done: set[cst.CSTNode] = set()

    def asked(self, messages: cst.BaseExpression) -> Edits | None:
        """The edits of all that is asked of ``messages``, the list in a request; None if not all is known."""
        if messages in self._done:
            return []
        try:
            places: dict[int, list[cst.BaseExpression]] = {}
            for read in self._alike(messages):
                self._done.add(read)
                for place, element in self._elements(read):
                    places.setdefault(place, []).append(element)
            edits: Edits = []
            for place, elements in places.items():
                edits += self._of_element(place, elements)
        except Unclear:
            return None
        return edits

    def _alike(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """``node``, and what is spelled as it is in the asserts before and after it."""
        line = self._module.statement(node)
        block = self._module.parents.get(line)
        if not isinstance(block, (cst.IndentedBlock, cst.Module)) or not _is_assert(line):
            return [node]
        body = list(block.body)
        first = last = next(number for number, other in enumerate(body) if other is line)
        while first and _is_assert(body[first - 1]):
            first -= 1
        while last + 1 < len(body) and _is_assert(body[last + 1]):
            last += 1
        text = self._module.tree.code_for_node(node)
        return [
            inner
            for other in body[first : last + 1]
            for inner in walk(other)
            if isinstance(inner, type(node)) and self._module.tree.code_for_node(inner) == text
        ]

    def _elements(self, node: cst.BaseExpression) -> Iterator[tuple[int, cst.BaseExpression]]:
        """The elements that are read of a list, with their places."""
        parent = self._module.parents.get(node)
        match parent:
            case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if (
                value is node
            ):
                yield _place(index), parent
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as name)], value=value) if (
                value is node
            ):
                for use in uses(self._module, parent, name):
                    yield from self._elements(use)
            case cst.Assert(test=test) if test is node:
                return
            case _:
                raise Unclear

    def _of_element(self, place: int, elements: list[cst.BaseExpression]) -> Edits:
        asked = [question for element in elements for question in self._asked_of(element)]
        if place == 0:
            return []  # a history does not begin with an answer
        is_certain = place == -1 or (1 < place <= _FARTHEST and not self._has_many_calls())
        if not is_certain or not any(self._is_result(*question) for question in asked):
            raise Unclear
        return [edit for question in asked for edit in self._result(*question)]

    def _asked_of(self, element: cst.BaseExpression) -> Iterator[tuple[str, cst.BaseExpression]]:
        """The keys that are read of an element; "" for a comparison with a whole dict."""
        return keys_asked(self._module, element, lambda node: isinstance(self._other(node), cst.Dict))

    def _other(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What ``node`` is said to be equal to."""
        parent = self._module.parents.get(node)
        whole = self._module.parents.get(parent) if isinstance(parent, cst.ComparisonTarget) else parent
        match whole:
            case cst.Comparison(
                left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=right)]
            ):
                return right if left is node else left
            case _:
                pass
        call = self._module.parents.get(parent) if isinstance(parent, cst.Arg) else None
        match call:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="assertEqual")), args=[first, second, *_]):
                return second.value if first is parent else first.value
            case _:
                return None

    def _says_tool(self, node: cst.BaseExpression) -> cst.SimpleString | None:
        """The "tool" that an assert says ``node`` to be."""
        other = self._other(node)
        if isinstance(other, cst.SimpleString) and other.evaluated_value == "tool" and self._is_claimed(node):
            return other
        return None

    def _is_claimed(self, node: cst.BaseExpression) -> bool:
        """Whether a test fails where the comparison around ``node`` does not hold."""
        for parent in self._module.ancestors(node):
            match parent:
                case cst.Assert():
                    return True
                case cst.Comparison() | cst.ComparisonTarget() | cst.BooleanOperation(operator=cst.And()):
                    continue
                case cst.Arg():
                    call = self._module.parents.get(parent)
                    return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute)
                case _:
                    return False
        return False

    def _is_result(self, key: str, node: cst.BaseExpression) -> bool:
        """Whether a question says that the element is the result of a tool."""
        if key == "role":
            return self._says_tool(node) is not None
        other = self._other(node) if not key else None
        role = entry(other, "role") if isinstance(other, cst.Dict) else None
        said = role.value if role is not None else None
        is_tool = isinstance(said, cst.SimpleString) and said.evaluated_value == "tool"
        return is_tool and self._is_claimed(node)

    def _result(self, key: str, node: cst.BaseExpression) -> Edits:
        """The edits of one question to the result of a tool."""
        if not key:
            other = self._other(node)
            assert isinstance(other, cst.Dict)
            return self._whole(other)
        if key not in _RESULT:
            raise Unclear
        quoted = node.args[0].value if isinstance(node, cst.Call) else _key_node(node)
        edits: Edits = [(quoted, new_string(_RESULT[key]))]
        if key == "role":
            said = self._says_tool(node)
            if said is None:
                raise Unclear
            edits.append((said, new_string(_NEW_TYPE)))
        return edits

    def _whole(self, node: cst.Dict) -> Edits:
        """The edits of a dict that an element is equal to."""
        edits: Edits = []
        for element in node.elements:
            name = key_of(element)
            if name not in _RESULT or not isinstance(element, cst.DictElement):
                raise Unclear
            edits.append((element.key, new_string(_RESULT[name])))
            if name == "role":
                edits.append((element.value, new_string(_NEW_TYPE)))
        return edits

    def _has_many_calls(self) -> bool:
        """Whether an answer of the tests may have more items than one: then places are others."""
        for node in self._module.of(cst.List, cst.ListComp, cst.Tuple, cst.Name, cst.Attribute):
            match node:
                case cst.List(elements=elements) | cst.Tuple(elements=elements) if len(elements) > 1:
                    if any(self._calls.is_item(element.value) for element in elements):
                        return True
                case cst.ListComp(elt=elt) if self._calls.is_item(elt):
                    return True
                case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
                    if name.startswith("ChatCompletion"):  # made with all that an answer has
                        return True
                case _:
                    continue
        return False


def _is_assert(line: cst.CSTNode) -> bool:
    match line:
        case cst.SimpleStatementLine(body=[cst.Assert()]):
            return True
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=attr)))]):
            return attr.value.startswith("assert")
        case _:
            return False


def _place(index: cst.BaseExpression) -> int:
    match index:
        case cst.Integer():
            return index.evaluated_value
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as number):
            return -number.evaluated_value
        case _:
            raise Unclear


def _key_node(node: cst.BaseExpression) -> cst.CSTNode:
    assert isinstance(node, cst.Subscript)
    index = node.slice[0].slice
    assert isinstance(index, cst.Index)
    return index.value


def sends_items(context: Context, site: Site) -> bool:
    """Whether the messages of ``site`` can have another shape now: tool calls, their results, parts."""
    return sends_calls(context, site) or has_parts(context, site)


def sends_calls(context: Context, site: Site) -> bool:
    """Whether there can be tool calls and their results among the messages of ``site``."""
    return (
        is_fed(context, site)
        or any(is_item(message) for message in messages_of(context, site))
        or (context.request(site).passes_tools and not _are_all_written(context, site))
    )


def _are_all_written(context: Context, site: Site) -> bool:
    """Whether each message of ``site`` is a dict of the program with keys that are all known."""
    request = context.request(site)
    lists = request.values("messages")
    joined = [source for sequence in sequences_of(context, site) for source in sequence.derived]
    whole = [*lists, *(value for source in joined for value in source.values)]
    sent = elements_of(context, site)
    return (
        bool(lists and sent)
        and not request.untracked
        and all(source.values for source in joined)
        and all(isinstance(value, SeqValue) for value in whole)
        and all(isinstance(value, DictValue) and not value.others and not value.merged for value in sent)
    )


def has_parts(context: Context, site: Site) -> bool:
    """Whether the messages of ``site`` can have parts."""
    return any(_has_parts(message) for message in messages_of(context, site))


def _has_parts(message: DictValue) -> bool:
    """Whether the content of a message can be a list of parts."""
    content = message.fields.get("content")
    lists = [value for value in content.values if isinstance(value, SeqValue)] if content is not None else []
    return any(
        isinstance(part, DictValue) and "type" in part.places for listed in lists for part in contents(listed)
    )

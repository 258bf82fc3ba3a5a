"""Doubles of answers in tests (MR802): namespaces and mocks with ``choices``, and real ``ChatCompletion``s.

The response, its choice and its message are one object now, so a double of a message is a double of the
response: ``SimpleNamespace(choices=[SimpleNamespace(message=m)])`` is ``m``.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import External, Kind, Site
from ..know.modules import Module
from .context import Context
from .listing import append
from .snippets import expr, string

_MOCKS = ("MagicMock", "Mock", "NonCallableMock")
_MAKERS = frozenset(
    {"types.SimpleNamespace", "argparse.Namespace"}
    | {f"{package}.{name}" for package in ("unittest.mock", "mock") for name in _MOCKS}
)
_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
# What the finish reason of a double says about the new answer.
_FINISH = {
    "stop": "completed",
    "tool_calls": "completed",
    "length": "incomplete",
    "content_filter": "incomplete",
}
_REASON = {"length": "max_output_tokens", "content_filter": "content_filter"}
_RESPONSE_KEYS = frozenset({"choices", "usage", "id", "model", "created", "object", "service_tier"})
_CHOICE_KEYS = frozenset({"message", "index", "finish_reason", "logprobs"})
_MESSAGE_KEYS = frozenset({"content", "role", "tool_calls", "refusal", "function_call", "parsed"})
_DROPPED = frozenset({"role", "index", "object", "logprobs", "function_call", "refusal"})

Keywords = dict[str, cst.BaseExpression]


def new_string(name: str) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """An edit that writes another string, in the same quotes."""
    return lambda original, updated: string(name, original)


class Shapes:
    """The doubles of one test file."""

    def __init__(self, context: Context, module: Module, sites: list[Site]) -> None:
        self.context = context
        self.module = module
        self.sites = sites
        self.known: set[cst.CSTNode] = set()
        kinds = {shape.kind for _, _, shapes in context.shaped for shape in shapes if shape.site in sites}
        # Whether the code looks at the output items, which a bare double would not have.
        self.reads_output = bool(kinds & {Kind.REFUSAL, Kind.TOOL_CALLS, Kind.FUNCTION_CALL})
        self.tests_choices = any(
            isinstance(node, cst.BaseExpression) and self._is_asked(module, node)
            for node, module, shapes in context.shaped
            if any(shape.kind is Kind.CHOICES and shape.site in sites for shape in shapes)
        )

    def _is_asked(self, module: Module, node: cst.BaseExpression) -> bool:
        """Whether it matters if there are choices at all: the new code asks ``output`` then."""
        return not isinstance(module.parents.get(node), cst.Subscript)

    def plan(self) -> None:
        for node in self.module.of(cst.Call, cst.Attribute, cst.Assign):
            match node:
                case cst.Call():
                    self._call(node)
                case cst.Attribute():
                    self._attribute(node)
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="choices")))]
                ):
                    self._choices(node)
                case _:
                    continue

    def _edit(self, node: cst.CSTNode, apply: Apply) -> None:
        self.known.add(node)
        self.context.edit(node, self.module, self.sites, apply, "MR802")

    # -- objects made in one go ----------------------------------------------------------

    def _maker(self, node: cst.CSTNode) -> str | None:
        """The path of what makes a double, if ``node`` calls such a thing with keywords only."""
        if not isinstance(node, cst.Call) or any(arg.keyword is None for arg in node.args):
            return None
        for value in self.context.project.values(node.func):
            if isinstance(value, External) and (
                value.path in _MAKERS or value.path.startswith("openai.types.")
            ):
                return value.path
        return None

    def _call(self, node: cst.Call) -> None:
        path = self._maker(node)
        if path is None:
            return
        keywords = _keywords(node)
        if _USAGE.keys() & keywords.keys():
            if path.startswith("openai.types."):
                self._usage_model(node)
            else:
                self._edit(node, _rename_keywords(_USAGE))
        if "choices" in keywords:
            self._response(node, path, keywords)
        elif "content" in keywords and self._is_lone_message(node, keywords):
            self._edit(node, _lone_message)

    def _is_lone_message(self, node: cst.Call, keywords: Keywords) -> bool:
        """Whether a double is a message that a name holds: ``message = SimpleNamespace(content=...)``."""
        parent = self.module.parents.get(node)
        if (
            self.reads_output
            or not isinstance(parent, cst.Assign)
            or keywords.keys()
            - {
                "content",
                "role",
                "refusal",
                "function_call",
            }
        ):
            return False
        target = parent.targets[0].target
        return isinstance(target, cst.Name) and target.value in self._messages(node)

    def _messages(self, at: cst.CSTNode) -> set[str]:
        """The names that hold a message in the function around ``at``: ``message=name``."""
        scope = self.module.function(at) or self.module.tree
        found: set[str] = set()
        for node in syntax.walk(scope):
            match node:
                case cst.Arg(keyword=cst.Name(value="message"), value=cst.Name(value=name)):
                    found.add(name)
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="message")))],
                    value=cst.Name(value=name),
                ):
                    found.add(name)
                case _:
                    continue
        return found

    def _response(self, node: cst.Call, path: str, keywords: Keywords) -> None:
        choice = _only(keywords["choices"])
        if self.tests_choices and not path.endswith("MagicMock") and not path.startswith("openai."):
            return
        if choice is None or self._maker(choice) is None or keywords.keys() - _RESPONSE_KEYS:
            return
        inner = _keywords(choice)
        message = inner.get("message")
        if message is None or inner.keys() - _CHOICE_KEYS or not self._finish_is_known(inner):
            return
        choices = next(arg for arg in node.args if arg.keyword and arg.keyword.value == "choices")
        if isinstance(message, cst.Name) and message.value in self._messages(node):
            if keywords.keys() == {"choices"} and not inner.keys() - {"message", "index"}:
                self.known.add(choices)
                self._edit(node, _to_message)
            return
        if self._maker(message) is None:
            return
        parts = _keywords(message)
        if parts.keys() - _MESSAGE_KEYS or not self._calls_are_known(parts):
            return
        if any(name in parts and not _is_empty(parts[name]) for name in ("refusal", "function_call")):
            return
        self.known.update((choices, message, choice))
        if path.startswith("openai.types."):
            if "tool_calls" in parts:
                self.known.discard(choices)
                return
            self._needs(("Response", "ResponseOutputMessage", "ResponseOutputText"))
            self._edit(node, _model)
        else:
            self._edit(node, _flat(self.reads_output))

    def _finish_is_known(self, keywords: Keywords) -> bool:
        finish = keywords.get("finish_reason")
        return finish is None or (isinstance(finish, cst.SimpleString) and finish.evaluated_value in _FINISH)

    def _calls_are_known(self, keywords: Keywords) -> bool:
        calls = keywords.get("tool_calls")
        if calls is None or _is_empty(calls):
            return True
        if not isinstance(calls, cst.List):
            return False
        return all(
            isinstance(item, cst.Element)
            and self._maker(item.value) is not None
            and _is_call(_keywords(item.value))
            for item in calls.elements
        )

    def _usage_model(self, node: cst.Call) -> None:
        """``CompletionUsage(...)`` of the SDK: the details are not optional any more."""
        self._needs(
            ("ResponseUsage", "response_usage.InputTokensDetails", "response_usage.OutputTokensDetails")
        )
        self._edit(node, _usage)

    def _needs(self, names: tuple[str, ...]) -> None:
        from .type_table import located

        for name in names:
            module, last = located(name)
            self.context.plan.need(self.module, module, last, self.sites, "ChatCompletion")

    # -- mocks set up by attribute -------------------------------------------------------

    def _attribute(self, node: cst.Attribute) -> None:
        """``mock.choices[0].message.content`` -> ``mock.output_text``; usage and finish reason likewise."""
        if self.context.project.shapes(node.value):
            return
        path, choices = _path(node)
        parent = self.module.parents.get(node)
        stored = isinstance(parent, cst.AssignTarget)
        if choices is None:
            if node.attr.value in _USAGE and stored:
                self._edit(node, _onto(_USAGE[node.attr.value], 1))
            return
        if path == ("message", "content"):
            self.known.add(choices)
            self._edit(node, _onto("output_text", 4))
        elif path == ("message", "parsed"):
            self.known.add(choices)
            self._edit(node, _onto("output_parsed", 4))
        elif path == ("message", "tool_calls") and stored and isinstance(parent, cst.AssignTarget):
            assign = self.module.parents.get(parent)
            if isinstance(assign, cst.Assign) and _is_empty(assign.value):
                self.known.add(choices)
                self._edit(node, _onto("output", 4))
                self._edit(assign.value, lambda o, u: cst.List([]))
        elif path == ("finish_reason",) and isinstance(parent, cst.AssignTarget):
            assign = self.module.parents.get(parent)
            value = assign.value if isinstance(assign, cst.Assign) else None
            if isinstance(value, cst.SimpleString) and _FINISH.get(str(value.evaluated_value)) == "completed":
                self.known.add(choices)
                self._edit(node, _onto("status", 3))
                self._edit(value, new_string("completed"))

    def _choices(self, node: cst.Assign) -> None:
        """``mock.choices = [MagicMock()]`` goes: there is nothing to set up before ``output_text``."""
        target = node.targets[0].target
        assert isinstance(target, cst.Attribute)
        choice = _only(node.value)
        if choice is None or self._maker(choice) is None:
            return
        plain = not str(self._maker(choice)).endswith("MagicMock")
        if plain and (self.reads_output or self.tests_choices):
            return  # a plain Mock has no items to iterate over
        line = self.module.parents.get(node)
        inner = _keywords(choice)
        if (
            not inner
            and isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and _has_others(self.module, line)
        ):
            self.known.add(target)
            self._edit(line, lambda o, u: cst.RemovalSentinel.REMOVE)
            return
        message = inner.get("message")
        if inner.keys() - {"message", "index"} or message is None:
            return
        parts = _keywords(message)
        if self._maker(message) is not None and "content" in parts and parts.keys() <= {"content", "role"}:
            self.known.add(target)
            self._edit(node, _set_text)


# -- syntax ------------------------------------------------------------------------------


def _keywords(node: cst.CSTNode) -> Keywords:
    if not isinstance(node, cst.Call):
        return {}
    return {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}


def _only(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The one element of a list display."""
    if isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) == 1:
        return node.elements[0].value
    return None


def _is_empty(node: cst.BaseExpression) -> bool:
    return (isinstance(node, cst.Name) and node.value == "None") or (
        isinstance(node, (cst.List, cst.Tuple)) and not node.elements
    )


def _is_call(keywords: Keywords) -> bool:
    function = keywords.get("function")
    return (
        {"id", "function"} <= keywords.keys()
        and keywords.keys() <= {"id", "function", "type"}
        and (_keywords(function).keys() == {"name", "arguments"} if function is not None else False)
    )


def _path(node: cst.Attribute) -> tuple[tuple[str, ...], cst.Attribute | None]:
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


def _has_others(module: Module, line: cst.SimpleStatementLine) -> bool:
    block = module.parents.get(line)
    return isinstance(block, (cst.IndentedBlock, cst.Module)) and len(block.body) > 1


def _onto(name: str, levels: int) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
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


def _rename_keywords(names: dict[str, str]) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        args = [
            arg.with_changes(keyword=cst.Name(names.get(arg.keyword.value, arg.keyword.value)))
            if arg.keyword is not None
            else arg
            for arg in updated.args
        ]
        return updated.with_changes(args=args)

    return apply


def _call_with(node: cst.Call, keywords: Keywords) -> cst.Call:
    """``node`` with other keywords, on one line or one to a line as it was."""
    first = node.args[0] if node.args else None
    space = node.whitespace_before_args
    broken = isinstance(space, cst.ParenthesizedWhitespace)
    comma = cst.Comma(whitespace_after=space if broken else cst.SimpleWhitespace(" "))
    args = [
        cst.Arg(value, keyword=cst.Name(name), equal=_TIGHT, comma=comma) for name, value in keywords.items()
    ]
    if args and first is not None:
        last = node.args[-1]
        args[-1] = args[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return node.with_changes(args=args)


_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _lone_message(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    return _call_with(updated, {"output_text": _keywords(updated)["content"]})


def _to_message(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    choice = _only(_keywords(updated)["choices"])
    assert choice is not None
    return _keywords(choice)["message"]


def _set_text(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Assign)
    choice = _only(updated.value)
    assert choice is not None
    target = updated.targets[0].target
    assert isinstance(target, cst.Attribute)
    named = updated.targets[0].with_changes(target=target.with_changes(attr=cst.Name("output_text")))
    return updated.with_changes(targets=[named], value=_keywords(_keywords(choice)["message"])["content"])


def _flat(reads_output: bool) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    """One namespace for the response, its choice and its message."""

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.Call)
        found: Keywords = {}
        for name, value in _keywords(updated).items():
            if name == "choices":
                choice = _only(value)
                assert choice is not None
                found.update(_of_choice(updated, _keywords(choice), reads_output))
            elif name == "created":
                found["created_at"] = value
            elif name not in _DROPPED:
                found[name] = value
        return _call_with(updated, found)

    return apply


def _of_choice(maker: cst.Call, choice: Keywords, reads_output: bool) -> Keywords:
    found: Keywords = {}
    message = _keywords(choice["message"])
    if "content" in message:
        content = message["content"]
        found["output_text"] = expr('""') if _is_empty(content) else content
    if "parsed" in message:
        found["output_parsed"] = message["parsed"]
    calls = message.get("tool_calls")
    if isinstance(calls, cst.List) and calls.elements:
        items = [element.with_changes(value=_as_item(element.value)) for element in calls.elements]
        found["output"] = calls.with_changes(elements=items)
    elif calls is not None or reads_output:
        found["output"] = cst.List([])
    finish = choice.get("finish_reason")
    if isinstance(finish, cst.SimpleString):
        reason = str(finish.evaluated_value)
        found["status"] = string(_FINISH[reason], finish)
        if reason in _REASON:
            why = cst.Arg(string(_REASON[reason], finish), keyword=cst.Name("reason"), equal=_TIGHT)
            found["incomplete_details"] = cst.Call(maker.func, [why])
        else:
            found["incomplete_details"] = cst.Name("None")
    return found


def _as_item(node: cst.BaseExpression) -> cst.BaseExpression:
    assert isinstance(node, cst.Call)
    keywords = _keywords(node)
    function = _keywords(keywords["function"])
    return _call_with(
        node,
        {
            "type": expr('"function_call"'),
            "call_id": keywords["id"],
            "name": function["name"],
            "arguments": function["arguments"],
        },
    )


def _usage(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    found: Keywords = {_USAGE.get(name, name): value for name, value in _keywords(updated).items()}
    found["input_tokens_details"] = expr("InputTokensDetails(cached_tokens=0, cache_write_tokens=0)")
    found["output_tokens_details"] = expr("OutputTokensDetails(reasoning_tokens=0)")
    return _call_with(updated, found).with_changes(func=cst.Name("ResponseUsage"))


_MODEL = """\
Response(
    id=id_,
    object="response",
    created_at=created_,
    model=model_,
    output=[
        ResponseOutputMessage(
            id="msg_1",
            type="message",
            role="assistant",
            status="completed",
            content=[ResponseOutputText(type="output_text", text=text_, annotations=[])],
        )
    ],
    parallel_tool_calls=True,
    tool_choice="auto",
    tools=[],
)
"""


def _one_to_a_line(node: cst.BaseExpression) -> cst.BaseExpression:
    """A call inside ``_MODEL``, set out like it."""
    if not isinstance(node, cst.Call) or isinstance(node.whitespace_before_args, cst.ParenthesizedWhitespace):
        return node
    inner, outer = (
        cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(" " * depth))
        for depth in (8, 4)
    )
    args = [arg.with_changes(comma=cst.Comma(whitespace_after=inner)) for arg in node.args]
    args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=outer))
    return node.with_changes(args=args, whitespace_before_args=inner)


def _model(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    """A real ``Response`` with the text of a real ``ChatCompletion``."""
    assert isinstance(updated, cst.Call)
    keywords = _keywords(updated)
    choice = _only(keywords["choices"])
    assert choice is not None
    message = _keywords(_keywords(choice)["message"])
    parts = {
        "id_": keywords.get("id", expr('"resp_1"')),
        "created_": keywords.get("created", expr("0")),
        "model_": keywords.get("model", expr('"gpt-4o-mini"')),
        "text_": message.get("content", expr('""')),
    }
    result = expr(_MODEL.rstrip(), **parts)
    assert isinstance(result, cst.Call)
    if "usage" in keywords:
        usage = cst.Arg(_one_to_a_line(keywords["usage"]), keyword=cst.Name("usage"), equal=_TIGHT)
        result = append(result, usage)
    return result

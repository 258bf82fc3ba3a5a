"""Doubles of answers in tests (MR802): namespaces and mocks with ``choices``, and real ``ChatCompletion``s.

The response, its choice and its message are one object now, so a double of a message is a double of the
response: ``SimpleNamespace(choices=[SimpleNamespace(message=m)])`` is ``m``.
"""

from __future__ import annotations

import re

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import Const, External, Kind, Site
from ..know.modules import Module
from . import double_names
from .context import Context
from .double_edits import (
    FINISH,
    REASON,
    USAGE,
    Keywords,
    flat,
    has_others,
    is_call,
    is_empty,
    keywords_of,
    lone_message,
    new_name,
    new_string,
    only,
    onto,
    or_empty,
    path_of,
    rename_keywords,
    set_parsed,
    set_text,
    to_message,
)
from .double_models import answer, content_of, is_answer, model, parts_of, usage
from .double_streams import event_of

_MOCKS = ("MagicMock", "Mock", "NonCallableMock")
_MAKERS = frozenset(
    {"types.SimpleNamespace", "argparse.Namespace"}
    | {f"{package}.{name}" for package in ("unittest.mock", "mock") for name in _MOCKS}
)
_RESPONSE_KEYS = frozenset({"choices", "usage", "id", "model", "created", "object", "service_tier"})
_CHOICE_KEYS = frozenset({"message", "index", "finish_reason", "logprobs"})
_MESSAGE_KEYS = frozenset({"content", "role", "tool_calls", "refusal", "function_call", "parsed"})


class Shapes:
    """The doubles of one test file."""

    def __init__(self, context: Context, module: Module, sites: list[Site]) -> None:
        self.context = context
        self.module = module
        self.sites = sites
        self.known: set[cst.CSTNode] = set()
        kinds = {shape.kind for _, _, shapes in context.shaped for shape in shapes if shape.site in sites}
        self._kinds = kinds
        # Whether the code looks at the output items, which a bare double would not have.
        self.reads_output = bool(kinds & {Kind.REFUSAL, Kind.TOOL_CALLS, Kind.FUNCTION_CALL, Kind.FINISH})
        self.reads_finish = Kind.FINISH in kinds
        self.tests_choices = any(
            isinstance(node, cst.BaseExpression) and self._is_asked(module, node)
            for node, module, shapes in context.shaped
            if any(shape.kind is Kind.CHOICES and shape.site in sites for shape in shapes)
        )

    def _is_asked(self, module: Module, node: cst.BaseExpression) -> bool:
        """Whether it matters if there are choices at all: the new code asks ``output`` then."""
        return not isinstance(module.parents.get(node), cst.Subscript)

    def plan(self) -> None:
        double_names.plan(self)
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

    def edit(self, node: cst.CSTNode, apply: Apply) -> None:
        """An edit of a double, which is understood with it."""
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
        if self._dict(node):
            return
        path = self._maker(node)
        if path is None:
            return
        keywords = keywords_of(node)
        if USAGE.keys() & keywords.keys():
            if path.startswith("openai.types."):
                self._usage_model(node)
            else:
                self.edit(node, rename_keywords(USAGE))
        if "choices" in keywords:
            self._response(node, path, keywords)
        elif "content" in keywords and self._is_lone_message(node, keywords):
            self.edit(node, lone_message(self._may_be_none(keywords["content"])))

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
        choice = only(keywords["choices"])
        if "delta" in keywords_of(choice or node):
            self._chunk(node, path)
            return
        if self.tests_choices and not path.endswith("MagicMock") and not path.startswith("openai."):
            return
        if choice is None or self._maker(choice) is None or keywords.keys() - _RESPONSE_KEYS:
            return
        inner = keywords_of(choice)
        message = inner.get("message")
        if message is None or inner.keys() - _CHOICE_KEYS or not self._finish_is_known(inner):
            return
        choices = next(arg for arg in node.args if arg.keyword and arg.keyword.value == "choices")
        if isinstance(message, cst.Name) and message.value in self._messages(node):
            if keywords.keys() == {"choices"} and not inner.keys() - {"message", "index"}:
                self.known.add(choices)
                self.edit(node, to_message)
            return
        if self._maker(message) is None:
            return
        parts = keywords_of(message)
        if parts.keys() - _MESSAGE_KEYS or not self._calls_are_known(parts):
            return
        if any(name in parts and not is_empty(parts[name]) for name in ("refusal", "function_call")):
            return
        self.known.update(syntax.walk(choices))
        if path.startswith("openai.types."):
            self._needs(self._model_names(inner, parts))
            self.edit(node, model(self._may_be_none(parts.get("content")), self.reads_finish))
        else:
            self.edit(node, flat(self.reads_output, self._may_be_none(parts.get("content"))))

    def _chunk(self, node: cst.Call, path: str) -> None:
        """A chunk of a stream, in one go with its choice and its delta."""
        is_model = path.startswith("openai.types.")
        inner = only(keywords_of(node)["choices"])
        delta = keywords_of(inner)["delta"] if inner is not None else None
        if inner is None or delta is None or self._maker(inner) is None or self._maker(delta) is None:
            return
        edit = event_of(self.context, node, self._kinds, is_model)
        if edit is None:
            return
        self.known.update(syntax.walk(node))
        if is_model:
            self._needs(("ResponseTextDeltaEvent",))
        self.edit(node, edit)

    def _model_names(self, choice: Keywords, message: Keywords) -> tuple[str, ...]:
        """The classes that a ``Response`` is made with, when it has just this in it."""
        calls = message.get("tool_calls")
        has_calls = isinstance(calls, cst.List) and bool(calls.elements)
        names = ["Response"]
        if not has_calls or not is_empty(message.get("content", cst.Name("None"))):
            names += ["ResponseOutputMessage", "ResponseOutputText"]
        if has_calls:
            names.append("ResponseFunctionToolCall")
        finish = choice.get("finish_reason")
        if self.reads_finish and isinstance(finish, cst.SimpleString) and finish.evaluated_value in REASON:
            names.append("response.IncompleteDetails")
        return tuple(names)

    def _dict(self, node: cst.Call) -> bool:
        """``ChatCompletion.model_validate({...})`` and ``ChatCompletion(**{...})``."""
        if len(node.args) != 1 or node.args[0].star not in ("", "**"):
            return False
        given = node.args[0].value
        made = node.func.value if isinstance(node.func, cst.Attribute) else node.func
        is_model = any(
            isinstance(value, External) and value.path.endswith(".ChatCompletion")
            for value in self.context.project.values(made)
        )
        if not is_model or not isinstance(made, cst.Name) or not is_answer(given):
            return False
        self.edit(made, new_name("Response"))
        self.known.add(node)
        self.known.update(parts_of(given))
        self.edit(given, answer(self._may_be_none(content_of(given))))
        self._needs(("Response",))
        return True

    def _finish_is_known(self, keywords: Keywords) -> bool:
        finish = keywords.get("finish_reason")
        return finish is None or (isinstance(finish, cst.SimpleString) and finish.evaluated_value in FINISH)

    def _calls_are_known(self, keywords: Keywords) -> bool:
        calls = keywords.get("tool_calls")
        if calls is None or is_empty(calls):
            return True
        if not isinstance(calls, cst.List):
            return False
        return all(
            isinstance(item, cst.Element)
            and self._maker(item.value) is not None
            and is_call(keywords_of(item.value))
            for item in calls.elements
        )

    def _usage_model(self, node: cst.Call) -> None:
        """``CompletionUsage(...)`` of the SDK: the details are not optional any more."""
        self._needs(
            ("ResponseUsage", "response_usage.InputTokensDetails", "response_usage.OutputTokensDetails")
        )
        self.edit(node, usage)

    def _needs(self, names: tuple[str, ...]) -> None:
        from .type_table import located

        for name in names:
            module, last = located(name)
            self.context.plan.need(self.module, module, last, self.sites, "ChatCompletion")

    # -- mocks set up by attribute -------------------------------------------------------

    def _attribute(self, node: cst.Attribute) -> None:
        """``mock.choices[0].message.content`` -> ``mock.output_text``; usage and finish reason likewise."""
        if node in self.known or self.context.project.shapes(node.value):
            return
        path, choices = path_of(node)
        parent = self.module.parents.get(node)
        stored = isinstance(parent, cst.AssignTarget)
        if choices is None:
            if node.attr.value in USAGE and stored:
                self.edit(node, onto(USAGE[node.attr.value], 1))
            return
        if path == ("message", "content"):
            self.known.add(choices)
            self.edit(node, onto("output_text", 4))
            if stored:
                self.text(self.module.parents.get(parent) if parent is not None else None)
        elif path == ("message", "parsed"):
            self.known.add(choices)
            self.edit(node, onto("output_parsed", 4))
        elif path == ("message", "tool_calls") and stored and isinstance(parent, cst.AssignTarget):
            assign = self.module.parents.get(parent)
            if isinstance(assign, cst.Assign) and is_empty(assign.value):
                self.known.add(choices)
                self.edit(node, onto("output", 4))
                self.edit(assign.value, lambda o, u: cst.List([]))
        elif path == ("finish_reason",) and isinstance(parent, cst.AssignTarget):
            assign = self.module.parents.get(parent)
            value = assign.value if isinstance(assign, cst.Assign) else None
            if isinstance(value, cst.SimpleString) and FINISH.get(str(value.evaluated_value)) == "completed":
                self.known.add(choices)
                self.edit(node, onto("status", 3))
                self.edit(value, new_string("completed"))

    def text(self, assign: cst.CSTNode | None) -> None:
        """The text that is set: the new answer has "" where the old had None."""
        if isinstance(assign, cst.Assign) and self._may_be_none(assign.value):
            self.edit(assign.value, or_empty)

    def _may_be_none(self, node: cst.BaseExpression | None) -> bool:
        """Whether the content of a double is None in some test."""
        if node is None:
            return False
        if any(
            isinstance(value, Const) and value.value is None for value in self.context.project.values(node)
        ):
            return True
        function = self.module.function(node)
        decorated = function.decorators if isinstance(function, cst.FunctionDef) else ()
        return isinstance(node, cst.Name) and any(
            re.search(
                rf"parametrize\b.*\b{node.value}\b.*\bNone\b", self.module.tree.code_for_node(item), re.S
            )
            for item in decorated
        )

    def _choices(self, node: cst.Assign) -> None:
        """``mock.choices = [MagicMock()]`` goes: there is nothing to set up before ``output_text``."""
        target = node.targets[0].target
        if node in self.known:
            return
        assert isinstance(target, cst.Attribute)
        choice = only(node.value)
        if choice is None or self._maker(choice) is None:
            return
        plain = not str(self._maker(choice)).endswith("MagicMock")
        if plain and (self.reads_output or self.tests_choices):
            return  # a plain Mock has no items to iterate over
        line = self.module.parents.get(node)
        inner = keywords_of(choice)
        if (
            not inner
            and isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and has_others(self.module, line)
        ):
            self.known.add(target)
            self.edit(line, lambda o, u: cst.RemovalSentinel.REMOVE)
            return
        message = inner.get("message")
        if inner.keys() - {"message", "index"} or message is None:
            return
        parts = keywords_of(message)
        if self._maker(message) is not None and "parsed" in parts and parts.keys() <= {"parsed", "role"}:
            self.known.add(target)
            self.edit(node, set_parsed)
        elif self._maker(message) is not None and "content" in parts and parts.keys() <= {"content", "role"}:
            self.known.add(target)
            self.edit(node, set_text(self._may_be_none(parts["content"])))

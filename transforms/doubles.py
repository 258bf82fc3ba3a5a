"""Tests of migrated flows: what they patch (MR801), what they let the API answer (MR802).

A test file moves with the calls it tests. Every mention of the old API in it must be understood, else the
flow is held back (MR803), so that nobody's suite goes red by surprise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import External, Resource, Site
from ..know.modules import Module
from . import double_shapes
from .context import Context
from .double_functions import Replacements
from .sent import is_item, messages_of
from .tested import key_asked, tested

_SDK = re.compile(r"openai\.resources\.(beta\.)?chat\.(completions\.)?completions\.(Async)?Completions\b")
_CHAIN = re.compile(r"\.(beta\.)?chat\.completions\b")
_SDK_PATH = re.compile(r"openai\.resources\.(beta\.)?chat\.(completions\.)*(Async)?Completions")
_ROUTE = re.compile(r"chat/completions")
# What a test may ask of a request, and how the argument is called now.
_RENAMED = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
_RESHAPED = frozenset(
    {
        "response_format",
        "reasoning_effort",
        "verbosity",
        "functions",
        "function_call",
        "stop",
        "seed",
        "n",
        "tools",
    }
)
_CALLS = re.compile(r"\b(call_args|await_args|call_args_list|await_args_list|mock_calls)\b")


def plan(context: Context) -> None:
    for module, sites in tested(context).items():
        if sites:
            context.plan.test_modules[module] = sites
            context.plan.tested.update(sites)
            _Test(context, module, sites).plan()


# -- one test file -----------------------------------------------------------------------


class _Test:
    def __init__(self, context: Context, module: Module, sites: list[Site]) -> None:
        self.context = context
        self.module = module
        self.sites = sites
        self.known: set[cst.CSTNode] = set()  # mentions of the old API that are understood

    def plan(self) -> None:
        own = {
            node
            for site in self.context.sites
            if site.module is self.module
            for node in syntax.walk(site.node)
        }
        self.known |= own
        shapes = double_shapes.Shapes(self.context, self.module, self.sites)
        shapes.plan()
        self.known |= shapes.known
        for node in self.module.of(cst.Attribute, cst.SimpleString, cst.Name, cst.Call):
            match node:
                case cst.Attribute(
                    value=cst.Attribute(attr=cst.Name(value="chat")), attr=cst.Name(value="completions")
                ):
                    self._chain(node)
                case cst.SimpleString():
                    self._target(node)
                case cst.Name() | cst.Attribute():
                    self._sdk_class(node)
                case cst.Call():
                    self._namespace(node)
                case _:
                    continue
        self.replacements = Replacements(self.context, self.module, self.known)
        for node in self.module.of(cst.Call, cst.Subscript, cst.Comparison):
            match node:
                case cst.Call(
                    func=cst.Attribute(attr=cst.Name(value="assertIn" | "assertNotIn")),
                    args=[cst.Arg(value=cst.SimpleString() as key), asked, *_],
                ):
                    self._asked_for(node, key, asked.value)
                case cst.Call():
                    self._request(node)
                case cst.Subscript():
                    self._request(node)
                case cst.Comparison():
                    self._membership(node)
                case _:
                    continue
        for parameter in self.replacements.named(_RENAMED.keys() | _RESHAPED):
            self._hold(parameter, f"`{parameter.name.value}` is a parameter of what answers in a test")
        for whole in self.replacements.unclear():
            self._hold(whole, f"`{self.context.source(whole, self.module)}` is a whole request")
        for node in self.module.of(cst.Attribute, cst.Arg, cst.DictElement, cst.SimpleString):
            self._left(node)

    def _edit(self, node: cst.CSTNode, apply: Apply, code: str) -> None:
        self.known.add(node)
        self.context.edit(node, self.module, self.sites, apply, code)

    def _hold(self, node: cst.CSTNode, detail: str) -> None:
        self.context.unsafe(node, self.module, self.sites, "MR803", detail)

    # -- patches -------------------------------------------------------------------------

    def _chain(self, node: cst.Attribute) -> None:
        """``mock.chat.completions`` -> ``mock.responses``."""
        if node in self.known or self._is_step_of_site(node):
            self.known.add(node)
            return
        self.known.update(syntax.walk(node))

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.Attribute)
            inner = updated.value
            base = inner.value if isinstance(inner, cst.Attribute) else inner
            if isinstance(base, cst.Attribute) and base.attr.value == "beta":
                base = base.value
            return updated.with_changes(value=base, attr=cst.Name("responses"))

        self._edit(node, apply, "MR801")
        method = self.module.parents.get(node)
        asked = self.module.parents.get(method) if isinstance(method, cst.Attribute) else None
        if isinstance(asked, cst.Attribute) and re.fullmatch(
            r"assert_\w*with|assert_has_\w+|assert_any_\w+", asked.attr.value
        ):
            self._hold(asked, f"`{asked.attr.value}` names the arguments of the old request")

    def _is_step_of_site(self, node: cst.Attribute) -> bool:
        for site in self.context.sites:
            for resource in site.resources:
                step: Resource | None = resource
                while step is not None:
                    if step.node is node:
                        return True
                    step = step.previous
        return False

    def _target(self, node: cst.SimpleString) -> None:
        """``patch("openai.resources.chat.completions.Completions.create")``."""
        text = node.evaluated_value
        if not isinstance(text, str) or "." not in text or _ROUTE.search(text):
            return
        new = _SDK.sub(lambda found: f"openai.resources.responses.{found[3] or ''}Responses", text)
        new = _CHAIN.sub(".responses", new)
        if new == text or not isinstance(self.module.parents.get(node), cst.Arg):
            return
        prefix, quote = node.prefix, node.quote
        self._edit(node, lambda o, u: cst.SimpleString(f"{prefix}{quote}{new}{quote}"), "MR801")

    def _sdk_class(self, node: cst.Name | cst.Attribute) -> None:
        """``monkeypatch.setattr(Completions, "create", fake)`` with the SDK's class."""
        parent = self.module.parents.get(node)
        if isinstance(parent, (cst.ImportAlias, cst.Attribute)):
            return
        for value in self.context.project.values(node):
            if isinstance(value, External) and (match := _SDK_PATH.fullmatch(value.path)):
                name = f"{match[3] or ''}Responses"
                root: cst.BaseExpression = node
                while isinstance(root, cst.Attribute):
                    root = root.value
                beside = root.value if isinstance(root, cst.Name) else ""
                self.context.plan.need(self.module, "openai.resources.responses", name, self.sites, beside)
                self._edit(node, _named_class(name), "MR801")
                return

    def _namespace(self, node: cst.Call) -> None:
        """``SimpleNamespace(chat=SimpleNamespace(completions=X))`` -> ``SimpleNamespace(responses=X)``."""
        for arg in node.args:
            if arg.keyword is None or arg.keyword.value != "chat" or not isinstance(arg.value, cst.Call):
                continue
            inner = arg.value.args
            if len(inner) == 1 and inner[0].keyword is not None and inner[0].keyword.value == "completions":
                self.known.update((arg, inner[0]))
                self._edit(arg, _responses_keyword, "MR801")

    # -- what was asked of the API -------------------------------------------------------

    def _request(self, node: cst.Subscript | cst.Call) -> None:
        """``create.call_args.kwargs["messages"]`` -> ``["input"]``."""
        key = key_asked(node)
        if key is None or not self._is_request(_owner(node)):
            return
        if key in _RESHAPED:
            self._hold(node, f"`{self.context.source(node, self.module)}` is asked of the old request")
        elif key in _RENAMED:
            literal = _literal(node)
            self.known.add(node)
            self._edit(literal, double_shapes.new_string(_RENAMED[key]), "MR802")
            if key == "messages" and any(_sends_items(self.context, site) for site in self.sites):
                self._hold(node, "the messages that the test looks at hold tool calls or parts")

    def _membership(self, node: cst.Comparison) -> None:
        """``assert "max_tokens" not in kwargs``."""
        if not isinstance(node.left, cst.SimpleString) or len(node.comparisons) != 1:
            return
        target = node.comparisons[0]
        if isinstance(target.operator, (cst.In, cst.NotIn)):
            self._asked_for(node, node.left, target.comparator)

    def _asked_for(self, node: cst.CSTNode, key: cst.SimpleString, request: cst.BaseExpression) -> None:
        name = str(key.evaluated_value)
        if not self._is_request(request):
            return
        if name in _RESHAPED:
            self._hold(node, f"`{self.context.source(node, self.module)}` is asked of the old request")
        elif name in _RENAMED:
            self._edit(key, double_shapes.new_string(_RENAMED[name]), "MR802")

    def _is_request(self, node: cst.BaseExpression | None) -> bool:
        """Whether an expression is the keywords of a recorded call."""
        if node is None:
            return False
        if _CALLS.search(self.context.source(node, self.module, 500)) or self.replacements.is_request(node):
            return True
        return isinstance(node, cst.Name) and any(
            _CALLS.search(self.context.source(value, self.module, 500))
            for value in self._assigned(node.value, node)
        )

    def _assigned(self, name: str, at: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        scope = self.module.function(at) or self.module.tree
        for node in syntax.walk(scope):
            if isinstance(node, cst.Assign) and any(
                name in syntax.target_names(target.target) for target in node.targets
            ):
                yield node.value

    # -- the rest ------------------------------------------------------------------------

    def _left(self, node: cst.CSTNode) -> None:
        """A mention of the old API that nothing here understood."""
        if node in self.known:
            return
        match node:
            case cst.Attribute(value=value, attr=cst.Name(value="choices")):
                left = not self.context.project.shapes(value)
            case cst.Arg(keyword=cst.Name(value="choices")):
                left = not _is_foreign_choices(self.context, self.module, node)
            case cst.DictElement(key=cst.SimpleString() as key):
                left = key.evaluated_value == "choices"
            case cst.Attribute(attr=cst.Name(value="completions")):
                left = not self._is_step_of_site(node)
            case cst.Arg(keyword=cst.Name(value="completions")):
                left = True
            case cst.SimpleString():
                text = node.evaluated_value
                left = isinstance(text, str) and bool(
                    _ROUTE.search(text) or (_CHAIN.search(f".{text}") and "\n" not in text)
                )
            case cst.Arg(value=value) if self._side_effect(node):
                left = not self._is_known_double(value)
            case _:
                return
        if left:
            self._hold(node, f"`{self.context.source(node, self.module)}` in a test is not understood")

    def _side_effect(self, arg: cst.Arg) -> bool:
        """Whether ``arg`` gives the answer of a patched method."""
        if arg.keyword is None or arg.keyword.value not in ("side_effect", "return_value", "new"):
            return False
        call = self.module.parents.get(arg)
        return isinstance(call, cst.Call) and any(
            inner in self.known
            for other in call.args
            if other is not arg
            for inner in syntax.walk(other.value)
        )

    def _is_known_double(self, node: cst.BaseExpression) -> bool:
        """Whether an answer is made in the project, so that what it is made of has been looked at."""
        values = self.context.project.values(node)
        outside = [
            value
            for value in values
            if isinstance(value, External)
            and not value.path.startswith(
                ("unittest.mock", "mock.", "types.SimpleNamespace", "builtins.", "openai.")
            )
        ]
        return not outside


def _responses_keyword(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Arg)
    assert isinstance(updated.value, cst.Call)
    return updated.with_changes(keyword=cst.Name("responses"), value=updated.value.args[0].value)


def _is_foreign_choices(context: Context, module: Module, arg: cst.Arg) -> bool:
    """``parser.add_argument(choices=...)`` and other uses of the word."""
    call = module.parents.get(arg)
    return (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Attribute)
        and call.func.attr.value in ("add_argument", "ChoiceField", "CharField", "IntegerField", "Choice")
    )


def _literal(node: cst.Subscript | cst.Call) -> cst.CSTNode:
    """The key itself."""
    if isinstance(node, cst.Call):
        return node.args[0].value
    index = node.slice[0].slice
    assert isinstance(index, cst.Index)
    return index.value


def _named_class(name: str) -> Apply:
    return lambda original, updated: cst.Name(name)


def _owner(node: cst.CSTNode) -> cst.BaseExpression | None:
    match node:
        case cst.Subscript(value=value) | cst.Call(func=cst.Attribute(value=value)):
            return value
        case _:
            return None


def _sends_items(context: Context, site: Site) -> bool:
    return context.request(site).passes_tools or any(
        is_item(message) for message in messages_of(context, site)
    )

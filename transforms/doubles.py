"""Tests of migrated flows: what they patch (MR801), what they let the API answer (MR802).

A test file moves with the calls it tests. Every mention of the old API in it must be understood, else the
flow is held back (MR803), so that nobody's suite goes red by surprise.
"""

from __future__ import annotations

import re

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import External, Site
from ..know.modules import Module
from . import double_call_classes, double_others, double_shapes
from .context import Context
from .double_classes import Fakes
from .double_clients import Clients
from .double_dynamic import dark
from .double_edits import new_name, new_string
from .double_functions import Replacements, with_store
from .double_histories import sends_items
from .double_leftovers import Leftovers
from .double_places import places
from .double_requests import Requests
from .double_targets import RENAMED, RESHAPED
from .double_wires import wires
from .tested import at, tested

_SDK = re.compile(r"openai\.resources\.(beta\.)?chat\.(completions\.)?completions\.(Async)?Completions\b")
_CHAIN = re.compile(r"\.(beta\.)?chat\.completions\b")
_SDK_PATH = re.compile(r"openai\.resources\.(beta\.)?chat\.(completions\.)*(Async)?Completions")
# MagicMock(**{"chat.completions.create.return_value": answer})
_DOTTED = re.compile(r"(beta\.)?chat\.completions\.((create|parse|stream)(\.(return_value|side_effect))?)")
_ROUTE = re.compile(r"chat/completions")


def plan(context: Context) -> None:
    tests: list[_Test] = []
    for module, sites in tested(context).items():
        if sites:
            context.plan.test_modules[module] = sites
            context.plan.tested.update(sites)
            tests.append(_Test(context, module, sites))
    for test in tests:
        test.plan_calls()
    for test in tests:
        test.plan_doubles()
    for test in tests:
        test.plan_requests([other.replacements for other in tests if other is not test])
    double_others.plan(context)


# -- one test file -----------------------------------------------------------------------


class _Test:
    def __init__(self, context: Context, module: Module, sites: list[Site]) -> None:
        self.context = context
        self.module = module
        self.sites = sites
        self.known: set[cst.CSTNode] = set()  # mentions of the old API that are understood
        self.shapes = double_shapes.Shapes(context, module, sites)
        self.fakes = Fakes(context, module, self.shapes)
        self.replacements: Replacements

    def plan_calls(self) -> None:
        """What stands for tool calls."""
        self.shapes.calls.plan()
        double_call_classes.plan(self.fakes.objects)

    def plan_doubles(self) -> None:
        """What stands for clients and answers."""
        own = {
            node
            for site in self.context.sites
            if site.module is self.module
            for node in syntax.walk(site.node)
        }
        self.known |= own
        # The modules of imports stay: other names may come from there, and those that lose their use go.
        for statement in self.module.of(cst.ImportFrom, cst.Import):
            self.known.update(syntax.walk(statement))
        self.shapes.plan()
        self.fakes.plan()
        self.known |= self.shapes.known
        clients = Clients(self.context, self.module, self.known)
        clients.plan()
        for node in self.module.of(cst.Attribute, cst.SimpleString, cst.Name):
            match node:
                case cst.Attribute(
                    value=cst.Attribute(attr=cst.Name(value="chat")), attr=cst.Name(value="completions")
                ):
                    self._chain(node)
                case cst.SimpleString():
                    self._target(node)
                case cst.Name() | cst.Attribute():
                    self._sdk_class(node)
                case _:
                    continue
        for node, apply in clients.edits():
            self._edit(node, apply, "MR801")
        self.replacements = Replacements(self.context, self.module, self.known)

    def plan_requests(self, others: list[Replacements]) -> None:
        """What the tests ask of requests, also those of doubles in ``others``; and what is left."""
        replacements = self.replacements
        replacements.share(others)
        Requests(self.context, self.module, self.sites, self.known, replacements, self.shapes.calls).plan()
        self._parameters(replacements)
        for whole in replacements.unclear():
            self._hold(whole, f"`{self.context.source(whole, self.module)}` is a whole request")
        for node, detail in (
            *dark(self.context, self.module, replacements, self.known),
            *wires(self.context, self.module),
            *places(self.context, self.module, self.known),
        ):
            self._hold(node, detail)
        Leftovers(self.context, self.module, self.sites, self.known).plan()

    def _parameters(self, replacements: Replacements) -> None:
        """``def fake_create(model, messages, **kwargs)``: its parameters have the new names."""
        for parameter in replacements.named(RESHAPED):
            self._hold(parameter, f"`{parameter.name.value}` is a parameter of what answers in a test")
        for function in replacements.strict():
            if self.context.settings.api_defaults == "preserve":
                self._edit(function.node.params, with_store, "MR802")
        for function, parameter in replacements.renamed():
            uses = replacements.uses(function, parameter, RENAMED[parameter.name.value])
            if uses is None:
                self._hold(parameter, f"`{parameter.name.value}` is a parameter of what answers in a test")
                continue
            new = RENAMED[parameter.name.value]
            for use in (parameter.name, *uses):
                self._edit(use, new_name(new), "MR802")
            if parameter.name.value == "messages" and any(
                sends_items(self.context, s) for s in self._at(parameter)
            ):
                self._hold(parameter, "the messages that the test looks at hold tool calls or parts")

    def _edit(self, node: cst.CSTNode, apply: Apply, code: str) -> None:
        self.known.add(node)
        self.context.edit(node, self.module, self._at(node), apply, code)

    def _hold(self, node: cst.CSTNode, detail: str) -> None:
        self.context.unsafe(node, self.module, self._at(node), "MR803", detail)

    def _at(self, node: cst.CSTNode) -> list[Site]:
        """The calls that the test around ``node`` is about."""
        return at(self.context, self.module, node)

    # -- patches -------------------------------------------------------------------------

    def _chain(self, node: cst.Attribute) -> None:
        """``mock.chat.completions`` -> ``mock.responses``."""
        if node in self.known or node in self.context.steps:
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

    def _target(self, node: cst.SimpleString) -> None:
        """``patch("openai.resources.chat.completions.Completions.create")``."""
        text = node.evaluated_value
        if not isinstance(text, str) or "." not in text or _ROUTE.search(text):
            return
        parent = self.module.parents.get(node)
        if isinstance(parent, cst.DictElement) and parent.key is node and (path := _DOTTED.fullmatch(text)):
            self._edit(node, new_string(f"responses.{path[2]}"), "MR801")
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
                self.context.plan.need(
                    self.module, "openai.resources.responses", name, self._at(node), beside
                )
                self._edit(node, new_name(name), "MR801")
                return

"""The net under the doubles: every mention of the old API that is not understood holds back (MR803)."""

from __future__ import annotations

import re
from collections.abc import Collection

import libcst as cst

from ..decide.receivers import MOCKS
from ..know import modules as syntax
from ..know.kinds import Class, External, Function, Instance, Site, Unknown, Value
from ..know.modules import Module
from .context import Context
from .double_targets import Targets
from .double_trees import is_read
from .tested import at, imported_by, is_test

_CHAIN = re.compile(r"\.(beta\.)?chat\.completions\b")
_ROUTE = re.compile(r"chat/completions")
_RECORDINGS = re.compile(r"\b(vcr|use_cassette|betamax)\b")
# What answers in the place of the API: keywords of patches and mocks, and attributes of mocks.
_ANSWERS = frozenset({"side_effect", "return_value", "new", "wraps"})
# Fields of answers that little else has.
_FIELDS = frozenset({"choices", "prompt_tokens", "completion_tokens", "tool_calls", "finish_reason"})
_PLAIN = (*MOCKS, "types.SimpleNamespace", "builtins.", "openai.", "httpx.", "httpx2.", "asyncio.")
# Whose ``choices`` are others.
_OTHERS = frozenset(
    "add_argument add_option ChoiceField CharField IntegerField Choice Option choices random rng".split()
)


class Leftovers:
    """What is left of the old API in one test file."""

    def __init__(
        self, context: Context, module: Module, sites: list[Site], known: Collection[cst.CSTNode]
    ) -> None:
        self.context = context
        self.module = module
        self.known = known
        self.targets = Targets(module, known)
        # Whether calls go by way of `beta`, a step that is gone: nothing comes to a double that has it.
        self._has_beta = any(".beta.chat" in site.module.text for site in sites)

    def plan(self) -> None:
        kinds: tuple[type[cst.CSTNode], ...] = (
            cst.Attribute,
            cst.Arg,
            cst.DictElement,
            cst.SimpleString,
            cst.Call,
            cst.Assign,
            cst.Name,
        )
        kinds += (cst.ClassDef, cst.FunctionDef)
        for node in self.module.of(*kinds):
            if node not in self.known and self._is_left(node):
                text = self.context.source(node, self.module)
                detail = f"`{text}` in a test is not understood"
                sites = at(self.context, self.module, node)
                self.context.unsafe(node, self.module, sites, "MR803", detail)
        for node in self.module.of(cst.ImportFrom, cst.Import):
            for other in imported_by(self.context, self.module, node):
                if not is_test(other) and self._makes_doubles(other):
                    detail = f"`{other.path}` makes answers for tests, and others import it too"
                    self.context.unsafe(
                        node, self.module, at(self.context, self.module, node), "MR803", detail
                    )
                    break

    def _makes_doubles(self, other: Module) -> bool:
        """Whether a module that is no test makes mocks or namespaces with choices: nobody looks at them."""
        for node in other.of(cst.Call, cst.Assign):
            match node:
                case cst.Call(func=func, args=args) if any(
                    arg.keyword is not None and arg.keyword.value == "choices" for arg in args
                ):
                    made = func
                case cst.Assign(
                    targets=[
                        cst.AssignTarget(target=cst.Attribute(value=made, attr=cst.Name(value="choices")))
                    ]
                ):
                    pass
                case _:
                    continue
            for value in self.context.project.values(made):
                if isinstance(value, External) and value.path.startswith((*MOCKS, "types.SimpleNamespace")):
                    return True
        return False

    def _is_left(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Attribute(value=value, attr=cst.Name(value="choices")):
                return not self.context.project.shapes(value) and not _is_other(value)
            case cst.Attribute(value=value, attr=cst.Name(value="completions")):
                return node not in self.context.steps and not self._is_own_handle(value)
            case cst.Arg(keyword=cst.Name(value="choices")):
                call = self.module.parents.get(node)
                return not (isinstance(call, cst.Call) and _is_other(call.func))
            case cst.Arg(keyword=cst.Name(value="completions")):
                return True
            case cst.Arg(keyword=cst.Name(value=name), value=value) if name in _ANSWERS:
                return self._is_patch(node) and not self._is_double(value)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="beta")))]):
                made = node.value  # a fresh mock says nothing, and what is set below it is seen there
                is_fresh = isinstance(made, cst.Call) and not made.args
                return self._has_beta and not is_fresh and not self._is_itself(node.targets[0])
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=attr) as target)]):
                answers = attr.value in _ANSWERS and self.targets.is_api(target.value) is True
                return answers and not self._is_double(node.value)
            case cst.DictElement(key=cst.SimpleString() as key):
                return key.evaluated_value == "choices"
            case cst.SimpleString():
                text = node.evaluated_value
                return isinstance(text, str) and bool(
                    _ROUTE.search(text) or (_CHAIN.search(f".{text}") and "\n" not in text)
                )
            case cst.Call(func=func):
                return self._makes_answer(func)
            case cst.ClassDef(name=cst.Name(value=name)) | cst.FunctionDef(name=cst.Name(value=name)):
                return name in ("completions", "choices") or (name == "beta" and self._has_beta)
            case cst.Arg(keyword=cst.Name(value="beta")):
                return self._has_beta
            case cst.Name(value="beta"):
                return self._has_beta and self._is_field(node) and not self._is_itself(node)
            case cst.Name(value=name):
                return bool(_RECORDINGS.fullmatch(name)) or (name in _FIELDS and self._is_field(node))
            case _:
                return False

    def _is_own_handle(self, client: cst.BaseExpression) -> bool:
        """Whether ``client.completions`` is the name that a fake client has for what its ``chat`` leads to.

        The path to it goes through ``chat``, so that the name stays when the path becomes ``responses``.
        """
        values = list(self.context.project.values(client))
        return bool(values) and all(
            isinstance(value, Instance)
            and {"chat", "completions"} <= value.fields.keys()
            and not any(value in value.fields[name].values for name in ("chat", "completions"))
            for value in values
        )

    def _is_field(self, node: cst.Name) -> bool:
        """Whether a class of the tests has a field of that name: it stands for a part of an answer."""
        parent = self.module.parents.get(node)
        if isinstance(parent, cst.Attribute):
            stored = isinstance(self.module.parents.get(parent), cst.AssignTarget)
            return stored and isinstance(parent.value, cst.Name) and parent.value.value == "self"
        match parent:
            case cst.AnnAssign(target=target) if target is node:
                pass
            case cst.Param() if self._is_handed_on(parent):
                return False
            case cst.AssignTarget() | cst.Param():
                pass
            case _:
                return False
        return isinstance(self._around(node), cst.ClassDef)

    def _is_handed_on(self, parameter: cst.Param) -> bool:
        """Whether a parameter only goes to classes and functions of the tests, which are looked at too."""
        function = self.module.function(parameter)
        if not isinstance(function, cst.FunctionDef):
            return False
        name = parameter.name.value
        reads = [
            node
            for node in syntax.walk(function.body)
            if isinstance(node, cst.Name) and node.value == name and is_read(self.module, node)
        ]
        return bool(reads) and all(map(self._is_given_to_tests, reads))

    def _is_given_to_tests(self, node: cst.Name) -> bool:
        arg = self.module.parents.get(node)
        call = self.module.parents.get(arg) if isinstance(arg, cst.Arg) and not arg.star else None
        values = list(self.context.project.values(call.func)) if isinstance(call, cst.Call) else []
        return bool(values) and all(
            isinstance(value, (Class, Function)) and is_test(value.module) for value in values
        )

    def _is_itself(self, node: cst.CSTNode) -> bool:
        """Whether ``self.beta = self``: what it has is there without it too."""
        for parent in self.module.ancestors(node):
            if isinstance(parent, cst.Assign):
                return isinstance(parent.value, cst.Name) and parent.value.value == "self"
        return False

    def _around(self, node: cst.CSTNode) -> cst.CSTNode | None:
        for parent in self.module.ancestors(node):
            if isinstance(parent, cst.ClassDef):
                return parent
            if isinstance(parent, cst.FunctionDef) and parent.name.value != "__init__":
                return None
        return None

    def _is_patch(self, arg: cst.Arg) -> bool:
        """Whether ``arg`` gives the answer of a patched method."""
        call = self.module.parents.get(arg)
        return isinstance(call, cst.Call) and any(
            inner in self.known
            for other in call.args
            if other is not arg
            for inner in syntax.walk(other.value)
        )

    def _is_double(self, node: cst.BaseExpression) -> bool:
        """Whether an answer is made in the project, so that what it is made of has been looked at."""
        if isinstance(node, (cst.List, cst.Tuple)):
            return all(self._is_double(element.value) for element in node.elements)
        return not any(self._is_foreign(value) for value in self.context.project.values(node))

    def _is_foreign(self, value: Value) -> bool:
        match value:
            case External(path=path):
                return not path.startswith(_PLAIN)
            case Unknown(node=cst.Param() as asked):  # of a fixture that nobody has seen, say
                return asked in self.module.parents
            case _:
                return False

    def _makes_answer(self, func: cst.BaseExpression) -> bool:
        """Whether a call makes a part of an answer of the SDK, in a way that was not understood."""
        return any(
            isinstance(value, External) and value.path.startswith("openai.types.chat")
            for value in self.context.project.values(func)
        )


def _is_other(node: cst.BaseExpression) -> bool:
    """``parser.add_argument(choices=...)``, ``random.choices``, and other uses of the word."""
    match node:
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            return name in _OTHERS or _is_other(value)
        case cst.Name(value=name):
            return name in _OTHERS
        case _:
            return False

"""Which mocks of a test stand for the old API: where a name was bound, and to what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import libcst as cst

from ..decide.doubles import is_patcher
from ..know import modules as syntax
from ..know.modules import Module
from .double_helpers import Helpers

# What a test may ask of a request, and how the argument is called now.
RENAMED = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
RESHAPED = frozenset(
    "response_format reasoning_effort verbosity functions function_call stop seed n tools tool_choice"
    " stream_options frequency_penalty presence_penalty logit_bias logprobs prediction store".split()
)
# What a mock has recorded.
RECORDS = frozenset(
    {"call_args", "await_args", "call_args_list", "await_args_list", "mock_calls", "method_calls"}
)
METHODS = frozenset({"create", "parse", "stream"})
# Other parts of a client that have such methods.
_OTHERS = frozenset(
    "embeddings images speech transcriptions translations moderations files batches jobs assistants threads"
    " runs vector_stores uploads conversations responses".split()
)
_TELLING = re.compile(r"create|complet|openai|gpt|llm|chat", re.IGNORECASE)
_DEPTH = 4  # how many names are followed back


class Targets:
    """Tells the mocks of the API in one test file from others, by what ``known`` has been recognised."""

    def __init__(
        self, module: Module, known: Collection[cst.CSTNode], others: Sequence[Module] | None = None
    ) -> None:
        self._module = module
        self._known = known
        self.helpers = Helpers(module, others)
        self._origins: dict[cst.CSTNode, list[cst.BaseExpression]] = {}

    def is_api(self, node: cst.BaseExpression, depth: int = _DEPTH) -> bool | None:
        """Whether the mock ``node`` answers for the old API; None where that is not to be seen."""
        if any(inner in self._known for inner in syntax.walk(node)):
            return True
        match node:
            case cst.Attribute(
                value=cst.Attribute(attr=cst.Name(value=other)), attr=cst.Name(value=name)
            ) if name in METHODS and other in _OTHERS:
                return False
            case cst.Attribute(attr=cst.Name(value=name)) if name in METHODS:
                return True
            case cst.Name() | cst.Attribute():
                found = [self._binds(origin, depth) for origin in self.origins(node)]
                if any(found):
                    return True
                given = self.helpers.passed(node) if isinstance(node, cst.Name) and depth else []
                if given and all(self.is_api(value, depth - 1) for value in given):
                    return True
                if found and all(answer is False for answer in found):
                    return False
                name = node.value if isinstance(node, cst.Name) else node.attr.value
                return True if _TELLING.search(name) else None
            case cst.Call(func=cst.Attribute() as func) if func.attr.value in ("start", "__enter__"):
                return self.is_api(func.value, depth)
            case _:
                return None

    def is_only_called_so(self, node: cst.BaseExpression) -> bool:
        """Whether a mock may answer for the old API for its name alone: ``chat_repository.create_chat``."""
        if not isinstance(node, cst.Attribute) or node.attr.value in METHODS:
            return False
        known = any(inner in self._known for inner in syntax.walk(node))
        return not known and not self.origins(node)

    def _binds(self, origin: cst.BaseExpression, depth: int) -> bool | None:
        """Whether a name that is bound to ``origin`` is a mock of the API."""
        if any(inner in self._known for inner in syntax.walk(origin)):
            return True
        if isinstance(origin, cst.Call) and is_patcher(origin):
            return False  # it replaces something that is nothing of the API
        return self.is_api(origin, depth - 1) if depth else None

    def recorded(self, node: cst.BaseExpression, depth: int = _DEPTH) -> tuple[bool, bool | None]:
        """Whether ``node`` is something that a mock has recorded; and whether that is of the API."""
        current: cst.BaseExpression = node
        while isinstance(current, (cst.Attribute, cst.Subscript, cst.Call)):
            if isinstance(current, cst.Attribute) and current.attr.value in RECORDS:
                return True, None if self._is_above(current) else self.is_api(current.value)
            returned = self.helpers.returned(current)
            if returned is not None and depth:
                return self.recorded(returned, depth - 1)
            current = current.func if isinstance(current, cst.Call) else current.value
        if isinstance(current, cst.Name) and depth:
            for origin in self.origins(current):
                found = self.recorded(origin, depth - 1)
                if found[0]:
                    return found
            given = {self.recorded(value, depth - 1) for value in self.helpers.passed(current)}
            if any(is_recorded for is_recorded, _ in given):
                return given.pop() if len(given) == 1 else (True, None)
        return False, None

    def _is_above(self, record: cst.Attribute) -> bool:
        """Whether a record of all calls is that of a client: ``client.mock_calls[0].kwargs["messages"]``."""
        if record.attr.value not in ("mock_calls", "method_calls"):
            return False
        tree = self._module.tree
        owner = tree.code_for_node(record.value)
        return owner.endswith((".chat", ".completions")) or f"{owner}.chat." in tree.code

    def origins(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """What the name or attribute ``node`` is bound to around it: assigned, looped over, patched in."""
        known = self._origins.get(node)
        if known is None:
            known = self._origins[node] = list(self._bound(node))
        return known

    def _bound(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        if isinstance(node, cst.Attribute):
            yield from self._bindings.get((self._module.tree, node.attr.value, True), ())
            return
        if not isinstance(node, cst.Name):
            return
        yield from self._looped(node)
        scope = self._module.function(node)
        while scope is not None:
            yield from self._bindings.get((scope, node.value, False), ())
            yield from self._decorated(node.value, scope)
            yield from self._handed(node.value, scope)
            scope = self._module.function(scope)
        yield from self._at_top.get(node.value, ())

    @cached_property
    def _bindings(self) -> dict[_Name, list[cst.BaseExpression]]:
        """What each name and attribute is bound to in each function, and in the module as a whole.

        Tests bind the same few names thousands of times, and each is asked about.
        """
        found: dict[_Name, list[cst.BaseExpression]] = {}
        for node in self._module.of(cst.Assign, cst.AnnAssign, cst.WithItem, cst.For):
            value, targets = _binding(node)
            if value is None:  # an annotation alone
                continue
            names = dict.fromkeys(name for target in targets for name in _names(target))
            around = [outer for outer in self._module.ancestors(node) if isinstance(outer, _FUNCTIONS)]
            for scope in (*around, self._module.tree):
                for name, is_attribute in names:
                    found.setdefault((scope, name, is_attribute), []).append(value)
        return found

    def _looped(self, node: cst.Name) -> Iterator[cst.BaseExpression]:
        """What a comprehension around ``node`` draws it from."""
        for parent in self._module.ancestors(node):
            if isinstance(parent, cst.BaseComp):
                loop: cst.CompFor | None = getattr(parent, "for_in", None)
                while loop is not None:
                    if (node.value, False) in _names(loop.target):
                        yield loop.iter
                    loop = loop.inner_for_in

    def _decorated(self, name: str, scope: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        """The patch whose mock a parameter gets: the nearest decorator gives the first."""
        if not isinstance(scope, cst.FunctionDef):
            return
        patches = [
            decorator.decorator
            for decorator in scope.decorators
            if is_patcher(decorator.decorator) and not _gives_itself(decorator.decorator)
        ]
        names = [parameter.name.value for parameter in scope.params.params]
        if names[:1] == ["self"]:
            names = names[1:]
        for parameter, patch in zip(names, reversed(patches), strict=False):
            if parameter == name:
                yield patch

    def _handed(self, name: str, scope: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        """What a fixture of this file gives to the parameter ``name``."""
        if not isinstance(scope, cst.FunctionDef):
            return
        if name not in {parameter.name.value for parameter in syntax.parameters(scope.params)}:
            return
        for fixture in self._fixtures.get(name, ()):
            for node in syntax.walk(fixture) if fixture is not scope else ():
                match node:
                    case cst.Yield(value=cst.BaseExpression() as value):
                        yield value
                    case cst.Return(value=cst.BaseExpression() as value):
                        if self._module.function(node) is fixture:
                            yield value
                    case _:
                        continue

    @cached_property
    def _fixtures(self) -> dict[str, list[cst.FunctionDef]]:
        """The fixtures of pytest that stand in this file."""
        found: dict[str, list[cst.FunctionDef]] = {}
        for function in self._module.of(cst.FunctionDef):
            if any(_makes_fixture(decorator.decorator) for decorator in function.decorators):
                found.setdefault(function.name.value, []).append(function)
        return found

    @cached_property
    def _at_top(self) -> dict[str, list[cst.BaseExpression]]:
        """What names are bound to by assignments that stand in no function, class or condition."""
        found: dict[str, list[cst.BaseExpression]] = {}
        for line in self._module.tree.body:
            for node in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(node, cst.Assign):
                    for name, is_attribute in dict.fromkeys(
                        n for t in node.targets for n in _names(t.target)
                    ):
                        if not is_attribute:
                            found.setdefault(name, []).append(node.value)
        return found


_FUNCTIONS = (cst.FunctionDef, cst.Lambda)
# In which function (or the module), a name, and whether it is that of an attribute.
_Name = tuple[cst.CSTNode, str, bool]


def _makes_fixture(node: cst.BaseExpression) -> bool:
    """``pytest.fixture`` and ``fixture(autouse=True)``, without a name of its own."""
    if isinstance(node, cst.Call):
        if any(arg.keyword is not None and arg.keyword.value == "name" for arg in node.args):
            return False
        node = node.func
    return syntax.dotted(node).rpartition(".")[2] in ("fixture", "yield_fixture")


def _gives_itself(patch: cst.BaseExpression) -> bool:
    """Whether a patch names its replacement, so that the function gets no parameter for it."""
    if not isinstance(patch, cst.Call):
        return False
    places = [arg for arg in patch.args if arg.keyword is None]
    func = patch.func
    expected = 2 if isinstance(func, cst.Attribute) and func.attr.value == "object" else 1
    return len(places) > expected or any(arg.keyword and arg.keyword.value == "new" for arg in patch.args)


def _binding(node: cst.CSTNode) -> tuple[cst.BaseExpression | None, list[cst.BaseExpression]]:
    """What a statement or an item of ``with`` binds, and to what targets."""
    match node:
        case cst.Assign(targets=targets, value=value):
            return value, [target.target for target in targets]
        case cst.AnnAssign(target=target, value=value):
            return value, [target]
        case cst.WithItem(item=item, asname=cst.AsName(name=target)):
            return item, [target]
        case cst.For(target=target, iter=looped):
            return looped, [target]
        case _:
            return None, []


def _names(target: cst.BaseExpression) -> list[tuple[str, bool]]:
    """The names, or the attribute, that a target binds; and whether it is an attribute."""
    if isinstance(target, cst.Attribute):
        return [(target.attr.value, True)]
    return [(name, False) for name in syntax.target_names(target)]


def by_path(module: Module) -> Iterator[cst.Call]:
    """Calls that a test expects of a client: ``call.chat.completions.create(model=...)``."""
    for node in module.of(cst.Call):
        first, _, rest = syntax.dotted(node.func).partition(".chat.completions.")
        if rest in METHODS and first.rpartition(".")[2] == "call":
            yield node

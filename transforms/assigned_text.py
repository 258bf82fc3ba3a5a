"""A text put back into the answer, ``message.content = message.content.strip()``, gets a variable (MR301).

A Response computes its text, and takes none. Where the message is a local name of one function, and nothing
else holds the answer, who reads the text afterwards reads the variable.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Bound, Function, Kind
from ..know.modules import Module, walk
from .context import Context
from .reading import Template, is_stored_to
from .sent import is_str
from .snippets import spells_none

_TEXT = "content"
_READ = frozenset({_TEXT, "role", "tool_calls", "refusal"})
_ABOVE = frozenset({Kind.COMPLETION, Kind.CHOICES, Kind.CHOICE, Kind.MESSAGE})
_Block = cst.IndentedBlock


def variable(context: Context, node: cst.BaseExpression, module: Module) -> str | None:
    """The name of the variable that ``node``, a text of an answer that is read or assigned, becomes."""
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
        return None
    function = module.function(node)
    if not isinstance(function, cst.FunctionDef):
        return None
    known = context.memo.setdefault("assigned texts", {})
    assert isinstance(known, dict)
    key = (function, node.value.value)
    if key not in known:
        known[key] = _Assigned(context, module, function, node.value.value).variables()
    found = known[key].get(node)
    return found if isinstance(found, str) else None


def as_variable(name: str) -> Template:
    """What is read or assigned is a variable."""
    return lambda base: cst.Name(name)


class _Assigned:
    """The uses of one local name whose text is assigned."""

    def __init__(self, context: Context, module: Module, function: cst.FunctionDef, name: str) -> None:
        self.context = context
        self.module = module
        self.function = function
        self.name = name

    def variables(self) -> dict[cst.CSTNode, str]:
        """The reads and stores that are those of a variable now, and its name; empty if it cannot be."""
        parents = self.module.parents
        names = [node for node in walk(self.function) if isinstance(node, cst.Name)]
        uses = [node for node in names if node.value == self.name and not _is_label(node, parents[node])]
        texts = [node for use in uses if isinstance(node := parents[use], cst.Attribute)]
        stores = [text for text in texts if text.attr.value == _TEXT and is_stored_to(self.module, text)]
        bound = [use for use in uses if isinstance(parents[use], cst.AssignTarget)]
        if not stores or len(bound) != 1 or len(texts) + 1 != len(uses):
            return {}
        if not all(self._is_plain(text) for text in texts) or not self._is_alone(uses):
            return {}
        after = self._after(bound[0], stores[0], texts)
        if after is None:
            return {}
        taken = {node.value for node in self.module.of(cst.Name)}
        fresh = next(name for name in self._names() if name not in taken)
        return dict.fromkeys([*stores, *after], fresh)

    def _names(self) -> Iterator[str]:
        yield from ("text", f"{self.name}_text")
        for number in range(2, 1000):
            yield f"{self.name}_text_{number}"

    def _is_plain(self, text: cst.Attribute) -> bool:
        """Whether a use of the message is a read or an assignment of one part, in this function itself."""
        parent = self.module.parents[text]
        if text.attr.value not in _READ or self.module.function(text) is not self.function:
            return False
        if isinstance(parent, (cst.AugAssign, cst.AnnAssign, cst.Del)) and is_stored_to(self.module, text):
            return False
        if is_stored_to(self.module, text):
            assign = self.module.parents[parent]
            if text.attr.value != _TEXT or not isinstance(assign, cst.Assign) or len(assign.targets) > 1:
                return False
            return is_str(self.context, assign.value) or _joins_text(assign.value)
        return not isinstance(parent, cst.BooleanOperation)

    def _after(
        self, bound: cst.Name, first: cst.Attribute, texts: list[cst.Attribute]
    ) -> list[cst.Attribute] | None:
        """The reads of the text that find what was assigned; None if that is not certain of each.

        The name is bound and the text assigned in one block, so what stands between them finds the old
        text, and what follows in the block the new one, each time that the block is run.
        """
        statement, made = self.module.statement(first), self.module.statement(bound)
        block = self.module.parents.get(statement)
        if not isinstance(block, _Block) or self.module.parents.get(made) is not block:
            return None
        lines = list(block.body)
        start = next(number for number, line in enumerate(lines) if line is statement)
        found = []
        for text in texts:
            if text.attr.value != _TEXT:
                continue
            number = self._line(text, lines)
            if number is None:
                return None
            if number > start:
                found.append(text)
        return found

    def _line(self, node: cst.CSTNode, lines: list[cst.BaseStatement]) -> int | None:
        """Which of ``lines``, the statements of a block, ``node`` stands in."""
        around = {node, *self.module.ancestors(node)}
        return next((number for number, line in enumerate(lines) if line in around), None)

    # -- who else has the answer -----------------------------------------------------------

    def _is_alone(self, uses: list[cst.Name]) -> bool:
        """Whether nothing but local names holds the answer, and in this function no other name than this."""
        sites = {shape.site for use in uses for shape in self.context.project.shapes(use)}
        scope = self.module.scopes[self.function]
        if not sites or self.name in scope.shared | scope.globals | scope.nonlocals:
            return False
        for site in sites:
            if site.via or site.method == "stream":
                return False  # what gives the answer keeps it
            if any(self._asks_for_none(node, module) for node, module in self.context.texts(site)):
                return False
            for node, module, kinds in self.context.parts(site):
                if kinds & _ABOVE and not self._goes_on(node, module):
                    return False
        return True

    def _asks_for_none(self, node: cst.CSTNode, module: Module) -> bool:
        """Whether a text is asked whether it is None: the new question is for any empty text."""
        parent = module.parents.get(node)
        comparison = module.parents.get(parent) if isinstance(parent, cst.ComparisonTarget) else parent
        if not isinstance(comparison, cst.Comparison):
            return isinstance(parent, cst.MatchAs) or isinstance(comparison, cst.Match)
        sides = [comparison.left, *(target.comparator for target in comparison.comparisons)]
        return any(map(spells_none, sides))

    def _goes_on(self, node: cst.CSTNode, module: Module) -> bool:
        """Whether an answer or its message is only read at ``node``, returned, or given a local name."""
        if not self._is_given(node):
            return False
        inside, parent = module.function(node), module.parents.get(node)
        read = isinstance(parent, (cst.Attribute, cst.Subscript)) and parent.value is node
        if inside is None:
            return read and not self._is_method(parent, module)
        if not isinstance(inside, cst.FunctionDef) or module.function(inside) is not None:
            return False
        elsewhere = inside is not self.function
        match parent:
            case cst.Attribute() | cst.Subscript() if read:
                return not self._is_method(parent, module) and (elsewhere or self._is_own(node))
            case cst.Assign(targets=targets):
                return all(isinstance(target.target, cst.Name) for target in targets)
            case cst.AssignTarget() if isinstance(node, cst.Name):
                scope = module.scopes[inside]
                return node.value not in scope.globals | scope.nonlocals | scope.shared
            case cst.Return():
                return elsewhere and all(_keeps_nothing(each) for each in inside.decorators)
            case cst.If() | cst.UnaryOperation():
                return elsewhere
            case cst.Await() | cst.Expr():
                return True
            case _:
                return False

    def _is_given(self, node: cst.CSTNode) -> bool:
        """Whether an answer that a call gives is the caller's alone: a task, or a future, gives it again."""
        match node:
            case cst.Await(expression=awaited):
                return isinstance(awaited, cst.Call)
            case cst.Call(func=func) if node not in self.context.project.sites:
                callees = self.context.project.values(func)
                return bool(callees) and all(isinstance(callee, (Function, Bound)) for callee in callees)
            case _:
                return True

    def _is_method(self, node: cst.CSTNode | None, module: Module) -> bool:
        """Whether what is read of an answer is called: a dump has the text too."""
        call = module.parents.get(node) if node is not None else None
        return isinstance(call, cst.Call) and call.func is node

    def _is_own(self, node: cst.CSTNode) -> bool:
        """Whether a read in the function is one of the name, or makes what the name holds."""
        if isinstance(node, cst.Name) and node.value == self.name:
            return True
        statement = self.module.statement(node)
        return any(
            isinstance(target.target, cst.Name) and target.target.value == self.name
            for assign in walk(statement)
            if isinstance(assign, cst.Assign)
            for target in assign.targets
        )


def _is_label(name: cst.Name, parent: cst.CSTNode) -> bool:
    """Whether ``name`` names an attribute or a keyword, and no variable."""
    return (isinstance(parent, cst.Attribute) and parent.attr is name) or (
        isinstance(parent, cst.Arg) and parent.keyword is name
    )


def _joins_text(node: cst.BaseExpression) -> bool:
    """``text + "."``, which is text, or fails."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return False
    return any(isinstance(side, (cst.BaseString, cst.FormattedString)) for side in (node.left, node.right))


def _keeps_nothing(decorator: cst.Decorator) -> bool:
    """Whether a decorator gives each caller an answer of his own; a cache does not."""
    node = decorator.decorator
    return isinstance(node, cst.Name) and node.value in ("staticmethod", "classmethod", "property")

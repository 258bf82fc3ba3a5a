"""How a test puts a client together, whose ``chat.completions`` is ``responses`` now (MR801).

``SimpleNamespace(chat=SimpleNamespace(completions=X))`` becomes ``SimpleNamespace(responses=X)``, and so it
does where the parts have names, or are set one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..decide.plan import Apply
from ..decide.receivers import MOCKS
from ..know.kinds import External
from ..know.modules import Module
from .context import Context
from .double_edits import has_others, its_line, new_name
from .double_trees import binding, uses


class Clients:
    """The doubles of clients in one test file; ``known`` gets what is understood."""

    def __init__(self, context: Context, module: Module, known: set[cst.CSTNode]) -> None:
        self._context = context
        self._module = module
        self._known = known
        self._edits: dict[cst.CSTNode, Apply] = {}

    def edits(self) -> Iterator[tuple[cst.CSTNode, Apply]]:
        yield from self._edits.items()

    def plan(self) -> None:
        for node in self._module.of(cst.Call, cst.Assign):
            match node:
                case cst.Call():
                    self._namespace(node)
                case cst.Assign():
                    self._handle(node)
                case _:
                    continue

    def _edit(self, node: cst.CSTNode, apply: Apply) -> None:
        self._known.add(node)
        self._edits.setdefault(node, apply)

    # -- made in one go ------------------------------------------------------------------

    def _namespace(self, node: cst.Call) -> None:
        names = {arg.keyword.value: arg for arg in node.args if arg.keyword is not None}
        if "beta" in names and "chat" not in names:
            self._beta(names["beta"])
        for arg in node.args:
            if (
                arg.keyword is None
                or arg.keyword.value != "chat"
                or arg in self._known
                or self._is_beta(node)
            ):
                continue
            if isinstance(arg.value, cst.Name):
                self._named_chat(arg.keyword, arg.value)
            elif (inner := _completions_of(arg.value)) is not None:
                self._known.add(inner)
                self._edit(arg, _responses_keyword)

    def _beta(self, arg: cst.Arg) -> None:
        """``Mock(beta=Mock(chat=X))`` is ``Mock(responses=X)``, also where the parts have names."""
        step = self._only_use(arg.value)
        chat = _argument_of(step, "chat") if step is not None else None
        inner = self._only_use(chat.value) if chat is not None else None
        completions = _argument_of(inner, "completions") if inner is not None else None
        if step is None or chat is None or inner is None or completions is None or arg.keyword is None:
            return
        self._known.update((arg, chat, completions))
        for whole in (step, inner):
            self._edit(whole, _only_argument)
        self._edit(arg.keyword, new_name("responses"))

    def _only_use(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """``node``, or what the name that it is stands for, if that is used for nothing else."""
        if not isinstance(node, cst.Name):
            return node
        made = binding(self._module, node)
        return made.value if made is not None and list(uses(self._module, node)) == [node] else None

    def _is_beta(self, node: cst.Call) -> bool:
        """Whether ``node`` is the ``beta`` of a double, a step that is gone."""
        holder = self._module.parents.get(node)
        name = holder.targets[0].target if isinstance(holder, cst.Assign) else None
        if isinstance(name, cst.Name) and self._is_given_as_beta(name):
            return True
        match holder:
            case cst.Arg(keyword=cst.Name(value="beta")):
                return True
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="beta")))]):
                return True
            case _:
                return False

    def _is_given_as_beta(self, name: cst.Name) -> bool:
        """Whether some double is made with ``beta=name``."""
        return any(
            arg.keyword is not None
            and arg.keyword.value == "beta"
            and isinstance(arg.value, cst.Name)
            and arg.value.value == name.value
            for call in self._module.of(cst.Call)
            for arg in call.args
        )

    # -- the chat has a name -------------------------------------------------------------

    def _named_chat(self, place: cst.Name, name: cst.Name) -> None:
        """``place`` makes ``name`` the ``chat`` of a client: the name is that of its completions now."""
        made = binding(self._module, name)
        if made is None:
            return
        inner = _completions_of(made.value)
        read = [use for use in uses(self._module, name) if use is not name]
        if inner is not None and not read:
            self._known.add(inner)
            self._edit(made.value, _only_argument)
            self._edit(place, new_name("responses"))
        elif isinstance(made.value, cst.Call) and not made.value.args and self._is_mock(made.value):
            steps = [self._module.parents.get(use) for use in read]
            if all(isinstance(step, cst.Attribute) and step.attr.value == "completions" for step in steps):
                self._set_up_chat(made, [step for step in steps if isinstance(step, cst.Attribute)])
                self._edit(place, new_name("responses"))

    def _set_up_chat(self, made: cst.Assign, steps: list[cst.Attribute]) -> None:
        """``chat = MagicMock()`` and what is set below its ``completions``."""
        self._known.update(steps)
        first = min(steps, key=self._module.order.__getitem__, default=None)
        target = self._module.parents.get(first) if first is not None else None
        line = self._module.parents.get(made)
        if (
            isinstance(target, cst.AssignTarget)
            and isinstance(line, cst.SimpleStatementLine)
            and len(line.body) == 1
            and has_others(self._module, line)
        ):
            self._edit(line, lambda o, u: cst.RemovalSentinel.REMOVE)
        for step in steps:
            self._edit(step, _base)

    # -- set one by one ------------------------------------------------------------------

    def _handle(self, node: cst.Assign) -> None:
        """``client.chat = MagicMock()``: what the test sets up below it is below ``responses`` now."""
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="chat") as place))],
                value=cst.Name() as name,
            ):
                self._named_chat(place, name)
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value="chat")) as target)],
                value=cst.Call(args=[]) as made,
            ) if self._is_mock(made) and not _is_of_self(target):
                if self._is_set_up_next(self._module.parents[node], target):
                    self._edit(its_line(self._module, node), lambda o, u: cst.RemovalSentinel.REMOVE)
                else:
                    self._edit(target.attr, new_name("responses"))
            case _:
                return

    def _is_mock(self, node: cst.Call) -> bool:
        values = self._context.project.values(node)
        return any(isinstance(value, External) and value.path.startswith(MOCKS) for value in values)

    def _is_set_up_next(self, line: cst.CSTNode, target: cst.Attribute) -> bool:
        """Whether ``client.chat.completions = MagicMock()`` follows, which says the same now."""
        block = self._module.parents.get(line)
        if not isinstance(block, (cst.IndentedBlock, cst.Module)):
            return False
        whole = f"{self._module.tree.code_for_node(target)}.completions"
        for after in block.body:
            match after:
                case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=other)])]):
                    if self._module.tree.code_for_node(other) == whole:
                        return True
                case _:
                    continue
        return False


def _is_of_self(target: cst.Attribute) -> bool:
    return isinstance(target.value, cst.Name) and target.value.value == "self"


def _completions_of(node: cst.BaseExpression) -> cst.Arg | None:
    """The argument of ``SimpleNamespace(completions=X)``."""
    match node:
        case cst.Call(args=[cst.Arg(keyword=cst.Name(value="completions")) as only]):
            return only
        case _:
            return None


def _argument_of(node: cst.BaseExpression, name: str) -> cst.Arg | None:
    """The argument of ``SimpleNamespace(name=X)``."""
    match node:
        case cst.Call(args=[cst.Arg(keyword=cst.Name(value=given)) as only]) if given == name:
            return only
        case _:
            return None


def _base(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Attribute)
    return updated.value


def _only_argument(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Call)
    return updated.args[0].value


def _responses_keyword(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
    assert isinstance(updated, cst.Arg)
    assert isinstance(updated.value, cst.Call)
    return updated.with_changes(keyword=cst.Name("responses"), value=updated.value.args[0].value)

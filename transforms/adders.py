"""A function that only adds a message to a list, and gets answers too: it is called for each item (MR209).

``memory.add(reply)`` becomes ``for item in reply.output: memory.add(item)``; other callers stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from ..decide.plan import Apply
from ..know.graph import Var
from ..know.kinds import Argument, Bound, DictValue, Function, Invocation, Place, Shape, Site, Value
from ..know.modules import Module, dotted, walk
from .context import Context
from .entries import value_of
from .item_facts import Facts, answers_in
from .rebuilt import Rebuilt
from .shared import renamed
from .snippets import attribute, expr

_NAMES = ("item", "output_item", "each_item")


@dataclass(frozen=True, repr=False)
class _Handover:
    """An answer is handed to the function: the call, a line of its own, and the argument that it is."""

    line: cst.SimpleStatementLine
    module: Module
    number: int
    value: cst.BaseExpression
    var: Var
    values: tuple[Value, ...]
    name: str  # of the items


Bare = Callable[[cst.CSTNode], cst.BaseExpression]


def hand_over_items(
    context: Context,
    known: Facts,
    place: Place,
    answers: Sequence[Shape],
    sites: set[Site],
    bare: Bare,
    as_message: Apply,
) -> bool:
    """Let the callers of the function around ``place`` hand over items; whether all of them can.

    ``bare`` takes the dump off an answer; ``as_message`` makes a plain message of it.
    """
    found = _handovers(context, place, answers_in)
    if found is None or place.var is None or any(value in known.multiple for value in place.var.values):
        return False
    if not set(answers) <= {shape for handover in found for shape in handover.values}:
        return False
    plain = {shape.site in known.plain for shape in answers}
    if plain == {True}:
        for handover in found:
            context.edit(handover.value, handover.module, sites, as_message, "MR209", key="message")
        return True
    wanted = known.dict_lists.wanted_at(place)
    forms: list[tuple[_Handover, bool]] = []
    for handover in found:
        shapes = [value for value in handover.values if isinstance(value, Shape)]
        dicts = wanted or any(shape.form != "object" for shape in shapes)
        if True in plain or (dicts and any(shape.site.method != "create" for shape in shapes)):
            return False
        forms.append((handover, dicts))
    for handover, dicts in forms:
        apply = _for_each(handover, dicts, bare)
        context.edit(handover.line, handover.module, sites, apply, "MR209", key="each")
    return True


def hand_over_calls(
    context: Context,
    known: Facts,
    place: Place,
    again: Mapping[DictValue, Rebuilt | None],
    senders: set[Site],
) -> set[Site] | None:
    """The same for messages that repeat an answer and its calls: whose they are, or None if it cannot be."""
    found = _handovers(context, place, lambda var: _multiple(known, var))
    given = {value for handover in found or () for value in handover.values}
    if found is None or not set(_multiple(known, place.var)) <= given:
        return None
    made: list[tuple[_Handover, Rebuilt]] = []
    for handover in found:
        answer = again.get(_multiple(known, handover.var)[0]) if len(handover.values) == 1 else None
        if answer is None or answer.returned:
            return None
        made.append((handover, answer))
    for handover, answer in made:
        sites = senders | answer.sites
        answer.remove(context, sites)
        dicts = known.dict_lists.taken_at(place, answer.sites)
        apply = _for_each(handover, dicts, _always(renamed(context, answer.root, answer.module)))
        context.edit(handover.line, handover.module, sites, apply, "MR209", key="each")
    return {site for _, answer in made for site in answer.sites}


def _multiple(known: Facts, var: Var | None) -> list[DictValue]:
    """The messages in ``var`` that become several items."""
    values = var.values if var is not None else ()
    return [value for value in values if isinstance(value, DictValue) and value in known.multiple]


def _always(root: cst.Name) -> Bare:
    return lambda updated: root


def _handovers(
    context: Context, place: Place, several: Callable[[Var], Sequence[Value]]
) -> list[_Handover] | None:
    """The calls that hand what is ``several`` items to the function around ``place``.

    None if one cannot be rewritten.
    """
    value = value_of(place)
    function = context.project.functions.get(place.module.function(place.node) or place.node)
    if function is None or not isinstance(value, cst.Name):
        return None
    if not _only_adds(function, value.value, place.node):
        return None
    found: list[_Handover] = []
    for call in function.callers:
        handed = _handed(context, function, value.value, call)
        if handed is None:
            return None
        values = several(handed.var)
        if values:
            line, name = _line_of(call), _name(call)
            alone = set(handed.var.values) == set(values)
            if line is None or name is None or not alone or not _is_simple(call.node, handed):
                return None
            assert isinstance(handed.node, cst.Arg)
            number = call.node.args.index(handed.node)
            found.append(
                _Handover(line, call.module, number, handed.node.value, handed.var, tuple(values), name)
            )
    return found


def _only_adds(function: Function, name: str, call: cst.CSTNode) -> bool:
    """Whether calling the function once more adds one more message, and that is all it does."""
    node = function.node
    if not isinstance(node, cst.FunctionDef) or node.decorators or function.escaped or node.asynchronous:
        return False
    param = next(
        (p for p in (*node.params.posonly_params, *node.params.params) if p.name.value == name), None
    )
    if param is None or (param.annotation is not None and _names_answers(param.annotation)):
        return False
    return all(_is_harmless(small, call) for small in _statements(node.body))


def _names_answers(annotation: cst.Annotation) -> bool:
    return any(
        isinstance(inner, (cst.Name, cst.SimpleString)) and "Completion" in inner.value
        for inner in walk(annotation)
    )


def _statements(body: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    for line in body.body:
        if isinstance(line, cst.SimpleStatementLine):
            yield from line.body
        else:
            yield line


def _is_harmless(statement: cst.CSTNode, call: cst.CSTNode) -> bool:
    match statement:
        case cst.Expr(value=value):
            return value is call or isinstance(value, cst.BaseString)
        case cst.Return(value=value):
            return value is None or isinstance(value, (cst.Name, cst.Attribute))
        case _:
            return isinstance(statement, cst.Pass)


def _handed(context: Context, function: Function, name: str, call: Invocation) -> Argument | None:
    """The argument of ``call`` that is the message, if the call is of this function alone and written out."""
    callees = context.project.callees.get(call, {})
    for callee in callees:
        own = callee.function if isinstance(callee, Bound) else callee
        if own is not function:
            return None
    bound = {isinstance(callee, Bound) for callee in callees}
    if len(bound) != 1 or call.inner is not None:
        return None
    position = function.positional.index(name) - (1 if bound.pop() else 0)
    return call.at(position, name)


def _is_simple(call: cst.Call, handed: Argument) -> bool:
    """Whether all but the message can be looked at several times."""
    others = [argument.value for argument in call.args if argument is not handed.node]
    return handed.node in call.args and all(
        dotted(node) or isinstance(node, (cst.BaseString, cst.BaseNumber)) for node in (call.func, *others)
    )


def _line_of(call: Invocation) -> cst.SimpleStatementLine | None:
    """The line that is this call and nothing else."""
    parents = call.module.parents
    statement = parents.get(call.node)
    line = parents.get(statement) if isinstance(statement, cst.Expr) else None
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        return line
    return None


def _name(call: Invocation) -> str | None:
    """A name for the items that nobody has there."""
    scope = call.module.function(call.node) or call.module.tree
    used = {node.value for node in walk(scope) if isinstance(node, cst.Name)} | call.module.scope.bound
    return next((name for name in _NAMES if name not in used), None)


def _for_each(
    handover: _Handover, dicts: bool, bare: Bare
) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    name = handover.name

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(updated, cst.SimpleStatementLine)
        statement = updated.body[0]
        assert isinstance(statement, cst.Expr)
        call = statement.value
        assert isinstance(call, cst.Call)
        argument = call.args[handover.number]
        item = expr(f"{name}.to_dict()" if dicts else name)
        args = [*call.args]
        args[handover.number] = argument.with_changes(value=item)
        if isinstance(argument.value, cst.Dict) and len(args) == 1:  # room for one short expression
            call = call.with_changes(whitespace_before_args=cst.SimpleWhitespace(""))
            args = [cst.Arg(item)]
        inner = updated.with_changes(
            body=[statement.with_changes(value=call.with_changes(args=args))], leading_lines=()
        )
        return cst.For(
            target=cst.Name(name),
            iter=attribute(bare(argument.value), "output"),
            body=cst.IndentedBlock([inner]),
            leading_lines=updated.leading_lines,
        )

    return apply

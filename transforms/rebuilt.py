"""Assistant messages rebuilt by hand from the answer's own fields: its output says the same, and more."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ..know.kinds import Const, DictValue, Kind, SeqValue, Shape, Site
from ..know.modules import Module
from .context import Context
from .item_facts import Facts
from .shared import bindings, root_of

_CALLS = frozenset({Kind.TOOL_CALLS, Kind.TOOL_CALL, Kind.FUNCTION, Kind.FUNCTION_CALL, Kind.LEAF})


@dataclass(eq=False, repr=False)
class Rebuilt:
    """A message that repeats the answer that ``root`` holds; ``lines`` made it step by step."""

    sites: frozenset[Site]
    root: cst.Name
    module: Module
    node: cst.CSTNode
    lines: list[cst.CSTNode] = field(default_factory=list)
    returned: list[cst.BaseExpression] = field(default_factory=list)  # by a function that makes messages

    @property
    def is_typed(self) -> bool:
        """Whether the function that makes the message says what it returns."""
        function = self.module.function(self.node)
        return bool(self.returned) and isinstance(function, cst.FunctionDef) and function.returns is not None

    def remove(self, context: Context, sites: set[Site]) -> None:
        """The code that made the message is not needed any more."""
        context.gone.add(self.node)
        for line in self.lines:
            context.gone.add(line)
            context.edit(line, self.module, sites, lambda o, u: cst.RemovalSentinel.REMOVE, "MR209")


def rebuilt(context: Context, known: Facts, message: DictValue) -> Rebuilt | None:
    """How ``message`` repeats an answer, if it repeats all of it and nothing else."""
    if (
        message.merged
        or message.others
        or set(message.places) - {"role", "content", "tool_calls", "function_call"}
    ):
        return None
    parts = list(origins(message))
    sites = {shape.site for shape in parts}
    if not sites or not _says_only_that(message):
        return None
    root = _root(context, message)
    if root is None:
        return None
    made = Rebuilt(frozenset(sites), root, message.module, message.node)
    return made if _lines(context, message, made) else None


def origins(message: DictValue) -> list[Shape]:
    """The parts of answers that the calls of a message are made of; none if anything else is in them."""
    found: list[Shape] = []
    for key in ("tool_calls", "function_call"):
        if key not in message.fields:
            continue
        for value in message.fields[key].values:
            if isinstance(value, Const) and value.value is None:
                continue
            parts = _parts(value)
            if parts is None:
                return []
            found.extend(parts)
    return found


def _parts(value: object) -> list[Shape] | None:
    """The parts of answers inside a value of ``tool_calls``; None if it is not all of them, as they were."""
    match value:
        case Shape(kind=Kind.TOOL_CALLS | Kind.FUNCTION_CALL):
            return [value]
        case DictValue() if not value.merged and not value.others:  # a function_call
            return _leaves(value)
        case SeqValue(node=cst.ListComp(for_in=cst.CompFor(ifs=[], inner_for_in=None))):
            found: list[Shape] = []
            for element in value.element.values:
                if isinstance(element, Shape) and element.kind is Kind.TOOL_CALL:
                    found.append(element)
                elif isinstance(element, DictValue):
                    leaves = _leaves(element)
                    if leaves is None:
                        return None
                    found.extend(leaves)
                else:
                    return None
            return found
        case _:
            return None


def _leaves(value: DictValue) -> list[Shape] | None:
    """The leaves of a call written as a dict; None unless they are all read from a call."""
    found: list[Shape] = []
    for key, var in value.fields.items():
        for part in var.values:
            if isinstance(part, Shape) and part.kind in _CALLS:
                found.append(part)
            elif isinstance(part, DictValue):
                inner = _leaves(part)
                if inner is None:
                    return None
                found.extend(inner)
            elif not (key == "type" and isinstance(part, Const)):
                return None
    return found or None


def _says_only_that(message: DictValue) -> bool:
    """Whether the text beside the calls is the answer's own, or none."""
    if "content" not in message.fields:
        return True
    return all(
        (isinstance(value, Shape) and value.kind is Kind.CONTENT)
        or (isinstance(value, Const) and not value.value)
        for value in message.fields["content"].values
    )


def _root(context: Context, message: DictValue) -> cst.Name | None:
    """The name that holds the answer where the message is made."""
    for key in ("tool_calls", "function_call", "content"):
        for place in message.places.get(key, ()):
            value = (
                place.node.value
                if isinstance(place.node, (cst.DictElement, cst.Arg))
                else _stored(place.node, place.module)
            )
            found = (
                _name_in(context, value, message.module) if isinstance(value, cst.BaseExpression) else None
            )
            if found is not None:
                return found
    return None


def _stored(node: cst.CSTNode, module: Module) -> cst.BaseExpression | None:
    target = module.parents.get(node)
    statement = module.parents.get(target) if target is not None else None
    return statement.value if isinstance(statement, cst.Assign) else None


def _name_in(context: Context, value: cst.BaseExpression, module: Module) -> cst.Name | None:
    """The answer's name in ``reply.tool_calls``, a comprehension over it, or a local made from it."""
    match value:
        case cst.ListComp(for_in=cst.CompFor(iter=source)):
            return _name_in(context, source, module)
        case cst.BooleanOperation(operator=cst.Or(), left=left):
            return _name_in(context, left, module)
        case cst.Dict(elements=elements):
            roots = [_name_in(context, element.value, module) for element in elements]
            found = [name for name in roots if name is not None]
            return found[0] if len({name.value for name in found}) == 1 else None
        case cst.Attribute(value=base) if any(
            shape.kind is Kind.FUNCTION_CALL for shape in context.project.shapes(base)
        ):
            return _name_in(context, base, module)
        case cst.Attribute(value=base) if any(
            shape.kind is Kind.MESSAGE for shape in context.project.shapes(base)
        ):
            root = root_of(base)
            return root if isinstance(root, cst.Name) else None
        case cst.Name(value=name):
            scope = module.function(value) or module.tree
            bound = list(bindings(scope, name))
            statement = module.parents.get(bound[0]) if len(bound) == 1 else None
            if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
                holder = _name_in(context, statement.value, module)
                if holder is not None and len(list(bindings(scope, holder.value))) == 1:
                    return holder
            return None
        case _:
            return None


def _lines(context: Context, message: DictValue, made: Rebuilt) -> bool:
    """Find the statements that make the message, where it has a name; False if it is used otherwise."""
    module = message.module
    parent = module.parents.get(message.node)
    if isinstance(parent, (cst.Arg, cst.Element)):
        return True
    if isinstance(parent, (cst.Assign, cst.AnnAssign)):
        targets = [parent.target] if isinstance(parent, cst.AnnAssign) else [t.target for t in parent.targets]
        if len(targets) != 1 or not isinstance(targets[0], cst.Name):
            return False
        made.lines.append(module.statement(parent))
    elif not isinstance(parent, cst.Return):
        return False
    for node, where in context.holders(message):
        use = where.parents.get(node)
        match use:
            case cst.Return() if where is module and isinstance(node, (cst.Name, cst.Dict)):
                made.returned.append(node)
            case cst.Arg() | cst.Element() if where is module or isinstance(node, cst.Call):
                continue
            case _ if where is not module:
                return False
            case cst.Assign() | cst.AnnAssign() if node in (message.node, getattr(use, "target", None)):
                continue
            case cst.AssignTarget():
                continue
            case cst.Subscript() if isinstance(module.parents.get(use), cst.AssignTarget):
                line = _whole_line(module, module.statement(use))
                if line is None:
                    return False
                made.lines.append(line)
            case _:
                return False
    return all(isinstance(line, cst.If) or len(getattr(line, "body", [])) == 1 for line in made.lines)


def _whole_line(module: Module, line: cst.CSTNode) -> cst.CSTNode | None:
    """The statement to remove: the line, or the ``if`` that holds nothing else."""
    block = module.parents.get(line)
    test = module.parents.get(block) if block is not None else None
    if isinstance(block, cst.IndentedBlock) and isinstance(test, cst.If) and len(block.body) == 1:
        return test if test.orelse is None else None
    return line if isinstance(block, (cst.IndentedBlock, cst.Module)) and len(block.body) > 1 else None

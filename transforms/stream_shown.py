"""Where it shows that a text is None: with whoever gets each ``delta.content`` as it is (MR404).

``print(text)`` on lines of their own, ``f"data: {text}"``, ``{"text": text}``, ``last = text``: the chunks
without text show there, and no event stands for them. What joins texts, writes them one after the other, or
skips those that are empty does not see them.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..know.kinds import Kind
from ..know.modules import Module, bound_in, target_names, walk
from .context import Context
from .stream_counts import lets_none
from .stream_syntax import is_empty


def shows_none(context: Context, node: cst.BaseExpression, module: Module) -> bool:
    """Whether it shows that the text ``node``, handed on from a stream, is None or empty at times."""
    scope = module.function(node) or module.tree
    if not lets_none(context, node, scope, module) or _is_target(node, module):
        return False
    parent = module.parents.get(node)
    match parent:
        case cst.FormattedStringExpression():
            whole = module.parents.get(parent)
            return isinstance(whole, cst.FormattedString) and len(whole.parts) > 1
        case cst.DictElement(value=value):
            return value is node
        case cst.Element():
            return not isinstance(
                module.parents.get(module.parents[parent]), (cst.AugAssign, cst.BinaryOperation)
            )
        case cst.Arg():
            call = module.parents.get(parent)
            return isinstance(call, cst.Call) and _spells_none(call)
        case cst.BinaryOperation(operator=cst.Modulo(), right=right):
            return right is node
        case cst.AssignTarget() | cst.AnnAssign():
            return False
        case cst.Assign(targets=targets):
            return any(isinstance(one.target, (cst.Attribute, cst.Subscript)) for one in targets)
        case _:
            return isinstance(node, cst.Name) and _is_kept(context, node, scope, module)


def _is_target(node: cst.BaseExpression, module: Module) -> bool:
    parent = module.parents.get(node)
    return isinstance(parent, cst.AssignTarget) or getattr(parent, "target", None) is node


def _spells_none(call: cst.Call) -> bool:
    """``print(text)`` on a line of its own or beside others, ``str(text)``, ``"{}".format(text)``."""
    match call.func:
        case cst.Name(value="print"):
            placed = [arg for arg in call.args if arg.keyword is None]
            ends = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "end"]
            return len(placed) > 1 or not ends or not is_empty(ends[0])
        case cst.Name(value="str" | "repr"):
            return True
        case cst.Attribute(attr=cst.Name(value="format" | "dumps")):
            return True
        case _:
            return False


_COMPREHENSIONS = (cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)


def _is_kept(context: Context, node: cst.Name, scope: cst.CSTNode, module: Module) -> bool:
    """Whether ``node`` has the last text of a loop that is over: its own variable, or ``last = text``."""
    around = set(module.ancestors(node))
    if any(isinstance(one, _COMPREHENSIONS) and node.value in bound_in([one]) for one in around):
        return False
    for loop in walk(scope):
        if isinstance(loop, cst.For) and node.value in _texts_of(context, loop):
            if loop in around:
                return False
            if module.function(loop) is module.function(node):
                return True
    return False


def _texts_of(context: Context, loop: cst.For) -> Iterator[str]:
    """The names that ``loop`` gives a text, one after the other."""
    if _is_text(context, loop.target):
        yield from target_names(loop.target)
    for node in walk(loop.body):
        if isinstance(node, cst.Assign) and _is_text(context, node.value):
            for one in node.targets:
                yield from target_names(one.target)


def _is_text(context: Context, node: cst.CSTNode) -> bool:
    return any(shape.kind is Kind.DELTA_TEXT for shape in context.project.shapes(node))

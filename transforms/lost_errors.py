"""Errors that would come too late: ``message = ask().choices[0].message`` where there is no answer (MR309).

What is left of such a read is the answer itself, and to name None is no error: a handler waits in vain.
"""

from __future__ import annotations

import libcst as cst

from ..know.kinds import DUMPS, Kind
from ..know.modules import Module, walk
from .context import Context
from .maybe_none import would_be_heard

# Parts of an answer that are the answer itself now.
_FOLDED = frozenset({Kind.CHOICES, Kind.CHOICE, Kind.MESSAGE, Kind.FINISH})
# Where a value only goes on: what is read of it is read later, or by a caller.
_KEPT = (cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.Element, cst.DictElement)
_GIVEN = (cst.Return, cst.Yield)


def plan(context: Context) -> None:
    """Hold back where a handler hears that there was no answer."""
    for node, module, shapes in context.shaped:
        kinds = {shape.kind for shape in shapes}
        if not isinstance(node, (cst.Attribute, cst.Subscript)) or not kinds <= _FOLDED:
            continue
        user = _user(node, module)
        given = isinstance(user, _GIVEN)
        if not given and (not isinstance(user, _KEPT) or _is_read_there(user, module)):
            continue
        if would_be_heard(context, node.value, module, above=given):
            text = context.source(node, module)
            detail = f"`{text}` is an error where there is no answer, which a handler waits for"
            context.manual(node, module, {shape.site for shape in shapes}, "MR309", detail)


def _user(node: cst.CSTNode, module: Module) -> cst.CSTNode | None:
    """What gets the value of ``node``, or of its dump."""
    parent = module.parents.get(node)
    call = module.parents.get(parent) if isinstance(parent, cst.Attribute) else None
    if isinstance(parent, cst.Attribute) and parent.attr.value in DUMPS and isinstance(call, cst.Call):
        return module.parents.get(call)
    return parent


def _is_read_there(user: cst.CSTNode, module: Module) -> bool:
    """Whether the name that is set is read in the same ``try``: then the error is heard all the same."""
    if not isinstance(user, cst.Assign):
        return False
    names = {item.target.value for item in user.targets if isinstance(item.target, cst.Name)}
    below: cst.CSTNode = user
    for parent in module.ancestors(user):
        if isinstance(parent, (cst.Try, cst.TryStar)) and parent.body is below:
            return any(
                isinstance(part, (cst.Attribute, cst.Subscript))
                and isinstance(part.value, cst.Name)
                and part.value.value in names
                for part in walk(parent.body)
            )
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return False
        below = parent
    return False

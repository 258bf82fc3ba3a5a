"""What is only shown to people, printed or logged: nobody depends on its shape."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Argument, External, Invocation
from ..know.modules import Module, walk
from ..know.project import Project
from .modelled import DISPLAY


def is_displayed(project: Project, node: cst.CSTNode, module: Module) -> bool:
    """Whether the text made at ``node`` goes straight to something that shows it."""
    for parent in module.ancestors(node):
        if isinstance(parent, cst.Call):
            if any(arg.keyword is not None and arg.keyword.value == "file" for arg in parent.args):
                return False
            return all(
                isinstance(callee, External) and callee.path.startswith(DISPLAY)
                for callee in project.values(parent.func)
            ) and bool(project.values(parent.func))
        if not isinstance(
            parent,
            (
                cst.Arg,
                cst.BinaryOperation,
                cst.Subscript,
                cst.FormattedString,
                cst.FormattedStringExpression,
                cst.ConcatenatedString,
            ),
        ):
            return isinstance(parent, cst.Raise)
    return False


def is_filed(call: Invocation) -> bool:
    """``print(..., file=log)``: a file that may be read back."""
    file = call.named("file")
    return file is not None and not all(
        isinstance(value, External) and value.path in ("sys.stdout", "sys.stderr")
        for value in file.var.values
    )


def is_taken_apart(argument: Argument, call: Invocation) -> bool:
    """Whether keys of ``argument`` are asked for by name: ``log.info("%(id)s", d)``, ``extra=d``, ``**d``."""
    if argument.keyword in ("extra", "**"):
        return True
    first = call.arguments[0]
    text = first.node.value if isinstance(first.node, cst.Arg) else None
    return argument is not first and isinstance(text, cst.BaseString) and names_keys(text)


def names_keys(text: cst.BaseString) -> bool:
    """Whether a format string names keys of a dict: ``%(total_tokens)d``."""
    strings = (node.value for node in walk(text) if isinstance(node, cst.SimpleString))
    return any("%(" in string for string in strings)

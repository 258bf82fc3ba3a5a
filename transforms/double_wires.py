"""What answers below the SDK in a test, where it hears of the old API by what is sent (MR803).

A server of the tests whose address is put into the environment, and a client whose ``post`` is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from ..decide.doubles import is_patcher
from ..decide.http_clients import ON_THE_WAY
from ..know.kinds import Client
from ..know.modules import Module
from .context import Context
from .snippets import key_text

_HOST = "OPENAI_BASE_URL"
_PORT = re.compile(r":\d+")
_LOOKS = re.compile(r"[\"'](?:body|json_data)[\"']|\.json_data\b")


def wires(context: Context, module: Module) -> Iterator[tuple[cst.CSTNode, str]]:
    """The places in a test where this is set up, each with what is said of it."""
    for name in module.of(cst.SimpleString) if _HOST in module.text else ():
        assert isinstance(name, cst.SimpleString)
        if key_text(name) == _HOST and _is_server(_address(name, module)):
            yield name, f"`{_HOST}` names a server of the tests, which answers as the old API does"
    for patch in module.of(cst.Call) if _LOOKS.search(module.text) else ():
        if isinstance(patch, cst.Call) and is_patcher(patch) and _is_sender(context, patch):
            text = context.source(patch, module)
            yield patch, f"`{text}` takes the place of what sends requests, and the test looks into them"


def _address(name: cst.SimpleString, module: Module) -> cst.BaseExpression | None:
    """What the variable of that name is set to."""
    parent = module.parents.get(name)
    match parent:
        case cst.DictElement(key=key, value=value) if key is name:
            return value
        case cst.Arg():
            call = module.parents.get(parent)
            if isinstance(call, cst.Call) and len(call.args) > 1 and call.args[0] is parent:
                return call.args[1].value
        case cst.Index():
            subscript = module.parents.get(module.parents[parent])
            target = module.parents.get(subscript) if subscript is not None else None
            assign = module.parents.get(target) if isinstance(target, cst.AssignTarget) else None
            return assign.value if isinstance(assign, cst.Assign) else None
        case _:
            pass
    return None


def _is_server(address: cst.BaseExpression | None) -> bool:
    """Whether an address is put together, or has a port: one that is only a name is never called."""
    match address:
        case cst.FormattedString() | cst.BinaryOperation() | cst.Attribute() | cst.Call():
            return True
        case cst.SimpleString():
            return _PORT.search(key_text(address)) is not None
        case _:
            return False


def _is_sender(context: Context, patch: cst.Call) -> bool:
    """``patch.object(client, "post")``."""
    match patch.args:
        case [cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as name), *_]:
            clients = (isinstance(value, Client) for value in context.project.values(owner))
            return key_text(name) in ON_THE_WAY and any(clients)
        case _:
            return False

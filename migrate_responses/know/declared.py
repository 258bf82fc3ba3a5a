"""What is declared to be a client: a parameter, a variable, a result, or what ``isinstance`` says of a name.

The type is then certain where the origin is not: values of unknown origin do not get past such a
declaration. Whether it speaks of a client is known only when all imports are; until then nothing passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from . import modules as syntax
from .graph import Var
from .kinds import Client, Const, External, Instance, Typed, Unknown, Value
from .modules import Module
from .others import is_foreign
from .testing import DOUBLES

# Names of types that are no client's, whatever the file imports.
_PLAIN = frozenset(
    "str int float bool bytes list dict set tuple object type None Any Callable List Dict Tuple Set Sequence"
    " Iterable Iterator Generator AsyncIterator AsyncGenerator Literal Mapping Awaitable Coroutine".split()
)
_UNIONS = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar"})


@dataclass(eq=False)
class Gate:
    """``source`` flows to ``target`` as far as the type ``node`` lets it."""

    module: Module
    node: cst.BaseExpression
    source: Var
    target: Var
    is_test: bool  # isinstance: nothing else gets past it
    clients: tuple[Client, ...] = ()

    def lets(self, value: Value) -> bool:
        """Whether ``value`` can be what is declared to be one of ``clients``."""
        match value:
            case Client():
                return not self.is_test or any(is_instance(value, client.name) for client in self.clients)
            case Unknown(why=why):
                return not self.is_test and why.startswith("a `")
            case External(path=path):
                return not self.is_test and (is_foreign(path) or path.startswith(DOUBLES))
            case Instance(type=cls):
                return not self.is_test or bool(cls.bases)
            case _:
                return not self.is_test

    @property
    def is_unfed(self) -> bool:
        """Whether what comes through says nothing of the client."""
        return all(isinstance(value, (Const, Typed)) for value in self.target.values)


def is_instance(client: Client, name: str) -> bool:
    """Whether ``client`` is an instance of the SDK's class ``name``: one for Azure is also a plain one."""
    return client.is_async is ("Async" in name) and (client.is_azure or "Azure" not in name)


def can_be_client(node: cst.BaseExpression) -> bool:
    """Whether an annotation, by its looks, can be a client's class."""
    match node:
        case cst.Name(value=name):
            return name not in _PLAIN
        case cst.Attribute():
            return True
        case cst.SimpleString():
            return "[" not in node.value
        case cst.BinaryOperation(operator=cst.BitOr()):
            return can_be_client(node.left) or can_be_client(node.right)
        case cst.Subscript():
            return syntax.dotted(node.value).rpartition(".")[2] in _UNIONS
        case _:
            return False


def only_clients(values: Iterable[Value]) -> tuple[Client, ...]:
    """``values`` if all of them are clients."""
    found = tuple(values)
    clients = tuple(value for value in found if isinstance(value, Client))
    return clients if len(clients) == len(found) else ()


__all__ = ["Gate", "can_be_client", "is_instance", "only_clients"]

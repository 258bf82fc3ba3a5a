"""What ``isinstance`` says of a name: under the test, and where it fails, some of its values are ruled out.

Only what is certain is: that an answer is no exception, and a whole answer no stream. Dicts and messages
are not told apart here, as the items that take the place of messages can be either.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import libcst as cst

from . import models
from .declared import is_instance
from .graph import Var
from .kinds import (
    STREAM_KINDS,
    Class,
    Client,
    Const,
    DictValue,
    External,
    Instance,
    Kind,
    SeqValue,
    Shape,
    Typed,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from .expressions import Expressions
    from .scoping import Env

_Question = tuple[str, cst.BaseExpression, bool]  # a name, types, and whether it is of those
AN_EXCEPTION = "an exception"  # why a value is unknown that a handler caught


@contextmanager
def under(builder: Expressions, test: cst.BaseExpression, truth: bool) -> Iterator[None]:
    """Build what runs only where ``test`` is ``truth``; names that are bound there keep what they get."""
    asked = list(_questions(test, truth))
    if not asked:
        yield
        return
    before = dict(builder.env)
    narrowed = _narrowed(builder, asked)
    yield
    for name, var in narrowed.items():
        if builder.env.get(name) is var:
            builder.env[name] = before[name]


def narrow(builder: Expressions, test: cst.BaseExpression, truth: bool) -> Env:
    """Let the names that ``test`` asks about hold what they can when it is ``truth``; the new variables."""
    return _narrowed(builder, _questions(test, truth))


def _narrowed(builder: Expressions, asked: Iterable[_Question]) -> Env:
    found: Env = {}
    for name, types, wanted in asked:
        if name not in builder.env or name in builder.scope.shared:
            continue
        var = Var()
        builder.solver.flow_if(builder.env[name], var, _keeper(builder.project.vars[types], wanted))
        if wanted:
            var = builder.project.tested(builder.module, types, var)
        builder.env[name] = found[name] = var
    return found


def _questions(test: cst.BaseExpression, truth: bool) -> Iterator[_Question]:
    """The names whose type is known where ``test`` is ``truth``, in order of the text.

    Without recursion: a condition of thousands of terms is as deep.
    """
    waiting = [(test, truth)]
    while waiting:
        node, wanted = waiting.pop()
        match node:
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                waiting.append((inner, not wanted))
            case cst.BooleanOperation(operator=operator) if isinstance(operator, cst.And) is wanted:
                waiting += [(node.right, wanted), (node.left, wanted)]
            case cst.Call(
                func=cst.Name(value="isinstance"),
                args=[cst.Arg(value=cst.Name(value=name), keyword=None), cst.Arg(value=types, keyword=None)],
            ):
                yield name, types, wanted
            case _:
                continue


def _keeper(types: Var, wanted: bool) -> Callable[[Value], bool]:
    """Whether a value can be there; asked when values arrive, as imported classes are known at once."""

    def keep(value: Value) -> bool:
        asked = list(_classes(types))
        if wanted:
            return not asked or not all(_cannot_be(value, cls) for cls in asked)
        return not any(_is_surely(value, cls) for cls in asked)

    return keep


def _classes(types: Var) -> Iterator[Value]:
    for value in types.values:
        if isinstance(value, SeqValue):
            yield from value.element.values
            for item in value.items.values():
                yield from item.values
        else:
            yield value


def _cannot_be(value: Value, cls: Value) -> bool:
    """Whether ``value`` is certainly no instance of ``cls``."""
    if _is_exception(cls):
        return isinstance(value, (Shape, Const, Typed, SeqValue, DictValue))
    if isinstance(cls, External) and cls.path == "builtins.str":
        return _is_declared_list(value)
    if _is_stream(cls):
        return isinstance(value, (Const, Typed)) or _whole(value)
    if _is_completion(cls):
        return isinstance(value, (Const, Typed)) or (isinstance(value, Shape) and value.kind in STREAM_KINDS)
    return False


def _is_surely(value: Value, cls: Value) -> bool:
    """Whether ``value`` is certainly an instance of ``cls``."""
    if _is_stream(cls):
        return isinstance(value, Shape) and value.kind is Kind.STREAM and value.form == "object"
    if _is_completion(cls):
        return _whole(value)
    if isinstance(value, Client):
        return (
            isinstance(cls, External) and models.is_client_class(cls.path) and is_instance(value, _name(cls))
        )
    if isinstance(cls, Class):
        return isinstance(value, Instance) and value.type is cls
    if isinstance(cls, External) and cls.path == "builtins.list":
        return _is_declared_list(value)
    if isinstance(cls, External) and cls.path in ("builtins.Exception", "builtins.BaseException"):
        return isinstance(value, Unknown) and value.why == AN_EXCEPTION
    return False


def _is_declared_list(value: Value) -> bool:
    """Whether ``value`` stands for the list of ``text: str | list[dict]``."""
    return isinstance(value, Unknown) and value.why in ("a `list`", "a `List`")


def _whole(value: Value) -> bool:
    return isinstance(value, Shape) and value.kind is Kind.COMPLETION and value.form == "object"


def _is_exception(cls: Value) -> bool:
    match cls:
        case External(path=path) if path.startswith("builtins."):
            found = getattr(builtins, path[9:], None)
            return isinstance(found, type) and issubclass(found, BaseException)
        case External(path=path):
            return path.rpartition(".")[2].endswith(("Error", "Exception"))
        case Class(name=name):
            return name.endswith(("Error", "Exception"))
        case _:
            return False


def _is_stream(cls: Value) -> bool:
    return _is_of_sdk(cls) and _name(cls) in ("Stream", "AsyncStream")


def _is_completion(cls: Value) -> bool:
    return _is_of_sdk(cls) and _name(cls) == "ChatCompletion"


def _is_of_sdk(cls: Value) -> bool:
    return isinstance(cls, External) and cls.path.startswith("openai.")


def _name(cls: Value) -> str:
    return cls.path.rpartition(".")[2] if isinstance(cls, External) else ""

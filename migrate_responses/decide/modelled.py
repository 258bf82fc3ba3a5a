"""What code outside the project does with what it gets: shows it, hands it on as is known, or keeps it."""

from __future__ import annotations

import libcst as cst

from ..know import models
from ..know.kinds import Bound, Class, Client, External, Function, Instance, Unknown, Value
from ..know.modules import Module

# Callees that only show or test their arguments.
DISPLAY = tuple(
    (
        "builtins.print builtins.type builtins.isinstance builtins.id builtins.vars"
        " builtins.dir builtins.breakpoint builtins.hasattr builtins.callable builtins.issubclass"
        " builtins.help"
        " builtins.Exception builtins.ValueError builtins.RuntimeError builtins.TypeError builtins.KeyError"
        " builtins.AssertionError logging. loguru. structlog. pprint. rich. typer.echo typer.secho click.echo"
        " click.secho icecream. tqdm.tqdm tqdm.write tqdm.auto warnings.warn traceback. pdb. IPython.display"
        " sys.stdout.write sys.stderr.write absl.logging colorama. termcolor."
    ).split()
)
# Modelled in know.foreign: the value goes on in the result, it does not escape.
_MODELLED = (
    frozenset(models.IDENTITY)
    | models.METADATA
    | models.REPLACERS
    | models.GATHER
    | models.TASKS
    | models.WAITS
    | models.SEQUENCES
    | models.CLIENT_WRAPPERS
    | frozenset(models.RUNNERS)
) | frozenset(
    "functools.reduce itertools.starmap itertools.zip_longest itertools.groupby heapq.nlargest"
    " heapq.nsmallest functools.partial builtins.dict builtins.getattr builtins.setattr builtins.next"
    " builtins.anext builtins.enumerate builtins.zip builtins.map builtins.len builtins.bool builtins.super"
    " threading.Thread builtins.min builtins.max builtins.any builtins.all builtins.sum builtins.range"
    " json.loads contextvars.ContextVar".split()
)


def is_modelled(path: str) -> bool:
    """Whether what ``path`` gets is followed: it does not escape."""
    tail = path.rpartition(".")[2]
    return (
        path in _MODELLED
        or tail in models.RUNNER_METHODS
        or tail in models.POOL_METHODS
        or tail in models.IDENTITY_METHODS
        or tail == "create_task"
        or tail == "map"
        or models.is_client_class(path)
        or path in models.GETENV
        or is_state(path)
    )


def makes_another(call: cst.Call, module: Module) -> bool:
    """``type(message)(role=..., content=...)``, ``type(m).model_validate(...)``: more than shown."""
    match module.parents.get(call):
        case cst.Call(func=func):
            return func is call
        case cst.Attribute(attr=cst.Name(value=name)):
            return not name.startswith("__")
        case _:
            return False


def is_not_followed(owner: Value, target: cst.Attribute | cst.Subscript) -> bool:
    """Whether what is kept in ``owner`` by ``target`` is lost to the analysis."""
    match owner:
        case Unknown():
            return True
        case External(path=path):
            return not is_state(path)
        case Instance(type=cls):  # the entries of a dict of one's own class
            return isinstance(target, cst.Subscript) or (target.attr.value == "data" and _is_user_made(cls))
        case Function() | Bound() | Client():
            return True
        case _:
            return False


def _is_user_made(cls: Class) -> bool:
    """Whether ``cls`` is a ``UserList`` or its like, which shows what it holds as ``data``."""
    bases = [value for base in cls.bases for value in base.values]
    return any(
        _is_user_made(value)
        if isinstance(value, Class)
        else isinstance(value, External) and value.path.startswith("collections.User")
        for value in bases
        if value is not cls
    )


def is_state(path: str) -> bool:
    return path.startswith((*models.STATE, "contextvars.ContextVar()"))

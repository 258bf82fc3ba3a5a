"""Whose object is it? Tells another SDK from a wrapped client, a double, and the simply unknown."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from ..know import models
from ..know.kinds import (
    Bound,
    Class,
    Client,
    External,
    Function,
    Instance,
    ModuleValue,
    Unknown,
    Value,
)
from ..know.modules import Module
from ..know.others import SDKS, is_other_client
from ..know.project import Project
from ..know.testing import DOUBLES, MOCKS, in_tests

_ANNOTATED = re.compile(r"a `([\w.]+)`")


@dataclass(frozen=True)
class Owner:
    """Who a receiver belongs to: the rule that speaks of it, and its name for people."""

    code: str
    name: str


def owner_of(project: Project, value: Value) -> Owner | None:
    """Whose ``value`` is, if it is something a call can be made on and not an OpenAI client."""
    match value:
        case External(path=path):
            owner = _external(path)
            if owner.code in ("MR010", "MR011"):
                for module in project.modules:
                    if _is_local_openai(module) and path.startswith(f"{module.name}.openai."):
                        return Owner("MR014", module.path)
            return owner
        case Unknown(why=why):
            annotated = _ANNOTATED.search(why)
            return _annotated(annotated[1]) if annotated is not None else Owner("MR010", why)
        case Instance(type=cls):
            return _of_class(project, cls)
        case Bound(function=function) | (Function() as function) if function.owner is not None:
            return _of_class(project, function.owner)
        case ModuleValue(module=module) if _is_local_openai(module):
            return Owner("MR014", module.path)
        case _:
            return None


def _external(path: str) -> Owner:
    root = path.partition(".")[0]
    if path.startswith(MOCKS):
        return Owner("MR803", "a mock")
    if root in ("tests", "test", "conftest"):
        return Owner("MR803", "something of the tests")
    if path.startswith(models.INSTRUCTOR):
        return Owner("MR012", "instructor")
    if path.startswith(models.DROP_IN_MODULES) and "openai" in path.lower():
        return Owner("MR013", _module_part(path))
    if root in SDKS:
        return Owner("MR011", root)
    if is_other_client(path):
        return Owner("MR011", root)
    return Owner("MR010", f"`{path.removesuffix('()')}`" if len(path) < 60 else "a value of another library")


def _annotated(path: str) -> Owner:
    owner = _external(f"{path}()")
    return owner if owner.code != "MR010" else Owner("MR010", f"a `{path}`")


def _module_part(path: str) -> str:
    """``langfuse.openai`` of ``langfuse.openai.OpenAI()``."""
    parts = path.split(".")
    last = next((i for i, part in enumerate(parts) if part.lower().startswith("openai")), 0)
    return ".".join(parts[: last + 1] if parts[last].islower() else parts[: max(last, 1)])


def _of_class(project: Project, cls: Class) -> Owner | None:
    if _is_local_openai(cls.module):
        return Owner("MR014", cls.module.path)
    for ancestor in (cls, *project.ancestors(cls)):
        for base in ancestor.bases:
            for value in base.values:
                if isinstance(value, External) and models.is_client_class(value.path):
                    return None
    chat = cls.instance.fields.get("chat")
    if "chat" in cls.members or (chat is not None and chat.values) or "create" in cls.members:
        return Owner("MR011", f"the class `{cls.name}` of {cls.module.path}")
    return Owner("MR010", f"a `{cls.name}`")


def _is_local_openai(module: Module) -> bool:
    return "openai" in module.name.split(".")


def is_stored(project: Project, value: Value) -> bool:
    """Whether ``value`` only stands for a slot of something external that the project stores a client in."""
    if not isinstance(value, External):
        return False
    for (owner, name), var in project.external_fields.items():
        slots = (f"{owner.path}.{name}.", f"{owner.path}[].")
        if f"{value.path}.".startswith(slots) and any(isinstance(item, Client) for item in var.values):
            return True
    return False


def is_answer_of_stored(project: Project, value: Value) -> bool:
    """Whether ``value`` only stands for an answer, or part of one, of a client in the settings of an app.

    By its path one slot is as another: so all calls that may give it have to be calls of such a client, and
    nothing else may fill the slot in a way that is not followed (``app.config.update(OPENAI=...)``).
    """
    made = _ANSWER.search(value.path) if isinstance(value, External) else None
    if made is None or not made.string.startswith(_APPS) or not is_stored(project, value):
        return False
    slots = {
        name
        for (owner, name), var in project.external_fields.items()
        if owner.path.startswith(_APPS) and any(isinstance(item, Client) for item in var.values)
    }
    if any(_spells(module, slots) for module in project.modules):
        return False
    path = made.string[: made.end()].removesuffix("()")
    return all(
        call.node in project.sites
        for call, callees in project.callees.items()
        if any(isinstance(callee, External) and callee.path == path for callee in callees)
    )


def _spells(module: Module, names: set[str]) -> bool:
    """Whether one of ``names`` is a keyword, a key that is written in a dict, or a name of its own."""
    for node in module.of(cst.Arg, cst.DictElement, cst.AssignTarget):
        match node:
            case cst.Arg(keyword=cst.Name(value=name)) | cst.AssignTarget(target=cst.Name(value=name)):
                found: object = name
            case cst.DictElement(key=cst.SimpleString() as text):
                found = text.evaluated_value
            case _:
                continue
        if found in names:
            return True
    return False


_APPS = ("flask.Flask()", "quart.Quart()")
_ANSWER = re.compile(r"\.(create|parse)\(\)")


def receiver(node: cst.BaseExpression) -> cst.BaseExpression:
    """``X`` of ``X.chat.completions.create`` and its kin."""
    steps = {
        "create",
        "parse",
        "stream",
        "with_raw_response",
        "with_streaming_response",
        "completions",
        "chat",
        "beta",
    }
    while isinstance(node, cst.Attribute) and node.attr.value in steps:
        node = node.value
    return node


__all__ = [
    "DOUBLES",
    "MOCKS",
    "Owner",
    "in_tests",
    "is_answer_of_stored",
    "is_stored",
    "owner_of",
    "receiver",
]

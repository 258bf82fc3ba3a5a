"""Test doubles of Chat Completions: patches, and mocks that are configured by attribute."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from ..know.kinds import Client, External, Resource
from ..know.models import METHODS, STEPS
from ..know.modules import Module
from ..know.project import Project
from ..results import Level
from .plan import Reason
from .receivers import MOCKS, in_tests, receiver

_CONFIGURED = re.compile(
    r"return_value|side_effect|assert_\w+|called|call_(count|args|args_list)|await_(count|args|args_list)"
    r"|mock_calls|method_calls|(reset|configure|attach)_mock"
)
_TARGET = re.compile(r"(\w+\.)*(\w*[cC]ompletions?\w*)\.(create|acreate|parse|stream)")
_PATCHERS = frozenset({"patch", "object", "setattr", "patch_object", "multiple", "setitem", "stub", "when"})


@dataclass(frozen=True)
class Replaced:
    """Where a program puts something of its own in the place of a method or a part of a client."""

    node: cst.CSTNode
    module: Module


def replaced(project: Project) -> dict[Client, Replaced]:
    """The clients that the project itself changes: ``client.chat.completions.create = ...``, ``setattr``."""
    found: dict[Client, Replaced] = {}
    for module in project.modules:
        for node in module.of(cst.AssignTarget, cst.Call):
            if isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Attribute):
                if node.target.attr.value in STEPS:
                    owner: cst.CSTNode = node.target.value
                else:
                    continue
            elif isinstance(node, cst.Call) and is_patcher(node) and node.args:
                owner = node.args[0].value
            else:
                continue
            for value in project.values(owner):
                if isinstance(value, Resource):
                    found.setdefault(value.client, Replaced(node, module))
                elif isinstance(value, Client) and isinstance(node, cst.AssignTarget):
                    found.setdefault(value, Replaced(node, module))
    return found


def patched_sdk(project: Project) -> list[Replaced]:
    """Where the project puts something in the place of a method of the SDK itself, for all its clients."""
    found: list[Replaced] = []
    for module in project.modules:
        if "ompletions" not in module.text or in_tests(module):
            continue
        for node in module.of(cst.AssignTarget, cst.Call):
            match node:
                case cst.AssignTarget(target=cst.Attribute(value=owner, attr=cst.Name(value=name))) if (
                    name in METHODS
                ):
                    owners = project.values(owner)
                case cst.Call(args=[cst.Arg(value=owner), *_]) if is_patcher(node):
                    owners = project.values(owner)
                case _:
                    continue
            if any(isinstance(value, External) and _IN_SDK.match(value.path) for value in owners):
                found.append(Replaced(node, module))
    return found


_IN_SDK = re.compile(r"openai\..*completions")


def is_patcher(node: cst.CSTNode | None) -> bool:
    """Whether ``node`` calls something that replaces an attribute: ``setattr``, ``patch.object``."""
    if not isinstance(node, cst.Call):
        return False
    match node.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name in _PATCHERS
        case _:
            return False


def _is_set_up(node: cst.BaseExpression) -> bool:
    """Whether ``node`` is what a mock gives back: ``mock_openai.return_value``."""
    while isinstance(node, cst.Attribute):
        if node.attr.value == "return_value":
            return True
        node = node.value
    return False


class Doubles:
    """Recognises the doubles of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def chain(self, node: cst.Attribute, module: Module) -> Reason | None:
        """A reason if the chain ``m.chat.completions.create`` configures or asks a double."""
        parent = module.parents.get(node)
        if isinstance(parent, cst.AssignTarget):
            return self._reason(node, module, "the method is replaced")
        if isinstance(parent, cst.Attribute) and _CONFIGURED.fullmatch(parent.attr.value):
            return self._reason(node, module, f"`.{parent.attr.value}` of a mock")
        if isinstance(parent, cst.Arg) and is_patcher(module.parents.get(parent)):
            return self._reason(node, module, "the method is replaced")
        base = self.project.values(receiver(node))
        is_mock = any(isinstance(value, External) and value.path.startswith(MOCKS) for value in base)
        if is_mock and isinstance(parent, cst.Attribute):
            return self._reason(node, module, f"`.{parent.attr.value}` of a mock")
        if isinstance(parent, cst.Assign) and _is_set_up(receiver(node)):
            return self._reason(node, module, "the method of a mock")
        return None

    def text(self, node: cst.CSTNode, module: Module) -> Reason | None:
        """A reason if the string ``node`` names what a patch replaces."""
        if not isinstance(node, cst.SimpleString) or not isinstance(node.evaluated_value, str):
            return None
        target, parent = node.evaluated_value, module.parents.get(node)
        if not isinstance(parent, cst.Arg) or not is_patcher(module.parents.get(parent)):
            return None
        if not _TARGET.fullmatch(target) or not self._is_ours(target, module):
            return None
        return self._reason(node, module, f"`{target}` is replaced")

    def _is_ours(self, target: str, module: Module) -> bool:
        """Whether a patch of ``target`` can concern an OpenAI client: the SDK, or a module of the project."""
        root = target.partition(".")[0]
        if "openai" in target.lower():
            return True
        return any(root in other.name.split(".") for other in self.project.modules)

    def _reason(self, node: cst.CSTNode, module: Module, detail: str) -> Reason:
        return Reason("MR803", Level.UNSAFE, detail, node, module)

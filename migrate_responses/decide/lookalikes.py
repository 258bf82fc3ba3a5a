"""What is spelled like Chat Completions and is no site: other SDKs, handles, older APIs, batches.

Raw HTTP and test doubles are in :mod:`.texts` and :mod:`.doubles`; :func:`leftovers` puts all together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from ..know import models
from ..know.kinds import Client, Const, DictValue, External, ModuleValue, Resource, Unknown, Value
from ..know.models import METHODS, STORED, WRAPPERS
from ..know.modules import Module, walk
from ..know.project import Project
from ..results import Level, Verdict
from ..secrets import masked
from .doubles import Doubles, replaced
from .endpoints import texts_of
from .mixed import handed_on
from .plan import Reason
from .receivers import Owner, in_tests, owner_of, receiver
from .texts import by_call, raw_http, spelled_way

_VERDICTS = {
    Level.NOTE: Verdict.LEFT,
    Level.SAFE: Verdict.LEFT,
    Level.UNSAFE: Verdict.UNSAFE,
    Level.MANUAL: Verdict.MANUAL,
}
_SENTENCES = {
    "MR010": "where the client comes from is not known: {}",
    "MR011": "the client belongs to {}",
    "MR012": "the client is wrapped by {}",
    "MR013": "`{}` stands in for the SDK",
    "MR014": "`openai` is the project's own {}",
    "MR803": "the client is {}",
}
_NOTES = frozenset({"MR011", "MR012", "MR013", "MR014"})
_LEGACY = re.compile(r"openai\.(\w+(\(\))?\.)?(completions\.create|Completion\.a?create)")
_RESOURCE = re.compile(
    r"openai\.resources\.(beta\.)?chat\.(completions\.)*(chat\.)?(Async)?(Completions|Chat)"
)
_ROUTES = re.compile(r"[\"'/]completions\b|\b(?:exec|eval)\(")
BATCH_URL = "/v1/chat/completions"


@dataclass(frozen=True)
class Leftover:
    """One use that is not migrated by itself: where it is, as written, and why it stays."""

    module: Module
    node: cst.CSTNode
    text: str
    reason: Reason

    @property
    def verdict(self) -> Verdict:
        return _VERDICTS[self.reason.level]

    @property
    def is_double(self) -> bool:
        """Whether it is a mock or a route in a test."""
        return self.reason.code == "MR803" and in_tests(self.module)


def leftovers(project: Project) -> list[Leftover]:
    """Every use of Chat Completions, or of what looks like it, that is no site of ``project``."""
    finder = _Finder(project)
    return [item for module in project.modules for item in finder.module(module)]


class _Finder:
    """Finds the leftovers of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.doubles = Doubles(project)
        self.handed = {
            argument: (resource, name) for resource, (argument, name) in handed_on(project).items()
        }
        self.changed = {client for client, place in replaced(project).items() if not in_tests(place.module)}
        self.texts = texts_of(project)
        self.has_routes = any(_ROUTES.search(module.text) for module in project.modules)
        self.followed: set[cst.CSTNode] = set()
        for site in project.sites.values():
            for resource in site.resources:
                link: Resource | None = resource
                while link is not None:
                    self.followed.add(link.node)
                    link = link.previous

    def module(self, module: Module) -> list[Leftover]:
        """The leftovers of one file, in source order."""
        found: dict[cst.CSTNode, Leftover] = {}
        has_batch = False
        for node in module.of(cst.Attribute, cst.Call, cst.ClassDef, cst.SimpleString, cst.FormattedString):
            match node:
                case cst.ClassDef():
                    reason = self._subclass(node, module)
                case cst.Attribute():
                    reason = self._attribute(node, module)
                case cst.Call():
                    reason = self._call(node, module)
                    has_batch = has_batch or (reason is not None and reason.code == "MR035")
                case cst.SimpleString() | cst.FormattedString() if _mentions(node):
                    reason = raw_http(self.project, node, module) or self.doubles.text(node, module)
                    if reason is None and isinstance(node, cst.SimpleString):
                        reason = spelled_way(self.project, node, module)
                case _:
                    continue
            if reason is not None:
                found[node] = Leftover(module, reason.node, _source(module, reason.node), reason)
        if not has_batch:
            for entry in module.of(cst.DictElement):
                if (reason := self._batch_line(entry, module)) is not None:
                    found[entry] = Leftover(module, entry, _source(module, entry), reason)
        if len(found) < 2:
            return list(found.values())
        return [found[node] for node in walk(module.tree) if node in found]

    # -- attribute chains ----------------------------------------------------------------

    def _attribute(self, node: cst.Attribute, module: Module) -> Reason | None:
        name = node.attr.value
        parent = module.parents.get(node)
        called = parent if isinstance(parent, cst.Call) and parent.func is node else None
        if called is not None and called in self.project.sites:
            return None
        if name in METHODS and _is_chat(node.value):
            return self._method(node, called, module)
        if called is not None and self._is_missing(node):
            detail = f"`{_source(module, node)}` is no method of the SDK"
            return Reason("MR308", Level.MANUAL, detail, node, module)
        if name in ("create", "acreate"):
            return self._older(node, called, module)
        if name in STORED and _is_chat(node.value):
            return self._stored(node, called, module)
        if name in ("chat", "completions"):
            return self._handle(node, module)
        return None

    def _is_missing(self, node: cst.Attribute) -> bool:
        """``client.chat.completions.acreate(...)``, ``client.chat.completion.create(...)``: fails today."""
        name, owners = node.attr.value, self.project.values(node.value)
        if name in METHODS and isinstance(node.value, cst.Attribute):
            name, owners = node.value.attr.value, self.project.values(node.value.value)
        paths = [value.path for value in owners if isinstance(value, Resource)]
        return (
            len(paths) > 0
            and len(paths) == len(owners)
            and not name.startswith("_")
            and name not in WRAPPERS
            and all(path[-1] in ("chat", "completions") and not models.step(path, name) for path in paths)
            and name not in self._given
        )

    @cached_property
    def _given(self) -> set[str]:
        """The attributes that the project itself sets on anything."""
        targets = (target for module in self.project.modules for target in module.of(cst.AssignTarget))
        return {
            target.target.attr.value
            for target in targets
            if isinstance(target, cst.AssignTarget) and isinstance(target.target, cst.Attribute)
        }

    def _method(self, node: cst.Attribute, called: cst.Call | None, module: Module) -> Reason | None:
        """``X.chat.completions.create`` that is no site: called on something else, or not called."""
        double = self.doubles.chain(node, module)
        if double is not None:
            return double
        if called is None and isinstance(module.parents.get(node), cst.Attribute):
            return None  # an attribute of the method: the chain goes on
        values = self.project.values(node)
        if node in self.followed:
            return None
        if any(isinstance(value, Resource) for value in values):
            argument = module.parents.get(node)
            _, name = self.handed.get(argument, (None, "")) if argument is not None else (None, "")
            detail = (
                f"`{node.attr.value}` goes to `{name}`"
                if name
                else f"where `{node.attr.value}` is called is not in sight"
            )
            return Reason("MR034", Level.MANUAL, detail, node, module)
        if called is not None and _has_keyword(self.project, called, "response_model"):
            return Reason("MR012", Level.NOTE, "the call has `response_model=`", node, module)
        return self._foreign(node, module)

    def _foreign(self, node: cst.Attribute, module: Module) -> Reason | None:
        """Whose method ``node`` is, by what its receiver can be."""
        base = receiver(node)
        strangers = [value for value in self.project.values(base) if not isinstance(value, (Client, Const))]
        owners = [owner for value in strangers if (owner := owner_of(self.project, value)) is not None]
        owners += [
            owner
            for value in self.project.values(node)
            if (owner := owner_of(self.project, value)) is not None
        ]
        known = [owner for owner in owners if owner.code in _NOTES]
        unknown = [owner for owner in owners if owner.code == "MR010"]
        if any(owner.code == "MR803" for owner in owners) and (known or unknown or in_tests(module)):
            return None if not known and not unknown else _reason((known or unknown)[0], node, module)
        only_parameters = all(
            isinstance(value, Unknown) and isinstance(value.node, cst.Param)
            for value in strangers
            if isinstance(value, Unknown)
        )
        if known and (only_parameters or not unknown):
            return _reason(known[0], node, module)
        if unknown:
            return _reason(unknown[0], node, module, _assuming(base, strangers))
        return _reason(Owner("MR010", f"`{_source(module, base)}`"), node, module, _assuming(base, strangers))

    def _older(self, node: cst.Attribute, called: cst.Call | None, module: Module) -> Reason | None:
        """``openai.ChatCompletion.create`` and the text completions API."""
        base = node.value
        holder = (
            base.attr.value
            if isinstance(base, cst.Attribute)
            else base.value
            if isinstance(base, cst.Name)
            else ""
        )
        values = self.project.values(node)
        paths = [value.path for value in values if isinstance(value, External)]
        if holder in ("ChatCompletion", "Completion"):
            owner = self._owner_of_class(base, paths)
            if owner is not None:
                return _reason(owner, node, module)
            code = "MR030" if holder == "ChatCompletion" else "MR031"
            is_openai = any(path.startswith("openai.") for path in paths)
            spelled = (
                isinstance(base, cst.Attribute)
                and isinstance(base.value, cst.Name)
                and base.value.value == "openai"
            )
            return (
                Reason(code, Level.MANUAL, "", node, module)
                if is_openai or (spelled and not values)
                else None
            )
        if holder != "completions" or _is_chat(base):
            return None
        if any(_LEGACY.fullmatch(path) for path in paths):
            return Reason("MR031", Level.MANUAL, "", node, module)
        if called is None or (paths and not all(path.startswith("openai.") for path in paths)):
            return None
        unresolved = not values or any(isinstance(value, Unknown) for value in values)
        if unresolved and _has_keyword(self.project, called, "messages"):
            return self._foreign(node, module)
        return None

    def _owner_of_class(self, base: cst.BaseExpression, paths: list[str]) -> Owner | None:
        """Whose ``ChatCompletion`` it is, if not OpenAI's."""
        for path in paths:
            if path.startswith(models.DROP_IN_MODULES):
                return owner_of(self.project, External(path if "openai" in path else f"{path}.openai"))
        if isinstance(base, cst.Attribute):
            for value in self.project.values(base.value):
                if isinstance(value, ModuleValue):
                    return owner_of(self.project, value)
        return None

    def _stored(self, node: cst.Attribute, called: cst.Call | None, module: Module) -> Reason | None:
        values = self.project.values(node)
        if any(isinstance(value, Resource) for value in values):
            return Reason(
                "MR033", Level.MANUAL, f"`{node.attr.value}` reads stored completions", node, module
            )
        if called is None:
            return None
        reason = self._foreign(node, module)
        return reason if reason is not None and reason.code == "MR010" else None

    def _handle(self, node: cst.Attribute, module: Module) -> Reason | None:
        """``client.chat`` or ``client.chat.completions`` that does not lead to a call in sight."""
        parent = module.parents.get(node)
        if node in self.followed or isinstance(parent, cst.Attribute):
            return None
        if isinstance(parent, cst.Call) and parent.func is node:
            return None  # `client.chat(...)` of another SDK; a client of this one would raise
        resources = [value for value in self.project.values(node) if isinstance(value, Resource)]
        if not resources or any(resource.client in self.changed for resource in resources):
            return None  # the sites of a client that the program changes say so themselves
        double = self.doubles.chain(node, module)
        if double is not None:
            return double
        _, name = self.handed.get(parent, (None, "")) if parent is not None else (None, "")
        detail = (
            f"`{node.attr.value}` goes to `{name}`"
            if name
            else f"what is called on `{node.attr.value}` is not in sight"
        )
        return Reason("MR036", Level.MANUAL, detail, node, module)

    # -- calls ---------------------------------------------------------------------------

    def _subclass(self, node: cst.ClassDef, module: Module) -> Reason | None:
        """``class Mine(Completions)``: what is called on it is not in sight."""
        for base in node.bases:
            if self._is_resource(base.value):
                return Reason("MR034", Level.MANUAL, "a class of the SDK is subclassed", base.value, module)
        return None

    def _is_resource(self, node: cst.BaseExpression) -> bool:
        """Whether ``node`` is the class of ``client.chat`` or ``client.chat.completions``."""
        return any(
            isinstance(value, External) and _RESOURCE.fullmatch(value.path) is not None
            for value in self.project.values(node)
        )

    def _call(self, node: cst.Call, module: Module) -> Reason | None:
        if self._is_resource(node.func):
            detail = "a part of a client is made by itself"
            return Reason("MR034", Level.MANUAL, detail, node, module)
        if self.has_routes and (reason := by_call(self.project, self.texts, node, module)) is not None:
            return reason
        match node.func:
            case cst.Attribute(
                value=cst.Attribute(attr=cst.Name(value="batches")), attr=cst.Name(value="create")
            ):
                for arg in node.args:
                    if (
                        arg.keyword is not None
                        and arg.keyword.value == "endpoint"
                        and self._is_batch_url(arg.value)
                    ):
                        return Reason("MR035", Level.MANUAL, "", node, module)
        return None

    def _batch_line(self, node: cst.DictElement, module: Module) -> Reason | None:
        """``"url": "/v1/chat/completions"`` in a line of a batch file."""
        if (
            isinstance(node.key, cst.SimpleString)
            and node.key.evaluated_value == "url"
            and self._is_batch_url(node.value)
        ):
            return Reason("MR035", Level.MANUAL, "", node, module)
        return None

    def _is_batch_url(self, node: cst.BaseExpression) -> bool:
        return any(
            isinstance(value, Const) and value.value == BATCH_URL for value in self.project.values(node)
        )


def _is_chat(node: cst.CSTNode) -> bool:
    """Whether ``node`` is spelled ``....chat.completions``, perhaps with a wrapper after it."""
    while isinstance(node, cst.Attribute) and node.attr.value in WRAPPERS:
        node = node.value
    match node:
        case cst.Attribute(
            value=cst.Attribute(attr=cst.Name(value="chat")), attr=cst.Name(value="completions")
        ):
            return True
        case cst.Attribute(value=cst.Name(value="chat"), attr=cst.Name(value="completions")):
            return True
        case _:
            return False


def _has_keyword(project: Project, call: cst.Call, name: str) -> bool:
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return True
        if arg.star == "**" and any(
            isinstance(value, DictValue) and name in value.places for value in project.values(arg.value)
        ):
            return True
    return False


def _mentions(node: cst.SimpleString | cst.FormattedString) -> bool:
    if isinstance(node, cst.SimpleString):
        return "ompletion" in node.value
    return any(isinstance(part, cst.FormattedStringText) and "ompletion" in part.value for part in node.parts)


def _reason(owner: Owner, node: cst.CSTNode, module: Module, step: str = "") -> Reason:
    level = Level.NOTE if owner.code in _NOTES else Level.UNSAFE if owner.code == "MR803" else Level.MANUAL
    return Reason(owner.code, level, _SENTENCES[owner.code].format(owner.name), node, module, step)


def _assuming(base: cst.BaseExpression, values: Iterable[Value]) -> str:
    """What to do about a client that is not known, if its name can be given; the rule knows it without."""
    parameters = [
        value.node for value in values if isinstance(value, Unknown) and isinstance(value.node, cst.Param)
    ]
    name = base.attr.value if isinstance(base, cst.Attribute) else ""
    name = parameters[0].name.value if parameters else name
    step = f"annotate the client (`{name}: OpenAI`), or use migrate-responses apply --assume-client {name}"
    return step if name else ""


def _source(module: Module, node: cst.CSTNode) -> str:
    text = masked(" ".join(module.tree.code_for_node(node).split()))
    return text if len(text) <= 80 else f"{text[:77]}..."

"""Calls that are not made on an OpenAI client alone: what else the receiver can be, and who else has it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import libcst as cst

from ..config import Settings
from ..know import models
from ..know.kinds import (
    Bound,
    Class,
    Client,
    External,
    Function,
    Instance,
    Partial,
    Resource,
    Site,
    Unknown,
    Value,
)
from ..know.models import METHODS
from ..know.modules import Module
from ..know.others import cannot_chat
from ..know.project import Project
from ..results import Level
from .doubles import patched_sdk, replaced
from .http_clients import has_own_transport, overridden, patched_clients, watched
from .lacking import lacks
from .origins import Origins
from .plan import Reason
from .receivers import DOUBLES, Owner, in_tests, is_stored, owner_of


class Others:
    """Who else has a hand in the calls of one project."""

    def __init__(self, project: Project, origins: Origins) -> None:
        self.project = project
        self.origins = origins
        self.handed = handed_on(project)
        self.replaced = replaced(project)
        self.patched = [*patched_sdk(project), *patched_clients(project)]
        self.watched = watched(project)
        self.overridden = overridden(project)
        self.stored = _also_stored(project)

    def reasons(self, site: Site, settings: Settings) -> Iterator[Reason]:
        """Reasons against ``site`` on account of what else its receiver can be, and who else uses it."""
        yield from _mixed(self.project, site, settings, self.origins)
        for resource in site.resources:
            link: Resource | None = resource
            while link is not None:
                if link in self.handed:
                    _, name = self.handed[link]
                    code = "MR034" if link.path[-1] in METHODS else "MR036"
                    yield Reason(code, Level.MANUAL, f"it also goes to `{name}`", link.node, site.module)
                if link.node in self.stored:
                    node, module = self.stored[link.node]
                    detail = f"`{node.attr.value}` is called on the same object"
                    yield Reason("MR033", Level.MANUAL, detail, node, module)
                link = link.previous
        for client in site.clients:
            place = self.replaced.get(client)
            if place is not None and in_tests(place.module):
                yield Reason("MR803", Level.UNSAFE, "a test replaces the method", place.node, place.module)
            elif place is not None:
                yield Reason("MR034", Level.MANUAL, "the method is replaced", place.node, place.module)
            for place in self.overridden.get(client, ()):
                detail = "this method of the client gets requests or answers before anybody else"
                step = "see what it does with them, and migrate both by hand"
                yield Reason("MR036", Level.MANUAL, detail, place.node, place.module, step)
        yield from self._of_program(site)

    def _of_program(self, site: Site) -> Iterator[Reason]:
        """What the program does to the SDK, or to the requests and answers on their way."""
        program = self.project.program(site.module)
        for place in self.patched:
            if place.module in program:
                detail = "the method of the SDK is replaced"
                yield Reason("MR034", Level.MANUAL, detail, place.node, place.module)
        if not any(map(has_own_transport, site.clients)):
            return
        for place in self.watched:
            if place.module in program:
                test = in_tests(place.module)
                code, level = ("MR803", Level.UNSAFE) if test else ("MR036", Level.MANUAL)
                detail = "this HTTP client hands requests to code that may look into them"
                yield Reason(code, level, detail, place.node, place.module)


def _also_stored(project: Project) -> dict[cst.CSTNode, tuple[cst.Attribute, Module]]:
    """The parts of clients on which methods for stored completions are called, with one such call each."""
    found: dict[cst.CSTNode, tuple[cst.Attribute, Module]] = {}
    for module in project.modules:
        for node in module.of(cst.Attribute):
            if not isinstance(node, cst.Attribute) or node.attr.value not in models.STORED:
                continue
            for value in project.values(node):
                link = value.previous if isinstance(value, Resource) else None
                while link is not None:
                    found.setdefault(link.node, (node, module))
                    link = link.previous
    return found


def _mixed(project: Project, site: Site, settings: Settings, origins: Origins) -> Iterator[Reason]:
    """Reasons against ``site`` when its receiver is not always an OpenAI client; one of a kind."""
    assumed = any(client in project.assumed_clients for client in site.clients)
    found: dict[str, Reason] = {}
    for node, step in _receivers(project, site).items():
        for value in project.values(node):
            if step in _PARTS and lacks(project, value, step):
                continue  # an error before and after
            owner = _stranger(project, value, settings, assumed)
            if owner is None and not step:
                owner = _in_place_of(value)
            if owner is None:
                continue
            is_double = owner.code == "MR803" or is_fake(value)
            code, level = ("MR803", Level.UNSAFE) if is_double else (owner.code, Level.MANUAL)
            detail = f"the receiver can also be {owner.name}"
            found.setdefault(code, Reason(code, level, detail, site.node, site.module))
        var = project.vars.get(node)
        if var is not None and not assumed and origins.unseen(var) is not None:
            detail = "the receiver can also be something that could not be followed"
            found.setdefault("MR010", Reason("MR010", Level.MANUAL, detail, site.node, site.module))
    if settings.packaged and not assumed and _is_of_tests(project, site):
        detail = "only tests hand in a client here; who installs the package may hand in another"
        found.setdefault("MR010", Reason("MR010", Level.MANUAL, detail, site.node, site.module))
    yield from found.values()


def _is_of_tests(project: Project, site: Site) -> bool:
    """Whether the clients of a call outside the tests are all made in tests, and nowhere declared."""
    if not site.clients or in_tests(site.module):
        return False
    declared = {value for gate in project.gates for value in gate.target.values}
    return all(in_tests(client.module) and client not in declared for client in site.clients)


_PARTS = frozenset({"chat", "beta", "completions"})  # of a client, with parts of their own


def _receivers(project: Project, site: Site) -> dict[cst.CSTNode, str]:
    """The expressions from which the client comes to ``site``: the client, and handles on the way.

    Each with the attribute that is read of it there.
    """
    nodes: dict[cst.CSTNode, str] = {}
    for resource in site.resources:
        link: Resource | None = resource
        while link is not None:
            previous = link.previous
            handle = previous is None or previous.node is not getattr(link.node, "value", None)
            if isinstance(link.node, cst.Attribute) and handle:
                nodes[link.node.value] = link.node.attr.value
            link = previous
    called = project.values(site.node.func)
    if any(isinstance(value, (Resource, Partial)) for value in called):
        nodes[site.node.func] = ""
    return nodes


def _stranger(project: Project, value: Value, settings: Settings, assumed: bool) -> Owner | None:
    """Whose ``value`` is, if it stands in the way of the migration."""
    if isinstance(value, (Client, Resource, Partial)):
        return None
    if isinstance(value, Unknown) and (
        assumed
        or (_is_parameter(value) and (not settings.packaged or "dynamic" in settings.assume_responses))
    ):
        return None  # nobody here passes anything: what is known of the call is its own default
    if isinstance(value, External) and (assumed or value.path == "openai" or is_stored(project, value)):
        return None
    if isinstance(value, External) and cannot_chat(value.path):
        return None  # the call is never made on it
    if isinstance(value, External) and value.path.startswith(models.INJECTED):
        return None  # a marker that the framework replaces
    return owner_of(project, value)


def _in_place_of(value: Value) -> Owner | None:
    """Whose ``value`` is, if a function of the program is called in the place of the method.

    ``create = dry_run if args.dry else client.chat.completions.create``: it gets arguments in the old form.
    A wrapper that hands on whatever it gets is looked through, and what tests put there has rules of its own.
    """
    function = value.function if isinstance(value, Bound) else value
    if not isinstance(function, Function) or is_fake(function):
        return None
    if function.star is not None and function.double_star is not None:
        return None
    return Owner("MR010", f"the function `{function.name}`")


_OF_PARAMETER = re.compile(r" of parameter `\w+`$")  # an attribute of it


def _is_parameter(value: Unknown) -> bool:
    return isinstance(value.node, cst.Param) or _OF_PARAMETER.search(value.why) is not None


def is_fake(value: Value) -> bool:
    """Whether ``value`` is something that the tests define: a fake, or a method of one."""
    match value:
        case Instance(type=cls) | (Class() as cls):
            return in_tests(cls.module)
        case Bound(function=function) | (Function() as function):
            return in_tests(function.module)
        case External(path=path):
            return path.startswith(DOUBLES)
        case _:
            return False


def handed_on(project: Project) -> dict[Resource, tuple[cst.CSTNode, str]]:
    """The client parts that code outside the project gets: each with the argument, and who gets it."""
    found: dict[Resource, tuple[cst.CSTNode, str]] = {}
    for call, callees in project.callees.items():
        strangers = [callee for callee in callees if isinstance(callee, (External, Unknown))]
        if not strangers:
            continue
        name = next(
            (callee.path for callee in strangers if isinstance(callee, External)), "an unknown function"
        )
        if _passes_on(name):
            continue
        for argument in call.arguments:
            for value in list(argument.var.values):
                if isinstance(value, Resource) and value not in found:
                    found[value] = (argument.node, name)
    return found


def _passes_on(path: str) -> bool:
    """Whether the analysis follows what is given to the function at ``path``."""
    tail = path.rpartition(".")[2]
    return (
        path in models.RUNNERS
        or path in models.IDENTITY
        or path in models.METADATA
        or path in models.TASKS
        or tail in models.RUNNER_METHODS
        or path
        in ("functools.partial", "threading.Thread", "builtins.getattr", "builtins.hasattr", "builtins.map")
        or path.startswith(("builtins.", "unittest.mock.", "mock."))
    )


def is_same_call(value: Value, sites: Collection[Site]) -> bool:
    """Whether ``value`` is what one of ``sites`` itself gives on a client that somebody else passes in.

    Such a client is judged with the call, as part of its receiver.
    """
    return isinstance(value, Unknown) and any(value.node is site.node for site in sites)

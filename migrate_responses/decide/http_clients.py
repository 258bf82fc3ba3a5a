"""HTTP clients that look into requests or answers: ``OpenAI(http_client=httpx.Client(event_hooks=...))``."""

from __future__ import annotations

import re

import libcst as cst

from ..know import models
from ..know.kinds import Bound, Client, DictValue, External, Function, Instance, Partial, SeqValue, Value
from ..know.project import Project
from .doubles import Replaced
from .receivers import in_tests

_CLIENTS = re.compile(r"(httpx\w*\.(Async)?Client|openai\.Default(Async)?(Httpx|Aiohttp)Client)")
_PLAIN = re.compile(r".*HTTPTransport\(\)|.*Limits\(\)")
_WATCHING = frozenset({"transport", "event_hooks", "mounts", "auth"})


def watched(project: Project) -> list[Replaced]:
    """Where HTTP clients are made that hand requests to something other than the network."""
    found = []
    for call in project.invocations:
        paths = [value.path for value in project.callees.get(call, {}) if isinstance(value, External)]
        if not any(_CLIENTS.fullmatch(path) for path in paths):
            continue
        for argument in call.arguments:
            if argument.keyword in _WATCHING and any(map(_looks, argument.var.values)):
                found.append(Replaced(call.node, call.module))
                break
    return found


def overridden(project: Project) -> dict[Client, list[Replaced]]:
    """The clients with methods of the project's own on the way of a request: ``class Audit(OpenAI)``."""
    found: dict[Client, list[Replaced]] = {}
    made = {client.node: client for client in project.clients.values()}
    for cls in project.classes.values():
        family = [cls, *project.ancestors(cls)]
        client = next((made[one.node] for one in family if one.node in made), None)
        if client is not None:
            found.setdefault(client, []).extend(
                Replaced(method.node, method.module)
                for method in project.functions.values()
                if method.owner is cls and method.name in ON_THE_WAY
            )
    for client in project.clients.values():
        for name, _, node in client.overrides:
            if name in ON_THE_WAY:
                module = next((one for one in project.modules if node in one.parents), client.module)
                found.setdefault(client, []).append(Replaced(node, module))
    return found


def patched_clients(project: Project) -> list[Replaced]:
    """Where the project replaces such a method for all clients: ``OpenAI._prepare_options = ...``."""
    found: list[Replaced] = []
    for module in project.modules:
        if in_tests(module) or not any(name in module.text for name in ON_THE_WAY):
            continue
        for node in module.of(cst.AssignTarget, cst.Call):
            match node:
                case cst.AssignTarget(target=cst.Attribute(value=owner, attr=cst.Name(value=name))):
                    pass
                case cst.Call(
                    func=cst.Name(value="setattr"),
                    args=[cst.Arg(value=owner), cst.Arg(value=cst.SimpleString() as text), *_],
                ):
                    name = str(text.evaluated_value)
                case _:
                    continue
            if name in ON_THE_WAY and any(map(_is_sdk_class, project.values(owner))):
                found.append(Replaced(node, module))
    return found


def _is_sdk_class(value: Value) -> bool:
    return isinstance(value, External) and (
        models.is_client_class(value.path) or value.path.startswith("openai._base_client.")
    )


# Methods of openai._base_client.SyncAPIClient that see what is sent or what comes back.
ON_THE_WAY = frozenset(
    """request post _request _build_request _prepare_options _prepare_request _prepare_url _process_response
    _retry_request _should_retry _make_status_error""".split()
)


def has_own_transport(client: Client) -> bool:
    """Whether ``client`` is made with an HTTP client."""
    link: Client | None = client
    while link is not None:
        if "http_client" in link.arguments:
            return True
        link = link.base
    return False


def _looks(value: Value) -> bool:
    """Whether a transport, or what is hooked to one, is code of the project or a double."""
    match value:
        case External(path=path):
            return _PLAIN.fullmatch(path) is None
        case DictValue(everything=everything):
            return any(map(_looks, everything.values))
        case SeqValue(element=element, items=items):
            return any(_looks(inner) for var in (element, *items.values()) for inner in var.values)
        case _:
            return isinstance(value, (Bound, Function, Instance, Partial))

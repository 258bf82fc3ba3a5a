"""HTTP clients that look into requests or answers: ``OpenAI(http_client=httpx.Client(event_hooks=...))``."""

from __future__ import annotations

import re

from ..know.kinds import Bound, Client, DictValue, External, Function, Instance, Partial, SeqValue, Value
from ..know.project import Project
from .doubles import Replaced

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

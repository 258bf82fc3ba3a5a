"""API keys of OpenAI that are written in the code: none of this migration's business, but worth a word."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..config import Settings
from ..know.graph import Var
from ..know.kinds import Client, Const, Env, Value
from ..know.project import Project
from ..results import Level
from ..secrets import is_openai_key
from .ambient import Ambient
from .plan import Reason

CODE = "MR015"
VARIABLES = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_KEY")
_ARGUMENT = "api_key"


def hard_coded(project: Project, settings: Settings) -> Iterator[Reason]:
    """A note for each key in the code that goes to an OpenAI client, or into the environment for one."""
    if CODE.startswith(tuple(settings.ignore)) or not CODE.startswith(tuple(settings.select) or ("",)):
        return
    ignored = dict(settings.file_ignores)
    ambient = Ambient(project)
    told: set[cst.CSTNode] = set()
    for var in _receivers(project, ambient):
        for node in _keys(list(var.values)):
            module = ambient.module_of(node)
            if module is None or node in told or CODE.startswith(tuple(ignored.get(module.path, ()))):
                continue
            told.add(node)
            yield Reason(CODE, Level.NOTE, "an API key is written in the code", node, module)


def _receivers(project: Project, ambient: Ambient) -> Iterator[Var]:
    clients: list[Client] = list(project.clients.values())
    if project.openai_module is not None:
        clients.append(project.openai_module)
    for client in clients:
        if _ARGUMENT in client.arguments:
            yield client.arguments[_ARGUMENT]
        yield from (var for name, var, _ in client.overrides if name == _ARGUMENT)
    for name in VARIABLES:
        yield from ambient.assigned(name)


def _keys(values: list[Value]) -> Iterator[cst.CSTNode]:
    for value in values:
        match value:
            case Const(value=str(text), node=node) if is_openai_key(text):
                yield node
            case Env(default=Var() as default):
                yield from _keys([other for other in default.values if isinstance(other, Const)])

"""What a parameter that nobody here fills is, told by whose hands it goes into.

``class Judge: def __init__(self, client)`` that nobody makes gives its client to ``ask(client)``, and to that
function everybody else gives an OpenAI client. So this one has to be one too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from .graph import Var
from .kinds import Client, Resource, Site, Unknown, Value
from .testing import in_tests

if TYPE_CHECKING:
    from .project import Project


def clients_by_use(project: Project) -> Iterator[tuple[Var, list[Client]]]:
    """The parameters of which nothing is known, and the clients that come to the same calls."""
    owners: dict[cst.CSTNode, Var] | None = None
    for site in list(project.sites.values()):
        clients = [client for client in site.clients if not in_tests(client.module)]
        receivers = list(_receivers(project, site))
        unknown = [value.node for value in receivers if isinstance(value, Unknown)]
        if not clients or not unknown or not all(isinstance(value, (Client, Unknown)) for value in receivers):
            continue
        owners = owners if owners is not None else _parameters(project)
        for node in unknown:
            var = owners.get(node) if node is not None else None
            if var is not None and all(isinstance(value, Unknown) for value in var.values):
                yield var, clients


def _receivers(project: Project, site: Site) -> Iterator[Value]:
    """What the client of ``site`` can be, where the call takes it."""
    for resource in site.resources:
        first: Resource = resource
        while first.previous is not None:
            first = first.previous
        if isinstance(first.node, cst.Attribute):
            yield from project.values(first.node.value)


def _parameters(project: Project) -> dict[cst.CSTNode, Var]:
    """The variable of each parameter of the program, by where it is written."""
    found: dict[cst.CSTNode, Var] = {}
    for node, function in project.functions.items():
        if isinstance(node, cst.FunctionDef) and not in_tests(function.module):
            for param in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
                found[param] = function.parameters[param.name.value]
    return found

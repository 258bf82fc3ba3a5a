"""Requests made by hand: string literals that name the Chat Completions route."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import libcst as cst

from ..know.kinds import External
from ..know.modules import Module, dotted
from ..know.project import Project
from ..results import Level
from . import providers
from .plan import Reason

_ROUTE = re.compile(r"\S*chat/completions/?(\?\S*)?")
_HTTP_MODULES = frozenset(
    {"requests", "httpx", "httpx2", "aiohttp", "urllib", "urllib3", "http", "niquests", "pycurl"}
)
_HTTP_METHODS = frozenset(
    {"post", "request", "urlopen", "Request", "build_request", "stream", "fetch", "send"}
)
_ROUTE_DOUBLES = frozenset(
    {"respx", "responses", "requests_mock", "httpretty", "pytest_httpx", "aioresponses"}
)
_DOUBLE_NAMES = ("respx_mock", "httpx_mock", "requests_mock", "respx", "responses", "httpretty", "httpserver")
_GAP = "\0"


def raw_http(project: Project, node: cst.SimpleString | cst.FormattedString, module: Module) -> Reason | None:
    """A reason if the literal ``node`` is the address of a request made by hand, or of a mocked route."""
    text = _text(node)
    if text is None or not _ROUTE.fullmatch(text):
        return None
    absolute = "://" in text
    whole: cst.CSTNode = node
    parent = module.parents[node]
    while isinstance(parent, (cst.BinaryOperation, cst.ConcatenatedString)):  # base + "/chat/completions"
        absolute = absolute or (isinstance(parent, cst.BinaryOperation) and parent.right is whole)
        whole, parent = parent, module.parents[parent]
    if isinstance(parent, (cst.Expr, cst.ComparisonTarget, cst.Comparison, cst.DictElement)) and not (
        absolute and isinstance(parent, cst.DictElement)
    ):
        return None  # a docstring, a test of a path, an entry that names a route
    call = module.parents.get(parent) if isinstance(parent, cst.Arg) else None
    if any(isinstance(outer, cst.Decorator) for outer in module.ancestors(node)):
        return None  # a route that the project serves itself
    if isinstance(call, cst.Call) and _is_double(project, call):
        return Reason("MR803", Level.UNSAFE, "a mocked route", node, module)
    if not (absolute or text.startswith(_GAP) or (isinstance(call, cst.Call) and _is_request(project, call))):
        return None
    if isinstance(call, cst.Call) and _is_said(project, call):
        return None
    return _by_host(text, node, module)


def _by_host(text: str, node: cst.CSTNode, module: Module) -> Reason:
    try:
        split = urlsplit(text.replace(_GAP, "gap"))
    except ValueError:
        split = urlsplit("")
    host = (split.hostname or "").lower()
    if host and "gap" not in host and not providers.is_openai(host) and not providers.is_azure(host):
        provider = providers.find(split)
        return Reason(
            "MR011", Level.NOTE, f"the request goes to {provider.name if provider else host}", node, module
        )
    return Reason("MR032", Level.MANUAL, "", node, module)


def _text(node: cst.SimpleString | cst.FormattedString) -> str | None:
    if isinstance(node, cst.FormattedString):
        return "".join(
            part.value if isinstance(part, cst.FormattedStringText) else _GAP for part in node.parts
        )
    return node.evaluated_value if isinstance(node.evaluated_value, str) else None


def _callee(project: Project, call: cst.Call) -> tuple[set[str], str, str]:
    """The packages ``call`` can belong to, the name of what is called, and the name it is called on."""
    roots = {
        value.path.partition(".")[0] for value in project.values(call.func) if isinstance(value, External)
    }
    name = dotted(call.func)
    head, _, tail = name.rpartition(".")
    if isinstance(call.func, cst.Attribute):
        tail = call.func.attr.value
    return roots, tail, head


def _is_double(project: Project, call: cst.Call) -> bool:
    roots, _, head = _callee(project, call)
    return bool(roots & _ROUTE_DOUBLES) or head.rpartition(".")[2] in _DOUBLE_NAMES or head in _DOUBLE_NAMES


def _is_request(project: Project, call: cst.Call) -> bool:
    roots, tail, _ = _callee(project, call)
    return bool(roots & _HTTP_MODULES) or tail in _HTTP_METHODS


def _is_said(project: Project, call: cst.Call) -> bool:
    """Whether ``call`` only shows or takes apart the text."""
    roots, tail, head = _callee(project, call)
    if tail in (
        "print",
        "endswith",
        "startswith",
        "replace",
        "removesuffix",
        "rstrip",
        "split",
        "strip",
        "add_argument",
    ):
        return True
    return "logging" in roots or head.rpartition(".")[2] in ("logger", "log", "logging")

"""Requests made by hand: string literals that name the Chat Completions route."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import urlsplit

import libcst as cst

from ..know.kinds import Const, External
from ..know.modules import Module, dotted, walk
from ..know.project import Project
from ..results import Level
from . import providers
from .plan import Reason
from .receivers import in_tests
from .urls import Texts

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
    if isinstance(parent, cst.Attribute) and parent.attr.value == "format":
        whole = module.parents[parent]  # "{}/chat/completions".format(base)
        absolute, parent = absolute or text.startswith("{"), module.parents[whole]
    if isinstance(parent, cst.AugAssign) and isinstance(parent.operator, cst.AddAssign):
        absolute = True  # url += "/chat/completions"
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
    if isinstance(call, cst.Call) and (_is_said(project, call) or _is_made_up(project, call, module)):
        return None
    return _by_host(text, node, module)


def by_call(project: Project, texts: Texts, call: cst.Call, module: Module) -> Reason | None:
    """A reason if ``call`` is a request to the route, puts its address together, or runs such code."""
    return (
        _computed_route(project, texts, call, module)
        or _in_pieces(call, module)
        or _code_in_text(project, call, module)
    )


def _computed_route(project: Project, texts: Texts, call: cst.Call, module: Module) -> Reason | None:
    """A reason if ``call`` is a request by hand whose address is put together or written elsewhere."""
    if not _is_request(project, call) or _is_double(project, call):
        return None
    placed = [arg for arg in call.args if arg.keyword is None and not arg.star][:2]
    for arg in (*placed, *(arg for arg in call.args if arg.keyword and arg.keyword.value == "url")):
        var = project.vars.get(arg.value)
        if var is None or isinstance(arg.value, cst.SimpleString):
            continue
        for found in texts.read(var):
            if found.text is not None and _ROUTE.fullmatch(found.text):
                pieces = [arg.value, *([found.node] if found.node is not None else [])]
                if not any(_is_told(project, piece) for piece in pieces):
                    return _by_host(found.text, arg.value, module)
    return None


def _in_pieces(call: cst.Call, module: Module) -> Reason | None:
    """``"/".join([base, "chat", "completions"])``, ``url("chat", "completions")`` where requests are made."""
    if _REQUESTS.search(module.text) is None:
        return None
    rows = [[arg.value for arg in call.args]]
    rows += [
        [element.value for element in one.elements]
        for one in rows[0]
        if isinstance(one, (cst.List, cst.Tuple))
    ]
    for row in rows:
        for first, second in pairwise(row):
            if _says(first, "chat") and _says(second, "completions"):
                return Reason("MR032", Level.MANUAL, "", call, module)
    return None


_REQUESTS = re.compile(rf"\b(?:{'|'.join(sorted(_HTTP_MODULES))})\b")


def _says(node: cst.BaseExpression, word: str) -> bool:
    return isinstance(node, cst.SimpleString) and node.evaluated_value == word


def _code_in_text(project: Project, call: cst.Call, module: Module) -> Reason | None:
    """``exec(code)`` of a text that calls Chat Completions."""
    match call:
        case cst.Call(func=cst.Name(value="exec" | "eval"), args=[cst.Arg(value=code), *_]):
            texts = [value.value for value in project.values(code) if isinstance(value, Const)]
            if any(isinstance(text, str) and "chat.completions." in text for text in texts):
                return Reason("MR034", Level.MANUAL, "the call is in a text that is run", call, module)
    return None


def _is_told(project: Project, node: cst.CSTNode) -> bool:
    """Whether a literal in ``node`` is reported itself."""
    module = next((one for one in project.modules if node in one.parents), None)
    return module is not None and any(
        raw_http(project, literal, module) is not None
        for literal in walk(node)
        if isinstance(literal, (cst.SimpleString, cst.FormattedString))
    )


_GETTERS = frozenset({"operator.attrgetter", "operator.methodcaller"})
_WAY = re.compile(r"(beta\.)?chat\.completions\.(create|parse|stream)")


def spelled_way(project: Project, node: cst.SimpleString, module: Module) -> Reason | None:
    """``attrgetter("chat.completions.create")``, or ``.split(".")`` of that text: a call out of sight."""
    text = node.evaluated_value
    if not isinstance(text, str) or not _WAY.fullmatch(text):
        return None
    parent = module.parents[node]
    call = module.parents.get(parent)
    is_split = isinstance(parent, cst.Attribute) and parent.attr.value == "split"
    getters = project.values(call.func) if isinstance(call, cst.Call) and isinstance(parent, cst.Arg) else []
    if is_split or any(isinstance(one, External) and one.path in _GETTERS for one in getters):
        return Reason("MR034", Level.MANUAL, "the method is found by its name", node, module)
    return None


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


def _is_made_up(project: Project, call: cst.Call, module: Module) -> bool:
    """Whether ``call`` makes a request in a test that sends none: for an error that a double raises."""
    roots, tail, _ = _callee(project, call)
    sends = (".send(", "urlopen(", ".handle_request(", ".handle_async_request(")
    return (
        tail == "Request"
        and bool(roots)
        and roots <= {"httpx", "httpx2"}
        and in_tests(module)
        and not any(word in module.text for word in sends)
    )


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

"""Messages with a ``name``, which Responses refuses, where no rule can take it out (MR205, trap B1).

It is poured into a message (``**extra``, ``m.update(...)``), or is a field of a class whose objects are
turned into messages out of sight (``asdict(m)``, ``m.model_dump()``), or stands in a text of JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from ..know.kinds import DictValue, Site
from ..know.modules import Module, parameters
from .context import Context

LEAVE_OUT = "leave it out of what is sent"
_MESSAGE = frozenset({"role", "content"})
_NAMED = _MESSAGE | {"name"}
_LOADERS = ("loads", "literal_eval", "safe_load")
_ONLY_WORDS = re.compile(r"\w+(?:\s+\w+){1,7}")
_LISTED = re.compile(r"\w+(?:\s*,\s*\w+)+")
_SPELLED = (
    re.compile(r"""["']role["']\s*:\s*["'](?:system|developer|user|assistant)["']"""),
    re.compile(r"""["']name["']\s*:"""),
)


def is_poured(message: DictValue) -> bool:
    """Whether ``message`` gets a ``name`` from another dict, in which it cannot be told from others."""
    var = message.fields.get("name")
    if var is None or "name" in message.places:
        return False
    return bool(var.values)  # None as well: Chat Completions takes null


def origin_of_names(context: Context, site: Site) -> str | None:
    """What in the program of ``site`` makes messages with names, for messages that nobody here writes out."""
    known = context.memo.setdefault("named messages", {})
    assert isinstance(known, dict)
    for module in context.project.alongside(site.module):
        if module not in known:
            known[module] = next(_origins(module), None)
        if known[module] is not None:
            return str(known[module])
    return None


def _origins(module: Module) -> Iterator[str]:
    called = dict(_called_with_names(module))
    for node in module.of(cst.ClassDef):
        assert isinstance(node, cst.ClassDef)
        fields, is_open = _fields(node)
        named = "name" in fields or (is_open and node.name.value in called)
        if fields >= _MESSAGE and named:
            yield f"a `{node.name.value}` can have a `name`"
    for made in module.of(cst.FunctionDef):
        assert isinstance(made, cst.FunctionDef)
        takes = {one.name.value for one in parameters(made.params)} if made.params.star_kwarg else set()
        if made.name.value in called and takes >= _MESSAGE:
            yield f"`{made.name.value}` is called with a `name`"
    for name, names in called.items():
        if names >= _MESSAGE and name != "dict":
            yield f"`{name}` is called with a `name`"
    if any(_writes_name(node) for node in module.of(cst.Dict)):
        yield "a dict with a role and a content has a `name`"
    if any(loader in module.text for loader in _LOADERS):
        for text in module.of(cst.SimpleString):
            value = text.evaluated_value if isinstance(text, cst.SimpleString) else None
            if isinstance(value, str) and all(sign.search(value) for sign in _SPELLED):
                yield "a text of JSON names one"
    yield from _columns(module)


def _writes_name(node: cst.CSTNode) -> bool:
    """``{"role": "user", "content": q, "name": "bob"}``; results of tools have names of their own."""
    assert isinstance(node, cst.Dict)
    given = {
        item.key.evaluated_value: item.value
        for item in node.elements
        if isinstance(item, cst.DictElement) and isinstance(item.key, cst.SimpleString)
    }
    if not given.keys() >= _NAMED or "tool_call_id" in given:
        return False
    match given["role"], given["name"]:
        case (cst.SimpleString(), _) if given["role"].evaluated_value in ("tool", "function"):
            return False
        case (_, cst.Name(value="None")):
            return False
        case _:
            return True


def _columns(module: Module) -> Iterator[str]:
    """``FIELDS = ("role", "name", "content")``, ``namedtuple("Message", "role content name")``."""
    for kind in (cst.Tuple, cst.List):
        for node in module.of(kind):
            assert isinstance(node, (cst.Tuple, cst.List))
            texts = [one.value for one in node.elements if isinstance(one.value, cst.SimpleString)]
            if {text.evaluated_value for text in texts} >= _NAMED:
                yield "a list of fields has a `name`"
    for text in module.of(cst.SimpleString):
        value = text.evaluated_value if isinstance(text, cst.SimpleString) else None
        if isinstance(value, str) and "role" in value:
            runs = [value] if _ONLY_WORDS.fullmatch(value) else _LISTED.findall(value)
            if any(set(re.split(r"[\s,]+", run)) >= _NAMED for run in runs):
                yield "a list of fields has a `name`"


def _called_with_names(module: Module) -> Iterator[tuple[str, set[str]]]:
    """What is called with a keyword ``name``, and all keywords of that call."""
    for call in module.of(cst.Call):
        assert isinstance(call, cst.Call)
        given = {arg.keyword.value for arg in call.args if arg.keyword is not None}
        if "name" not in given:
            continue
        match call.func:
            case cst.Name(value=name):
                yield name, given
            case cst.Attribute(value=base, attr=cst.Name(value=name)):
                yield name, given
                if isinstance(base, cst.Name):
                    yield base.value, given  # ``Message.user("Hi", name="ann")``
            case _:
                continue


def _fields(node: cst.ClassDef) -> tuple[set[str], bool]:
    """The declared fields of a class and the parameters of its ``__init__``; whether it takes others too."""
    found: set[str] = set()
    is_open = False
    for line in node.body.body:
        match line:
            case cst.FunctionDef(name=cst.Name(value="__init__"), params=params):
                found.update(one.name.value for one in parameters(params))
                is_open = params.star_kwarg is not None
            case cst.SimpleStatementLine(body=body):
                for part in body:
                    if isinstance(part, cst.AnnAssign) and isinstance(part.target, cst.Name):
                        found.add(part.target.value)
            case _:
                continue
    return found, is_open

"""The ways to a client, and the ways to ask it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .writer import Lines, Writer, block

Options = list[tuple[str, str]]


@dataclass
class Client:
    """``at(file)`` is the client in a file; functions that ask may have to take it as a parameter."""

    at: Callable[[str], str]
    parameter: str = ""
    argument: str = ""
    wraps: list[str] = field(default_factory=list)  # heads of blocks that the program stands in


def client(w: Writer) -> Client:
    """A client, defined where the layout wants it."""
    home = w.home("clients")
    name = "AsyncOpenAI" if w.asynchronous else "OpenAI"
    way = w.piece(
        "client",
        "global", "alias", "attribute", "parameter", "late", "factory", "cached", "module", "property",
        "dataclass", "with", "options", "dict", "tuple", "class_attribute", "subclass", "switch",
    )  # fmt: skip
    if way == "module" and not w.asynchronous:
        return Client(lambda file: w.imported(file, "openai"))
    if way == "parameter":
        w.need(w.home("service"), f"from openai import {name}")
        w.need("main", f"from openai import {name}")
        return Client(lambda file: "client", f"client: {name}", f"{name}()")
    if way == "with" and w.layout == "one" and not w.asynchronous:
        w.need("main", f"from openai import {name}")
        return Client(lambda file: "client", wraps=[f"with {name}() as client:"])
    made, expression, rebound = _MAKERS.get(way, _MAKERS["global"])
    w.need(home, "import openai as oa" if way == "alias" else f"from openai import {name}")
    for line in _IMPORTS.get(way, ()):
        w.need(home, line)
    w.add(home, *(line.replace("OpenAI", name) for line in made), "", "")
    root, _, rest = expression.partition("|")
    return Client(lambda file: w.at(file, root, home, rebound) + rest)


_IMPORTS = {
    "cached": ["import functools"],
    "dataclass": ["from dataclasses import dataclass, field"],
}
# What is written, and the client: the name to import before the bar, and what follows it.
_MAKERS: dict[str, tuple[Lines, str, bool]] = {
    "global": (["client = OpenAI()"], "client", False),
    "alias": (["client = oa.OpenAI()"], "client", False),
    "attribute": (
        ["class Holder:", "    def __init__(self):", "        self.client = OpenAI()", "", "holder = Holder()"],
        "holder|.client", False,
    ),
    "late": (
        ["_client = None", "def setup():", "    global _client", "    _client = OpenAI()", "setup()"],
        "_client", True,
    ),
    "factory": (["def get_client():", "    return OpenAI()"], "get_client|()", False),
    "cached": (["@functools.lru_cache", "def get_client():", "    return OpenAI()"], "get_client|()", False),
    "property": (
        ["class Holder:", "    @property", "    def client(self):", "        return OpenAI()", "holder = Holder()"],
        "holder|.client", False,
    ),
    "dataclass": (
        ["@dataclass", "class Holder:", "    client: OpenAI = field(default_factory=OpenAI)", "holder = Holder()"],
        "holder|.client", False,
    ),
    "options": (["base = OpenAI()", "client = base.with_options(max_retries=1)"], "client", False),
    "dict": (['CLIENTS = {"main": OpenAI()}'], 'CLIENTS|["main"]', False),
    "tuple": (["client, name = OpenAI(), 'main'"], "client", False),
    "class_attribute": (["class Holder:", "    client = OpenAI()"], "Holder|.client", False),
    "subclass": (["class Mine(OpenAI):", "    pass", "client = Mine()"], "client", False),
    "switch": (
        ["import os", "if os.getenv('FAST'):", "    client = OpenAI(timeout=5)", "else:", "    client = OpenAI()"],
        "client", False,
    ),
}  # fmt: skip


def ask(w: Writer, file: str, create: str, options: Options) -> tuple[Lines, str]:
    """Lines that come first, and the expression that asks, in a function of ``file``."""
    w.sites += 1
    way = w.piece(
        "asks",
        "keywords", "splat", "built", "updated", "merged", "partial", "wrapper", "wrapper_default",
        "reference", "mixed", "conditional", "setdefault", "dict_call", "module_dict", "completions",
    )  # fmt: skip
    if way == "keywords" or (
        way in ("wrapper", "wrapper_default", "module_dict") and "client" in create.split(".")[0]
    ):
        return [], f"{create}({_keywords(options)})"
    first, rest = options[:2], options[2:]
    match way:
        case "splat":
            return [f"params = {_dict(options)}"], f"{create}(**params)"
        case "dict_call":
            return [f"params = dict({_keywords(options)})"], f"{create}(**params)"
        case "built":
            stores = [f'params["{key}"] = {value}' for key, value in rest]
            return [f"params = {_dict(first)}", *stores], f"{create}(**params)"
        case "updated":
            return [f"params = {_dict(first)}", f"params.update({_keywords(rest)})"], f"{create}(**params)"
        case "setdefault":
            stores = [f'params.setdefault("{key}", {value})' for key, value in rest]
            return [f"params = {_dict(first)}", *stores], f"{create}(**params)"
        case "merged":
            lines = [f"base = {_dict(rest)}", f"params = {{**base, {_dict(first)[1:-1]}}}"]
            return lines, f"{create}(**params)"
        case "mixed":
            return [f"params = {_dict(rest)}"], f"{create}({_keywords(first)}, **params)"
        case "conditional":
            lines = [f"params = {_dict(rest)}", "careful = len(params) > 99", "if careful:"]
            lines.append('    params["temperature"] = 0')
            return lines, f"{create}({_keywords(first)}, **params)"
        case "partial":
            w.need(file, "from functools import partial")
            return [f"complete = partial({create}, {_keywords(rest)})"], f"complete({_keywords(first)})"
        case "reference":
            return [f"create = {create}"], f"create({_keywords(options)})"
        case "completions":
            head, _, tail = create.rpartition(".")
            return [f"completions = {head}"], f"completions.{tail}({_keywords(options)})"
        case "module_dict":
            settings = [
                (key, value)
                for key, value in rest
                if key != "messages" and not value.startswith(("q", "20 if", "TOOLS", "Kit", "[{"))
            ]
            used = [item for item in options if item not in settings]
            w.add(file, f"SETTINGS = {_dict(settings)}", "", "")
            return [], f"{create}({_keywords(used)}, **SETTINGS)"
        case _:
            default = ", temperature=0.5" if way == "wrapper_default" else ""
            passed = ", temperature=temperature" if default else ""
            rest = [item for item in rest if not default or item[0] != "temperature"]
            head = f"{w.define} complete(model, messages{default}, **kw):"
            call = f"{create}(model=model, messages=messages{passed}, **kw)"
            w.add(file, *block(head, [f"return {w.wait}{call}"]), "", "")
            return [], f"complete({first[0][1]}, {_keywords([*first[1:], *rest])})"


def _keywords(options: Options) -> str:
    return ", ".join(f"{key}={value}" for key, value in options)


def _dict(options: Options) -> str:
    return "{" + ", ".join(f'"{key}": {value}' for key, value in options) + "}"

"""Small programs given as text, known to the engine."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from migrate_responses.know.index import module_name
from migrate_responses.know.kinds import (
    Bound,
    Class,
    Const,
    External,
    Function,
    Instance,
    SeqValue,
    Shape,
    Typed,
    Value,
)
from migrate_responses.know.modules import Module, scan
from migrate_responses.know.project import Project


def project(*, assume: tuple[str, ...] = (), **sources: str) -> Project:
    """What is known of the modules ``name=source``; two underscores in a name are a folder."""
    return known({f"{name.replace('__', '/')}.py": source for name, source in sources.items()}, assume)


def known(sources: Mapping[str, str], assume: tuple[str, ...] = ()) -> Project:
    """What is known of the files ``path: source``."""
    modules = []
    for path, source in sources.items():
        dotted, is_package = module_name(path)
        module = Module(path, dotted, cst.parse_module(source), is_package, source)
        scan(module)
        modules.append(module)
    found = Project(modules)
    found.assume(frozenset(assume))
    found.solve()
    return found


HEAD = """from openai import OpenAI
client = OpenAI()
def ask(**options):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], **options)
"""


def revealed(main: str, others: Mapping[str, str] | None = None, path: str = "main.py") -> list[str]:
    """What the argument of each ``reveal(...)`` in ``main`` can be, in order, each as a sorted text."""
    found = known({**(others or {}), path: main})
    module = next(module for module in found.modules if module.path == path)
    return [
        " | ".join(sorted({described(value) for value in found.values(node.args[0].value)})) or "nothing"
        for node in module.parents
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "reveal"
    ]


def described(value: Value) -> str:
    """A value as a word: the kind of a part of an answer, a literal, the name of what is defined."""
    match value:
        case Shape(kind=kind, form="object"):
            return kind.name.lower()
        case Shape(kind=kind, form=form):
            return f"{kind.name.lower()} as {form}"
        case Const(value=constant):
            return repr(constant)
        case Typed(type=name) | Function(name=name) | Class(name=name):
            return name
        case Instance(type=cls):
            return f"{cls.name}()"
        case Bound(function=function):
            return f".{function.name}"
        case External(path=path):
            return f"<{path}>"
        case SeqValue(type=name):
            return name
        case _:
            return type(value).__name__.removesuffix("Value").lower()

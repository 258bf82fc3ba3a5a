"""Which module an import statement means, and by which name a file can be imported."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable
from pathlib import PurePosixPath

from ..documents import names
from ..import_path import on_path, shared
from .modules import Module


def module_name(path: str) -> tuple[str, bool]:
    """``src/app/__init__.py`` -> ("src.app", True). No import can mean what is called like a document."""
    if names.is_notebook(path) or names.is_snippet(path):
        return path.replace(".", ":").replace("/", "."), False
    parts = list(PurePosixPath(path).with_suffix("").parts)
    is_package = bool(parts) and parts[-1] == "__init__"
    if is_package:
        parts.pop()
    return ".".join(parts), is_package


def _parent(module: Module) -> str:
    return module.name.rpartition(".")[0]


class Index:
    """Finds the module that an import statement means."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._by_name = {module.name: module for module in modules}
        self._by_suffix: dict[str, list[Module]] = {}
        self._packages = {
            module.name.replace(".", "/") for module in self._by_name.values() if module.is_package
        }
        for module in self._by_name.values():
            parts = module.name.split(".")
            for start in range(len(parts)):
                self._by_suffix.setdefault(".".join(parts[start:]), []).append(module)

    def inside(self, importer: Module, level: int, name: str) -> list[Module]:
        """The modules right in a package, which need have no ``__init__.py``, that ``importer`` can mean."""
        folder = posixpath.dirname(importer.path)
        if level:
            base = folder.split("/") if folder else []
            base = base[: len(base) - level + 1]
            wanted = ".".join([*base, *([name] if name else [])])
            return [module for module in self._by_name.values() if _parent(module) == wanted]
        best: list[Module] = []
        nearest = -1
        for module in self._by_name.values():
            package = _parent(module)
            if not name or (package != name and not package.endswith(f".{name}")):
                continue
            root = package[: -len(name)].rstrip(".").replace(".", "/")
            close = shared(root, folder)
            if close >= nearest and on_path(root, folder, self._packages):
                best, nearest = [module] if close > nearest else [*best, module], close
        return best

    def relative(self, importer: Module, level: int, name: str) -> Module | None:
        """The module of ``from ..name import``, with ``level`` dots."""
        parts = importer.name.split(".") if importer.name else []
        up = level - 1 if importer.is_package else level
        if up > len(parts):
            return None
        base = parts[: len(parts) - up]
        return self._by_name.get(".".join([*base, *([name] if name else [])]))

    def absolute(self, importer: Module, name: str) -> Module | None:
        """The module of ``import name``: the nearest one that Python could mean."""
        if not name or name.partition(".")[0] in sys.stdlib_module_names:
            return None
        folder = posixpath.dirname(importer.path)
        best: Module | None = None
        nearest = -1
        for module in self._by_suffix.get(name, ()):
            root = module.name[: -len(name)].rstrip(".").replace(".", "/")
            close = shared(root, folder)
            if close > nearest and on_path(root, folder, self._packages):
                best, nearest = module, close
        return best

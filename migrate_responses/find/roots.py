"""Where a project begins, and which configuration belongs to it."""

from __future__ import annotations

import os
from collections.abc import Iterator


def ancestors(directory: str) -> list[str]:
    """``directory`` and all its parents, nearest first."""
    found = [directory]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found


def git_root(directory: str) -> str | None:
    """The top of the git work tree that holds ``directory``. Asks the file system, not git."""
    for candidate in ancestors(directory):
        if os.path.exists(os.path.join(candidate, ".git")):
            return candidate
    return None


def nearest_pyproject(directory: str) -> str | None:
    """The closest ``pyproject.toml`` at or above ``directory``, but not above its git work tree."""
    for candidate in ancestors(directory):
        path = os.path.join(candidate, "pyproject.toml")
        if os.path.isfile(path):
            return path
        if os.path.exists(os.path.join(candidate, ".git")):
            return None
    return None


def project_root(path: str) -> str | None:
    """The root of the project around ``path``: its git work tree, else the folder of ``pyproject.toml``."""
    directory = path if os.path.isdir(path) else os.path.dirname(path)
    root = git_root(directory)
    if root is None and (pyproject := nearest_pyproject(directory)):
        root = os.path.dirname(pyproject)
    return root


def is_packaged(directory: str) -> bool:
    """Whether the project around ``directory`` is distributed to others: it has a name to be installed by."""
    root = project_root(directory) or directory
    for candidate in ancestors(directory):
        if _has_name(candidate):
            return True
        if candidate == root:
            break
    return any(map(_has_name, _members(directory)))


def _members(directory: str) -> Iterator[str]:
    """The packages that a repository of several keeps below ``packages`` or ``libs``."""
    for name in ("packages", "libs"):
        folder = os.path.join(directory, name)
        if os.path.isdir(folder):
            yield from (entry.path for entry in os.scandir(folder) if entry.is_dir())


def _has_name(folder: str) -> bool:
    """Whether what is in ``folder`` has a name to be installed by."""
    if any(os.path.isfile(os.path.join(folder, name)) for name in ("setup.py", "setup.cfg")):
        return True
    if not os.path.isfile(os.path.join(folder, "pyproject.toml")):
        return False
    from migrate_responses.config import ConfigError, read_toml

    try:
        tables = read_toml(os.path.join(folder, "pyproject.toml"))
    except ConfigError:
        return True  # for all that can be told
    tool = tables.get("tool")
    tools = tool if isinstance(tool, dict) else {}
    named = (tables.get("project"), tools.get("poetry"), tools.get("flit"))
    return any(isinstance(table, dict) and ("name" in table or "metadata" in table) for table in named)

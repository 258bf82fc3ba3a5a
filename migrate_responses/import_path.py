"""Which folders Python can import from, seen from a file: one rule for finding files and for reading them."""

from __future__ import annotations

import posixpath
from collections.abc import Container
from itertools import takewhile

_SOURCE_FOLDERS = frozenset({"lib", "python", "source", "src"})

# Names that a framework fills from a module of the project, and what that file or its folder is called.
GIVEN_BY_FRAMEWORKS = {("django.conf", "settings"): "settings"}


def on_path(root: str, folder: str, packages: Container[str]) -> bool:
    """Whether modules of ``folder`` can import from ``root``.

    It is the folder itself, one above it, or a neighbour of one above it that holds another part of
    the project. One of ``packages`` (folders with an ``__init__.py``) is no root to others. Paths are
    relative, with forward slashes.
    """
    if root == folder:
        return True
    if root in packages:
        return False
    base = posixpath.dirname(root) if posixpath.basename(root) in _SOURCE_FOLDERS else root
    return _is_above(base, folder) or _is_above(posixpath.dirname(base), folder)


def shared(one: str, other: str) -> int:
    """How many folders two paths begin with in common."""
    pairs = zip(one.split("/") if one else (), other.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_above(one: str, other: str) -> bool:
    return not one or one == other or other.startswith(one + "/")

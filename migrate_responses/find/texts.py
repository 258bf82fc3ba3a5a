"""Documentation that shows Chat Completions: told of, where it is not asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from migrate_responses.config import matching
from migrate_responses.documents.names import TEXTS
from migrate_responses.find import candidates, listing, roots

_OLD_API = re.compile(rb"chat[./]completions")


def showing_calls(paths: Sequence[str], exclude: Iterable[str] = ()) -> int:
    """How many texts below the folders among ``paths`` name the old API, in code or in a URL.

    What cannot be read does not count: nobody asked for it.
    """
    patterns = list(exclude)
    found: set[str] = set()
    for path in filter(os.path.isdir, paths):
        names = listing.list_git(path, TEXTS) if roots.git_root(path) else None
        names = listing.walk(path, TEXTS) if names is None else names
        left_out = matching(names, patterns)
        found.update(
            os.path.realpath(os.path.join(path, name))
            for name in names
            if name not in left_out and _names_it(os.path.join(path, name))
        )
    return len(found)


def _names_it(path: str) -> bool:
    try:
        data = candidates.read(path)
    except OSError:
        return False
    return data is not None and _OLD_API.search(data) is not None

"""Who owns a file, as ``CODEOWNERS`` says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where the file may be; the first one counts."""

_LARGEST = 3 * 1024 * 1024  # GitHub does not read a larger one

# `[Database][2] @dba`, `^[Docs] @writers`: headings as GitLab has them. GitHub knows no `[` in a pattern.
_SECTION = re.compile(r"\^?\[(?P<name>[^\]]+)\](?:\[\d+\])?(?P<owners>(?:\s.*)?)")
_BLANK = re.compile(r"(?<!\\)\s+")


@dataclass(frozen=True)
class _Line:
    section: str
    pattern: str
    owners: tuple[str, ...]

    def matches(self, name: str) -> bool:
        return self._spec.match_file(name) and not (self._deeper and self._deeper.match_file(name))

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        return _spec(self.pattern)

    @cached_property
    def _deeper(self) -> GitIgnoreSpec | None:
        """What ``folder/*`` matches in a ``.gitignore`` and does not here, where it is for one level."""
        return _spec(f"{self.pattern}/**") if self.pattern.endswith("/*") else None


def _spec(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])


class Owners:
    """The rules of one ``CODEOWNERS``. In each section the last line that matches a path counts."""

    def __init__(self, text: str) -> None:
        self._lines = tuple(reversed(tuple(_lines(text))))

    def of(self, name: str) -> tuple[str, ...]:
        """The owners of the file called ``name``, relative to the top of the project; maybe none."""
        found: dict[str, tuple[str, ...]] = {}
        for line in self._lines:
            if line.section not in found and line.matches(name):
                found[line.section] = line.owners
        return tuple(dict.fromkeys(owner for section in reversed(found.values()) for owner in section))


def load(root: str) -> Owners | None:
    """The owners in the project at ``root``; None if it names none."""
    for place in PLACES:
        path = os.path.join(root, *place.split("/"))
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
                continue
            with open(path, encoding="utf-8-sig", errors="replace") as stream:
                return Owners(stream.read())
        except OSError:
            continue  # what cannot be read names nobody
    return None


def owners(root: str, names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The owners of each of ``names`` (the path as shown -> the name in the project at ``root``).

    Empty if the project has no ``CODEOWNERS``; a file without an owner has an empty tuple.
    """
    rules = load(root)
    return {} if rules is None else {path: rules.of(name) for path, name in names.items()}


def _lines(text: str) -> Iterable[_Line]:
    section, default = "", ()
    for written in text.splitlines():
        line = re.sub(r"(?:^|\s)#.*", "", written).strip()
        if not line:
            continue
        heading = _SECTION.fullmatch(line)
        if heading:
            section, default = heading["name"].casefold(), tuple(heading["owners"].split())
            continue
        pattern, *named = _BLANK.split(line)
        if _is_pattern(pattern):
            yield _Line(section, pattern, tuple(named) or default)


def _is_pattern(text: str) -> bool:
    """Whether GitHub takes ``text`` for a pattern: it knows no negation, no ranges and no escaped ``#``."""
    return not (text.startswith(("!", "\\#")) or "[" in text or "]" in text)

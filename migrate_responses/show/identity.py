"""What tells one call from another as the code around them changes: never its line."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from migrate_responses.results import SiteResult


@dataclass(frozen=True)
class Identity:
    """A call by where it is and how it is written; ``number`` counts those that are the same in the rest."""

    path: str
    scope: str
    text: str
    number: int

    @property
    def key(self) -> str:
        """The identity as one short word."""
        parts = (self.path, self.scope, self.text, str(self.number))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def identified(sites: Iterable[SiteResult]) -> Iterator[tuple[SiteResult, Identity]]:
    """Each of ``sites``, which are in source order, with its identity."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for site in sites:
        one = (site.path, site.scope, site.text)
        yield site, Identity(*one, seen[one])
        seen[one] += 1

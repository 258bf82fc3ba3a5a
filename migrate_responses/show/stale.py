"""Which calls that are held back have a TODO comment that is missing, or says what is no longer so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from migrate_responses.results import FileResult, SiteResult
from migrate_responses.show.words import HELD

# Up to the end of the line; in a notebook that may be spelled ``\\n``.
_TODO = re.compile(rb"# TODO\(migrate-responses\): (?P<code>MR\d{3})?(?:(?!\\n)[^\r\n])*")


def stale(sites: Iterable[SiteResult], changed: Iterable[FileResult]) -> set[SiteResult]:
    """Those of ``sites`` at which ``apply`` would write another comment than there is."""
    new = {file.path: _codes(_comments(file.after) - _comments(file.before)) for file in changed}
    return {
        site
        for site in sites
        if site.verdict in HELD
        and site.flow
        and any(reason.code in new.get(site.path, ()) for reason in site.reasons)
    }


def _comments(data: bytes) -> Counter[bytes]:
    return Counter(found.group() for found in _TODO.finditer(data))


def _codes(comments: Counter[bytes]) -> set[str]:
    return {found["code"].decode() for line in comments if (found := _TODO.match(line)) and found["code"]}

"""Assumptions of the command line that fit nothing in the code: most are misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from migrate_responses.results import SiteResult
from migrate_responses.show.summary import ASSUMPTIONS

_SUGGESTED = re.compile(r"--assume-(client|responses) ([^\s;]+)")


def unfitting(
    given: Mapping[str, Any], sources: Iterable[bytes], sites: Iterable[SiteResult]
) -> Iterator[str]:
    """A sentence for each assumption in ``given``, by option, that nothing in ``sources`` fits.

    The reasons of ``sites`` tell what could have been meant.
    """
    texts = [text.lower() for text in sources]
    suggested: dict[str, list[str]] = {"client": [], "responses": [word for _, word, _ in ASSUMPTIONS]}
    for site in sites:
        for reason in site.reasons:
            for option, word in _SUGGESTED.findall(reason.next_step):
                if not word.isupper():
                    suggested[option].append(word)
    for entry in given.get("assume-responses", ()):
        host = (entry.partition("://")[2] or entry).partition("/")[0].lower()
        if entry not in suggested["responses"] and not any(host.encode() in text for text in texts):
            hint = _meant(entry, suggested["responses"])
            yield f"--assume-responses {entry}: no address in this code has that host{hint}"
    for name in given.get("assume-clients", ()):
        if not any(re.search(rb"\b%s\b" % re.escape(name.lower().encode()), text) for text in texts):
            hint = _meant(name, suggested["client"])
            yield f"--assume-client {name}: nothing in this code has that name{hint}"


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else "."

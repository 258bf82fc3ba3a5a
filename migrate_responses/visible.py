"""Text from a project as text: nothing in it acts, on a terminal or in a source file."""

from __future__ import annotations

import re

# Control characters, line separators, and the marks that reorder text: any of them could make a
# terminal show something else than what is there.
_ACTIVE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """``text`` with everything that a terminal would act upon written as an escape. Tabs stay."""
    return _ACTIVE.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)

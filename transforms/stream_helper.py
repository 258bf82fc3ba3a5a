"""``client.chat.completions.stream(...)``: its events have other names (MR407)."""

from __future__ import annotations

import libcst as cst

from .context import Context


def plan(context: Context) -> set[cst.CSTNode]:
    """Rewrite the events of stream helpers; the nodes that are understood."""
    return set()

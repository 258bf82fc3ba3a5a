"""HTML that is escaped by construction: every string becomes text unless it is ``Html`` already."""

from __future__ import annotations

import html
from collections.abc import Iterable

from migrate_responses.visible import visible

Attribute = str | int | bool | None

_EMPTY = frozenset({"input", "meta"})


class Html(str):
    """Markup. Made by :func:`tag`, :func:`text` and :func:`raw` alone."""

    __slots__ = ()


def text(content: str) -> Html:
    """``content`` as text, with everything that is not to be seen, or reorders what is, written out."""
    return Html(html.escape("\n".join(visible(line) for line in content.split("\n"))))


def raw(content: str) -> Html:
    """``content`` as it is: for what this program brings along, never for anything it read."""
    return Html(content)


def tag(name: str, /, *children: object, **attributes: Attribute) -> Html:
    """An element. Attributes that are None or False are left out; ``_`` becomes ``-``, a last one goes.

    Children are strings, numbers, ``Html``, None, or iterables of these.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        parts.append(f" {key.rstrip('_').replace('_', '-')}")
        if value is not True:
            parts.append(f'="{text(str(value))}"')
    parts.append(">")
    if name not in _EMPTY:
        parts.append(joined(children))
        parts.append(f"</{name}>")
    return Html("".join(parts))


def joined(children: Iterable[object]) -> Html:
    """All ``children`` one after the other."""
    return Html("".join(_child(child) for child in children))


def prose(content: str) -> Html:
    """Text in which backquotes mark code."""
    pieces = content.split("`")
    if len(pieces) % 2 == 0:  # one is left over: none of them is a mark
        return text(content)
    return joined(tag("code", piece) if at % 2 else piece for at, piece in enumerate(pieces))


def _child(child: object) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int):
        return text(str(child))
    if isinstance(child, Iterable):
        return joined(child)
    raise TypeError(f"not a child of an element: {child!r}")

"""Which files hold Python without being Python, known by their names, and what their programs are called."""

from __future__ import annotations

import re

NOTEBOOKS = (".ipynb",)
MARKDOWN = (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".Rmd")
RST = (".rst",)
TEXTS = (*MARKDOWN, *RST)

_SNIPPET = re.compile(rf"(?:{'|'.join(map(re.escape, TEXTS))}):\d+\Z", re.IGNORECASE)
_INERT = re.compile(r"__(?:cell|magic|unread)_\d+__")


def is_notebook(path: str) -> bool:
    return path.lower().endswith(NOTEBOOKS)


def is_text(path: str) -> bool:
    """Whether ``path`` is a documentation file, with programs between its words."""
    return path.lower().endswith(TEXTS)


def snippet(path: str, line: int) -> str:
    """What the program that begins at ``line`` of a documentation file is called."""
    return f"{path}:{line}"


def is_snippet(path: str) -> bool:
    """Whether ``path`` is such a name."""
    return _SNIPPET.search(path) is not None


# Names that stand in a program for what is not Python. No rule knows them, so nothing happens to them.


def border(number: int) -> str:
    """The statement that begins a cell or a block."""
    return f"__cell_{number}__"


def magic(number: int) -> str:
    """What is called in the place of a magic, with the names that it uses."""
    return f"__magic_{number}__"


def unread(number: int) -> str:
    """What is called in the place of a cell that is not understood, with the names in it."""
    return f"__unread_{number}__"


def is_border(name: str) -> bool:
    return name.startswith("__cell_") and is_inert(name)


def is_unread(name: str) -> bool:
    return name.startswith("__unread_") and is_inert(name)


def is_inert(name: str) -> bool:
    return _INERT.fullmatch(name) is not None


DESCRIBED = ("a magic", "code that does not parse")


def described(name: str) -> str:
    """What stands behind such a name, for a message."""
    return DESCRIBED[is_unread(name)]


def inert_lines(text: str) -> list[str]:
    """The lines of a program that must come through a migration as they are."""
    if "__" not in text:
        return []
    return [line for line in text.split("\n") if _INERT.search(line)]

"""A block of code in a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

PYTHON = frozenset({"python", "python3", "py", "py3", "ipython", "ipython3"})
"""What fences and directives call the language."""

CONSOLE = frozenset({"doctest", "pycon", "pycon3", "python-console", "python-repl"})
"""What they call a session with prompts."""

KNOWN = frozenset({"", *PYTHON, *CONSOLE})
"""The languages of blocks that matter; some do not say theirs."""


@dataclass(frozen=True)
class Block:
    """Lines of a document that hold code: what stands before each, the line itself, and how it ends."""

    first: int  # index of the first line in the document, from 0
    lines: tuple[tuple[str, str, str], ...]
    language: str  # "" if none is named

    @property
    def text(self) -> str:
        """The code, without a line end behind its last line."""
        return "\n".join(line for _, line, _ in self.lines)

    def rewritten(self, new: str) -> Iterator[str]:
        """The lines of the document for ``new`` in the place of the code; old ones as they were."""
        old = [line for _, line, _ in self.lines]
        lines = new.split("\n")
        margin = next((margin for margin, line, _ in self.lines if line.strip()), "")
        end = next((end for _, _, end in self.lines if end), "\n")
        for tag, first, last, start, stop in SequenceMatcher(None, old, lines, autojunk=False).get_opcodes():
            if tag == "equal":
                yield from ("".join(line) for line in self.lines[first:last])
            else:
                for line in lines[start:stop]:
                    yield (margin + line if line.strip() else margin.rstrip() + line) + end

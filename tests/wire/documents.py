"""Documents as programs: what Python sees of one, and how a person would run it, without the tool."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

SUFFIXES = (".ipynb", ".md", ".mdx", ".rst")
_FENCE = re.compile(
    r"^(?P<margin>[ \t>]*)(?P<mark>```|~~~)\{?py(?:thon)?\b.*\n(?P<code>(?:.*\n)*?)(?P=margin)(?P=mark)",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"^\.\. code-block:: python\n\n(?P<code>(?:(?:    .*)?\n)+)", re.MULTILINE)

# What a program's ``main.py`` is where the program is a document.
ENTRY = f"import runpy\nrunpy.run_path({__file__!r}, run_name='__main__')\n"


def run() -> None:
    """Run the document beside the program: a notebook in IPython, of a text the blocks of Python."""
    path = next(path for path in Path().iterdir() if path.suffix in SUFFIXES and path.stem == "main")
    if path.suffix == ".ipynb":
        _run_cells(cells(path.read_bytes()))
        return
    namespace: dict[str, object] = {"__name__": "__main__"}
    for code in blocks(path.name, path.read_bytes()):
        exec(compile(code, path.name, "exec", dont_inherit=True), namespace)


def _run_cells(sources: list[str]) -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}), colors="NoColor")
    for source in sources:
        if not shell.run_cell(source, store_history=True).success:
            sys.exit(1)


def cells(data: bytes) -> list[str]:
    """The sources of the code cells of a notebook."""
    book = json.loads(data)
    sheets = [book, *book.get("worksheets", ())]
    codes = [cell for sheet in sheets for cell in sheet.get("cells", ()) if cell["cell_type"] == "code"]
    return ["".join(cell.get("source", cell.get("input"))) for cell in codes]


def blocks(name: str, data: bytes) -> list[str]:
    """The blocks of Python in a text."""
    text = data.decode().replace("\r\n", "\n")
    if name.endswith(".rst"):
        return [_cut(match["code"], "    ") for match in _DIRECTIVE.finditer(text)]
    return [_cut(match["code"], match["margin"]) for match in _FENCE.finditer(text)]


def _cut(code: str, margin: str) -> str:
    """``code`` without what stands before its lines."""
    lines = [line + "\n" for line in code.split("\n")]
    return "".join(line[len(margin) :] if line.startswith(margin) else "\n" for line in lines)


def tree(name: str, data: bytes) -> str:
    """What Python sees of a notebook, which is all that comments do not touch; a text gets no comments."""
    return repr([_seen(code) for code in cells(data)]) if name.endswith(".ipynb") else repr(data)


def _seen(code: str) -> str:
    try:
        return ast.dump(ast.parse(code))
    except SyntaxError:
        return "\n".join(line for line in code.split("\n") if not line.lstrip().startswith("#"))


if __name__ == "__main__":
    run()

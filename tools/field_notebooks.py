"""Notebooks for the checks: their code where it stands in the file, found without the tool's own reader."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from migrate_responses.results import FileResult

BORDER = "# %%"
TODO = "# TODO(migrate-responses)"
PYTHON_CELLS = ("%%time", "%%capture", "%%wandb")
_STRING = re.compile(r'[ \t]*("(?:[^"\\]|\\.)*"),?')
_MAGIC = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?\??\s*$)")
_ASSIGNED = re.compile(r"^(\s*[\w, ]+=\s*)[!%].*")


def is_notebook(path: str) -> bool:
    return path.endswith(".ipynb")


def view(file: FileResult) -> FileResult:
    """``file`` with the code of a notebook as Python, each line where it is; other lines are comments."""
    if not is_notebook(file.path):
        return file
    return FileResult(file.path, _code(file.before), _code(file.after), file.error)


def _code(data: bytes) -> bytes:
    lines: list[str] = []
    cell: list[str] = []
    is_code = inside = False
    for raw in data.decode("utf-8", "replace").split("\n"):
        stripped = raw.strip()
        if inside and (found := _STRING.fullmatch(raw.rstrip("\r"))):
            cell.append(json.loads(found.group(1), strict=False).rstrip("\r\n").replace("\n", " "))
            continue
        if inside:
            lines += _plain(cell)
            cell = []
        inside = is_code and stripped == '"source": ['
        if stripped.startswith('"cell_type":'):
            is_code = '"code"' in stripped
        lines.append(BORDER)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _plain(cell: Sequence[str]) -> list[str]:
    """The lines of a cell with magics taken out; nothing of a cell that is no Python."""
    first = next((line for line in cell if line.strip()), "")
    found = [_ASSIGNED.sub(r"\1None", _MAGIC.sub(r"\1pass", line)) for line in cell]
    if first.startswith("%%") and not first.startswith(PYTHON_CELLS):
        return [""] * len(cell)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile("\n".join(found), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):
        return [""] * len(cell)
    return found


def cell_has_todo(lines: Sequence[str], line: int) -> bool:
    """Whether the cell around ``line`` has the one comment that a cell gets."""
    start = next((at for at in range(line - 1, -1, -1) if lines[at] == BORDER), 0)
    end = next((at for at in range(line - 1, len(lines)) if lines[at] == BORDER), len(lines))
    return any(text.lstrip().startswith(TODO) for text in lines[start:end])


def faults(file: FileResult) -> Iterator[str]:
    """What else than the sources of code cells differs in a notebook."""
    if not is_notebook(file.path) or not file.changed:
        return
    before, after = json.loads(file.before), json.loads(file.after)
    if _without_code(before) != _without_code(after):
        yield f"{file.path}: more than the code of cells has changed"
    for old, new in zip(_sources(before), _sources(after), strict=True):
        if type(old) is not type(new):
            yield f"{file.path}: a source has another form"


def _cells(book: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for sheet in (book, *book.get("worksheets", ())):
        yield from (cell for cell in sheet.get("cells", ()) if cell.get("cell_type") == "code")


def _sources(book: dict[str, Any]) -> list[object]:
    return [cell.get("source", cell.get("input")) for cell in _cells(book)]


def _without_code(book: dict[str, Any]) -> object:
    copy = json.loads(json.dumps(book))
    for cell in _cells(copy):
        cell.pop("source", None)
        cell.pop("input", None)
    return copy

"""IPython's own syntax in a cell: magics, shell commands and help, made inert and put back.

Each of them becomes a call of a name that no rule knows, on as many lines, with the names it uses as
arguments; so what it binds stays bound, and values that it takes are seen to leave.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from . import names

# Cell magics that run the cell as Python in the notebook's own namespace, at once or by and by.
_PYTHON_CELLS = frozenset(
    "blocks capture debug heat memit mprun prun scalene snakeviz time timed timeit wandb with_retry".split()
)
# Cell magics whose text is not Python of this kernel and takes nothing from it.
_FOREIGN_CELLS = frozenset(
    "bash bigquery cmd cython file html javascript js latex markdown perl powershell pypy python python2"
    " python3 ruby script sh shell sql svg system writefile".split()
)
# Line magics whose words are not names of the notebook, but for what is spelled {name} or $name.
_PLAIN_LINES = frozenset(
    "alias aimport autoreload bookmark cat cd cls conda config cp dotenv env install_ext ipython less load"
    " load_ext ls mamba man matplotlib micromamba mkdir more mv pip precision pwd pylab reload_ext rm rmdir"
    " run set_env sx system tensorboard unload_ext uv writefile".split()
)
# What may stand in a cell of one line without its percent sign.
_AUTOMAGIC = re.compile(r"(?:pip3?|conda|mamba|micromamba|uv|cd|ls|cat|mkdir|rm|pwd)(?:[ \t]+[^=\s(\[.,].*)?")
_LINE = re.compile(r"[ \t]*(?P<sign>%%?|!!?|\?\??|/(?=\w)|[,;](?=\w))(?P<rest>.*)", re.DOTALL)
_ASSIGNED = re.compile(
    r"(?P<target>[ \t]*[A-Za-z_][\w.,\[\]\"' \t*()]*?[ \t]*=[ \t]*)(?P<sign>!|%)(?P<rest>.*)", re.DOTALL
)
_HELP = re.compile(r"[ \t]*(?:[^#\s]*?=[ \t]*)?%{0,2}(?!\d)[\w*.]+(?:\[[^\]]*\][\w.]*)*\?\??[ \t]*\Z")
_EXPANDED = re.compile(r"\{([^{}]*)\}|\$\{?([A-Za-z_]\w*)")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
# The beginnings of lines that may bind what they name.
_BINDING = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:class|def|del|for|from|global|import|with)\b.*|^[^=\n]*(?<![=!<>])=(?!=)",
    re.MULTILINE,
)
_DULL = re.compile(r"[^#\"'()\[\]{}\\]+")
# What a cell with magics must have somewhere.
_SIGN = re.compile(r"^[ \t]*[%!?/,;]|=[ \t]*[!%]|\?[ \t]*\r?$", re.MULTILINE)


@dataclass
class Inert:
    """What was made inert in one document, by the text that stands for it."""

    originals: dict[str, str] = field(default_factory=dict)

    def plain(self, original: str, used: Iterable[str] = ()) -> str:
        """A call with the names ``used``, on as many lines as ``original``."""
        return self._call(names.magic(len(self.originals)), used, original)

    def magic(self, original: str, code: str) -> str:
        """The same of a magic that may run ``code``; the names that this may bind are keywords."""
        return self._call(names.magic(len(self.originals)), words(code), original, code)

    def unread(self, original: str) -> str:
        """The same of code that does not parse."""
        return self._call(names.unread(len(self.originals)), words(original), original, original)

    def _call(self, name: str, used: Iterable[str], original: str, code: str = "") -> str:
        bound = _names(_bound(code))
        arguments = [word for word in _names(used) if word not in bound]
        arguments += [f"{word}={word}" for word in bound]
        ends = "".join(re.findall(r"\r?\n", original))
        call = f"{name}({', '.join(arguments)}{ends})"
        self.originals[call] = original
        return call

    def forget(self, count: int) -> None:
        """Keep the first ``count`` alone."""
        for call in list(self.originals)[count:]:
            del self.originals[call]

    def restore(self, text: str) -> str:
        """``text`` with everything put back."""
        if "__" in text:
            for call, original in self.originals.items():
                text = text.replace(call, original)
        return text


def _names(found: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for word in found if not keyword.iskeyword(word)))


def _bound(code: str) -> list[str]:
    """The names that ``code`` may bind: those in the targets of Python, or in what looks like targets."""
    try:
        tree = ast.parse(code.strip())
    except (SyntaxError, ValueError):
        return words("\n".join(_BINDING.findall(code)))
    nodes = list(ast.walk(tree))
    found = [node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    found += [
        node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    return found + [
        (node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)
    ]


def mask(cell: str, inert: Inert) -> str:
    """``cell`` as Python, line for line."""
    line = cell.lstrip().partition("\n")[0].rstrip()
    if line.startswith("%%") and not line.endswith("?"):
        return _cell_magic(cell, inert)
    if "\n" not in cell.strip() and _AUTOMAGIC.fullmatch(cell.strip()) and not _is_python(cell):
        return inert.plain(cell, _expanded(cell))
    return "".join(_masked(_physical(cell), inert)) if _SIGN.search(cell) else cell


def _cell_magic(cell: str, inert: Inert) -> str:
    start = len(cell) - len(cell.lstrip())
    line, end, body = cell[start:].partition("\n")
    name = re.match(r"%%(\w*)", line)
    word = name.group(1) if name else ""
    if word in _PYTHON_CELLS:
        head = line.removesuffix("\r")
        return f"{cell[:start]}{inert.plain(head, words(head))}{line[len(head) :]}{end}{mask(body, inert)}"
    if word.lower() in _FOREIGN_CELLS:
        return cell[:start] + inert.plain(cell[start:], _expanded(line))
    return cell[:start] + inert.magic(cell[start:], cell)


def _physical(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _masked(lines: list[str], inert: Inert) -> Iterator[str]:
    state = _State()
    at = 0
    while at < len(lines):
        line = lines[at]
        if state.is_fresh:
            end = at + 1
            while end < len(lines) and lines[end - 1].rstrip("\r\n").endswith("\\"):
                end += 1
            found = _magic("".join(lines[at:end]), line, inert)
            if found is not None:
                text, whole = found
                yield text
                at = end if whole else at + 1
                continue
        state.read(line)
        yield line
        at += 1


def _magic(whole: str, line: str, inert: Inert) -> tuple[str, bool] | None:
    """What takes the place of a logical line that is IPython's; whether it takes all of ``whole``."""
    body = whole.rstrip("\r\n")
    ending = whole[len(body) :]
    if found := _LINE.fullmatch(body):
        return body[: found.start("sign")] + _stand_in(found, inert) + ending, True
    if (found := _ASSIGNED.fullmatch(body)) and _is_target(found["target"]):
        return found["target"] + _stand_in(found, inert) + ending, True
    stripped = line.rstrip("\r\n")
    if _HELP.fullmatch(stripped):
        start = len(stripped) - len(stripped.lstrip())
        return stripped[:start] + inert.plain(stripped[start:]) + line[len(stripped) :], False
    return None


def _stand_in(found: re.Match[str], inert: Inert) -> str:
    """What takes the place of a magic, from its sign to the end of the line."""
    text, rest = found.string[found.start("sign") :], found["rest"]
    name = re.match(r"\w*", rest)
    if not found["sign"].startswith("%") or name is None or name.group() in _PLAIN_LINES:
        return inert.plain(text, _expanded(rest))
    return inert.magic(text, rest[name.end() :])


def _is_target(text: str) -> bool:
    return _is_python(f"{text.strip()} 0")


def _is_python(text: str) -> bool:
    try:
        ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return False
    return True


def words(text: str) -> list[str]:
    """All names in ``text``, be it Python or not."""
    return _WORD.findall(text)


def _expanded(text: str) -> list[str]:
    return [word for code, name in _EXPANDED.findall(text) for word in ([name] if name else words(code))]


class _State:
    """Where Python is after some lines: in brackets, in a string, on a line that goes on."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._goes_on = False

    @property
    def is_fresh(self) -> bool:
        """Whether the next line begins a statement."""
        return not self._depth and not self._quote and not self._goes_on

    def read(self, line: str) -> None:
        """Go on to the end of ``line``."""
        self._goes_on = False
        at = 0
        while at < len(line):
            at = self._in_string(line, at) if self._quote else self._in_code(line, at)
        if len(self._quote) == 1 and not self._goes_on:
            self._quote = ""  # a string that is not closed; the parser will say so

    def _in_code(self, line: str, at: int) -> int:
        if found := _DULL.match(line, at):
            return found.end()
        letter = line[at]
        if letter == "#":
            return len(line)
        if letter in "\"'":
            self._quote = letter * 3 if line.startswith(letter * 3, at) else letter
            return at + len(self._quote)
        if letter in "([{":
            self._depth += 1
        elif letter in ")]}":
            self._depth = max(0, self._depth - 1)
        elif letter == "\\" and not line[at + 1 :].strip("\r\n"):
            self._goes_on = True
        return at + 1

    def _in_string(self, line: str, at: int) -> int:
        if line[at] == "\\":
            self._goes_on = not line[at + 1 :].strip("\r\n")
            return at + 2
        if line.startswith(self._quote, at):
            length = len(self._quote)
            self._quote = ""
            return at + length
        return at + 1

"""Where nodes stand: lines and columns, and diagnostics made from reasons."""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from .decide.plan import Reason
from .know.modules import Module
from .positions import Positions
from .results import Diagnostic, Level
from .rules import rule
from .secrets import masked


@dataclass
class Places:
    """Positions of one run, worked out only for the modules that are asked about."""

    _positions: dict[Module, Positions] = field(default_factory=dict)

    def position(self, node: cst.CSTNode, module: Module) -> tuple[int, int]:
        """Line and column of ``node``, 1-based; (0, 0) if it does not stand in the module."""
        return self._in(module).start(node) or (0, 0)

    def last_line(self, node: cst.CSTNode, module: Module) -> int:
        """Where the simple statement around ``node`` ends; in the head of a compound one, ``node`` itself."""
        statement = module.statement(node)
        whole = statement if isinstance(statement, cst.SimpleStatementLine) else node
        found = self._in(module).end(whole)
        return found[0] if found is not None else 0

    def _in(self, module: Module) -> Positions:
        positions = self._positions.get(module)
        if positions is None:
            positions = self._positions[module] = Positions(module.tree)
        return positions

    def diagnostic(self, reason: Reason, unsafe_helps: bool = True) -> Diagnostic:
        """A reason as it is reported; see ``next_step``."""
        line, column = self.position(reason.node, reason.module)
        text, step = sentence(reason), next_step(reason, unsafe_helps)
        return Diagnostic(reason.code, reason.module.path, line, column, reason.level, text, step)

    def note(self, node: cst.CSTNode, module: Module, code: str, message: str) -> Diagnostic:
        """A note on ``node``."""
        return self.diagnostic(Reason(code, Level.NOTE, message, node, module))


def sentence(reason: Reason) -> str:
    """What a reason says about its place, keys masked; without a detail, the title of its rule."""
    return masked(reason.detail) or rule(reason.code).title


def next_step(reason: Reason, unsafe_helps: bool = True) -> str:
    """What a person can do about a reason, in one clause; nothing about a note.

    ``--unsafe-fixes`` is no advice where something else holds the call back all the same.
    """
    step = _step(reason)
    return step if unsafe_helps or reason.level is not Level.UNSAFE else _ADVICE.split(step)[0]


# ", then use --unsafe-fixes", ", or drop it with --unsafe-fixes", ", or let --unsafe-fixes write 16"
_ADVICE = re.compile(r"(?:, (?:then|or) )?(?:use|drop it with|let) --unsafe-fixes\b")


def _step(reason: Reason) -> str:
    known = rule(reason.code)
    if reason.step:
        return reason.step
    if reason.level is known.level:
        return known.step
    return {Level.UNSAFE: "use --unsafe-fixes if it is not so", Level.MANUAL: "migrate it by hand"}.get(
        reason.level, ""
    )


def failure(code: str, path: str, line: int, message: str, column: int = 0) -> Diagnostic:
    """A diagnostic about a file."""
    return Diagnostic(code, path, line, column, Level.MANUAL, message, rule(code).step)


def breakdown(sources: Mapping[str, bytes], error: Exception) -> tuple[Diagnostic, ...]:
    """What to say if the tool itself fails on files that belong together: at each with calls, where."""
    frames = traceback.extract_tb(error.__traceback__)
    place = "; ".join(f"{os.path.basename(one.filename)}:{one.lineno} in {one.name}" for one in frames[-1:])
    what = f"the tool failed on the file: {type(error).__name__}: {str(error)[:200]} ({place})"
    calls = [path for path, data in sources.items() if b"completions" in data]
    return tuple(failure("MR910", path, 0, masked(what)) for path in calls or sources)


def too_much(sources: Mapping[str, bytes], size: int) -> tuple[Diagnostic, ...]:
    """What to say of files that hang together and are too many to be parsed: at each with calls."""
    what = f"{size / 1e6:.0f} million characters of Python hang together, too many to follow at once"
    calls = [path for path, data in sources.items() if b"completions" in data or b"ChatCompletion" in data]
    return tuple(failure("MR914", path, 0, what) for path in calls or sources)


def unwritten(path: str, fault: str) -> Diagnostic:
    """What to say if not even the comments of a file can be written."""
    return failure("MR910", path, 0, masked(f"the file could not be rewritten: {fault[:200]}"))


def syntax_error(path: str, text: str, error: cst.ParserSyntaxError) -> Diagnostic:
    """Where ``text`` stops being Python: as Python itself says it, or else where the parser stood."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as told:
        message = f"not valid Python 3: {told.msg}"
        return failure("MR901", path, told.lineno or error.raw_line, message, told.offset or 1)
    except (ValueError, RecursionError, MemoryError):
        # too odd for Python's own parser, which then cannot tell either
        return failure("MR901", path, error.raw_line, "not valid Python 3", error.raw_column + 1)
    line = _crowd_of_strings(text)
    if line:
        return failure("MR904", path, line, "thousands of strings stand side by side, as one")
    what = "Python reads this, but LibCST, by which this tool reads it, does not"
    return failure("MR901", path, error.raw_line, what, error.raw_column + 1)


def _crowd_of_strings(text: str) -> int:
    """The line in which more string literals that make one text begin than LibCST takes; 0 without any."""
    first = count = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            first = token.start[0] if count == 0 else first
            count += 1
            if count > _STRINGS:
                return first
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            count = 0
    return 0


_STRINGS = 2_900

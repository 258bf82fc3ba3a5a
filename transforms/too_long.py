"""Handlers that know by its words that a conversation is too long (MR607).

Chat Completions says "This model's maximum context length is ...", Responses "Your input exceeds the
context window of this model". The code of both is ``context_length_exceeded``, so the test
``"maximum context length" in str(e)`` gets ``or e.code == "context_length_exceeded"``. Whether the text
has the code in it, too, depends on the version of the SDK. A stream has the error in an event, so there it
would not help.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from ..decide.plan import Apply
from ..know.kinds import STREAM_KINDS, Const, Kind, SeqValue, Shape, Site
from ..know.modules import Module, walk
from .context import Context
from .snippets import expr, parenthesized, string

CODE = "context_length_exceeded"

# What Chat Completions says, with a dot for each number.
_SAID = (
    "This model's maximum context length is . tokens. However, your messages resulted in . tokens."
    " Please reduce the length of the messages.",
    "This model's maximum context length is . tokens. However, you requested . tokens (. in the messages,"
    " . in the completion). Please reduce the length of the messages or completion.",
)
TELLING = ("maximum context", "context length", "reduce the length")


def tells(text: str) -> bool:
    """Whether who finds ``text`` in an error of Chat Completions knows that the conversation is too long."""
    plain = _plain(text.lower())
    if "maximum context length" in plain:
        return True
    return any(word in plain for word in TELLING) and any(plain in said.lower() for said in _SAID)


def _plain(text: str) -> str:
    return re.sub(r"\d+", ".", text)


def is_streamed(context: Context, site: Site) -> bool:
    """Whether the answer can be a stream."""
    asked = context.request(site).values("stream")
    return (
        site.method == "stream"
        or any(not isinstance(value, Const) or value.value not in (False, None) for value in asked)
        or any(isinstance(value, Shape) and value.kind in _EVENTS for value in site.invocation.result.values)
    )


_EVENTS = STREAM_KINDS | {Kind.MANAGER}


@dataclass(frozen=True)
class Names:
    """The names in a handler that hold the error itself, its whole text, or something else made of it."""

    errors: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        return self.errors | self.texts | self.others

    def within(self, body: cst.CSTNode) -> Names:
        """These, and the names that ``body`` gives something made of them: ``text = str(e).lower()``."""
        names = self
        for node in walk(body):
            if isinstance(node, cst.Assign):
                targets = {t.target.value for t in node.targets if isinstance(t.target, cst.Name)}
                names = names._given(frozenset(targets), node.value)
            elif isinstance(node, (cst.AugAssign, cst.NamedExpr)) and isinstance(node.target, cst.Name):
                names = names._given(frozenset({node.target.value}), node)
        return names

    def _given(self, targets: frozenset[str], value: cst.CSTNode) -> Names:
        """These after ``targets`` got ``value``: a name that has held anything else is one of the others."""
        if not _mentions(value, self.all):
            targets &= self.all
        if self.is_text(value) and targets.isdisjoint(self.all):
            return Names(self.errors, self.texts | targets, self.others)
        return Names(self.errors - targets, self.texts - targets, self.others | targets)

    def is_text(self, node: cst.CSTNode) -> bool:
        """Whether ``node`` is the whole text of the error, perhaps within another or in small letters."""
        match node:
            case cst.Name(value=name):
                return name in self.texts
            case cst.Call(
                func=cst.Name(value="str" | "repr"), args=[cst.Arg(value=value, keyword=None, star="")]
            ):
                return self._is_error(value) or self.is_text(value)
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value=method)), args=[]):
                return method in ("lower", "casefold", "strip") and self.is_text(value)
            case cst.Attribute(value=value, attr=cst.Name(value="message")):
                return self._is_error(value)
            case cst.FormattedString(parts=parts):
                shown = [part for part in parts if isinstance(part, cst.FormattedStringExpression)]
                whole = [part.expression for part in shown if part.format_spec is None]
                return any(self._is_error(part) or self.is_text(part) for part in whole)
            case _:
                return False

    def handed_on(self, node: cst.BaseExpression, parameter: str) -> Names:
        """What a function knows of them that gets ``node`` as ``parameter``."""
        name = frozenset({parameter})
        if self._is_error(node):
            return Names(errors=name)
        return Names(texts=name) if self.is_text(node) else Names(others=name)

    def _is_error(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value in self.errors


def _mentions(node: cst.CSTNode, names: frozenset[str]) -> bool:
    return any(isinstance(inner, cst.Name) and inner.value in names for inner in walk(node))


def can_ask(context: Context, node: cst.CSTNode, module: Module, names: Names) -> bool:
    """Whether ``node`` finds a text, or one of several, in the whole text of an error at hand.

    It has to be certain that the old text was found by it, and not perhaps.
    """
    if any(isinstance(outer, cst.FormattedStringExpression) for outer in module.ancestors(node)):
        return False  # which cannot have quotes of both kinds, or lines, before Python 3.12
    match node:
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=side)]
        ):
            if not names.is_text(side) or len(names.errors) != 1:
                return False
            if isinstance(left, cst.SimpleString):
                return isinstance(operator, (cst.In, cst.NotIn)) and _is_found(left, side)
            words = _words(context, node, module) if isinstance(operator, cst.In) else []
            return any(_is_found(word, side) for word in words)
        case _:
            return False


def _is_found(text: cst.SimpleString, side: cst.BaseExpression) -> bool:
    """Whether ``text`` was found in ``side`` when the input was too long: letters count."""
    value = text.evaluated_value
    if not isinstance(value, str) or not any(_plain(value) in said for said in _SAID):
        return False
    is_spelled = isinstance(side, (cst.FormattedString, cst.Attribute)) or (
        isinstance(side, cst.Call) and isinstance(side.func, cst.Name)
    )
    return tells(value) and (value == value.lower() or is_spelled)


def _words(context: Context, node: cst.Comparison, module: Module) -> list[cst.SimpleString]:
    """The texts that ``any(word in text for word in ("one", "other"))`` goes through."""
    loop = _loop(node, module)
    if loop is None or not isinstance(node.left, cst.Name) or not isinstance(loop.target, cst.Name):
        return []
    if loop.ifs or loop.inner_for_in or loop.asynchronous or node.left.value != loop.target.value:
        return []
    source: cst.CSTNode = loop.iter
    if isinstance(source, cst.Name):
        values = list(context.project.values(source))
        if len(values) == 1 and isinstance(values[0], SeqValue):
            source = values[0].node
    if not isinstance(source, (cst.Tuple, cst.List, cst.Set)):
        return []
    return [element.value for element in source.elements if isinstance(element.value, cst.SimpleString)]


def _loop(node: cst.CSTNode, module: Module) -> cst.CompFor | None:
    """The loop of the generator that is all that ``any`` gets, and gives the test ``node``."""
    generator = module.parents.get(node)
    arg = module.parents.get(generator) if isinstance(generator, cst.GeneratorExp) else None
    call = module.parents.get(arg) if isinstance(arg, cst.Arg) else None
    match generator, call:
        case cst.GeneratorExp(elt=elt, for_in=loop), cst.Call(func=cst.Name(value="any"), args=[_]) if (
            elt is node
        ):
            return loop
        case _:
            return None


def ask(context: Context, node: cst.CSTNode, module: Module, names: Names, site: Site) -> None:
    """Let a test that :func:`can_ask` look for the code of the error as well."""
    (error,) = names.errors
    whole = node
    if _loop(node, module) is not None:
        whole = next(outer for outer in module.ancestors(node) if isinstance(outer, cst.Call))
    context.edit(whole, module, [site], _with_code(whole, module, error), "MR607", error)


def _with_code(node: cst.CSTNode, module: Module, error: str) -> Apply:
    """``test or e.code == "context_length_exceeded"``, in parentheses where it would be taken apart."""
    parent = module.parents.get(node)
    asked = f"{error}.code" if _has_code(node, module, error) else f'getattr({error}, "code", None)'

    def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.BaseExpression:
        assert isinstance(updated, (cst.Comparison, cst.Call))
        bare = updated.with_changes(lpar=[], rpar=[])
        absent = isinstance(bare, cst.Comparison) and isinstance(bare.comparisons[0].operator, cst.NotIn)
        quoted = bare.left if isinstance(bare, cst.Comparison) else None
        other = expr(f"{asked} {'!=' if absent else '=='} CODE", CODE=string(CODE, quoted))
        operator = cst.And() if absent else cst.Or()
        made = cst.BooleanOperation(bare, operator, other, lpar=updated.lpar, rpar=updated.rpar)
        if len(module.tree.code_for_node(made)) > _LONG:
            return _in_lines(made, module.tree.default_indent)
        fits = isinstance(parent, (cst.If, cst.While, cst.Assign, cst.Return)) or (
            isinstance(parent, cst.BooleanOperation) and isinstance(parent.operator, type(operator))
        )
        return made if fits else parenthesized(made)

    return apply


_LONG = 80  # columns


def _in_lines(made: cst.BooleanOperation, indent: str) -> cst.BooleanOperation:
    """``made`` in parentheses, each of its two terms on a line."""
    line = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(indent))
    return made.with_changes(
        operator=made.operator.with_changes(whitespace_before=line),
        lpar=[cst.LeftParen(line)],
        rpar=[cst.RightParen(cst.ParenthesizedWhitespace(indent=True))],
    )


def _has_code(node: cst.CSTNode, module: Module, error: str) -> bool:
    """Whether ``error`` is what a handler around ``node`` gets, and all of that has a ``code``."""
    for parent in module.ancestors(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda)):
            return False
        if isinstance(parent, cst.ExceptHandler):
            name = parent.name.name if parent.name is not None else None
            if isinstance(name, cst.Name) and name.value == error:
                return isinstance(parent.type, (cst.Name, cst.Attribute)) and _spelled(parent.type) in _CODED
    return False


_CODED = frozenset({"APIError", "APIStatusError", "BadRequestError"})


def _spelled(node: cst.Name | cst.Attribute) -> str:
    return node.value if isinstance(node, cst.Name) else node.attr.value

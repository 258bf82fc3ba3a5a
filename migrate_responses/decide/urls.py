"""What a string argument of a client can be: known text, text with gaps, or known only at run time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from ..know import models
from ..know.graph import Var
from ..know.kinds import Class, Const, DictValue, Env, External, Instance, Typed, Unknown, Value
from ..know.modules import parameters
from ..know.project import Project
from .origins import Origins

GAP = "\0"  # stands for a piece of a text that is not known
_MANY = 32  # readings of one f-string
_PATIENCE = 50_000  # values that are looked at for one text


@dataclass(frozen=True)
class Text:
    """One thing a string can be.

    ``text`` is None if nothing is given (None, ``NOT_GIVEN``, the SDK's own variable), and holds ``GAP``
    for what only the running program knows, which ``why`` describes. ``defaulted``: a literal
    stands in for the environment variable that is missing. ``place`` is the statement that assigns it,
    if it is not an argument.
    """

    text: str | None
    why: str = ""
    node: cst.CSTNode | None = None
    defaulted: bool = False
    place: cst.CSTNode | None = None

    @property
    def is_known(self) -> bool:
        return self.text is not None and GAP not in self.text


NOTHING = Text(None)


class Texts:
    """Reads strings out of variables. ``own`` names the environment variable that counts as nothing."""

    def __init__(self, project: Project, origins: Origins) -> None:
        self._project = project
        self._origins = origins
        self._parameters: dict[cst.CSTNode, Var] | None = None
        self._templates: dict[cst.CSTNode, list[tuple[str, str]]] = {}
        self._cuts = 0  # how often a text turned out to be made of itself
        self._left = 0  # values to look at before giving up

    def read(self, var: Var, own: str = "") -> list[Text]:
        """Everything ``var`` can be, each once."""
        self._left = _PATIENCE
        found = list(dict.fromkeys(self._read(var, own, frozenset())))
        if self._left <= 0:
            found.append(Text(GAP, "a text that is put together in too many ways"))
        unseen = self._origins.unseen(var)
        if unseen is not None:
            found.append(Text(GAP, "a value that could not be followed", unseen))
        return found

    def _read(self, var: Var, own: str, outer: frozenset[Var]) -> Iterator[Text]:
        """What ``var`` can be, through the parameters of callers; ``outer`` is what it is being read for."""
        if var in outer:
            self._cuts += 1
            return
        seen = {var}
        path = {var: iter(list(var.values))}
        while path and self._left > 0:
            current, values = next(reversed(path.items()))
            for value in values:
                self._left -= 1
                parameter = value.node if isinstance(value, Typed) else None
                if not isinstance(parameter, cst.Param):
                    inside = outer | path.keys() if isinstance(value, (Env, Typed)) else outer
                    yield from self._value(value, own, inside)
                    continue
                passed = self._passed(parameter)
                if not passed.values:
                    yield Text(GAP, f"parameter `{parameter.name.value}`", parameter)
                elif passed in outer:
                    self._cuts += 1
                elif passed not in seen:
                    seen.add(passed)
                    path[passed] = iter(list(passed.values))
                    break
            else:
                del path[current]

    def _passed(self, parameter: cst.Param) -> Var:
        """What callers pass for a parameter annotated ``str``."""
        if self._parameters is None:
            self._parameters = {
                item: function.parameters[item.name.value]
                for function in self._project.functions.values()
                for item in parameters(function.node.params)
            }
        return self._parameters[parameter]

    def _value(self, value: Value, own: str, outer: frozenset[Var]) -> Iterator[Text]:
        match value:
            case Const(value=None) | Const(value=""):
                yield NOTHING
            case External(path=path) if path in models.OMITTED:
                yield NOTHING
            case Const(value=str(text)):
                yield Text(text, "", value.node)
            case Env():
                yield from self._environment(value, own, outer)
            case Typed(node=cst.FormattedString() | cst.ConcatenatedString() | cst.BinaryOperation() as node):
                for text, why in self._template(node, outer):
                    yield Text(text, why, node)
            case External(path="a computed value"):
                yield Text(GAP, "a computed string")
            case _:
                yield Text(GAP, describe(value))

    def _environment(self, value: Env, own: str, outer: frozenset[Var]) -> Iterator[Text]:
        defaults = list(self._read(value.default, own, outer)) if value.default is not None else []
        if value.name and value.name == own:
            yield NOTHING
        else:
            yield Text(GAP, describe(value), value.node, any(item.is_known for item in defaults))
        yield from (item for item in defaults if item.text is not None)

    # -- templates -----------------------------------------------------------------------

    def _template(self, node: cst.CSTNode, outer: frozenset[Var]) -> list[tuple[str, str]]:
        """The readings of an f-string or a sum, each with what its gaps are."""
        known = self._templates.get(node)
        if known is None:
            cuts = self._cuts
            known = self._readings(node, outer)
            if cuts == self._cuts and self._left > 0:  # the same whatever it is read for
                self._templates[node] = known
        return known

    def _readings(self, node: cst.CSTNode, outer: frozenset[Var]) -> list[tuple[str, str]]:
        match node:
            case cst.FormattedString():
                pieces = [self._piece(part, outer) for part in node.parts]
            case cst.ConcatenatedString():
                pieces = [self._template(node.left, outer), self._template(node.right, outer)]
            case cst.BinaryOperation(operator=cst.Add()):
                pieces = [self._inner(node.left, outer), self._inner(node.right, outer)]
            case cst.SimpleString():
                pieces = [[(str(node.evaluated_value), "")]]
            case _:
                pieces = [[(GAP, "a computed string")]]
        return [
            ("".join(text for text, _ in row), ", ".join(why for _, why in row if why))
            for row in itertools.islice(itertools.product(*pieces), _MANY)
        ]

    def _piece(self, part: cst.BaseFormattedStringContent, outer: frozenset[Var]) -> list[tuple[str, str]]:
        if isinstance(part, cst.FormattedStringText):
            return [(part.value.replace("{{", "{").replace("}}", "}"), "")]
        assert isinstance(part, cst.FormattedStringExpression)
        return self._inner(part.expression, outer)

    def _inner(self, node: cst.BaseExpression, outer: frozenset[Var]) -> list[tuple[str, str]]:
        var = self._project.vars.get(node)
        found = list(self._read(var, "", outer)) if var is not None else []
        readings = [item for item in found if item.text is not None]
        if readings and not any(item.why for item in readings):  # a sum of thousands asks at each term
            return [(item.text or "", "") for item in readings]
        source = cst.Module([]).code_for_node(node)
        return [(item.text or "", f"{item.why} {source}" if item.why else "") for item in readings] or [
            (GAP, f"`{source}`")
        ]

    # -- dicts ---------------------------------------------------------------------------

    def is_known(self, var: Var) -> bool:
        """Whether the keys of every dict that ``var`` can be are known."""
        return (
            bool(var.values)
            and self._origins.unseen(var) is None
            and all(self._known_dict(value, frozenset()) for value in var.values)
        )

    def _known_dict(self, value: Value, seen: frozenset[Value]) -> bool:
        if not isinstance(value, DictValue):
            return isinstance(value, Const) and value.value is None
        if value in seen:
            return True
        if any(place.how in ("literal", "keyword", "store", "setdefault") for place in value.others):
            return False
        for function in self._project.functions.values():
            if function.double_star is value and (function.escaped or not function.callers):
                return False
        return all(
            bool(var.values) and all(self._known_dict(item, seen | {value}) for item in var.values)
            for var in value.merged
        )


def writes(value: Value, name: str) -> bool:
    """Whether the dict ``value``, or one that is merged into it, is given an entry ``name``."""
    stack = [value]
    seen: set[Value] = set()
    while stack:
        holder = stack.pop()
        if holder in seen or not isinstance(holder, DictValue):
            continue
        seen.add(holder)
        places = holder.places.get(name, ())
        if any(place.how in ("literal", "keyword", "store", "setdefault") for place in places):
            return True
        stack.extend(item for var in holder.merged for item in var.values)
    return False


def describe(value: Value) -> str:
    """``value`` in a few words, for a message."""
    match value:
        case Env(name=name):
            return f"the environment variable {name}" if name else "an environment variable"
        case Unknown(why=why):
            return why
        case External(path=path) if ".parse_args()." in path:
            return f"`{path.rpartition('.')[2]}`, an option of the command line"
        case External(path=path):
            return value.words if len(path) < 60 else "a value from another library"
        case Instance(type=Class(name=name)):
            return f"a `{name}`"
        case _:
            return "a value computed at run time"

"""What is known of one argument at one call: the values it can have, and whether it says anything at all."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ..know import models
from ..know.kinds import Const, DictValue, External, Place, SeqValue, Unknown, Value
from .chosen_keys import values_of
from .context import WRITES, Context, Request, constants
from .snippets import is_omitted, spells_none

# Same name, same meaning (openai.types.responses.ResponseCreateParams and the Chat one).
UNCHANGED = frozenset(
    "model stream temperature top_p metadata user store service_tier parallel_tool_calls safety_identifier"
    " prompt_cache_key prompt_cache_retention prompt_cache_options moderation extra_headers extra_query"
    " timeout".split()
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of one site, with every place that writes it."""

    context: Context
    request: Request
    name: str
    places: list[Place] = field(default_factory=list)

    @property
    def values(self) -> list[Value]:
        """What it can be."""
        found: dict[Value, None] = {}
        for place in self.places:
            if place.how in WRITES:
                found.update(dict.fromkeys(values_of(self.context, place, self.name)))
        return list(found)

    @property
    def constants(self) -> list[object] | None:
        """The constants it can be, or None if it can be anything else."""
        found: list[object] = []
        for place in self.places:
            if place.how in WRITES:
                known = constants(place.var)
                if known is None:
                    return None
                found.extend(known)
        return found

    @property
    def may_be_none(self) -> bool:
        """Whether None can be passed, as far as is known."""
        if not self.values:
            return True
        return any(
            isinstance(v, (Unknown, External)) or (isinstance(v, Const) and v.value is None)
            for v in self.values
        )

    @property
    def omitted_elsewhere(self) -> bool:
        """Whether NOT_GIVEN or omit can be passed, other than by ``value or NOT_GIVEN``."""
        return any(
            isinstance(value, External) and value.path in models.OMITTED and not _falls_back(place)
            for place in self.places
            for value in (place.var.values if place.var is not None else ())
        )

    def only(self, *noops: object) -> bool:
        """Whether it can only be None, omitted, or one of ``noops``."""
        if not self.values:
            return False
        for value in self.values:
            if self.offered_by(value) is not None:
                return False
            if self._is_of_field(value) or self._may_be_filled(value) or self._is_set_by_name(value):
                return False
            if isinstance(value, External) and value.path in models.OMITTED:
                continue
            if isinstance(value, DictValue) and {} in noops:
                if not (value.places or value.others or value.merged):
                    continue
                return False
            if not isinstance(value, Const) or not (value.value is None or value.value in noops):
                return False
        return True

    @property
    def is_nothing(self) -> bool:
        """Whether it is None or omitted wherever it is written, spelled out there and not in a variable."""
        return self.only() and all(map(_is_spelled_out, self.places))

    def _is_of_field(self, value: Value) -> bool:
        """Whether ``value`` is the default of a declared field, which data may fill."""
        if not isinstance(value, Const):
            return False
        module = self.context.module_of(value.node)
        declaration = module.parents.get(value.node)
        return (
            isinstance(declaration, cst.AnnAssign)
            and declaration.value is value.node
            and isinstance(module.parents.get(module.parents[module.parents[declaration]]), cst.ClassDef)
        )

    def _may_be_filled(self, value: Value) -> bool:
        """Whether ``value`` is a default, and a caller of its function passes ``**`` of something unknown."""
        if not isinstance(value, Const):
            return False
        module = self.context.module_of(value.node)
        parameter = module.parents.get(value.node)
        if not isinstance(parameter, cst.Param) or parameter.default is not value.node:
            return False
        function = self.context.project.functions.get(module.parents[module.parents[parameter]])
        return function is not None and any(
            argument.keyword in ("*", "**")
            and not all(isinstance(given, (DictValue, SeqValue)) for given in argument.var.values or [value])
            for caller in function.callers
            for argument in caller.arguments
        )

    def _is_set_by_name(self, value: Value) -> bool:
        """Whether ``value`` comes by a name or an attribute whose like are also set by computed names."""
        modules = {place.module for place in self.places}
        if isinstance(value, Const):
            modules.add(self.context.module_of(value.node))
        return any(
            any(sign in module.text for sign in _SETS_BY_NAME[type(passed)])
            for place in self.places
            if isinstance(place.node, (cst.Arg, cst.DictElement))
            for passed in [place.node.value]
            if isinstance(passed, (cst.Attribute, cst.Name)) and not spells_none(passed)
            for module in modules
        )

    def offered_by(self, value: Value) -> str | None:
        """The public function of a distributed project whose parameter ``value`` is the default of."""
        if not self.context.settings.packaged or not isinstance(value, Const):
            return None
        module = self.context.module_of(value.node)
        parameter = module.parents.get(value.node)
        if not isinstance(parameter, cst.Param) or parameter.default is not value.node:
            return None
        around = [item for item in module.ancestors(parameter) if isinstance(item, _DEFINITIONS)]
        names = [item.name.value if not isinstance(item, cst.Lambda) else "_" for item in around]
        nested = any(isinstance(item, cst.FunctionDef) for item in around[1:])
        hidden = any(name.startswith("_") and not name.endswith("__") for name in names)
        return None if nested or hidden else names[0]


def _is_spelled_out(place: Place) -> bool:
    node = place.node
    value = node.value if isinstance(node, (cst.Arg, cst.DictElement)) else None
    if isinstance(value, cst.Name) and value.value != "None":
        scope = place.module.scopes.get(place.module.function(value) or place.module.tree)
        local = scope is not None and not isinstance(scope.node, cst.Module) and value.value in scope.bound
        known = place.var is not None and all(isinstance(item, External) for item in place.var.values)
        return known and not local
    return value is not None and not isinstance(value, (cst.BooleanOperation, cst.IfExp))


# ``setattr(self, key, value)``, ``vars(self).update(data)``, ``globals()[key] = value``
_SETS_BY_NAME: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Attribute: ("setattr", "__dict__", "vars(", "globals()"),
    cst.Name: ("globals()",),
}
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


def _falls_back(place: Place) -> bool:
    """``effort or NOT_GIVEN``."""
    return isinstance(place.node, (cst.Arg, cst.DictElement)) and is_or(place.node.value)


def is_or(value: cst.BaseExpression) -> bool:
    if not isinstance(value, cst.BooleanOperation) or not isinstance(value.operator, cst.Or):
        return False
    return spells_none(value.right) or is_omitted(value.right)

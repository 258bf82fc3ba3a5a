"""Objects that hold arguments of a request, and the dicts they are made into: ``**params.model_dump()``.

What such a dict has are the fields of the object, under their names. Other objects that are dumped are data
of the program, of which nothing is known.
"""

from __future__ import annotations

import libcst as cst

from .binding import plain_type
from .carriers import Carriers
from .graph import Var
from .kinds import Class, Const, DictValue, External, Instance, Invocation, Typed, Unknown, Value
from .modules import walk

_FUNCTIONS = frozenset({"dataclasses.asdict", "attr.asdict", "attrs.asdict"})
# Models whose fields the environment may fill.
_OF_ENVIRONMENT = (
    "pydantic_settings.BaseSettings",
    "pydantic_settings.main.BaseSettings",
    "pydantic.BaseSettings",
)
_MODELS = ("pydantic.BaseModel", "pydantic.main.BaseModel", *_OF_ENVIRONMENT)
_METHODS = {"model_dump": _MODELS, "dict": _MODELS, "_asdict": ("typing.NamedTuple",)}
_PLAIN = ("builtins.object", "abc.ABC", "typing.Generic")  # bases that bring no fields
# Keywords that leave out entries at most; others choose names, or change what is there.
_LEAVING_OUT = frozenset({"exclude_none", "exclude_unset", "exclude_defaults"})
# One of these is an argument of a request. An object with one of the others is more than settings.
_ARGUMENTS = frozenset("messages max_tokens max_completion_tokens temperature top_p".split())
_NO_SETTINGS = frozenset("role content tools functions type choices usage".split())
# What makes a model have other entries than its fields.
_OTHER_ENTRIES = frozenset(
    "extra alias alias_generator serialization_alias serialize_by_alias computed_field model_serializer"
    " field_serializer ClassVar InitVar".split()
)
_NOT_KEPT = frozenset({"ignore", "forbid"})  # what a model does with data that is no field


class SettingsObjects(Carriers):
    """``params.model_dump()``, ``asdict(params)``."""

    def dump_function(self, path: str, call: Invocation) -> bool:
        """Give what ``asdict(params)`` makes; whether ``path`` is such a function."""
        if path not in _FUNCTIONS or len(call.arguments) != 1:
            return False

        def on(value: Value) -> None:
            if not self._dump(value, call, ()):
                self.solver.add(call.result, [External(path).step("()")])

        self.solver.watch(call.arguments[0].var, on)
        return True

    def dump_method(self, call: Invocation) -> None:
        """Give what ``params.model_dump()`` or ``params._asdict()`` makes, without a method of its own."""
        func = call.node.func
        if not isinstance(func, cst.Attribute) or not is_dump(func):
            return
        bases = _METHODS[func.attr.value]
        chosen = [argument for argument in call.arguments if argument.keyword not in _LEAVING_OUT]
        named = {str(argument.keyword): _texts(argument.node) for argument in chosen}
        if not named.keys() <= {"include", "exclude"} or None in named.values():
            return
        include, exclude = named.get("include"), named.get("exclude")

        def on(value: Value) -> None:
            self._dump(value, call, bases, include, exclude or frozenset())

        self.solver.watch(self.vars[func.value], on)

    def _dump(
        self,
        value: Value,
        call: Invocation,
        bases: tuple[str, ...],
        include: frozenset[str] | None = None,
        exclude: frozenset[str] = frozenset(),
    ) -> bool:
        """Whether ``value`` holds settings; what it is made into is a result of ``call`` then."""
        if not isinstance(value, Instance) or not self._holds_settings(value.type, bases):
            return False
        made = self._dict_of(call)
        for name in self._field_names(value.type):
            if name in exclude or (include is not None and name not in include):
                continue
            var = Var()
            self.member(value, name, made.node, var)
            self.solver.flow(self.filled_elsewhere(value.type), var)
            if self._is_of_environment(value.type):
                kind = plain_type(self._annotation(value.type, name))
                found = Typed(kind) if kind else Unknown("the environment", made.node)
                self.solver.add(var, [found])
            if name == "messages":  # objects among them are made dicts as well
                self.solver.add(var, [Unknown("what a model is made into", made.node)])
            self.entry(made, self.fresh(Const(name, made.node)), made.node, "dumped", var, made.module)
        self.solver.add(call.result, [made])
        return True

    def _dict_of(self, call: Invocation) -> DictValue:
        known = self.built.get(call.node)
        if not isinstance(known, DictValue):
            known = self.built[call.node] = self.new_dict(call.node, call.module)
        return known

    def _field_names(self, cls: Class) -> list[str]:
        owners = [*reversed(self.ancestors(cls)), cls]
        names = dict.fromkeys(name for owner in owners for name in owner.annotations)
        return [name for name in names if not name.startswith("_")]

    def _annotation(self, cls: Class, name: str) -> cst.BaseExpression | None:
        return next(
            (owner.annotations[name] for owner in (cls, *self.ancestors(cls)) if name in owner.annotations),
            None,
        )

    def _is_of_environment(self, cls: Class) -> bool:
        return any(
            isinstance(value, External) and value.path in _OF_ENVIRONMENT
            for owner in (cls, *self.ancestors(cls))
            for base in owner.bases
            for value in base.values
        )

    def _holds_settings(self, cls: Class, bases: tuple[str, ...]) -> bool:
        names, owners = set(self._field_names(cls)), [cls, *self.ancestors(cls)]
        return (
            not names.isdisjoint(_ARGUMENTS)
            and names.isdisjoint(_NO_SETTINGS)
            and self._has_bases(owners, bases)
            and not any(name in owner.members for owner in owners for name in _METHODS)
            and not any(_has_other_entries(owner) for owner in owners)
        )

    def _has_bases(self, owners: list[Class], bases: tuple[str, ...]) -> bool:
        """Whether all that ``owners`` inherit from is known, and one of ``bases``, if any, is among it."""
        found = [set(base.values) for owner in owners for base in owner.bases]
        paths = [value.path for values in found for value in values if isinstance(value, External)]
        others = [path for path in paths if path not in bases and not path.startswith(_PLAIN)]
        inherited = {value for values in found for value in values if not isinstance(value, External)}
        return (
            all(found)
            and not others
            and (not bases or any(path in bases for path in paths))
            and inherited <= set(owners)
        )


def is_dump(func: cst.Attribute) -> bool:
    """Whether a method is called so that makes an object a dict."""
    return func.attr.value in _METHODS


def _texts(node: cst.CSTNode) -> frozenset[str] | None:
    """The names in ``include={"model", "temperature"}``; None if it is anything else than texts."""
    match node:
        case cst.Arg(value=cst.Set(elements=elements)):
            texts = [element.value for element in elements]
            names = [text.evaluated_value for text in texts if isinstance(text, cst.SimpleString)]
            found = frozenset(name for name in names if isinstance(name, str))
            return found if len(names) == len(texts) else None
        case _:
            return None


def _has_other_entries(owner: Class) -> bool:
    """Whether instances may be made into dicts with other entries than their fields."""
    kept = {
        node.keyword
        for node in walk(owner.node)
        if isinstance(node, cst.Arg)
        and node.keyword is not None
        and node.keyword.value == "extra"
        and isinstance(node.value, cst.SimpleString)
        and node.value.evaluated_value in _NOT_KEPT
    }
    return any(
        (isinstance(node, cst.Name) and node.value in _OTHER_ENTRIES and node not in kept)
        or (isinstance(node, cst.DictElement) and _is_other(node.key))
        for node in walk(owner.node)
    )


def _is_other(key: cst.BaseExpression) -> bool:
    """``{"extra": "allow"}``."""
    return isinstance(key, cst.SimpleString) and key.evaluated_value in _OTHER_ENTRIES

"""What objects hold that a test makes of its own classes and of namespaces, in terms of what stands there."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..know import modules as syntax
from ..know.kinds import Class, External, Value
from ..know.modules import Module
from .context import Context
from .double_fields import is_dataclass, is_plain, lines_of, method_of
from .double_forms import NAMESPACE, Keywords, keywords_of
from .double_shapes import Shapes
from .snippets import fill

_LIBRARIES = ("types.SimpleNamespace", "unittest.mock.", "mock.", "pytest_mock.")


@dataclass(frozen=True)
class Field:
    """Where a class sets a field, and to what; no value: a field of a dataclass, given by who makes one."""

    node: cst.CSTNode
    value: cst.BaseExpression | None
    function: cst.FunctionDef | None


class Objects:
    """The objects of one test file."""

    def __init__(self, context: Context, module: Module, shapes: Shapes) -> None:
        self.module = module
        self.shapes = shapes
        self.inlined: set[cst.ClassDef] = set()  # the classes whose objects were looked into
        self.consumed: set[cst.CSTNode] = set()  # expressions that are written anew
        self._called: dict[str, list[Value]] = {}  # what is called, as written: copies are not in the graph
        for call in module.of(cst.Call):
            values = context.project.values(call.func)
            self._called.setdefault(module.tree.code_for_node(call.func), []).extend(values)

    def fields(self, node: cst.ClassDef) -> dict[str, Field]:
        found: dict[str, Field] = {}
        for small in lines_of(node.body):
            match small:
                case cst.AnnAssign(target=cst.Name(value=name), value=value):
                    found[name] = Field(small, value, None)
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    found[name] = Field(small, value, None)
                case _:
                    continue
        init = method_of(node, "__init__")
        for small in lines_of(init.body) if init is not None else ():
            match small:
                case cst.Assign(
                    targets=[
                        cst.AssignTarget(
                            target=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name))
                        )
                    ],
                    value=value,
                ):
                    found[name] = Field(small, value, init)
                case cst.AnnAssign(
                    target=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)),
                    value=cst.BaseExpression() as value,
                ):
                    found[name] = Field(small, value, init)
                case _:
                    continue
        return found

    def does_nothing_else(self, node: cst.ClassDef, fields: dict[str, Field]) -> bool:
        """Whether a class only holds ``fields``."""
        return is_plain(node, {field.node for field in fields.values()})

    def own(self, node: cst.BaseExpression) -> cst.ClassDef | None:
        """The class of this file that ``node`` makes an instance of."""
        if isinstance(node, cst.Call):
            for value in self._values(node):
                if isinstance(value, Class) and value.module is self.module:
                    return value.node
        return None

    def _is_namespace(self, node: cst.Call) -> bool:
        return all(arg.keyword is not None for arg in node.args) and any(
            isinstance(value, External) and value.path.startswith(_LIBRARIES) for value in self._values(node)
        )

    def _values(self, node: cst.Call) -> list[Value]:
        return self._called.get(self.module.tree.code_for_node(node.func), [])

    def opened(self, node: cst.BaseExpression) -> Keywords | None:
        """The fields of the object that ``node`` makes, in terms of what stands there."""
        if not isinstance(node, cst.Call):
            return None
        own = self.own(node)
        if self.shapes.maker(node) == NAMESPACE:
            return keywords_of(node)
        if own is None:
            if not self._is_namespace(node):
                return None
            return {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
        given = self.given(own, node)
        if given is None or (own.bases and method_of(own, "__init__") is None and not is_dataclass(own)):
            return None
        found: Keywords = {}
        fields = self.fields(own)
        if not self.does_nothing_else(own, fields):
            return None
        for name, field in fields.items():
            value = field.value
            if field.function is None:
                value = given.get(name, value)
            elif value is not None:
                value = fill(value, given)
            if value is None:
                return None
            found[name] = value
        self.inlined.add(own)
        return found

    def given(self, own: cst.ClassDef, call: cst.Call) -> Keywords | None:
        """The arguments of a call of ``own`` by parameter, defaults included."""
        init = method_of(own, "__init__")
        names: list[str] = []
        found: Keywords = {}
        if init is not None:
            if init.params.star_kwarg is not None or isinstance(init.params.star_arg, cst.Param):
                return None
            for parameter in syntax.parameters(init.params)[1:]:
                names.append(parameter.name.value)
                if parameter.default is not None:
                    found[parameter.name.value] = parameter.default
        elif is_dataclass(own):
            names = list(self.fields(own))
        for number, arg in enumerate(call.args):
            name = arg.keyword.value if arg.keyword is not None else None
            if arg.star or (name is None and number >= len(names)):
                return None
            found[name or names[number]] = arg.value
        return found

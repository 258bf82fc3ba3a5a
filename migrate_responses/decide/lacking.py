"""Objects of the project that have no such attribute: a call on them was an error, and stays one."""

from __future__ import annotations

import libcst as cst

from ..know.kinds import Class, External, Function, Instance, Unknown, Value
from ..know.modules import walk
from ..know.project import Project

# What a base may be without adding attributes.
_BARE = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Generic[]", "typing.Protocol"})
# Names by which a class may get attributes that are not written as such.
_DYNAMIC = frozenset({"__getattr__", "__getattribute__", "__dict__", "__class__", "setattr", "vars"})


def lacks(project: Project, value: Value, step: str) -> bool:
    """Whether ``value.step`` is no object with parts of its own: there is none, or it is a plain method."""
    if not isinstance(value, Instance):
        return False
    family = [value.type, *project.ancestors(value.type)]
    return not any(_may_have(project, cls, step) for cls in family) and not _is_given(project, value, step)


def _may_have(project: Project, cls: Class, step: str) -> bool:
    bases = [base for var in cls.bases for base in (var.values or [None])]
    if not all(
        isinstance(base, Class) or (isinstance(base, External) and base.path in _BARE) for base in bases
    ):
        return True
    if cls.node.keywords or (cls.node.decorators and not _makes_fields(cls)):
        return True
    if step in cls.annotations:
        return True
    member = cls.members.get(step)
    if member is not None and not (member.values and all(map(_is_plain_method, member.values))):
        return True
    return any(isinstance(inner, cst.Name) and inner.value in _DYNAMIC for inner in walk(cls.node))


def _makes_fields(cls: Class) -> bool:
    """Whether the class has decorators that read its annotations and do no more."""
    names = [
        inner.value
        for decorator in cls.node.decorators
        for inner in walk(
            decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator
        )
        if isinstance(inner, cst.Name)
    ]
    return bool(names) and names[-1] == "dataclass"


def _is_plain_method(value: Value) -> bool:
    return isinstance(value, Function) and value.bound != "property" and not value.decorators


def _is_given(project: Project, instance: Instance, step: str) -> bool:
    """Whether somebody sets ``step`` on what may be ``instance``: ``bot.chat = x``, ``setattr(bot, ...)``."""
    family = (instance.type, *project.ancestors(instance.type))

    def may_be(node: cst.BaseExpression) -> bool:
        owners = project.values(node)
        return not owners or any(
            isinstance(owner, Unknown)
            or owner in family
            or (isinstance(owner, Instance) and owner.type in family)
            for owner in owners
        )

    for module in project.modules:
        for node in module.of(cst.Attribute, cst.Call):
            match node:
                case cst.Attribute(value=owner, attr=cst.Name(value=name)):
                    stored = name == step and isinstance(module.parents.get(node), _STORES)
                    if (stored or name in ("__dict__", "__class__", "__setattr__")) and may_be(owner):
                        return True
                case cst.Call(func=func, args=[first, *rest]):
                    setting = isinstance(func, cst.Name) and func.value in ("setattr", "vars")
                    texts = [arg.value for arg in rest if isinstance(arg.value, cst.SimpleString)]
                    named = any(text.evaluated_value == step for text in texts)
                    if (setting or named) and may_be(first.value):
                        return True
                case _:
                    pass
    return False


_STORES = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.Element, cst.For, cst.WithItem, cst.AsName)

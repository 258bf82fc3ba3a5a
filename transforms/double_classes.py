"""Hand-written fakes: classes of a test that stand for the client, its parts, and its answers (MR802).

``FakeResponse(FakeChoice(FakeMessage(text)))`` is a ``FakeResponse`` with ``output_text``, and
``FakeOpenAI().chat.completions`` is its ``responses``; the classes between are gone. What a class does not
show in this plain way is left, and the net of :mod:`.double_leftovers` holds the flow back.
"""

from __future__ import annotations

import libcst as cst

from ..decide.plan import Apply
from ..know import modules as syntax
from ..know.kinds import Class
from ..know.modules import Module
from . import double_selves
from .context import Context
from .double_contents import fields_of
from .double_edits import USAGE, is_empty, its_line, new_name, text_of
from .double_fields import (
    assigned,
    classes_of,
    each_argument,
    each_assigned,
    each_field,
    each_parameter,
    is_dataclass,
    makes_answer,
    put,
    reassigned,
    target_of,
    text_field,
    text_parameter,
)
from .double_forms import Keywords, completions_of, names_of
from .double_objects import Field, Objects
from .double_shapes import Shapes
from .tested import imported_by

_FIELDS = frozenset({"choices", "usage", "id", "model", "created", "object", "service_tier"})


class Fakes:
    """The classes of one test file."""

    def __init__(self, context: Context, module: Module, shapes: Shapes) -> None:
        self.context = context
        self.module = module
        self.shapes = shapes
        self.known = shapes.known
        self.objects = Objects(context, module, shapes)
        self.consumed = self.objects.consumed

    def plan(self) -> None:
        steps: set[cst.ClassDef] = set()  # what stands for `beta`, which is gone
        for node in self.module.of(cst.ClassDef):
            fields = self.objects.fields(node)
            if "beta" in fields and "chat" not in fields and (step := self._beta(fields["beta"])) is not None:
                steps.add(step)
        for node in self.module.of(cst.ClassDef):
            fields = self.objects.fields(node)
            if "choices" in fields and fields.keys() <= _FIELDS:
                self._response(node, fields["choices"])
            if "chat" in fields and node not in steps:
                self._client(node, fields)
            for nested in classes_of(node):
                if nested.name.value == "chat":
                    self._nested(nested)
            double_selves.plan(self, node)
            self._usage(node, fields)
        self._clear()

    def _edit(self, node: cst.CSTNode, apply: Apply) -> None:
        self.shapes.edit(node, apply)

    # -- answers -------------------------------------------------------------------------

    def _content(self, choices: cst.BaseExpression) -> Keywords | None:
        """The fields that ``[FakeChoice(...)]`` becomes."""
        found = fields_of(self.objects, choices)
        text = found.get("output_text") if found is not None else None
        if found is None or text is None:
            return found
        if "output" not in found or is_empty(found["output"]):
            self.shapes.tell_none(text, choices)
        return {**found, "output_text": text_of(text, self.shapes.may_be_none(text))}

    def _response(self, node: cst.ClassDef, field: Field) -> None:
        init = field.function
        by_parameter = (init is None and is_dataclass(node)) or (
            init is not None
            and isinstance(field.value, cst.Name)
            and field.value.value in {parameter.name.value for parameter in syntax.parameters(init.params)}
        )
        if by_parameter:
            if not self.shapes.tests_choices:
                self._made_elsewhere(node, field)
            return
        if field.value is None:
            return  # declared without a value: a class of a library makes it
        content = self._content(field.value)
        line = its_line(self.module, field.node)
        if content is None or (len(content) > 1 and line is field.node):
            return
        self.consumed.add(field.value)
        self.known.update(syntax.walk(field.node))
        named = {inner.value for inner in syntax.walk(field.value) if isinstance(inner, cst.Name)}
        for parameter in syntax.parameters(init.params) if init is not None else ():
            if parameter.name.value in named:
                self.known.add(parameter.name)
        if len(content) == 1:
            ((name, new),) = content.items()
            self._edit(field.node, assigned(name, new))
        else:
            self._edit(line, each_assigned(content))

    def _made_elsewhere(self, node: cst.ClassDef, field: Field) -> None:
        """``FakeResponse(choices=[...])``: its makers give the text instead, and what else there is."""
        makers: list[tuple[cst.Arg, Keywords]] = []
        init = field.function
        name = field.value.value if isinstance(field.value, cst.Name) else "choices"
        if name != "choices" or self._is_used_elsewhere(node):
            return
        for call in self.module.of(cst.Call):
            if self.objects.own(call) is node:
                given = self.objects.given(node, call)
                arg = next(
                    (arg for arg in call.args if given is not None and arg.value is given.get(name)), None
                )
                content = self._content(arg.value) if arg is not None else None
                if arg is None or content is None or "output_text" not in content:
                    return
                makers.append((arg, content))
        names = list(makers[0][1]) if makers else []
        if not names or any(list(content) != names for _, content in makers):
            return
        if len(names) > 1:
            self._several(makers, names, field)
            return
        for arg, content in makers:
            self.consumed.add(arg.value)
            self.known.add(arg)
            self._edit(arg.value, put(content["output_text"]))
            if arg.keyword is not None:
                self._edit(arg.keyword, new_name("output_text"))
        if isinstance(field.node, cst.AnnAssign) and init is None:
            self.known.update(syntax.walk(field.node))
            self._edit(field.node, text_field)
            return
        assert init is not None
        assert isinstance(field.value, cst.Name)
        self.known.update(syntax.walk(field.node))
        self._edit(field.node, assigned("output_text", cst.Name("output_text")))
        for parameter in syntax.parameters(init.params):
            if parameter.name.value == name:
                self.known.update(syntax.walk(parameter))
                self._edit(parameter, text_parameter)

    def _several(self, makers: list[tuple[cst.Arg, Keywords]], names: list[str], field: Field) -> None:
        """What makes an answer gives several fields where there was one."""
        init = field.function
        line = its_line(self.module, field.node)
        given = [p for p in syntax.parameters(init.params) if p.name.value == "choices"] if init else []
        has_default = bool(given and given[0].default) if init else bool(field.value)
        if has_default or line is field.node:
            return  # those after it may have none
        for arg, content in makers:
            self.consumed.add(arg.value)
            self.known.update(syntax.walk(arg))
            self._edit(arg, each_argument(content))
        self.known.update(syntax.walk(field.node))
        if init is None:
            self._edit(line, each_field(names))
            return
        self._edit(line, each_assigned({name: cst.Name(name) for name in names}))
        for parameter in given:
            self.known.update(syntax.walk(parameter))
            self._edit(parameter, each_parameter(names))

    def _usage(self, node: cst.ClassDef, fields: dict[str, Field]) -> None:
        """A class with token counts: they have other names."""
        if not USAGE.keys() & fields.keys() or self._is_used_elsewhere(node):
            return
        for name, new in USAGE.items():
            field = fields.get(name)
            if field is None:
                continue
            target = target_of(field.node)
            attr = target.attr if isinstance(target, cst.Attribute) else target
            self.known.update({attr, target})
            self._edit(attr, new_name(new))
            if field.function is None:
                for call in self.module.of(cst.Call):
                    for arg in call.args if self.objects.own(call) is node else ():
                        if arg.keyword is not None and arg.keyword.value == name:
                            self._edit(arg.keyword, new_name(new))

    # -- clients -------------------------------------------------------------------------

    def _client(self, node: cst.ClassDef, fields: dict[str, Field]) -> None:
        """``self.chat = FakeChat(...)`` -> ``self.responses = FakeCompletions(...)``."""
        field = fields["chat"]
        if field.value is None or "responses" in fields:
            return
        if isinstance(field.value, cst.Name) and field.value.value == "self":
            inner = fields.get("completions")
            if inner is None or not isinstance(inner.value, cst.Name) or inner.value.value != "self":
                return
            self.known.update(syntax.walk(inner.node))
            self._edit(its_line(self.module, inner.node), lambda o, u: cst.RemovalSentinel.REMOVE)
            new: cst.BaseExpression = field.value
        else:
            opened = self.objects.opened(field.value)
            if opened is not None and opened.keys() == {"completions"}:
                if self.objects.own(field.value) is None:
                    assert isinstance(field.value, cst.Call)
                    self.known.update(names_of(field.value))
                    self._edit(field.node, reassigned("responses", completions_of))
                    return
                new = opened["completions"]
                if makes_answer(new):  # it would be written anew, as it was
                    return
            elif (own := self.objects.own(field.value)) is not None and "completions" in self.objects.fields(
                own
            ):
                self._step_of(field, own)
                return
            else:
                return
        self.consumed.add(field.value)
        self.known.update(syntax.walk(field.node))
        self._edit(field.node, assigned("responses", new))

    def _beta(self, field: Field) -> cst.ClassDef | None:
        """``self.beta = FakeBeta(x)`` -> ``self.responses = FakeCompletions(x)``; gives ``FakeBeta``."""
        if field.value is None:
            return None
        own = self.objects.own(field.value)
        step = self.objects.opened(field.value) if own is not None else None
        chat = self.objects.opened(step["chat"]) if step is not None and step.keys() == {"chat"} else None
        if chat is None or chat.keys() != {"completions"} or makes_answer(chat["completions"]):
            return None
        self.consumed.add(field.value)
        self.known.update(syntax.walk(field.node))
        self._edit(field.node, assigned("responses", chat["completions"]))
        return own

    def _step_of(self, field: Field, own: cst.ClassDef) -> None:
        """``self.chat = FakeChat(x)`` -> ``self.responses = FakeChat(x).completions``, if it does more."""
        assert field.value is not None
        for inner in syntax.walk(own):
            if isinstance(inner, cst.Attribute) and inner.attr.value == "completions":
                self.known.add(inner)
        self._edit(
            field.node, reassigned("responses", lambda value: cst.Attribute(value, cst.Name("completions")))
        )

    def _nested(self, chat: cst.ClassDef) -> None:
        """``class chat: class completions: ...`` -> ``class responses: ...``."""
        inner = classes_of(chat)
        if len(inner) != 1 or inner[0].name.value != "completions" or len(chat.body.body) != 1:
            return
        self.known.add(inner[0])

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.ClassDef)
            completions = updated.body.body[0]
            assert isinstance(completions, cst.ClassDef)
            return completions.with_changes(name=cst.Name("responses"), leading_lines=updated.leading_lines)

        self._edit(chat, apply)

    # -- what is left over ---------------------------------------------------------------

    def _is_used_elsewhere(self, node: cst.ClassDef) -> bool:
        """Whether another file names the class."""
        return any(
            other is not self.module and name.value == node.name.value and self._may_mean(other, name, node)
            for other in self.context.project.modules
            if node.name.value in other.text
            for name in other.of(cst.Name)
        )

    def _may_mean(self, other: Module, name: cst.Name, node: cst.ClassDef) -> bool:
        """Whether ``name`` in the file ``other`` may be the class ``node`` of this one."""
        parent = other.parents.get(name)
        match parent:
            case cst.ClassDef(name=own) | cst.Param(name=own) if own is name:
                return False
            case cst.Arg(keyword=keyword) if keyword is name:
                return False
            case cst.ImportAlias():
                line = other.parents.get(parent)
                return not isinstance(line, (cst.Import, cst.ImportFrom)) or self.module in imported_by(
                    self.context, other, line
                )
            case _:
                values = self.context.project.values(parent if isinstance(parent, cst.Attribute) else name)
                return not values or any(isinstance(v, Class) and v.node is node for v in values)

    def _clear(self) -> None:
        """Take away the classes that nothing needs any more."""
        gone: set[cst.ClassDef] = set()
        while True:
            more = {
                node
                for node in self.objects.inlined - gone
                if not self._is_needed(node, gone) and self._fits(node)
            }
            if not more:
                break
            gone |= more
        for node in gone:
            self.known.update(syntax.walk(node))
            self._edit(node, lambda o, u: cst.RemovalSentinel.REMOVE)

    def _fits(self, node: cst.ClassDef) -> bool:
        """Whether a block is left when the class goes."""
        block = self.module.parents.get(node)
        return isinstance(block, (cst.IndentedBlock, cst.Module)) and len(block.body) > 1

    def _is_needed(self, node: cst.ClassDef, gone: set[cst.ClassDef]) -> bool:
        if self._is_used_elsewhere(node):
            return True
        for name in self.module.of(cst.Name):
            if name.value != node.name.value or name is node.name:
                continue
            around = list(self.module.ancestors(name))
            if not any(
                parent in self.consumed
                or parent in gone
                or parent is node
                or isinstance(parent, cst.Annotation)
                for parent in around
            ):
                return True
        return False

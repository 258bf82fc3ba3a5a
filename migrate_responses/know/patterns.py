"""Patterns of ``match``: what the names in them stand for."""

from __future__ import annotations

import libcst as cst

from .expressions import Expressions
from .graph import Var
from .kinds import Instance, Shape, Unknown, Value


class Patterns(Expressions):
    """Builds the constraints of patterns."""

    def pattern(self, pattern: cst.CSTNode, subject: Var) -> None:
        """Bind the names of ``pattern`` to what they stand for in ``subject``."""
        self.project.patterns.append((pattern, self.module, subject))
        match pattern:
            case cst.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    self.pattern(inner, subject)
                if name is not None:
                    self.bind(name.value, subject)
            case cst.MatchOr(patterns=choices):
                for choice in choices:
                    self.pattern(choice.pattern, subject)
            case cst.MatchSequence(patterns=elements):
                starred = False
                for position, element in enumerate(elements):
                    starred = starred or isinstance(element, cst.MatchStar)
                    self._element(element, subject, None if starred else position)
            case cst.MatchMapping(elements=entries):
                for entry in entries:
                    key = self.expression(entry.key) if isinstance(entry.key, cst.BaseExpression) else Var()
                    self.pattern(entry.pattern, self.project.looked_up(subject, key))
                if pattern.rest is not None:
                    self.bind(pattern.rest.value, subject)
            case cst.MatchValue(value=value):
                self.expression(value)
            case cst.MatchClass(cls=cls, patterns=fields, kwds=keywords):
                self.expression(cls)
                for position, positional in enumerate(fields):
                    self.pattern(positional.value, self._field(pattern, subject, position))
                for keyword in keywords:
                    self.pattern(keyword.pattern, self._field(pattern, subject, keyword.key.value))
            case _:
                return

    def _field(self, pattern: cst.MatchClass, subject: Var, field: int | str) -> Var:
        """What a class pattern takes out of ``subject``: an attribute, by name or by the order of fields."""
        var = Var()

        def on(value: Value) -> None:
            match value:
                case Instance(type=cls):
                    fields = list(cls.annotations)
                    name = field if isinstance(field, str) else fields[field] if field < len(fields) else ""
                    self.project.member(value, name, pattern, var)
                case Shape() if not isinstance(field, int):
                    self.solver.add(var, [Unknown("a match pattern", pattern)])
                case _ if isinstance(field, int):  # ``str(text)``: the whole
                    self.solver.add(var, [value])

        self.solver.watch(subject, on)
        return var

    def _element(self, element: cst.CSTNode, subject: Var, position: int | None) -> None:
        """One pattern of a sequence; after a starred one, it stands for any element."""
        var = Var()
        if isinstance(element, cst.MatchStar):
            if element.name is not None:
                self.project.derive(element, self.module, subject, var)
                self.bind(element.name.value, var)
        elif isinstance(element, cst.MatchSequenceElement):
            self.solver.watch(subject, lambda value: self.project.element_at(value, position, var))
            self.pattern(element.value, var)

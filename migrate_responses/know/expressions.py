"""From expressions to constraints: each expression gets a variable, and rules that fill it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeGuard

import libcst as cst

from . import modules as syntax
from .copying import copied_by_comprehension
from .flags import is_switch
from .graph import Var
from .kinds import (
    Argument,
    Const,
    DictValue,
    External,
    Function,
    Invocation,
    Place,
    SeqValue,
    Shape,
    Typed,
    Value,
)
from .narrowing import narrow, under
from .settings_objects import is_dump
from .targets import Targets


class Expressions(Targets):
    """Builds the constraints of the expressions of one module."""

    def expression(self, node: cst.BaseExpression) -> Var:
        """The variable of ``node``; builds what is below it."""
        build = _BUILDERS.get(type(node))
        var = build(self, node) if build else self.opaque(node)
        self.project.vars[node] = var
        return var

    def _name(self, node: cst.Name) -> Var:
        if node.value in _CONSTANTS:
            return self.new(Const(_CONSTANTS[node.value], node))
        return self.guarded(self.load(node.value))

    def _attribute(self, node: cst.Attribute) -> Var:
        base = self.expression(node.value)
        var = Var()
        self.solver.watch(base, lambda value: self.project.attribute(value, node, var))
        return self.guarded(var)

    def _subscript(self, node: cst.Subscript) -> Var:
        base = self.expression(node.value)
        var = Var()
        index: Var | None = None
        for element in node.slice:
            if isinstance(element.slice, cst.Index):
                index = self.expression(element.slice.value)
            else:
                self.opaque(element.slice)
        self.solver.watch(base, lambda value: self.project.subscript(value, node, self.module, index, var))
        return var

    def _call(self, node: cst.Call) -> Var:
        callee = self.expression(node.func)
        arguments = [self._argument(arg) for arg in node.args]
        result = Var()
        invocation = Invocation(node, self.module, arguments, result, self.function)
        self.project.invocations.append(invocation)
        self._own_call(invocation)
        if isinstance(node.func, cst.Name) and node.func.value == "super":
            self.project.add_super(invocation)
        self.solver.watch(callee, lambda value: self.project.call(value, invocation))
        self.project.dump_method(invocation)
        stream = invocation.named("stream")
        if stream is not None and isinstance(stream.node, cst.Arg):
            self.project.flag_keys[node] = self.flag_key(stream.node.value)
        return self.guarded(result)

    def _own_call(self, call: Invocation) -> None:
        """``self.method(...)``, of the object that the method around it is called on."""
        function = self.function
        if function is None or function.owner is None or function.bound != "instance":
            return
        match call.node.func:
            case cst.Attribute(value=cst.Name(value=name), attr=method) as func if function.positional[
                :1
            ] == [name] and not is_dump(func):
                owners = self.load(name)
                if owners is function.parameters[name]:
                    self.project.own_call(call, method.value, owners)
            case _:
                return

    def _argument(self, arg: cst.Arg) -> Argument:
        keyword = arg.keyword.value if arg.keyword is not None else (arg.star or None)
        return Argument(keyword, self.expression(arg.value), arg)

    def _string(self, node: cst.SimpleString | cst.ConcatenatedString | cst.FormattedString) -> Var:
        value = None if isinstance(node, cst.FormattedString) else node.evaluated_value
        if value is None:
            self.opaque(node)
            return self.new(Typed("str", node))
        return self.new(Const(value, node))

    def _number(self, node: cst.Integer | cst.Float) -> Var:
        return self.new(Const(node.evaluated_value, node))

    def _sequence(self, node: cst.List | cst.Tuple | cst.Set) -> Var:
        kind = type(node).__name__.lower()
        value = SeqValue(node, self.module, kind, Var())
        self.project.built[node] = value
        for position, element in enumerate(node.elements):
            var = self.expression(element.value)
            if isinstance(element, cst.StarredElement):
                self.project.join(value, var)
            else:
                self.solver.flow(var, value.element)
                if not value.derived:
                    value.items[position] = var
            value.places.append(Place("literal", element, self.module, var))
        return self.new(value)

    def _dict(self, node: cst.Dict) -> Var:
        value = self.project.new_dict(node, self.module)
        self.project.built[node] = value
        for element in node.elements:
            var = self.expression(element.value)
            if isinstance(element, cst.StarredDictElement):
                self.project.merge(value, var)
            elif isinstance(element, cst.DictElement):
                self.project.entry(value, self.expression(element.key), element, "literal", var, self.module)
                if isinstance(element.key, cst.SimpleString) and element.key.evaluated_value == "stream":
                    self.project.flag_keys[node] = self.flag_key(element.value)
        return self.new(value)

    def _comprehension(self, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Var:
        outer = dict(self.env)
        self._comp_for(node.for_in)
        kind = {"ListComp": "list", "SetComp": "set"}.get(type(node).__name__, "generator")
        value = SeqValue(node, self.module, kind, Var())
        self.project.built[node] = value
        element = self.expression(node.elt)
        self.solver.flow(element, value.element)
        value.places.append(Place("comprehension", node, self.module, element))
        self.env = outer
        return self.new(value)

    def _dict_comprehension(self, node: cst.DictComp) -> Var:
        outer = dict(self.env)
        self._comp_for(node.for_in)
        key, var = self.expression(node.key), self.expression(node.value)
        value = self.project.new_dict(node, self.module)
        self.project.built[node] = value
        source = copied_by_comprehension(node)
        if source is not None:  # {k: v for k, v in d.items() if ...}: what d has
            self.project.merge(value, self.project.vars[source])
        else:
            self.project.entry(value, key, node, "literal", var, self.module)
        self.env = outer
        return self.new(value)

    def _comp_for(self, node: cst.CompFor) -> None:
        self.assign(node.target, self.iterate(self.expression(node.iter)))
        for test in node.ifs:
            self.expression(test.test)
            narrow(self, test.test, True)
        if node.inner_for_in is not None:
            self._comp_for(node.inner_for_in)

    def _lambda(self, node: cst.Lambda) -> Var:
        function = self.project.define(node, self.module, "lambda", None)
        self._defaults(node.params, function)
        self.enter(function, lambda: self._lambda_body(node, function))
        return self.new(function)

    def _lambda_body(self, node: cst.Lambda, function: Function) -> None:
        self.solver.flow(self.expression(node.body), function.result)

    def _defaults(self, params: cst.Parameters, function: Function) -> None:
        for parameter in syntax.parameters(params):
            if parameter.default is not None:
                self.solver.flow(
                    self.expression(parameter.default), function.parameters[parameter.name.value]
                )
                if is_switch(function.node, parameter):
                    turned = Const(True, parameter.default)
                    self.solver.add(function.parameters[parameter.name.value], [turned])
            if parameter.annotation is not None:
                self.annotation(parameter.annotation.annotation)

    def annotation(self, node: cst.BaseExpression) -> None:
        """Give the names of an annotation their variables."""
        self.expression(node)

    def enter(self, function: Function, build: Callable[[], None]) -> None:
        """Build the body of ``function`` in its own scope."""
        saved = (self.scope, self.function, self.env, self.guards, self.recorders)
        self.scope = self.module.scopes[function.node]
        self.function = function
        self.env = {name: self._parameter(function, name, var) for name, var in function.parameters.items()}
        self.guards, self.recorders = list(self.guards), []  # a function made under `if stream:` runs so
        for name, var in function.parameters.items():
            seen = self.env[name]
            self.solver.flow(seen if seen in self.project.undeclared else var, self.scope.any(name))
        build()
        self.scope, self.function, self.env, self.guards, self.recorders = saved

    def _parameter(self, function: Function, name: str, var: Var) -> Var:
        """A parameter as the body sees it: one annotated ``str`` holds text, whoever calls."""
        params = syntax.parameters(function.node.params)
        param = next((item for item in params if item.name.value == name), None)
        if param is None or param.annotation is None or param.star:
            return var
        annotation = param.annotation.annotation
        if not isinstance(annotation, cst.Name) or annotation.value != "str":
            return self.project.declare(self.module, annotation, var)
        narrowed = self.new(Typed("str", param))
        certain = (Const, Shape, SeqValue, DictValue)
        self.solver.flow_if(var, narrowed, lambda value: isinstance(value, certain))
        return narrowed

    def _conditional(self, node: cst.IfExp) -> Var:
        self.expression(node.test)
        var = Var()
        key, positive = self.guard(node.test)
        for branch, wanted in ((node.body, positive), (node.orelse, not positive)):
            if key is not None:
                self.guards.append((key, wanted))
            with under(self, node.test, branch is node.body):
                self.solver.flow(self.expression(branch), var)
            if key is not None:
                self.guards.pop()
        return var

    def _boolean(self, node: cst.BooleanOperation) -> Var:
        """Of a chain the innermost first: each term is reached only where those before it say so."""
        chain = [node]
        while _goes_on(inner := chain[-1].left, node):
            chain.append(inner)
        term = chain[-1].left
        var = self.expression(term)
        with ExitStack() as reached:
            for link in reversed(chain):
                left, var = var, Var()
                needed = isinstance(link.operator, cst.And)
                if needed:  # only a falsy left side is the value of `and`
                    self.solver.flow_if(left, var, lambda value: not isinstance(value, (Shape, External)))
                else:
                    self.solver.flow(left, var)
                reached.enter_context(under(self, term, needed))
                term = link.right
                self.solver.flow(self.expression(term), var)
                self.project.vars[link] = var
        return var

    def _binary(self, node: cst.BinaryOperation) -> Var:
        var = Var()
        for side in (self.expression(node.left), self.expression(node.right)):
            self.solver.watch(side, lambda value: self.project.operate(value, node, var, self.module))
        return var

    def _truth(self, node: cst.Comparison | cst.UnaryOperation) -> Var:
        if isinstance(node, cst.Comparison):
            self.expression(node.left)
            for target in node.comparisons:
                self.expression(target.comparator)
            if len(node.comparisons) == 1 and isinstance(node.comparisons[0].operator, (cst.In, cst.NotIn)):
                self._membership(node)
            return self.new(Typed("bool"))
        inner = self.expression(node.expression)
        if isinstance(node.operator, cst.Not):
            return self.new(Typed("bool"))
        if isinstance(node.operator, cst.Minus) and isinstance(node.expression, (cst.Integer, cst.Float)):
            return self.new(Const(-node.expression.evaluated_value, node))
        return inner

    def _membership(self, node: cst.Comparison) -> None:
        """``"stream" in params`` names an entry of a dict."""
        if not isinstance(node.left, cst.SimpleString):
            return
        key, module = self.project.vars[node.left], self.module

        def on(value: Value) -> None:
            if isinstance(value, DictValue):
                self.project.entry(value, key, node, "contains", None, module)

        self.solver.watch(self.project.vars[node.comparisons[0].comparator], on)

    def _named(self, node: cst.NamedExpr) -> Var:
        var = self.expression(node.value)
        self.assign(node.target, var)
        return var

    def _await(self, node: cst.Await) -> Var:
        var, source = Var(), self.expression(node.expression)
        self.project.awaited(source, var)
        self.project.own_passed(source, var, self.project.awaited)
        return var

    def _yield(self, node: cst.Yield) -> Var:
        function = self.function
        if node.value is None:
            yields = function.yields if function is not None else None
            return self.project.sent.setdefault(yields, Var()) if yields is not None else Var()
        if isinstance(node.value, cst.From):
            source = self.expression(node.value.item)
            if function is not None and function.yields is not None:
                self.solver.flow(self.iterate(source), function.yields.element)
            returned = Var()
            self.solver.watch(source, lambda value: self.project.returned_by(value, returned))
            return returned
        var = self.expression(node.value)
        if function is not None and function.yields is not None:
            self.solver.flow(var, function.yields.element)
            return self.project.sent.setdefault(function.yields, Var())
        return Var()


def _goes_on(left: cst.BaseExpression, node: cst.BooleanOperation) -> TypeGuard[cst.BooleanOperation]:
    return isinstance(left, cst.BooleanOperation) and type(left.operator) is type(node.operator)


_CONSTANTS: dict[str, bool | None] = {"True": True, "False": False, "None": None}

# Each method takes the type of node that it stands under, which no annotation can say.
_BUILDERS: dict[type[cst.CSTNode], Callable[[Expressions, Any], Var]] = {
    cst.Name: Expressions._name,
    cst.Attribute: Expressions._attribute,
    cst.Subscript: Expressions._subscript,
    cst.Call: Expressions._call,
    cst.SimpleString: Expressions._string,
    cst.ConcatenatedString: Expressions._string,
    cst.FormattedString: Expressions._string,
    cst.Integer: Expressions._number,
    cst.Float: Expressions._number,
    cst.List: Expressions._sequence,
    cst.Tuple: Expressions._sequence,
    cst.Set: Expressions._sequence,
    cst.Dict: Expressions._dict,
    cst.ListComp: Expressions._comprehension,
    cst.SetComp: Expressions._comprehension,
    cst.GeneratorExp: Expressions._comprehension,
    cst.DictComp: Expressions._dict_comprehension,
    cst.Lambda: Expressions._lambda,
    cst.IfExp: Expressions._conditional,
    cst.BooleanOperation: Expressions._boolean,
    cst.BinaryOperation: Expressions._binary,
    cst.Comparison: Expressions._truth,
    cst.UnaryOperation: Expressions._truth,
    cst.NamedExpr: Expressions._named,
    cst.Await: Expressions._await,
    cst.Yield: Expressions._yield,
}

"""The old types in annotations, casts and tests (MR701), and uses of them that are not understood (MR702).

An annotation moves with the flow whose values pass through what it annotates; where no flow passes, it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import libcst as cst

from ..decide.contents import reachable
from ..decide.receivers import in_tests
from ..know import modules as syntax
from ..know.graph import Var
from ..know.kinds import Bound, Class, DictValue, External, Function, SeqValue, Shape, Site, Value
from ..know.modules import Module
from .context import Context
from .tested import tested
from .type_spelling import Convert, may_name, path_of
from .type_table import UNIONS, is_answer, replacement


def plan(context: Context) -> None:
    owners = _Owners(context)
    for module in context.project.modules:
        if "openai" not in module.text and not _mentions(module):
            continue
        _Types(context, module, owners).plan()


def _mentions(module: Module) -> bool:
    return "ChatCompletion" in module.text or "CompletionUsage" in module.text


class _Owners:
    """Which sites a value belongs to: as part of an answer, or as something that is sent."""

    def __init__(self, context: Context) -> None:
        self._sent: dict[Value, dict[Site, None]] = {}
        for site in context.sites:
            request = context.request(site)
            written = [item.place.var for item in request.keywords if item.place.var is not None]
            sent = dict.fromkeys((*request.dicts, *reachable(*written)))
            sources = [var for value in sent if isinstance(value, SeqValue) for var in value.derived]
            for value in (*sent, *reachable(*sources)):
                if isinstance(value, (DictValue, SeqValue)) and value not in context.nested_tools:
                    self._sent.setdefault(value, {})[site] = None

        self._nested = context.nested_tools

    def keep(self, variables: Iterable[Var | None]) -> bool:
        """Whether ``variables`` hold tools that keep their form, and so their type."""
        held = [var for var in variables if var is not None] if self._nested else []
        return any(value in self._nested for value in reachable(*held))

    def of(self, variables: Iterable[Var | None], called: bool = False) -> list[Site]:
        """The sites; ``called``: also of what is passed to the functions among the values, or returned."""
        found: dict[Site, None] = {}
        for value in reachable(*(var for var in variables if var is not None)):
            function = value.function if isinstance(value, Bound) else value
            if isinstance(value, Shape):
                found[value.site] = None
            elif called and isinstance(function, Function):
                found.update(dict.fromkeys(self.of([*function.parameters.values(), function.result])))
            else:
                found.update(self._sent.get(value, {}))
        return list(found)


class _Types:
    """The types of one module."""

    def __init__(self, context: Context, module: Module, owners: _Owners) -> None:
        self.context = context
        self.module = module
        self.owners = owners
        self.project = context.project
        self.seen: set[cst.CSTNode] = set()
        self.needed: list[tuple[str, str, str]] = []  # beside which old name, module, new name

    def plan(self) -> None:
        for node in self.module.of(cst.FunctionDef, cst.AnnAssign, cst.Call, cst.Comparison, cst.Assign):
            match node:
                case cst.FunctionDef():
                    self._function(node)
                case cst.AnnAssign():
                    self._annotated(node)
                case cst.Call():
                    self._call(node)
                case cst.Comparison():
                    self._comparison(node)
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    self._alias(name, value)
                case _:
                    continue
        for node in self.module.of(cst.Name, cst.Attribute):
            if node not in self.seen:
                self._other(node)

    # -- annotations ---------------------------------------------------------------------

    def _function(self, node: cst.FunctionDef) -> None:
        for param in syntax.parameters(node.params):
            if param.annotation is not None:
                self._annotation(param.annotation.annotation, self._passed(node, param))
        if node.returns is not None:
            self._annotation(node.returns.annotation, self._returned(node))

    def _passed(self, node: cst.FunctionDef, param: cst.Param) -> Iterator[Var | None]:
        """What a parameter holds, in all functions that go together; looked for only where it is asked."""
        for other in self._related(node):
            function = self.project.functions.get(other)
            if function is not None:
                yield function.parameters.get(param.name.value)
                if node.params.star_arg is param and function.star is not None:
                    yield function.star.element

    def _returned(self, node: cst.FunctionDef) -> Iterator[Var | None]:
        for other in self._related(node):
            function = self.project.functions.get(other)
            if function is not None:
                yield function.result
                if function.yields is not None:
                    yield function.yields.element

    def _related(self, node: cst.FunctionDef) -> Iterator[cst.CSTNode]:
        """``node``, its overloads, and the methods that override it or that it overrides."""
        yield node
        parent = self.module.parents.get(node)
        for sibling in parent.body if isinstance(parent, (cst.IndentedBlock, cst.Module)) else ():
            if (
                isinstance(sibling, cst.FunctionDef)
                and sibling is not node
                and sibling.name.value == node.name.value
            ):
                yield sibling
        function = self.project.functions.get(node)
        if function is None or function.owner is None:
            return
        for cls in self.project.classes.values():
            if cls is not function.owner and self._is_kin(cls, function.owner):
                for value in cls.members[function.name].values if function.name in cls.members else ():
                    if isinstance(value, Function) and value.owner is cls:
                        yield value.node

    def _is_kin(self, one: Class, other: Class) -> bool:
        return other in self.project.ancestors(one) or one in self.project.ancestors(other)

    def _annotated(self, node: cst.AnnAssign) -> None:
        found: list[Var | None] = [self.project.vars.get(node.target)]
        if node.value is not None:
            found.append(self.project.vars.get(node.value))
            if self._is_alias(node):
                assert isinstance(node.target, cst.Name)
                self._alias(node.target.value, node.value)
                return
        if isinstance(node.target, cst.Name):
            definition = next(
                (p for p in self.module.ancestors(node) if p in self.module.scopes), self.module.tree
            )
            cls = self.project.classes.get(definition)
            if cls is not None:
                found.append(cls.instance.fields.get(node.target.value))
                found.append(cls.members.get(node.target.value))
            else:
                found.append(self.module.scopes[definition].names.get(node.target.value))
            if cls is not None and not self.owners.of(found) and self._is_validated(cls):
                return  # the field of a pydantic model: another use
        elif isinstance(node.target, cst.Attribute):
            for owner in self.project.values(node.target.value):
                fields = getattr(owner, "fields", {})
                found.append(fields.get(node.target.attr.value))
        self._annotation(node.annotation.annotation, found)

    def _is_validated(self, cls: Class) -> bool:
        bases = [base for known in (cls, *self.project.ancestors(cls)) for base in known.bases]
        return any(
            isinstance(value, External) and value.path.startswith(("pydantic", "sqlmodel"))
            for base in bases
            for value in base.values
        )

    def _is_alias(self, node: cst.AnnAssign) -> bool:
        text = self.context.source(node.annotation.annotation, self.module)
        return text.rpartition(".")[2] == "TypeAlias" and isinstance(node.target, cst.Name)

    def _alias(self, name: str, value: cst.BaseExpression) -> None:
        """``Messages = list[ChatCompletionMessageParam]``: moves with whatever is annotated with it."""
        if not self._is_type(value) or self.module.function(value) is not None:
            return
        found: dict[Site, None] = {}
        called = self._is_callable(value)
        for module in self.project.modules:
            if module is not self.module and not self._imports(module, name):
                continue
            for var in _annotated_with(self.context, module, name):
                found.update(dict.fromkeys(self.owners.of(var, called)))
        self._mark(value)
        if found:
            self._rewrite(value, list(found))

    def _imports(self, module: Module, name: str) -> bool:
        for node in module.of(cst.ImportFrom):
            if not isinstance(node.names, cst.ImportStar):
                head = syntax.dotted(node.module) if node.module is not None else ""
                named = any(syntax.dotted(alias.name) == name for alias in node.names)
                if named and self.project.find_module(module, len(node.relative), head) is self.module:
                    return True
        return False

    def _is_callable(self, node: cst.BaseExpression) -> bool:
        """Whether a type tells, in some part, what functions take and give."""
        return any(isinstance(inner, cst.Name) and inner.value == "Callable" for inner in syntax.walk(node))

    def _is_type(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a type: names, subscripts and unions only."""
        allowed = (cst.Name, cst.Attribute, cst.Subscript, cst.SubscriptElement, cst.Index, cst.SimpleString)
        found = list(syntax.walk(node))
        return (
            all(
                isinstance(inner, (*allowed, cst.BinaryOperation, cst.BitOr, cst.List, cst.Element))
                for inner in found
            )
            and any(may_name(self.module, inner) for inner in found)
            and self._converted(node) is not None
        )

    def _annotation(self, node: cst.BaseExpression, variables: Iterable[Var | None]) -> None:
        self._mark(node)
        if self._converted(node) is None:
            return
        held = list(variables)
        sites = self.owners.of(held, self._is_callable(node)) or tested(self.context).get(self.module)
        if sites and not self.owners.keep(held):
            self._rewrite(node, sites)

    # -- expressions ---------------------------------------------------------------------

    def _call(self, node: cst.Call) -> None:
        names = {value.path for value in self.project.values(node.func) if isinstance(value, External)}
        if names & {"typing.cast", "typing_extensions.cast"} and len(node.args) > 1:
            self._annotation(node.args[0].value, [self.project.vars.get(node.args[1].value)])
        elif "builtins.isinstance" in names and len(node.args) == 2:
            self._isinstance(node)
        elif isinstance(self.project.built.get(node), DictValue) and self._converted(node.func) is not None:
            self._mark(node.func)
            var = Var()
            var.values[self.project.built[node]] = None
            sites = self.owners.of([var])
            if sites:
                self._rewrite(node.func, sites)

    def _isinstance(self, node: cst.Call) -> None:
        subject, tested = node.args[0].value, node.args[1].value
        if self._converted(tested) is None:
            return
        self._mark(tested)
        sites = self.owners.of([self.project.vars.get(subject)])
        if not sites:
            return
        text = self.context.source(node, self.module)
        values = self.project.values(subject)
        mixed = any(isinstance(value, (DictValue, SeqValue)) for value in values)
        unions = any(name in UNIONS for _, _, name in self._names(tested))
        if mixed or unions:
            self.context.manual(node, self.module, sites, "MR702", f"`{text}` has no counterpart")
        else:
            self._rewrite(tested, sites)

    def _comparison(self, node: cst.Comparison) -> None:
        """``type(resp) is ChatCompletion``."""
        match node:
            case cst.Comparison(left=cst.Call(args=[arg]), comparisons=[target]):
                if self._converted(target.comparator) is not None and self._path(node.left) is None:
                    sites = self.owners.of([self.project.vars.get(arg.value)])
                    self._mark(target.comparator)
                    if sites:
                        self._rewrite(target.comparator, sites)
            case _:
                return

    def _other(self, node: cst.Name | cst.Attribute) -> None:
        """Any other use of an old type of answers holds back the flows of this module."""
        path = self._path(node)
        if path is None or not is_answer(path) or in_tests(self.module):
            return
        if isinstance(self.module.parents.get(node), (cst.ImportAlias, cst.AsName, cst.ImportFrom)):
            return
        sites = dict.fromkeys(
            shape.site
            for _, module, shapes in self.context.shaped
            if module is self.module
            for shape in shapes
        )
        if sites:
            parent = self.module.parents.get(node)
            text = self.context.source(
                parent if isinstance(parent, cst.BaseExpression) else node, self.module
            )
            self.context.manual(node, self.module, sites, "MR702", f"`{text}` is not understood")

    # -- rewriting -----------------------------------------------------------------------

    def _mark(self, node: cst.CSTNode) -> None:
        self.seen.update(syntax.walk(node))

    def _path(self, node: cst.BaseExpression) -> str | None:
        return path_of(self.context, self.module, node)

    def _names(self, node: cst.BaseExpression) -> list[tuple[str, str, str]]:
        convert = Convert(self.context, self.module)
        node.visit(convert)
        return convert.needed

    def _converted(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """``node`` with the new types, or None if there is nothing old in it."""
        if not any(map(self._may_be_old, syntax.walk(node))):
            return None
        convert = Convert(self.context, self.module)
        result = node.visit(convert)
        return result if convert.needed and isinstance(result, cst.BaseExpression) else None

    def _may_be_old(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.Name, cst.Attribute)):
            path = self._path(node)
            return path is not None and replacement(path) is not None
        return may_name(self.module, node)

    def _rewrite(self, node: cst.BaseExpression, sites: list[Site]) -> None:
        result = self._converted(node)
        assert result is not None
        for beside, module, name in self._names(node):
            self.context.plan.need(self.module, module, name, sites, beside)
        self.context.edit(node, self.module, sites, _become(result), "MR701")


def _become(result: cst.BaseExpression) -> Callable[[cst.CSTNode, cst.CSTNode], cst.CSTNode]:
    return lambda original, updated: result


def _annotated_with(context: Context, module: Module, name: str) -> Iterator[list[Var | None]]:
    """The variables that are annotated with something that names ``name``."""
    for node in module.of(cst.FunctionDef, cst.AnnAssign):
        match node:
            case cst.FunctionDef():
                function = context.project.functions.get(node)
                if function is None:
                    continue
                for param in syntax.parameters(node.params):
                    if param.annotation is not None and _uses(param.annotation, name):
                        yield [function.parameters.get(param.name.value)]
                if node.returns is not None and _uses(node.returns, name):
                    yield [function.result]
            case cst.AnnAssign(annotation=annotation, target=target, value=value) if _uses(annotation, name):
                yield [context.project.vars.get(target), context.project.vars.get(value) if value else None]
            case _:
                continue


def _uses(annotation: cst.Annotation, name: str) -> bool:
    return any(
        (isinstance(node, cst.Name) and node.value == name)
        or (isinstance(node, cst.SimpleString) and name in node.value)
        for node in syntax.walk(annotation)
    )

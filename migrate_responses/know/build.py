"""From statements to constraints: control flow, definitions, imports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst

from . import modules as syntax
from .copying import copied_by_loop
from .graph import Var
from .kinds import Alias, Argument, Class, Value
from .narrowing import narrow
from .scoping import Env
from .statements import Statements
from .subclassing import subclass


class Builder(Statements):
    """Builds the constraints of one module, statement by statement.

    ``block`` returns whether the end of the block can be reached; ``self.env`` is what holds there.
    """

    def build(self) -> None:
        """Build the whole module."""
        cells = self.module.cells
        if len(cells) < 2:
            self.block(self.module.tree.body)
            return
        # Cells are run in any order, again and again: each begins with what any of them may have left.
        left: Env = {name: Var() for name in self._locals(self.module.tree.body)}
        for self.cell, cell in enumerate(cells):
            self.env = dict(left)
            self.block(cell)
            for name, var in left.items():
                if self.env[name] is not var:
                    self.solver.flow(self.env[name], var)

    def block(self, statements: Iterable[cst.CSTNode]) -> bool:
        pushed = 0
        alive = True
        for statement in statements:
            if not alive:  # unreachable code is still code: it is read, with what is known
                self.env = dict(self.env)
            alive_now = self.statement(statement)
            if isinstance(statement, cst.If) and statement.orelse is None and alive_now:
                pushed += self._guard_rest(statement)
            alive = alive and alive_now
        for _ in range(pushed):
            self.guards.pop()
        return alive

    def _guard_rest(self, statement: cst.If) -> int:
        """After ``if stream: ... return`` the rest of the block runs with the flag off."""
        if not _leaves(statement.body):
            return 0
        key, positive = self.guard(statement.test)
        if key is None:
            return 0
        self.guards.append((key, not positive))
        return 1

    def statement(self, node: cst.CSTNode) -> bool:
        build = _STATEMENTS.get(type(node))
        if build is not None:
            return build(self, node)
        self.opaque(node)
        return True

    def _suite(self, node: cst.BaseSuite) -> bool:
        return self.block(node.body)

    def _line(self, node: cst.SimpleStatementLine) -> bool:
        return self.block(node.body)

    # -- definitions ---------------------------------------------------------------------

    def _function_def(self, node: cst.FunctionDef) -> bool:
        owner = self.project.classes.get(self.scope.node) if self.scope.is_class else None
        function = self.project.define(node, self.module, node.name.value, owner)
        self._defaults(node.params, function)
        if node.returns is not None:
            self.annotation(node.returns.annotation)
        decorated = self.new(function)
        for decorator in reversed(node.decorators):
            var = self.expression(decorator.decorator)
            function.decorators.append(var)
            decorated = self.project.decorate(var, decorated, function, decorator)
        self.bind(node.name.value, decorated)
        loops, self.loops = self.loops, []
        self.enter(function, lambda: self._function_body(node))
        self.loops = loops
        return True

    def _function_body(self, node: cst.FunctionDef) -> None:
        self._suite(node.body)

    def _class_def(self, node: cst.ClassDef) -> bool:
        cls = self.project.define_class(node, self.module)
        for base in node.bases:
            self.project.add_base(cls, self.expression(base.value))
        self._class_keywords(node, cls)
        decorated = self.new(cls)
        for decorator in reversed(node.decorators):
            self.project.decorate_class(
                self.expression(decorator.decorator), decorated, decorator, self.module
            )
        outer_scope, outer_env = self.scope, self.env
        self.scope, self.env = self.module.scopes[node], {}
        self._suite(node.body)
        cls.members.update((name, self.scope.any(name)) for name in sorted(self.scope.bound))
        self.scope, self.env = outer_scope, outer_env
        self.bind(node.name.value, decorated)
        return True

    def _class_keywords(self, node: cst.ClassDef, cls: Class) -> None:
        metaclass: Var | None = None
        keywords: list[Argument] = []
        for item in node.keywords:
            value = self.expression(item.value)
            name = item.keyword.value if item.keyword is not None else item.star
            if name == "metaclass":
                metaclass = value
            else:
                keywords.append(Argument(name, value, item))
        subclass(self.project, cls, metaclass, keywords)

    # -- control flow --------------------------------------------------------------------

    def _join(self, envs: Sequence[Env]) -> None:
        """Continue with what holds after any of ``envs``."""
        if not envs:
            return
        if len(envs) == 1:
            self.env = dict(envs[0])
            return
        joined: Env = {}
        for name in dict.fromkeys(name for env in envs for name in env):
            found = list(dict.fromkeys(env[name] for env in envs if name in env))
            if len(found) == 1:
                joined[name] = found[0]
            else:
                phi = joined[name] = Var()
                for var in found:
                    self.solver.flow(var, phi)
        self.env = joined

    def _if(self, node: cst.If) -> bool:
        self.expression(node.test)
        key, positive = self.guard(node.test)
        before = dict(self.env)
        ends: list[Env] = []
        with_guard = key is not None
        if with_guard:
            self.guards.append((key, positive))
        narrow(self, node.test, True)
        if self._suite(node.body):
            ends.append(self.env)
        if with_guard:
            self.guards[-1] = (key, not positive)
        self.env = dict(before)
        narrow(self, node.test, False)
        other = node.orelse
        if other is None or self.statement(other.body if isinstance(other, cst.Else) else other):
            ends.append(self.env)
        if with_guard:
            self.guards.pop()
        self._join(ends)
        return bool(ends)

    def _assert(self, node: cst.Assert) -> bool:
        self.expression(node.test)
        if node.msg is not None:
            self.expression(node.msg)
        narrow(self, node.test, True)
        return True

    def _type_alias(self, node: cst.TypeAlias) -> bool:
        self.expression(node.value)
        self.bind(node.name.value, self.new(Alias(node.value, self.module)))
        return True

    def _loop(self, node: cst.For | cst.While, head: Callable[[], None]) -> bool:
        phis: Env = {name: Var() for name in self._locals([node])}
        for name, phi in phis.items():
            if name in self.env:
                self.solver.flow(self.env[name], phi)
        self.env.update(phis)
        self.loops.append(([], []))
        waiting = dict(self.env)
        head()
        # Nothing is left to iterate, so nothing was assigned; or the test fails.
        leaving = waiting if isinstance(node, cst.For) else dict(self.env)
        reached = self._suite(node.body)
        breaks, continues = self.loops.pop()
        for env in [*continues, *([self.env] if reached else [])]:
            for name, phi in phis.items():
                if name in env:
                    self.solver.flow(env[name], phi)
        ends = [] if isinstance(node, cst.While) and _is_true(node.test) else [leaving]
        if ends and node.orelse is not None:
            self.env = leaving
            reached = self._suite(node.orelse.body)
            ends = [self.env] if reached else []
        self._join([*ends, *breaks])
        return bool(ends or breaks)

    def _locals(self, nodes: Sequence[cst.CSTNode]) -> list[str]:
        """The names bound in ``nodes`` whose order of definitions is known, in one order for all runs."""
        names = syntax.bound_in(nodes)
        return sorted((names & self.scope.bound) - self.scope.shared)

    def _for(self, node: cst.For) -> bool:
        items = self.iterate(self.expression(node.iter))
        if (copied := copied_by_loop(node)) is not None:
            self.pours[copied[1]] = self.project.vars[copied[0]]
        return self._loop(node, lambda: self.assign(node.target, items))

    def _while(self, node: cst.While) -> bool:
        return self._loop(node, lambda: self._test(node.test))

    def _test(self, node: cst.BaseExpression) -> None:
        self.expression(node)

    def _try(self, node: cst.Try | cst.TryStar) -> bool:
        phis: Env = {name: Var() for name in self._locals([node.body])}
        before = dict(self.env)
        for name, phi in phis.items():
            if name in before:
                self.solver.flow(before[name], phi)
        self.recorders.append(phis)
        reached = self._suite(node.body)
        self.recorders.pop()
        ends: list[Env] = []
        if node.orelse is not None and reached:
            reached = self._suite(node.orelse.body)
        if reached:
            ends.append(self.env)
        for handler in node.handlers:
            self.env = {**before, **phis}
            kinds = self.expression(handler.type) if handler.type is not None else Var()
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                self.bind(handler.name.name.value, self.project.caught(kinds, handler))
            if self._suite(handler.body):
                ends.append(self.env)
        if node.finalbody is None:
            self._join(ends)
            return bool(ends)
        self._join(ends or [{**before, **phis}])
        return self._suite(node.finalbody.body) and bool(ends)

    def _with(self, node: cst.With) -> bool:
        sources = []
        for item in node.items:
            source = self.expression(item.item)
            sources.append(source)
            entered = self._enter_context(source)
            if item.asname is not None:
                self.assign(item.asname.name, entered)
        before = {name: self.env[name] for name in self._locals([node.body]) if name in self.env}
        phis: Env = {name: Var() for name in before}
        for name, phi in phis.items():
            self.solver.flow(before[name], phi)
        self.recorders.append(phis)
        reached = self._suite(node.body)
        self.recorders.pop()
        self._cut_short(sources, phis)
        return reached

    def _cut_short(self, sources: Sequence[Var], phis: Env) -> None:
        """After a ``with`` whose body may have ended early: ``suppress(ValueError)`` and its like."""
        after: Env = {name: Var() for name in phis}
        for name, var in after.items():
            self.solver.flow(self.env[name], var)

        def on(value: Value) -> None:
            if self.project.swallows(value):
                for name, var in after.items():
                    self.solver.flow(phis[name], var)

        for source in sources:
            self.solver.watch(source, on)
        self.env.update(after)

    def _enter_context(self, source: Var) -> Var:
        """What ``with source as x`` binds to ``x``."""
        entered = Var()
        self.solver.watch(source, lambda value: self.project.enter_context(value, entered))
        return entered

    def _match(self, node: cst.Match) -> bool:
        subject = self.expression(node.subject)
        before = dict(self.env)
        ends: list[Env] = [before]
        for case in node.cases:
            self.env = dict(before)
            self.pattern(case.pattern, subject)
            if case.guard is not None:
                self.expression(case.guard)
            if self._suite(case.body):
                ends.append(self.env)
        self._join(ends)
        return True


def _is_true(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Name, cst.Integer)) and node.value in ("True", "1")


def _leaves(body: cst.BaseSuite) -> bool:
    """Whether ``body`` always ends by leaving the block around it."""
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, (cst.Return, cst.Raise, cst.Continue, cst.Break))


# Each method takes the type of node that it stands under, which no annotation can say.
_STATEMENTS: dict[type[cst.CSTNode], Callable[[Builder, Any], bool]] = {
    cst.IndentedBlock: Builder._suite,
    cst.SimpleStatementSuite: Builder._suite,
    cst.SimpleStatementLine: Builder._line,
    cst.Expr: Builder._expr,
    cst.Assign: Builder._assign,
    cst.AnnAssign: Builder._ann_assign,
    cst.AugAssign: Builder._aug_assign,
    cst.Return: Builder._return,
    cst.Raise: Builder._raise,
    cst.Break: Builder._break,
    cst.Continue: Builder._continue,
    cst.Import: Builder._import,
    cst.ImportFrom: Builder._import_from,
    cst.Del: Builder._delete,
    cst.FunctionDef: Builder._function_def,
    cst.ClassDef: Builder._class_def,
    cst.If: Builder._if,
    cst.For: Builder._for,
    cst.While: Builder._while,
    cst.Try: Builder._try,
    cst.TryStar: Builder._try,
    cst.With: Builder._with,
    cst.Assert: Builder._assert,
    cst.TypeAlias: Builder._type_alias,
    cst.Match: Builder._match,
}

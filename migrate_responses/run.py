"""The pipeline over a project: parse, know, decide, rewrite. Pure: bytes in, results out."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Container, Mapping
from typing import TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from .config import Settings
from .decide.escapes import Escapes
from .decide.flows import Flow, flows
from .decide.lookalikes import leftovers
from .decide.plan import Edit, Plan, Reason
from .know.kinds import Site
from .know.modules import Module, module_name, scan
from .know.project import Project
from .results import Diagnostic, FileResult, Level, Results, SiteResult, Verdict
from .rules import rule
from .source import Source, decode
from .transforms import RULES, todo
from .transforms.apply import apply
from .transforms.context import Context

_Result = TypeVar("_Result")
# Expressions nest deeply in real code (a sum of 3,000 terms is 3,000 levels of syntax).
_RECURSION = 200_000
_STACK = 512 * 1024 * 1024


def migrate(
    sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None = None
) -> Results:
    """Migrate a project.

    ``sources`` maps paths (relative, with slashes) to the bytes of all files to look at; of these
    only the ones in ``writable`` (all, without it) may change. Nothing is read, written or run. A
    file that cannot be parsed is an error in the results and does not stop the others.
    """
    return _with_deep_stack(lambda: _Run(sources, settings, writable).results())


def _with_deep_stack(work: Callable[[], _Result]) -> _Result:
    """Run ``work`` in a thread with room for deep recursion."""
    outcome: list[_Result] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller below
            failure.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    if failure:
        raise failure[0]
    return outcome[0]


class _Run:
    def __init__(
        self, sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None
    ) -> None:
        self._sources = sources
        self._settings = settings
        self._writable = writable
        self._decoded: dict[Module, Source] = {}
        self._errors: list[Diagnostic] = []
        self._positions: dict[Module, Mapping[cst.CSTNode, object]] = {}
        self._modules = [
            module for path in sorted(sources) if (module := self._parse(path, sources[path])) is not None
        ]

    def _parse(self, path: str, data: bytes) -> Module | None:
        try:
            source = decode(data)
        except (SyntaxError, ValueError) as error:
            self._errors.append(_error("MR902", path, 0, str(error)))
            return None
        try:
            tree = cst.parse_module(source.text)
        except cst.ParserSyntaxError as error:
            self._errors.append(_error("MR901", path, error.raw_line, error.message))
            return None
        except RecursionError:
            self._errors.append(_error("MR904", path, 0, "expressions are nested too deeply"))
            return None
        name, is_package = module_name(path)
        module = Module(path, name, tree, is_package)
        module.names_openai = "openai" in source.text
        scan(module)
        self._decoded[module] = source
        return module

    def results(self) -> Results:
        project = Project(self._modules)
        project.solve()
        plan = Plan(project, self._settings)
        context = Context(project, Escapes(project, self._settings.packaged), plan)
        for rules in RULES:
            rules(context)
        self._hold_back(context)
        found = flows(plan, context.sites)
        edits, wanted = self._decide(found, plan)
        sites = [self._site(site, flow) for flow in found for site in flow.sites]
        notes: list[Diagnostic] = [
            self._diagnostic(reason) for flow in found for reason in flow.reasons if reason.level is Level.NOTE
        ]
        for left in leftovers(project):
            reason = self._diagnostic(left.reason)
            node = left.reason.node
            line, column = self._position(node, left.module)
            sites.append(SiteResult(left.module.path, line, column, left.text, left.verdict, 0, (reason,)))
        if project.solver.exhausted:
            notes.append(_error("MR909", "", 0, "the analysis stopped at its bound; results are incomplete"))
        files = tuple(self._file(module, edits.get(module, []), wanted.get(module, {})) for module in self._modules)
        failed = tuple(
            FileResult(error.path, self._sources[error.path], self._sources[error.path], error) for error in self._errors
        )
        sites.sort(key=lambda site: (site.path, site.line, site.column))
        return Results(
            tuple(sorted((*files, *failed), key=lambda file: file.path)),
            tuple(sites),
            tuple(sorted(notes, key=lambda note: (note.path, note.line))),
            tuple(self._errors),
        )

    # -- deciding ------------------------------------------------------------------------

    def _hold_back(self, context: Context) -> None:
        """Reasons that have nothing to do with shapes: endpoints, files out of reach, suppression."""
        from .decide.endpoints import judge_site

        for site in context.sites:
            for reason in judge_site(context.project, site, self._settings):
                context.plan.reasons.append((frozenset([site]), reason))
        if self._writable is None:
            return
        for edit in context.plan.edits:
            if edit.module.path not in self._writable and edit.sites:
                detail = f"the change reaches {edit.module.path}, which was not named"
                context.manual(edit.node, edit.module, edit.sites, "MR907", detail)

    def _decide(
        self, found: list[Flow], plan: Plan
    ) -> tuple[dict[Module, list[Edit]], dict[Module, dict[cst.CSTNode, str]]]:
        edits: dict[Module, list[Edit]] = {}
        wanted: dict[Module, dict[cst.CSTNode, str]] = {}
        migrated: set[Site] = set()
        for flow in found:
            flow.skipped = flow.skipped or self._is_skipped(flow)
            verdict = flow.verdict(self._settings.unsafe_fixes)
            if verdict is Verdict.MIGRATED:
                migrated.update(flow.sites)
            elif verdict in (Verdict.MANUAL, Verdict.UNSAFE):
                for site in flow.sites:
                    statement = site.module.statement(site.node)
                    wanted.setdefault(site.module, {}).setdefault(statement, self._todo(flow, site))
        for edit in plan.edits:
            if edit.sites <= migrated:
                edits.setdefault(edit.module, []).append(edit)
        return edits, wanted

    def _is_skipped(self, flow: Flow) -> bool:
        ignored, selected = self._settings.ignore, self._settings.select
        codes = {reason.code for reason in flow.reasons if reason.level is not Level.NOTE}
        if any(code.startswith(tuple(ignored)) for code in codes) if ignored else False:
            return True
        used = codes | {edit.code for edit in flow.edits}
        if ignored and any(code.startswith(tuple(ignored)) for code in used):
            return True
        if selected and not all(code.startswith(tuple(selected)) for code in used):
            return True
        return any(_is_suppressed(site) for site in flow.sites)

    def _reasons(self, flow: Flow) -> list[Reason]:
        """What holds a flow back, the strictest first."""
        serious = [reason for reason in flow.reasons if reason.level is not Level.NOTE]
        return sorted(serious, key=lambda reason: -reason.level.rank)

    def _todo(self, flow: Flow, site: Site) -> str:
        reasons = self._reasons(flow)
        first = next((r for r in reasons if r.level is reasons[0].level and _within(r, site)), reasons[0])
        text = f"{first.code} {_sentence(first)}"
        if not _within(first, site):
            line, _ = self._position(first.node, first.module)
            where = f"line {line}" if first.module is site.module else f"{first.module.path}:{line}"
            text = f"{text} ({where})"
        others = list(dict.fromkeys(reason.code for reason in reasons if reason.code != first.code))
        if others:
            text = f"{text}; also {', '.join(others)}"
        return f"{text}.".replace("\n", " ")

    def _site(self, site: Site, flow: Flow) -> SiteResult:
        verdict = flow.verdict(self._settings.unsafe_fixes)
        line, column = self._position(site.node, site.module)
        reasons: tuple[Diagnostic, ...] = ()
        if verdict is not Verdict.MIGRATED:
            reasons = tuple(dict.fromkeys(self._diagnostic(reason) for reason in self._reasons(flow)))
        if verdict is Verdict.SKIPPED:
            reasons = (_error("MR908", site.path, line, "left alone as asked"),)
        text = " ".join(site.module.tree.code_for_node(site.node.func).split())
        return SiteResult(site.path, line, column, text, verdict, flow.number, reasons)

    # -- places --------------------------------------------------------------------------

    def _diagnostic(self, reason: Reason) -> Diagnostic:
        line, column = self._position(reason.node, reason.module)
        return Diagnostic(
            reason.code, reason.module.path, line, column, reason.level, _sentence(reason), f"migrate-responses explain {reason.code}"
        )

    def _position(self, node: cst.CSTNode, module: Module) -> tuple[int, int]:
        positions = self._positions.get(module)
        if positions is None:
            wrapper = MetadataWrapper(module.tree, unsafe_skip_copy=True)
            positions = self._positions[module] = wrapper.resolve(PositionProvider)
        found = positions.get(node)
        if found is None:
            return 0, 0
        start = found.start  # type: ignore[attr-defined]
        return start.line, start.column + 1

    def _file(self, module: Module, edits: list[Edit], wanted: Mapping[cst.CSTNode, str]) -> FileResult:
        before = self._sources[module.path]
        if self._writable is not None and module.path not in self._writable:
            return FileResult(module.path, before, before)
        todos = todo.edits(module, wanted)
        tree = apply(module, [*edits, *todos])
        after = before if tree is module.tree else self._decoded[module].encode(tree.code)
        return FileResult(module.path, before, after)


def _sentence(reason: Reason) -> str:
    return reason.detail or rule(reason.code).title


def _within(reason: Reason, site: Site) -> bool:
    """Whether the reason stands in the statement of the site, where its TODO will be read."""
    if reason.module is not site.module:
        return False
    if reason.node is site.node or reason.node not in site.module.parents:
        return True
    return site.module.statement(reason.node) is site.module.statement(site.node)


_SKIP = "migrate-responses: skip"


def _is_suppressed(site: Site) -> bool:
    """``# migrate-responses: skip`` on the statement, or ``skip-file`` anywhere at the top level."""
    code = site.module.tree.code
    if _SKIP not in code:
        return False
    if f"{_SKIP}-file" in code:
        return True
    statement = site.module.statement(site.node)
    return any(
        isinstance(node, cst.Comment) and _SKIP in node.value for node in _trivia(statement)
    )


def _trivia(statement: cst.CSTNode) -> list[cst.CSTNode]:
    """All nodes of a statement line, or of the header of a compound statement."""
    found: list[cst.CSTNode] = []
    stack = [statement]
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, cst.IndentedBlock):
            stack.append(node.header)
        else:
            stack.extend(node.children)
    return found


def _error(code: str, path: str, line: int, message: str) -> Diagnostic:
    return Diagnostic(code, path, line, 0, Level.MANUAL, message, f"migrate-responses explain {code}")

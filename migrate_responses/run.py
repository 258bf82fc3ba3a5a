"""The pipeline over one part of a project: parse, know, decide, rewrite. Pure: bytes in, results out."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import libcst as cst

from . import limits, progress
from .comments import comment, is_out_of_reach
from .config import Settings
from .decide.copies import complete
from .decide.endpoints import is_instructor_site, judge_site
from .decide.escapes import Escapes
from .decide.flows import Flow, flows
from .decide.keys import hard_coded
from .decide.lookalikes import leftovers
from .decide.plan import Edit, Plan, Reason
from .documents.names import inert_lines
from .inventory import Inventory
from .know.crowds import calls_in_crowds
from .know.index import module_name
from .know.kinds import Site
from .know.modules import Module, scan
from .know.project import Project
from .parsing import understood
from .places import Places, too_much, unwritten
from .programs import split
from .results import Diagnostic, FileResult, Level, Results, Verdict
from .room import make_room, set_trees_aside, uncollected
from .shares import migrate as migrate
from .source import Source, with_ending
from .suppress import left_out, misspelt, suppressed
from .traces import trace
from .transforms import RULES, stubs, todo
from .transforms.apply import apply
from .transforms.context import Context
from .transforms.imports import Imports
from .transforms.tested import at

_Kept = TypeVar("_Kept")


def looks(
    sources: Mapping[str, bytes],
    settings: Settings,
    writable: Container[str] | None,
    keep: Callable[[Inspection, Results], _Kept],
) -> list[_Kept]:
    """What ``keep`` makes of each program; those that share only a framework are looked at one by one.

    Should one of them change the framework, all are looked at as one. What is not kept makes room.
    """
    programs = split(sources)
    kept: list[_Kept] = []
    with uncollected():
        for part in programs.parts:
            one, edited = _look(part, settings, writable, keep)
            if not programs.common.isdisjoint(edited):
                return [_look(sources, settings, writable, keep)[0]]
            kept.append(one)
    return kept


def _look(
    sources: Mapping[str, bytes],
    settings: Settings,
    writable: Container[str] | None,
    keep: Callable[[Inspection, Results], _Kept],
) -> tuple[_Kept, set[str]]:
    make_room()
    look = Inspection(sources, settings, writable)
    return keep(look, look.results()), look.edited


class Inspection:
    """One look at a project; its steps share the parsed modules and their positions."""

    def __init__(
        self, sources: Mapping[str, bytes], settings: Settings, writable: Container[str] | None
    ) -> None:
        self._sources = sources
        self._settings = settings
        self._writable = writable
        self._places = Places()
        self.inventory = Inventory(self._places, settings)
        self._decoded: dict[Module, Source] = {}
        self._errors: list[Diagnostic] = []
        self.edited: set[str] = set()  # the files that flows reach into, migrated or not
        self.flows: list[Flow] = []  # as decided by ``results``
        self._modules: list[Module] = []
        self._stubs: dict[str, str] = {}  # their texts, by path
        size = sum(map(len, sources.values()))
        if size > limits.LARGEST_PART:
            self._errors += too_much(sources, size)
            return
        parsed: list[tuple[str, Source, cst.Module]] = []
        for number, path in enumerate(sorted(sources)):
            progress.note("reading", number, len(sources))
            if path.endswith(".pyi"):
                self._stubs[path] = sources[path].decode("utf-8", "replace")
                continue
            found = understood(path, sources[path])
            if isinstance(found, Diagnostic):
                self._errors.append(found)
            else:
                parsed.append((path, *found))
        set_trees_aside()
        self._modules = [self._module(*one) for one in parsed]

    def _module(self, path: str, source: Source, tree: cst.Module) -> Module:
        name, is_package = module_name(path)
        module = Module(path, name, tree, is_package, source.text)
        scan(module)
        self._decoded[module] = source
        return module

    def results(self) -> Results:
        progress.note("following the calls")
        project = Project(self._modules, self._settings.packaged)
        project.assume(self._settings.assume_clients)
        project.solve()
        complete(project)
        plan = Plan(project, self._settings)
        context = Context(project, Escapes(project, self._settings.packaged), plan)
        if not project.solver.exhausted:  # or all is held back, whatever the rules say
            for rules in RULES:
                rules(context)
        self._hold_back(context)
        self.edited.update(edit.module.path for edit in plan.edits)
        found = self.flows = flows(plan, context.sites)
        self._plan = plan
        for flow in found:
            flow.skipped = self._asked(flow)
        files = self._rewrite(found, plan)
        sites = [self.inventory.site(site, flow) for flow in found for site in flow.sites]
        migrated = self._migrated(found)
        homes = {site: flow for flow in found for site in flow.sites}
        for left in leftovers(project):
            if left.is_double:
                about = at(context, left.module, left.reason.node)
                staying = dict.fromkeys(homes[site] for site in about if site not in migrated)
                if staying or not about:
                    sites.append(self.inventory.double(left, list(staying)))
                continue
            if project.solver.exhausted and left.reason.code == "MR010":
                why = Reason("MR909", Level.MANUAL, self._exhaustion, left.node, left.module)
                left = replace(left, reason=why)
            sites.append(self.inventory.leftover(left))
        notes = list(self.inventory.notes(found))
        notes += [
            self._places.note(node, module, "MR912", why)
            for module in self._modules
            for node, why in misspelt(module)
        ]
        notes += map(self._places.diagnostic, hard_coded(project, self._settings))
        for error in self._errors:
            if error.path in self._sources:
                before = self._sources[error.path]
                files.append(FileResult(error.path, before, before, error))
        return Results(
            tuple(sorted(files, key=lambda file: file.path)),
            tuple(sorted(sites, key=lambda site: (site.path, site.line, site.column))),
            tuple(sorted(dict.fromkeys(notes), key=lambda note: (note.path, note.line))),
            tuple(self._errors),
            trace(((flow, self.inventory.verdict(flow)) for flow in found), context, self._places),
        )

    def only(self, chosen: Sequence[Flow], todos: bool) -> list[FileResult]:
        """The files with no other flows migrated than ``chosen``; see ``choice``."""
        held = [flow for flow in self.flows if self.inventory.verdict(flow) is not Verdict.MIGRATED]
        taken = [*chosen, *(held if todos else ())]
        owners: dict[cst.CSTNode, list[Flow]] = {}  # of the comment above a statement
        for flow in self.flows:
            for site in flow.sites:
                for node, module in self._spelled(site):
                    owners.setdefault(module.statement(node), []).append(flow)

        def is_free(statement: cst.CSTNode) -> bool:
            about = owners.get(statement, ())
            return all(flow in taken for flow in about) if about else todos

        return self._rewrite(taken, self._plan, is_free)

    @property
    def _exhaustion(self) -> str:
        return f"following the values of {len(self._modules)} files together took too many steps"

    # -- deciding ------------------------------------------------------------------------

    def _hold_back(self, context: Context) -> None:
        """Reasons that have nothing to do with shapes: endpoints, stubs, and files out of reach."""
        stubs.plan(context, self._stubs)
        crowded = calls_in_crowds(context.project, context.sites)
        for site in context.sites:
            if site in crowded:
                detail = "so many objects reach one place that what becomes of them is not told apart"
                context.manual(site.node, site.module, [site], "MR909", detail)
            if is_instructor_site(site):
                detail = "`response_model` tells of a client wrapped by instructor"
                context.manual(site.node, site.module, [site], "MR012", detail)
            for reason in judge_site(context.project, site, self._settings):
                if reason.code == "MR803" and site in context.plan.tested:
                    continue  # the rule for doubles has looked at the tests, and decides
                context.plan.reasons[frozenset([site]), reason] = None
            if context.project.solver.exhausted:
                context.manual(site.node, site.module, [site], "MR909", self._exhaustion)
        if self._writable is None:
            return
        for edit in context.plan.edits:
            if edit.module.path not in self._writable and edit.sites:
                detail = f"{edit.module.path} would have to change too, and was not named"
                context.manual(edit.node, edit.module, edit.sites, "MR907", detail)

    def _asked(self, flow: Flow) -> tuple[str, str] | None:
        """What a comment or an option says for leaving the flow alone: a code and a sentence."""
        codes = {edit.code for edit in flow.edits} | {
            reason.code for reason in flow.reasons if reason.level is not Level.NOTE
        }
        changed = {edit.module.statement(edit.node): edit.module for edit in flow.edits}
        for node, module in [*((site.node, site.module) for site in flow.sites), *changed.items()]:
            told = suppressed(node, module, codes)
            if told is not None:
                return told
        why = left_out(codes, [site.module.path for site in flow.sites], self._settings)
        return ("MR911", why) if why else None

    # -- rewriting -----------------------------------------------------------------------

    def _rewrite(
        self, found: list[Flow], plan: Plan, is_free: Callable[[cst.CSTNode], bool] = lambda _: True
    ) -> list[FileResult]:
        """The files as the migrated flows leave them; ``is_free`` tells whose comments may change.

        A file must parse afterwards. Should it not, the flows that change it are held back and all
        is done again: a fault of this tool costs a migration, never a working program.
        """
        while True:
            edits, wanted = self._decide(found, plan)
            imports = Imports(plan, self._migrated(found))
            files: list[FileResult] = []
            faults = 0
            for number, module in enumerate(self._modules):
                progress.note("rewriting", number, len(self._modules))
                try:
                    comments = todo.edits(module, wanted.get(module, {}), is_free)
                    files.append(self._file(module, edits.get(module, []), comments, imports))
                except Exception as error:  # the fault is reported as MR910 at each of the flows
                    fault = f"{type(error).__name__}: {error}"
                    blamed = self._blame(found, module, fault)
                    faults += blamed
                    if not blamed:  # not even its comments can be written
                        before = self._sources[module.path]
                        files.append(FileResult(module.path, before, before, unwritten(module.path, fault)))
            if not faults:
                return files

    def _blame(self, found: list[Flow], module: Module, fault: str) -> int:
        """Hold back the migrated flows that edit ``module``; how many there were."""
        blamed = 0
        for flow in found:
            touches = any(edit.module is module for edit in flow.edits)
            if touches and self.inventory.verdict(flow) is Verdict.MIGRATED:
                site = flow.sites[0]
                detail = f"rewriting {module.path} failed ({fault[:200]})"
                flow.reasons.append(Reason("MR910", Level.MANUAL, detail, site.node, site.module))
                blamed += 1
        return blamed

    def _decide(
        self, found: list[Flow], plan: Plan
    ) -> tuple[dict[Module, list[Edit]], dict[Module, dict[cst.CSTNode, str]]]:
        """The edits of the migrated flows, and the TODO of each statement that stays behind."""
        edits: dict[Module, list[Edit]] = {}
        wanted: dict[Module, dict[cst.CSTNode, str]] = {}
        migrated: set[Site] = set()
        for flow in found:
            verdict = self.inventory.verdict(flow)
            if verdict is Verdict.MIGRATED:
                migrated.update(flow.sites)
            elif verdict in (Verdict.MANUAL, Verdict.UNSAFE) and not is_out_of_reach(
                flow, self._settings.unsafe_fixes
            ):
                for site in flow.sites:
                    for node, module in self._spelled(site):
                        statement = module.statement(node)
                        wanted.setdefault(module, {}).setdefault(
                            statement, comment(flow, site, module, self._decoded[module].encoding)
                        )
        for edit in plan.edits:
            if edit.sites and edit.sites <= migrated:
                edits.setdefault(edit.module, []).append(edit)
        return edits, wanted

    def _spelled(self, site: Site) -> Iterator[tuple[cst.CSTNode, Module]]:
        """Where a person looks for the call: at itself, and where its method is handed to who calls it."""
        yield site.node, site.module
        for resource in site.resources:
            for module in self._modules:
                if resource.node in module.parents:
                    yield resource.node, module

    def _migrated(self, found: list[Flow]) -> set[Site]:
        return {
            site for flow in found if self.inventory.verdict(flow) is Verdict.MIGRATED for site in flow.sites
        }

    def _file(
        self, module: Module, edits: list[Edit], comments: Iterable[Edit], imports: Imports
    ) -> FileResult:
        before = self._sources[module.path]
        if self._writable is not None and module.path not in self._writable:
            return FileResult(module.path, before, before)
        tree = apply(module, [*comments, *edits])
        if tree is module.tree:
            return FileResult(module.path, before, before)
        if edits:
            tree = imports.settle(module, tree)
        code = with_ending(tree.code, module.tree.code, module.text)
        if inert_lines(code) != inert_lines(module.text):
            raise ValueError("what stands for magics and cells would change")
        if edits:
            _check(module, code)
        return FileResult(module.path, before, self._decoded[module].encode(code))


def _check(module: Module, code: str) -> None:
    """Raise what Python does if ``code`` does not compile although the module did. Nothing of it is run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are the author's
        try:
            _compile(code)
        except _NOT_COMPILED:
            try:
                _compile(module.text)
            except _NOT_COMPILED:
                return  # a syntax newer than the Python that runs this tool, or more of it than that takes
            raise


_NOT_COMPILED = (SyntaxError, RecursionError, MemoryError)


def _compile(code: str) -> None:
    """Finds what parsing alone does not, such as an argument that is given twice."""
    compile(code, "<migrated>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)

"""What the rules ask for: edits of nodes and reasons to hold back, each owned by sites.

A rule looks at the facts and calls :meth:`Plan.edit` or :meth:`Plan.hold`. Nothing is applied
here: :mod:`.flows` joins the sites that share an edit or a reason, and decides for each group.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from types import FunctionType

import libcst as cst

from ..config import Settings
from ..know.kinds import Site
from ..know.modules import Module
from ..know.project import Project
from ..results import Level

Replacement = cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]
# (the node as it was, the node with the edits of its children done) -> what takes its place
Apply = Callable[[cst.CSTNode, cst.CSTNode], Replacement]


@dataclass(eq=False, repr=False)
class Edit:
    """``apply`` replaces ``node`` when the flow of ``sites`` is migrated."""

    node: cst.CSTNode
    module: Module
    sites: frozenset[Site]
    apply: Apply
    code: str


@dataclass(frozen=True, repr=False)
class Reason:
    """Why a flow is held back (level unsafe or manual), or what it should know (a note).

    ``detail`` completes the rule's title for this place, in one short clause; ``node`` is where.
    ``step`` is what to do about it here, where that is not what the rule says in general.
    """

    code: str
    level: Level
    detail: str
    node: cst.CSTNode
    module: Module
    step: str = ""

    def __hash__(self) -> int:  # of what differs: there can be many thousands
        return hash((self.code, self.detail, self.node))


@dataclass(frozen=True, repr=False)
class Bond:
    """Sites that move together or not at all; ``why`` says it of what stands at ``node``."""

    sites: frozenset[Site]
    why: str
    node: cst.CSTNode
    module: Module


@dataclass(frozen=True)
class NewImport:
    """``from module import name`` in ``target``, once, if the flow of ``sites`` is migrated.

    ``beside`` is the name whose import shows where: the name that the edit took out of use.
    """

    target: Module
    module: str
    name: str
    sites: frozenset[Site]
    beside: str = ""


@dataclass(repr=False)
class Plan:
    """Everything the rules asked for, in one run."""

    project: Project
    settings: Settings
    edits: list[Edit] = field(default_factory=list)
    # Each once, in order: where everything reaches everything, the same is said a thousand times.
    reasons: dict[tuple[frozenset[Site], Reason], None] = field(default_factory=dict)
    imports: list[NewImport] = field(default_factory=list)
    bonds: list[Bond] = field(default_factory=list)
    # Test files that the rule for doubles looked at, and the calls they are about.
    test_modules: dict[Module, list[Site]] = field(default_factory=dict)
    tested: set[Site] = field(default_factory=set)
    _same: dict[tuple[cst.CSTNode, str, Hashable], Edit] = field(default_factory=dict)

    def edit(
        self,
        node: cst.CSTNode,
        module: Module,
        sites: Iterable[Site],
        apply: Apply,
        code: str,
        key: Hashable = None,
    ) -> None:
        """Ask for an edit; several edits of one node are applied in the order asked for.

        Who asks for the same one again becomes one more owner of it. Edits of a node are the same if
        they have the same ``key``; a function that captures nothing is its own.
        """
        if key is None and isinstance(apply, FunctionType) and _captures_nothing(apply):
            key = apply.__code__
        same = self._same.get((node, code, key)) if key is not None else None
        if same is not None:
            same.sites |= frozenset(sites)
            return
        edit = Edit(node, self._home(node, module), frozenset(sites), apply, code)
        self.edits.append(edit)
        if key is not None:
            self._same[node, code, key] = edit

    def _home(self, node: cst.CSTNode, module: Module) -> Module:
        """The module that ``node`` stands in, ``module`` most likely: an edit elsewhere would be lost."""
        if node in module.parents or node is module.tree:
            return module
        for other in self.project.modules:
            if node in other.parents or node is other.tree:
                return other
        raise ValueError(f"an edit ({module.path}) of a node that stands nowhere")

    def hold(
        self,
        node: cst.CSTNode,
        module: Module,
        sites: Iterable[Site],
        code: str,
        level: Level,
        detail: str = "",
        step: str = "",
    ) -> None:
        """Give a reason against (or a note on) migrating the flow of ``sites``: see :class:`Reason`."""
        self.reasons[frozenset(sites), Reason(code, level, detail, node, module, step)] = None

    def bind(self, node: cst.CSTNode, module: Module, sites: Iterable[Site], why: str) -> None:
        """Join sites that hand on to each other what has another form afterwards: see :class:`Bond`."""
        self.bonds.append(Bond(frozenset(sites), why, node, module))

    def need(self, target: Module, module: str, name: str, sites: Iterable[Site], beside: str = "") -> None:
        """Ask for an import that the edits use."""
        self.imports.append(NewImport(target, module, name, frozenset(sites), beside))


def _captures_nothing(function: FunctionType) -> bool:
    """Whether a function does the same wherever it was made: no closure, no values by default."""
    return not (function.__closure__ or function.__defaults__ or function.__kwdefaults__)

"""From edits and reasons to flows: sites that share one stand or fall together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..know.kinds import Site
from ..results import Level, Verdict
from .plan import Bond, Edit, NewImport, Plan, Reason


@dataclass(eq=False, repr=False)
class Flow:
    """Sites that must be migrated together, with what that takes and what speaks against it."""

    number: int
    sites: list[Site]
    reasons: list[Reason] = field(default_factory=list)
    owners: dict[Reason, set[Site]] = field(default_factory=dict)  # the sites a reason is about
    edits: list[Edit] = field(default_factory=list)
    imports: list[NewImport] = field(default_factory=list)
    bonds: list[Bond] = field(default_factory=list)
    skipped: tuple[str, str] | None = None  # the code and the words of what asks to leave it alone
    _causes: tuple[int, list[Reason]] = field(
        default=(0, []), init=False
    )  # of how many reasons; they are asked for by every site

    @property
    def causes(self) -> list[Reason]:
        """What holds the flow back, the strictest first, but for what only follows from another reason."""
        if self._causes[0] != len(self.reasons):
            serious = [reason for reason in self.reasons if reason.level is not Level.NOTE]
            self._causes = len(self.reasons), causes(sorted(serious, key=lambda one: -one.level.rank))
        return self._causes[1]

    def verdict(self, unsafe_fixes: bool) -> Verdict:
        """The strictest level of its reasons decides; a note holds nothing back."""
        if self.skipped:
            return Verdict.SKIPPED
        if any(reason.code == "MR012" for reason in self.reasons):
            return Verdict.LEFT  # the calls belong to a wrapper around the client
        rank = max((reason.level.rank for reason in self.reasons), default=0)
        if rank == Level.MANUAL.rank:
            return Verdict.MANUAL
        if rank == Level.UNSAFE.rank and not unsafe_fixes:
            return Verdict.UNSAFE
        return Verdict.MIGRATED


class Groups:
    """Union-find over sites."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self._parent = {site: site for site in sites}

    def find(self, site: Site) -> Site:
        root = site
        while self._parent[root] is not root:
            root = self._parent[root]
        while self._parent[site] is not root:
            self._parent[site], site = root, self._parent[site]
        return root

    def join(self, sites: Iterable[Site]) -> None:
        first: Site | None = None
        for site in sites:
            if first is None:
                first = self.find(site)
            else:
                self._parent[self.find(site)] = first


def flows(plan: Plan, sites: Iterable[Site]) -> list[Flow]:
    """The flows of ``sites``, numbered in the order given."""
    ordered = list(sites)
    groups = Groups(ordered)
    nodes: dict[cst.CSTNode, Site] = {}
    for edit in plan.edits:
        groups.join(edit.sites)
        for site in edit.sites:
            groups.join([nodes.setdefault(edit.node, site), site])
    for owners, reason in plan.reasons:
        if reason.level is not Level.NOTE:
            groups.join(owners)
    for bond in plan.bonds:
        groups.join(bond.sites)
    found: dict[Site, Flow] = {}
    for site in ordered:
        root = groups.find(site)
        flow = found.get(root)
        if flow is None:
            flow = found[root] = Flow(len(found) + 1, [])
        flow.sites.append(site)
    for edit in plan.edits:
        for root in {groups.find(site) for site in edit.sites}:
            found[root].edits.append(edit)
    for owners, reason in plan.reasons:
        for root in dict.fromkeys(groups.find(site) for site in owners):
            flow = found[root]
            if reason not in flow.owners:
                flow.reasons.append(reason)
            flow.owners.setdefault(reason, set()).update(owners)
    for needed in plan.imports:
        for root in {groups.find(site) for site in needed.sites}:
            found[root].imports.append(needed)
    for bond in plan.bonds:
        for root in {groups.find(site) for site in bond.sites}:
            found[root].bonds.append(bond)
    return list(found.values())


# What is said of a value holds for all that is read from it.
_OF_VALUES = frozenset({"MR306", "MR403"})


def causes(reasons: Sequence[Reason]) -> list[Reason]:
    """``reasons`` with one for each chain such as ``a.b[0].c``: about its value, or else about all of it."""
    told = {(reason.code, reason.node) for reason in reasons}
    implied: set[tuple[str, cst.CSTNode]] = set()
    for reason in reasons:
        inner = [node for node in _inside(reason.node) if (reason.code, node) in told]
        if inner and reason.code in _OF_VALUES:
            implied.add((reason.code, reason.node))
        elif reason.code not in _OF_VALUES:
            implied.update((reason.code, node) for node in inner)
    return [reason for reason in reasons if (reason.code, reason.node) not in implied]


def _inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What a chain of attributes, subscripts and calls starts from, step by step."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
        yield node

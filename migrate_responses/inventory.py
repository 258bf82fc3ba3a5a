"""What is told of each call, and of what only looks like one, once all is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .config import Settings
from .decide.flows import Flow
from .decide.lookalikes import Leftover
from .decide.plan import Reason
from .know.kinds import Site
from .places import Places
from .results import Diagnostic, Level, SiteResult, Verdict
from .secrets import masked
from .suppress import is_unheard, left_out, suppressed
from .traces import scope_of


class Inventory:
    """Makes results of the flows and leftovers of one run."""

    def __init__(self, places: Places, settings: Settings) -> None:
        self._places = places
        self._settings = settings
        self._diagnostics: dict[Flow, tuple[Diagnostic, ...]] = {}

    def verdict(self, flow: Flow) -> Verdict:
        return flow.verdict(self._settings.unsafe_fixes)

    def diagnostics(self, flow: Flow) -> tuple[Diagnostic, ...]:
        """What speaks against migrating ``flow``, once it is decided."""
        known = self._diagnostics.get(flow)
        if known is None:
            helps = self.verdict(flow) is not Verdict.MANUAL
            causes = flow.causes
            if self._settings.unsafe_fixes and not helps:  # what is accepted holds nothing back
                causes = [reason for reason in causes if reason.level is not Level.UNSAFE]
            known = _distinct(self._places.diagnostic(reason, helps) for reason in causes)
            self._diagnostics[flow] = known
        return known

    def notes(self, flows: Sequence[Flow]) -> Iterator[Diagnostic]:
        """What changes with the flows that move: it holds none back, or no longer, as it was asked for."""
        moving = [flow for flow in flows if self.verdict(flow) is Verdict.MIGRATED]
        for flow in moving:
            yield from self.told(flow)
        for flow in moving:
            for taken in self.diagnostics(flow):
                yield replace(taken, next_step="")

    def told(self, flow: Flow) -> Iterator[Diagnostic]:
        """What to know of ``flow`` if it moves, and holds nothing back."""
        for reason in flow.reasons:
            if reason.level is Level.NOTE and not is_unheard(reason.code, reason.module.path, self._settings):
                yield self._places.diagnostic(reason)

    def site(self, site: Site, flow: Flow) -> SiteResult:
        """A call of ``flow``."""
        verdict = self.verdict(flow)
        line, column = self._places.position(site.node, site.module)
        reasons: tuple[Diagnostic, ...] = ()
        if flow.skipped is not None:
            reasons = (self._places.note(site.node, site.module, *flow.skipped),)
        elif verdict is not Verdict.MIGRATED:
            reasons = self.diagnostics(flow)
        text = masked(" ".join(site.module.tree.code_for_node(site.node.func).split()))
        scope = scope_of(site.node, site.module)
        return SiteResult(site.path, line, column, text, verdict, flow.number, reasons, scope)

    def leftover(self, left: Leftover) -> SiteResult:
        """What is no call that the analysis follows."""
        verdict, reason = left.verdict, self._places.diagnostic(left.reason)
        if verdict is not Verdict.LEFT and (asked := self._asked(left)) is not None:
            verdict, reason = Verdict.SKIPPED, asked
        return self._left(left, verdict, (reason,))

    def double(self, left: Leftover, flows: Sequence[Flow]) -> SiteResult:
        """A mock or a route in a test, which goes with ``flows``; without any, it is about no call in sight.

        A reason of its own has one that holds back its flow.
        """
        about = tuple(flow.number for flow in flows)
        if not flows:
            reason = replace(left.reason, detail=f"{left.reason.detail}, for no call in sight", step=_ALONE)
            if (asked := self._asked(left)) is not None:
                return self._left(left, Verdict.SKIPPED, (asked,))
            return self._left(left, Verdict.DOUBLE, (self._places.diagnostic(reason),))
        if (told := suppressed(left.node, left.module, ())) is not None:
            asked = self._places.note(left.node, left.module, *told)
            return self._left(left, Verdict.SKIPPED, (asked,), about)
        own = _distinct(
            self._places.diagnostic(reason, self.verdict(flow) is not Verdict.MANUAL)
            for flow in flows
            for reason in flow.causes
            if reason.code == left.reason.code and _is_at(reason, left)
        )
        return self._left(left, Verdict.DOUBLE, own, about)

    def _asked(self, left: Leftover) -> Diagnostic | None:
        """What a comment or an option says for leaving it alone."""
        told = suppressed(left.node, left.module, {left.reason.code})
        if told is not None:
            return self._places.note(left.node, left.module, *told)
        why = left_out([left.reason.code], [left.module.path], self._settings)
        return self._places.note(left.node, left.module, "MR911", why) if why is not None else None

    def _left(
        self, left: Leftover, verdict: Verdict, reasons: tuple[Diagnostic, ...], about: tuple[int, ...] = ()
    ) -> SiteResult:
        line, column = self._places.position(left.node, left.module)
        scope = scope_of(left.node, left.module)
        return SiteResult(left.module.path, line, column, left.text, verdict, 0, reasons, scope, about=about)


_ALONE = "change it by hand, together with what it tests"


def _is_at(reason: Reason, left: Leftover) -> bool:
    """Whether ``reason`` stands in the statement of ``left``."""
    module = left.module
    if reason.module is not module or reason.node not in module.parents:
        return False
    return module.statement(reason.node) is module.statement(left.node)


def _distinct(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """One diagnostic for each thing said: the first place stands for the others."""
    kept: dict[tuple[str, str, str], Diagnostic] = {}
    for diagnostic in found:
        kept.setdefault((diagnostic.code, diagnostic.path, diagnostic.message), diagnostic)
    return tuple(kept.values())

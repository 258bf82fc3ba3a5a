"""Comprehensions over a stream: ``"".join(chunk.choices[0].delta.content or "" for chunk in stream)``."""

from __future__ import annotations

import libcst as cst

from ..know.modules import walk
from .snippets import expr
from .stream_lost import lost
from .stream_need import WANTS, Need
from .stream_parts import TEXT_TEST, On
from .stream_tests import Tests


class Comprehension(Tests):
    """Rewrites the element and the conditions of one comprehension."""

    def run(self) -> None:
        loop = self.region.node
        assert isinstance(loop, cst.CompFor)
        reach = self.region.everything | {On.OTHER}
        kept: list[bool] = []
        for condition in conditions(loop):
            pure = self.region.pure(condition.test) if self.involves(condition.test) else None
            if pure is not None and self.spelled(condition.test, pure & reach, reach - {On.OTHER}) is None:
                kept.append(False)  # `if chunk.choices`: the text is there or not
                self.edit(condition.test, lambda o, u: u, "MR401")
                reach = (reach & pure) | {On.OTHER}
                continue
            kept.append(True)
            may, _ = self.test(condition.test, reach)
            reach = may
        element = self.region.roots[0]
        assert isinstance(element, cst.BaseExpression)
        self.need = Need()
        self.expression(element, reach)
        need, self.need = self.need, None
        added = need.wants == {"text"}
        if On.OTHER in reach and not added:
            self.hold(element, "runs for each chunk, and events are not chunks")
            return
        shown = lost(self.region, element, WANTS["text"], reach) if added else None
        if isinstance(shown, cst.BaseExpression):
            self.hold(shown, "is asked of each chunk, and not each has an event")
            return
        self.expression(element, WANTS["text"] if added else reach)
        if loop.inner_for_in is not None:
            self.understood.update((*walk(loop.inner_for_in.target), *walk(loop.inner_for_in.iter)))
        if added or not all(kept) or loop.inner_for_in is not None:
            self._conditions(loop, kept, added)

    def _conditions(self, loop: cst.CompFor, kept: list[bool], added: bool) -> None:
        test = expr(TEXT_TEST, v=cst.Name(self.region.new))

        def apply(original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
            assert isinstance(updated, cst.CompFor)
            ifs = [item for item, stays in zip(conditions(updated), kept, strict=True) if stays]
            if added:
                model = updated.ifs[0] if updated.ifs else _condition(updated)
                ifs = [model.with_changes(test=test), *ifs]
            return updated.with_changes(ifs=ifs, inner_for_in=None)

        self.context.edit(loop, self.module, self.sites, apply, "MR401")


def conditions(loop: cst.CompFor) -> list[cst.CompIf]:
    """The conditions of ``loop``, and those of the loop over choices inside it."""
    inner = loop.inner_for_in
    return [*loop.ifs, *(inner.ifs if inner is not None else ())]


def _condition(loop: cst.CompFor) -> cst.CompIf:
    """An empty condition, on a line of its own where the loop has one."""
    before = loop.whitespace_before
    if isinstance(before, cst.ParenthesizedWhitespace):
        before = before.with_changes(
            first_line=cst.TrailingWhitespace(newline=before.first_line.newline), empty_lines=[]
        )
        return cst.CompIf(cst.Name("_"), whitespace_before=before)
    return cst.CompIf(cst.Name("_"))

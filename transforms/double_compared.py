"""unittest's way to compare what the program builds with a literal (MR803).

``self.assertEqual(schema("now"), {"type": "function", "function": {...}})``: the schema is flat now, the
literal in the test is not, so the flow of the schema is held back. (``==``: see :mod:`.compared`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..know.kinds import DictValue, SeqValue, Site, Value
from ..know.modules import Module
from .context import Context
from .tested import is_test

_EQUALITIES = frozenset({"assertEqual", "assertDictEqual", "assertListEqual", "assertCountEqual"})
_DEPTH = 4
_BUILT = (cst.Dict, cst.List, cst.Tuple, cst.ListComp, cst.Call)


def plan(context: Context) -> None:
    """Hold back the flows that change a dict or list which a test compares as a whole."""
    changed = _changed(context)
    if not changed:
        return
    for module in context.project.modules:
        if not is_test(module):
            continue
        for node, side in _compared(module):
            sites = _sites(context.project.values(side), changed)
            if sites:
                text = context.source(side, module)
                context.unsafe(node, module, sites, "MR803", f"a test compares `{text}` with its old shape")


def _changed(context: Context) -> dict[cst.CSTNode, set[Site]]:
    """The dicts and lists of the program in which something is rewritten, with the sites it is for."""
    found: dict[cst.CSTNode, set[Site]] = {}
    for edit in context.plan.edits:
        if is_test(edit.module) or edit.code[:3] not in ("MR2", "MR5", "MR6"):
            continue
        for node in (edit.node, *edit.module.ancestors(edit.node)):
            if isinstance(node, (cst.BaseStatement, cst.BaseSmallStatement)):
                break
            if isinstance(node, _BUILT):
                found.setdefault(node, set()).update(edit.sites)
    for site in context.sites:
        found.pop(site.node, None)
    return found


def _compared(module: Module) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    for node in module.of(cst.Call):
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=[first, second, *_]):
                if name in _EQUALITIES:
                    yield node, first.value
                    yield node, second.value
            case _:
                continue


def _sites(values: Iterable[Value], changed: dict[cst.CSTNode, set[Site]]) -> set[Site]:
    """The sites of what is rewritten in ``values``, and in what they hold, some levels deep."""
    found: set[Site] = set()
    seen: set[Value] = set()
    level = set(values)
    for _ in range(_DEPTH):
        seen |= level
        inner: set[Value] = set()
        for value in level:
            match value:
                case DictValue():
                    held = list(value.fields.values())
                case SeqValue():
                    held = [value.element, *value.items.values()]
                case _:
                    continue
            found |= changed.get(value.node, set())
            for var in held:
                inner.update(var.values)
        level = inner - seen
    return found

"""Whether the answer of a call is whole or a stream, and which flag of the program decides that."""

from __future__ import annotations

import libcst as cst

from . import models
from .binding import Binding
from .flags import Flags, hands_on_keywords
from .graph import Var
from .kinds import Const, DictValue, External, Function, Invocation, Kind, Shape, Site, Value
from .stated_flags import spelled, stating


class Streamed(Binding):
    """The answers of the sites."""

    def __init__(self) -> None:
        super().__init__()
        # The flag that a call, or a dict, is spelled with as its `stream`.
        self.flag_keys: dict[cst.CSTNode, object | None] = {}
        self.flags = Flags()
        self.silent: set[object] = set()  # the keywords of wrappers whose callers may leave `stream` out
        self.results: list[tuple[Site, Var]] = []  # where the answers of the sites go

    def answer(self, site: Site, result: Var) -> None:
        """The answer of ``site`` flows to ``result``: whole, streamed, or either, as ``stream=`` says."""
        flag = self.flag_keys.get(site.node)
        if flag is not None:
            self.flags.add(site, flag)

        def on(value: Value) -> None:
            shapes = []
            if not (isinstance(value, Const) and value.value is True):
                shapes.append(Shape(Kind.COMPLETION, site))
            if not _is_off(value):
                shapes.append(Shape(Kind.STREAM, site))
            self.solver.add(result, shapes)

        self.results.append((site, result))
        self._flag_in_keywords(site)
        self._flag_in_dict(site)
        for var in self.argument(site.invocation, "stream"):
            self.solver.watch(var, on)

    def _flag_in_keywords(self, site: Site) -> None:
        """``create(**kwargs)``: whether it streams, the callers of the function around it say."""
        function = site.invocation.scope
        if not isinstance(function, Function) or not hands_on_keywords(function, copied=True):
            return
        seen: set[DictValue] = set()

        def on(value: Value) -> None:
            if value is function.double_star:
                self.flags.add(site, value)
                self.without_stream()
            elif isinstance(value, DictValue) and value not in seen:
                seen.add(value)
                self.each_poured(value, on)

        for item in site.invocation.arguments:
            if item.keyword == "**":
                self.solver.watch(item.var, on)

    def _flag_in_dict(self, site: Site) -> None:
        """``params = {..., "stream": stream}``, and ``create(**params)`` in the same function.

        Whether it is also in there from elsewhere is found out later (``transforms/silent_stream.py``).
        """

        def on(value: Value) -> None:
            if isinstance(value, DictValue) and (flag := self.flag_in(value, site)) is not None:
                self.flags.add(site, flag)
                if self.is_left_out(value, site):
                    self.silent.add(flag)
                    self.without_stream()

        for item in site.invocation.arguments:
            if item.keyword == "**":
                self.solver.watch(item.var, on)

    def flag_in(self, value: DictValue, site: Site) -> object | None:
        """The flag that the dict ``value``, spelled in the function of ``site``, is made with."""
        module = site.module
        if value.module is not module or module.function(value.node) is not module.function(site.node):
            return None
        flag = self.flag_keys.get(value.node)
        if flag is None and (stated := stating(value.node, site.node, module)) is not None:
            flag = self.flag_keys.get(stated)
        return None if flag in ("True", "False", "None") else flag

    def is_left_out(self, value: DictValue, site: Site) -> bool:
        """Whether ``stream`` is put into the dict ``value`` only where the flag of ``site`` is on."""
        stated = stating(value.node, site.node, site.module)
        return stated is not None and spelled(stated, site.module)[1] is not None

    def without_stream(self) -> None:
        """Where nobody need say ``stream``, an answer can be whole."""
        for site, result in self.results:
            if not self.silent.isdisjoint(site.flags):
                self.solver.add(result, [Shape(Kind.COMPLETION, site)])

    def argument(self, call: Invocation, name: str) -> list[Var]:
        """The variables that feed keyword ``name`` of ``call``, through ``**`` too."""
        found: list[Var] = []
        for item in call.arguments:
            if item.keyword == name:
                found.append(item.var)
            elif item.keyword == "**":
                var = Var()

                def on(value: Value, var: Var = var) -> None:
                    if isinstance(value, DictValue):
                        self.solver.flow(self.field(value, name), var)

                self.solver.watch(item.var, on)
                found.append(var)
        return found


def _is_off(value: Value) -> bool:
    if isinstance(value, Const):
        return not value.value
    return isinstance(value, External) and value.path in models.OMITTED

"""What calling each kind of value means: binding arguments, constructing, running models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from . import models
from .binding import Row
from .flags import Settled, flags_of, handed_on
from .graph import MANY, Var
from .kinds import (
    DUMPS,
    JSON_DUMPS,
    TEXTS,
    Alias,
    Argument,
    Bound,
    Class,
    Client,
    DictValue,
    Env,
    External,
    Function,
    Instance,
    Invocation,
    Kind,
    Method,
    Partial,
    Resource,
    SeqValue,
    Shape,
    Site,
    Typed,
    Unknown,
    Value,
)
from .operators import is_text
from .own_calls import OwnCalls
from .testing import in_tests


class Calls(OwnCalls):
    """Call semantics."""

    def __init__(self) -> None:
        super().__init__()
        self.sites: dict[cst.CSTNode, Site] = {}
        self.invocations: list[Invocation] = []
        self._known_flags: dict[Function, tuple[str, ...]] = {}
        self._settled: dict[tuple[Function, Invocation], Settled] = {}
        self.callees: dict[Invocation, dict[Value, None]] = {}
        self._elsewhere: dict[Class, Var] = {}
        self.made: set[Class] = set()  # those that the program makes instances of
        self._forwarded: set[tuple[Value, Invocation, cst.Call | None]] = set()

    def call(self, callee: Value, call: Invocation) -> None:
        """``callee`` is called at ``call``."""
        callees = self.callees.setdefault(call, {})
        if callee in callees:
            return
        callees[callee] = None
        self.is_called(callee, call)
        match callee:
            case Function():
                self.enter_function(callee, call, None)
            case Bound():
                self.enter_function(callee.function, call, callee.owner)
            case Class():
                self._construct(callee, call)
            case Instance():
                self._call_member(callee, "__call__", call)
            case Resource():
                self._call_resource(callee, call)
            case Partial():
                self._call_partial(callee, call)
            case Method():
                self._call_method(callee, call)
            case External():
                self.call_external(callee, call)
            case Alias(is_new=True) if call.arguments:
                self.solver.flow(call.arguments[0].var, call.result)
            case Unknown(why=why) if why.partition(" of ")[0] in models.TEXT_ONLY_METHODS:
                self.solver.add(call.result, [Typed("str")])
            case Unknown(why=why) if why.partition(" of ")[0] in models.METHODS:
                self.solver.add(call.result, [Unknown("the answer of an unknown client", call.node)])
                self.hand_out(call)
            case Unknown() if callee is MANY:
                self.solver.add(call.result, [callee])
                self.hand_out(call)
            case Unknown() | Env():
                self.solver.add(call.result, [Unknown("the result of an unknown function")])
                self.hand_out(call)
            case _:
                pass

    @abstractmethod
    def call_external(self, callee: External, call: Invocation) -> None:
        """Something from outside the project is called at ``call``."""

    def hand_out(self, call: Invocation, but: Sequence[Argument] = ()) -> None:
        """Functions among the arguments, ``but`` for some, may be called by whoever got them."""
        for argument in call.arguments:
            if argument not in but:
                self.solver.watch(argument.var, _mark_escaped)

    # -- project functions and classes ---------------------------------------------------

    def enter_function(self, function: Function, call: Invocation, owner: Value | None) -> None:
        """Bind the arguments of ``call`` and take the result."""
        if call in function.callers:
            if owner is not None and function.positional:
                self.solver.add(function.parameters[function.positional[0]], [owner])
            self.taken_by(function, call, owner)
            self._give(function, call, owner)
            return
        function.callers.append(call)
        names = list(function.positional)
        if owner is not None and names:
            self.solver.add(function.parameters[names.pop(0)], [owner])
        flags = self._flags(function)
        settled = Settled(function, flags, call, names) if flags else None
        for flag, outer in handed_on(function, flags, call, names) if flags else ():
            self.flags.join(self.sites.values(), flag, outer)
            self.without_stream()
        if settled is not None:
            self._settled[function, call] = settled
            if settled.keeps_silent:
                self.silent.add(function.double_star)
                self.without_stream()
        self.bind(function, names, self.taken_by(function, call, owner))
        self._give(function, call, owner)

    def _give(self, function: Function, call: Invocation, owner: Value | None) -> None:
        """What ``function``, a method of ``owner`` if any, gives to ``call``."""
        settled = self._settled.get((function, call))
        for target in (call.result, self.given_to(call, owner)):
            if target is None:
                continue
            if function.yields is not None:
                self.solver.add(target, [function.yields])
            elif settled is not None:
                self.solver.flow_if(function.result, target, settled.keep)
            else:
                self.solver.flow(function.result, target)

    def _flags(self, function: Function) -> tuple[str, ...]:
        if "stream" not in function.module.text and function.double_star is None:
            return ()
        if function not in self._known_flags:
            self._known_flags[function] = flags_of(function)
        return self._known_flags[function]

    def _construct(self, cls: Class, call: Invocation) -> None:
        self.solver.add(call.result, [cls.instance])
        if not in_tests(call.module):
            self.made.add(cls)
        init = self.lookup(cls, "__init__")

        def on(found: Value) -> None:
            if isinstance(found, Function):
                quiet = Invocation(call.node, call.module, call.arguments, Var(), call.scope)
                self.enter_function(found, quiet, cls.instance)

        self.solver.watch(init, on)
        self.solver.watch(self.lookup(cls, "__new__"), lambda found: self._make(cls, found, call))
        for base in cls.bases:
            self.solver.watch(base, lambda found: self._construct_client(cls, found, call))
        if "__init__" not in cls.members:
            self._fill_fields(cls, call)

    def _make(self, cls: Class, found: Value, call: Invocation) -> None:
        """``__new__`` may give something else than an instance."""
        if isinstance(found, Function):
            made = Invocation(call.node, call.module, call.arguments, Var(), call.scope)
            self.enter_function(found, made, cls)
            self.solver.flow(made.result, call.result)

    def _fill_fields(self, cls: Class, call: Invocation) -> None:
        """The generated constructor of a dataclass, a named tuple or a pydantic model."""
        names = [name for owner in [*reversed(self.ancestors(cls)), cls] for name in owner.annotations]
        names = list(dict.fromkeys(names))
        self.bind_row(Row([self.instance_field(cls.instance, name) for name in names]), call)
        for argument in call.arguments:
            if argument.keyword in ("*", "**"):
                self.solver.add(self.filled_elsewhere(cls), [Unknown("a field from elsewhere")])
            if argument.keyword == "**":
                given = {*names[: sum(one.keyword is None for one in call.arguments)]}
                given |= {str(one.keyword) for one in call.arguments}
                left = [name for name in names if name in cls.members and name not in given]
                self._fill_from(cls, argument.var, left)
            elif argument.keyword not in (None, "*"):
                self.solver.flow(argument.var, self.instance_field(cls.instance, argument.keyword))

    def filled_elsewhere(self, cls: Class) -> Var:
        """What any field of ``cls`` may hold besides what is known of it."""
        return self._elsewhere.setdefault(cls, Var())

    def _fill_from(self, cls: Class, source: Var, left: Sequence[str]) -> None:
        """The entries of a ``**`` become fields; of one that is not known, any that are ``left`` may."""

        def on(value: Value) -> None:
            if isinstance(value, DictValue):
                for name in list(value.places):
                    self.solver.flow(self.field(value, name), self.instance_field(cls.instance, name))

        self.solver.watch(source, on)
        fields = {name: self.instance_field(cls.instance, name) for name in left}
        self.open(fields, cls.annotations, source, Unknown("a field from elsewhere"))

    def _construct_client(self, cls: Class, base: Value, call: Invocation) -> None:
        """A subclass of the SDK's client without a constructor of its own passes its arguments on."""
        if "__init__" not in cls.members and isinstance(base, External) and models.is_client_class(base.path):
            self._client_arguments(self.subclass_client(cls, base.path), call)

    def _call_member(self, owner: Instance, name: str, call: Invocation) -> None:
        var = Var()
        self._instance_member(owner, name, var)
        self.solver.watch(var, lambda found: self.call(found, call))

    def _seq_callback(self, method: Method, owner: SeqValue, call: Invocation) -> None:
        """``xs.sort(key=f)`` and ``future.add_done_callback(f)`` call ``f``."""
        key = call.named("key")
        if method.name == "sort" and key is not None:
            self.call_with_elements(key.var, self.fresh(owner), call)
        elif method.name == "add_done_callback" and call.arguments:
            self.call_with(call.arguments[0].var, self.fresh(owner), call)

    def call_with_elements(self, function: Var, sequence: Var, call: Invocation) -> None:
        """``function`` is called with each element of ``sequence``, on behalf of ``call``."""
        element = Var()
        self.spread(sequence, element)
        self.call_with(function, element, call)

    def call_with(self, function: Var, value: Var, call: Invocation) -> None:
        """``function`` is called with ``value``, on behalf of ``call``."""
        inner = Invocation(call.node, call.module, [Argument(None, value, call.node)], Var(), call.scope)
        self.solver.watch(function, lambda found: self._forward(found, inner, call))

    def _call_partial(self, partial: Partial, call: Invocation) -> None:
        inner = Invocation(
            call.node,
            call.module,
            [*partial.arguments, *call.arguments],
            call.result,
            call.scope,
            partial.node,
        )
        self._forward(partial.target, inner, call)

    def _forward(self, target: Value, inner: Invocation, outer: Invocation) -> None:
        """``inner`` is what ``outer`` really calls; one invocation for each way there."""
        key = (target, outer, inner.inner)
        if key not in self._forwarded:
            self._forwarded.add(key)
            self.call(target, inner)

    # -- OpenAI --------------------------------------------------------------------------

    def _call_resource(self, resource: Resource, call: Invocation) -> None:
        method = resource.path[-1]
        if method not in models.METHODS or "completions" not in resource.path:
            return
        site = self.sites.get(call.node)
        if site is None:
            via = next((name for name in resource.path if name in models.WRAPPERS), "")
            own = replace(call, arguments=list(call.arguments))
            site = self.sites[call.node] = Site(call.node, call.module, method, via, own)
            self._result(site, call)
        else:
            known = {argument.node for argument in site.invocation.arguments}
            more = [argument for argument in call.arguments if argument.node not in known]
            site.invocation.arguments.extend(more)
            if any(argument.keyword in ("stream", "**") for argument in more):
                self._result(site, call)
        if (method, site.method) == ("create", "parse"):
            site.method = method  # of both, whichever is found first
        site.partials[call.inner] = None
        site.resources[resource] = None

    def _result(self, site: Site, call: Invocation) -> None:
        if site.via == "with_raw_response":
            self.solver.add(call.result, [Shape(Kind.RAW, site)])
        elif site.method == "stream" or site.via:
            self.solver.add(call.result, [Shape(Kind.MANAGER, site)])
        else:
            self.answer(site, call.result)

    def _client_arguments(self, client: Client, call: Invocation) -> None:
        for item in call.arguments:
            if item.keyword == "**":
                client.splat = True
                for name in ("base_url", "azure_endpoint", "api_version", "azure_deployment"):
                    for var in self.argument(Invocation(call.node, call.module, [item], Var()), name):
                        self.solver.flow(var, client.arguments.setdefault(name, Var()))
                self.solver.flow(item.var, client.arguments.setdefault("**", Var()))
            elif item.keyword not in (None, "*"):
                client.spelled.add(str(item.keyword))
                self.solver.flow(item.var, client.arguments.setdefault(str(item.keyword), Var()))

    # -- methods of values ---------------------------------------------------------------

    def _call_method(self, method: Method, call: Invocation) -> None:
        owner = method.owner
        match owner:
            case DictValue():
                self.dict_method(method, owner, call)
            case SeqValue():
                self.seq_method(method, owner, call)
                self._seq_callback(method, owner, call)
            case Shape():
                self._shape_method(method, owner, call)
            case Client() if method.name == "__init__":
                self._client_arguments(owner, call)
            case Client():
                self._copy_client(owner, call)
            case _ if is_text(owner):
                self._text_method(method.name, call)
            case _:
                pass

    def _copy_client(self, client: Client, call: Invocation) -> None:
        copy = self.clients.get(call.node)
        if copy is None:
            copy = self.clients[call.node] = Client(client.name, call.node, call.module, base=client)
            self._client_arguments(copy, call)
        self.solver.add(call.result, [copy])

    def _text_method(self, name: str, call: Invocation) -> None:
        if name in models.TEXT_METHODS:
            self.solver.add(call.result, [Typed("str")])
        elif name in ("split", "splitlines", "rsplit", "partition", "rpartition"):
            self.solver.add(call.result, [SeqValue(call.node, call.module, "list", self.fresh(Typed("str")))])
        elif hasattr(str, name) or hasattr(bytes, name):  # of a text without that method there is no result
            self.solver.add(call.result, [Typed("object")])

    def _shape_method(self, method: Method, shape: Shape, call: Invocation) -> None:
        name = method.name
        if name in DUMPS and shape.form == "object":
            self.solver.add(call.result, [Shape(shape.kind, shape.site, "dict")])
        elif name in JSON_DUMPS and shape.form == "object":
            self.solver.add(call.result, [Shape(shape.kind, shape.site, "json")])
        elif shape.kind is Kind.RAW and name == "parse":
            self.answer(shape.site, call.result)
        elif shape.kind is Kind.STREAM and name in ("get_final_completion", "current_completion_snapshot"):
            self.solver.add(call.result, [shape.part(Kind.COMPLETION)])
        elif shape.kind is Kind.STREAM and name in (
            "__enter__",
            "__aenter__",
            "__iter__",
            "__aiter__",
            "until_done",
        ):
            self.solver.add(call.result, [shape])
        elif shape.kind is Kind.STREAM and name in ("__next__", "__anext__"):
            self.elements(shape, call.result)
        elif shape.kind is Kind.MANAGER and name in ("__enter__", "__aenter__"):
            self.enter_context(shape, call.result)
        elif name == "get" and shape.form == "dict" and call.arguments:
            self.shape_key(shape, call.arguments[0].var, call.result)
            for argument in call.arguments[1:]:
                self.solver.flow(argument.var, call.result)
        elif name == "pop" and shape.kind is Kind.TOOL_CALLS:
            self.elements(shape, call.result)
        elif shape.kind in TEXTS:
            self._text_method(name, call)


def _mark_escaped(value: Value) -> None:
    if isinstance(value, Function):
        value.escaped = True
    elif isinstance(value, Bound):
        value.function.escaped = True
    elif isinstance(value, Partial):
        _mark_escaped(value.target)

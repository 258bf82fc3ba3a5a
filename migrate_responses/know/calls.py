"""What calling each kind of value means: binding arguments, constructing, running models."""

from __future__ import annotations

import libcst as cst

from . import models, modules as syntax
from .graph import Var
from .heap import is_text
from .kinds import (
    DUMPS,
    JSON_DUMPS,
    TEXTS,
    Argument,
    Bound,
    Class,
    Client,
    Const,
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
    Super,
    Typed,
    Unknown,
    Value,
)
from .semantics import METHODS, WRAPPERS, Semantics


class Calls(Semantics):
    """Call semantics."""

    def __init__(self) -> None:
        super().__init__()
        self.sites: dict[cst.CSTNode, Site] = {}
        self.invocations: list[Invocation] = []
        self.flag_keys: dict[cst.CSTNode, object | None] = {}
        self.callees: dict[Invocation, dict[Value, None]] = {}
        self.clients: dict[cst.CSTNode, Client] = {}

    def call(self, callee: Value, call: Invocation) -> None:
        """``callee`` is called at ``call``."""
        self.callees.setdefault(call, {})[callee] = None
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
                self._call_external(callee, call)
            case Unknown(why=why) if why.partition(" of ")[0] in models.TEXT_ONLY_METHODS:
                self.solver.add(call.result, [Typed("str")])
            case Unknown() | Env():
                self.solver.add(call.result, [Unknown("the result of an unknown function")])
                self._hand_out(call)
            case _:
                pass

    # -- project functions and classes ---------------------------------------------------

    def enter_function(self, function: Function, call: Invocation, owner: Value | None) -> None:
        """Bind the arguments of ``call`` and take the result."""
        if call in function.callers:
            if owner is not None and function.positional:
                self.solver.add(function.parameters[function.positional[0]], [owner])
            return
        function.callers.append(call)
        names = list(function.positional)
        if owner is not None and names:
            self.solver.add(function.parameters[names.pop(0)], [owner])
        position = 0
        for argument in call.arguments:
            if argument.keyword is None:
                self._bind_positional(function, names, position, argument.var)
                position += 1
            elif argument.keyword == "*":
                self._bind_star(function, names, position, argument.var)
            elif argument.keyword == "**":
                self._bind_double_star(function, argument.var)
            elif argument.keyword in function.parameters:
                self.solver.flow(argument.var, function.parameters[argument.keyword])
            elif function.double_star is not None:
                key = self.fresh(Const(argument.keyword, argument.node))
                self.entry(function.double_star, key, argument.node, "keyword", argument.var, call.module)
        result = function.yields
        if result is not None:
            self.solver.add(call.result, [result])
        else:
            self.solver.flow(function.result, call.result)

    def _bind_positional(self, function: Function, names: list[str], position: int, var: Var) -> None:
        if position < len(names):
            self.solver.flow(var, function.parameters[names[position]])
        elif function.star is not None:
            index = position - len(names)
            self.solver.flow(var, function.star.element)
            self.solver.flow(var, function.star.items.setdefault(index, Var()))

    def _bind_star(self, function: Function, names: list[str], position: int, var: Var) -> None:
        def on(value: Value) -> None:
            if isinstance(value, SeqValue) and value.items and not value.derived:
                for index, item in value.items.items():
                    self._bind_positional(function, names, position + index, item)
                return
            if isinstance(value, SeqValue) and value.type == "args":
                return  # *args of a wrapper nobody calls with arguments yet
            for name in names[position:]:
                self.elements(value, function.parameters[name])

        self.solver.watch(var, on)

    def _bind_double_star(self, function: Function, var: Var) -> None:
        def on(value: Value) -> None:
            if isinstance(value, DictValue):
                for name, parameter in function.parameters.items():
                    self.solver.flow(self.field(value, name), parameter)

        self.solver.watch(var, on)
        if function.double_star is not None:
            self.merge(function.double_star, var)

    def _construct(self, cls: Class, call: Invocation) -> None:
        self.solver.add(call.result, [cls.instance])
        init = self.lookup(cls, "__init__")

        def on(found: Value) -> None:
            if isinstance(found, Function):
                quiet = Invocation(call.node, call.module, call.arguments, Var(), call.scope)
                self.enter_function(found, quiet, cls.instance)

        self.solver.watch(init, on)
        for base in cls.bases:
            self.solver.watch(base, lambda found: self._construct_client(cls, found, call))
        if "__init__" not in cls.members and cls.annotations:
            names = list(cls.annotations)
            for position, argument in enumerate(call.arguments):
                name = argument.keyword
                if name is None and position < len(names):
                    name = names[position]
                if name in cls.annotations:
                    self.solver.flow(argument.var, self.instance_field(cls.instance, name))

    def _construct_client(self, cls: Class, base: Value, call: Invocation) -> None:
        """A subclass of the SDK's client without a constructor of its own passes its arguments on."""
        if "__init__" not in cls.members and isinstance(base, External) and models.is_client_class(base.path):
            self._client_arguments(self.subclass_client(cls, base.path), call)

    def _call_member(self, owner: Instance, name: str, call: Invocation) -> None:
        var = Var()
        self._instance_member(owner, name, var)
        self.solver.watch(var, lambda found: self.call(found, call))

    def _call_partial(self, partial: Partial, call: Invocation) -> None:
        inner = Invocation(
            call.node, call.module, [*partial.arguments, *call.arguments], call.result, call.scope, partial.node
        )
        self._forward(partial.target, inner, call)

    def _forward(self, target: Value, inner: Invocation, outer: Invocation) -> None:
        """``inner`` is what ``outer`` really calls; one invocation per pair."""
        key = (target, outer)
        if key not in self._forwarded:
            self._forwarded.add(key)
            self.call(target, inner)

    _forwarded: set[tuple[Value, Invocation]]

    # -- OpenAI --------------------------------------------------------------------------

    def _call_resource(self, resource: Resource, call: Invocation) -> None:
        method = resource.path[-1]
        if method not in METHODS or "completions" not in resource.path:
            return
        site = self.sites.get(call.node)
        if site is None:
            via = next((name for name in resource.path if name in WRAPPERS), "")
            site = self.sites[call.node] = Site(call.node, call.module, method, via, call)
            self._result(site, call)
        site.resources[resource] = None

    def _result(self, site: Site, call: Invocation) -> None:
        if site.via == "with_raw_response":
            self.solver.add(call.result, [Shape(Kind.RAW, site)])
        elif site.method == "stream" or site.via:
            self.solver.add(call.result, [Shape(Kind.MANAGER, site)])
        else:
            self.answer(site, call.result)

    def answer(self, site: Site, result: Var) -> None:
        """The answer of ``site`` flows to ``result``: whole, streamed, or either, as ``stream=`` says."""
        flag = self.flag_keys.get(site.node)
        if flag is not None:
            site.flags.add(flag)

        def on(value: Value) -> None:
            shapes = []
            if not (isinstance(value, Const) and value.value is True):
                shapes.append(Shape(Kind.COMPLETION, site))
            if not _is_off(value):
                shapes.append(Shape(Kind.STREAM, site))
            self.solver.add(result, shapes)

        self.results.append((site, result))
        for var in self.argument(site.invocation, "stream"):
            self.solver.watch(var, on)

    results: list[tuple[Site, Var]]

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

    def _make_client(self, path: str, call: Invocation) -> None:
        client = self.clients.get(call.node)
        if client is None:
            name = path.rpartition(".")[2]
            client = self.clients[call.node] = Client(name, call.node, call.module)
            self._client_arguments(client, call)
        self.solver.add(call.result, [client])

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
        else:
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
        elif shape.kind is Kind.STREAM and name in ("__enter__", "__aenter__", "__iter__", "__aiter__", "until_done"):
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

    # -- code outside the project --------------------------------------------------------

    def _call_external(self, callee: External, call: Invocation) -> None:
        path = callee.path
        arguments = call.arguments
        if models.is_client_class(path):
            self._make_client(path, call)
        elif path in models.CLIENT_WRAPPERS:
            self.flow_argument(call, 0)
        elif path in models.IDENTITY:
            self.flow_argument(call, models.IDENTITY[path])
            self._default_factory(path, call)
        elif path in models.SEQUENCES:
            for argument in arguments[1:] if path in models.FILTERS else arguments:
                if argument.keyword in (None, "*"):
                    self.derive(call.node, call.module, argument.var, call.result)
        elif path == "contextvars.ContextVar":
            self._context_variable(call)
        elif path in models.BOXES:
            self._box(call)
        elif path == "functools.partial" and arguments:
            self._partial(call)
        elif path in models.INJECTED and arguments:
            made = Invocation(call.node, call.module, [], call.result, call.scope)
            self.solver.watch(arguments[0].var, lambda found: self._forward(found, made, call))
        elif path in models.RUNNERS or path.rpartition(".")[2] in models.RUNNER_METHODS:
            tail = path.rpartition(".")[2]
            self._run(call, models.RUNNERS.get(path, models.RUNNER_METHODS.get(tail, 0)), tail)
        elif path == "builtins.dict":
            self.keyword_dict(call, call.result)
        elif path in models.TEXT_FUNCTIONS:
            self.solver.add(call.result, [Typed("str")])
            self._hand_out(call)
        elif path in models.TYPED_FUNCTIONS:
            self.solver.add(call.result, [Typed(models.TYPED_FUNCTIONS[path])])
        elif path in models.GETENV and arguments:
            self._getenv(call)
        elif path.startswith("openai.types.") and path.endswith("Param"):  # a TypedDict
            self.keyword_dict(call, call.result)
        elif path == "json.loads" and arguments:
            self._json_loads(call)
        elif path.rpartition(".")[2] in models.TEXT_ONLY_METHODS and "." in path:
            self.solver.add(call.result, [Typed("str")])
        elif not self._call_builtin(path, call):
            self._call_unknown(path, call)

    def _json_loads(self, call: Invocation) -> None:
        """``json.loads(resp.model_dump_json())`` is the dumped answer; other text is anything."""

        def on(value: Value) -> None:
            if isinstance(value, Shape) and value.form == "json":
                self.solver.add(call.result, [Shape(value.kind, value.site, "dict")])
            else:
                self.solver.add(call.result, [External("json.loads()")])

        self.solver.watch(call.arguments[0].var, on)

    def flow_argument(self, call: Invocation, position: int) -> None:
        positional = [item for item in call.arguments if item.keyword is None]
        if 0 <= position < len(positional):
            self.solver.flow(positional[position].var, call.result)

    def _default_factory(self, path: str, call: Invocation) -> None:
        if path != "dataclasses.field":
            return
        for item in call.arguments:
            if item.keyword == "default":
                self.solver.flow(item.var, call.result)
            elif item.keyword == "default_factory":
                inner = Invocation(call.node, call.module, [], call.result, call.scope)
                self.solver.watch(item.var, lambda found: self._forward(found, inner, call))

    def _context_variable(self, call: Invocation) -> None:
        cell = SeqValue(call.node, call.module, "cell", Var())
        default = call.named("default")
        if default is not None:
            self.solver.flow(default.var, cell.element)
        self.solver.add(call.result, [cell])

    def _box(self, call: Invocation) -> None:
        box = SeqValue(call.node, call.module, "box", Var())
        default = call.named("default")
        if default is not None:
            self.solver.flow(default.var, box.element)
        self.solver.add(call.result, [box])

    def _partial(self, call: Invocation) -> None:
        rest = call.arguments[1:]

        def on(target: Value) -> None:
            self.solver.add(call.result, [Partial(target, rest, call.node)])

        self.solver.watch(call.arguments[0].var, on)

    def _run(self, call: Invocation, position: int, name: str) -> None:
        """``to_thread(f, *args)`` and ``executor.submit(f, *args)``."""
        if position >= len(call.arguments):
            return
        function, rest = call.arguments[position], call.arguments[position + 1 :]
        result = call.result
        if name in ("submit", "apply_async"):
            result = Var()
            future = SeqValue(call.node, call.module, "future", result)
            self.solver.add(call.result, [future])
        inner = Invocation(call.node, call.module, rest, result, call.scope)
        self.solver.watch(function.var, lambda found: self._forward(found, inner, call))

    def _getenv(self, call: Invocation) -> None:
        name = None
        for value in call.arguments[0].var.values:
            if isinstance(value, Const) and isinstance(value.value, str):
                name = value.value
        default = call.arguments[1].var if len(call.arguments) > 1 else None
        self.solver.add(call.result, [Env(name, default, call.node)])

    def _call_builtin(self, path: str, call: Invocation) -> bool:
        """Functions with a meaning of their own; whether ``path`` is one of them."""
        arguments = call.arguments
        first = arguments[0].var if arguments else None
        match path:
            case "builtins.super":
                pass
            case "builtins.getattr" if len(arguments) > 1:
                self._getattr(call)
            case "builtins.setattr" | "builtins.print" | "builtins.type" | "builtins.id":
                pass
            case "builtins.next" | "builtins.anext" | "builtins.min" | "builtins.max" if first is not None:
                self.solver.watch(first, lambda value: self.elements(value, call.result))
                for argument in arguments[1:]:
                    self.solver.flow(argument.var, call.result)
            case "builtins.enumerate" if first is not None:
                pair = SeqValue(call.node, call.module, "tuple", Var())
                pair.items = {0: self.fresh(Typed("int")), 1: Var()}
                self.solver.watch(first, lambda value: self.elements(value, pair.items[1]))
                self.solver.add(call.result, [SeqValue(call.node, call.module, "generator", self.fresh(pair))])
            case "builtins.zip":
                row = SeqValue(call.node, call.module, "tuple", Var())
                for position, argument in enumerate(arguments):
                    item = row.items[position] = Var()
                    self.solver.watch(argument.var, lambda value, item=item: self.elements(value, item))  # type: ignore[misc]
                self.solver.add(call.result, [SeqValue(call.node, call.module, "generator", self.fresh(row))])
            case "asyncio.gather":
                self._gather(call)
            case "builtins.map":
                self._map(call)
            case "threading.Thread":
                self._thread(call)
            case _ if path.endswith(".map"):
                self._map(call)
            case _ if path.rpartition(".")[2] in models.IDENTITY_METHODS:
                self.flow_argument(call, 0)
            case _:
                return False
        return True

    def _gather(self, call: Invocation) -> None:
        gathered = SeqValue(call.node, call.module, "list", Var())
        for position, argument in enumerate(call.arguments):
            if argument.keyword == "*":
                self.join(gathered, argument.var)
            elif argument.keyword is None:
                self.solver.flow(argument.var, gathered.element)
                gathered.items[position] = argument.var
        self.solver.add(call.result, [gathered])

    def _map(self, call: Invocation) -> None:
        if len(call.arguments) < 2:
            return
        mapped = SeqValue(call.node, call.module, "generator", Var())
        passed: list[Argument] = []
        for argument in call.arguments[1:]:
            if argument.keyword is None:
                item = Var()
                self.solver.watch(argument.var, lambda value, item=item: self.elements(value, item))  # type: ignore[misc]
                passed.append(Argument(None, item, argument.node))
        inner = Invocation(call.node, call.module, passed, mapped.element, call.scope)
        self.solver.watch(call.arguments[0].var, lambda found: self._forward(found, inner, call))
        self.solver.add(call.result, [mapped])

    def _thread(self, call: Invocation) -> None:
        target, args = call.named("target"), call.named("args")
        passed = [Argument("*", args.var, args.node)] if args is not None else []
        keywords = call.named("kwargs")
        if keywords is not None:
            passed.append(Argument("**", keywords.var, keywords.node))
        if target is not None:
            inner = Invocation(call.node, call.module, passed, Var(), call.scope)
            self.solver.watch(target.var, lambda found: self._forward(found, inner, call))
        self.solver.add(call.result, [External("threading.Thread()")])

    def _getattr(self, call: Invocation) -> None:
        owner, key = call.arguments[0], call.arguments[1]
        literal = isinstance(key.node, cst.Arg) and isinstance(key.node.value, cst.SimpleString)

        def on_key(found: Value) -> None:
            if isinstance(found, Const) and isinstance(found.value, str):
                name = found.value
                self.solver.watch(owner.var, lambda value: on_member(value, name))
            else:
                self.solver.watch(owner.var, on_any)

        def on_member(value: Value, name: str) -> None:
            if isinstance(value, External) and not literal:
                # A walk along a list of names would make all of their combinations.
                self.solver.add(call.result, [External(f"{value.path.removesuffix('.*')}.*")])
            else:
                self.member(value, name, call.node, call.result)

        def on_any(value: Value) -> None:
            if isinstance(value, (Client, Resource)):
                self.solver.add(call.result, [Unknown("an attribute chosen at run time", call.node)])

        self.solver.watch(key.var, on_key)
        for argument in call.arguments[2:]:
            self.solver.flow(argument.var, call.result)

    def _call_unknown(self, path: str, call: Invocation) -> None:
        self.solver.add(call.result, [External(path).step("()")])
        if not models.is_transparent(path):
            self._hand_out(call)
        elif path not in models.METADATA:  # retry(f) called like a function: still f
            for argument in call.arguments[:1]:
                self.solver.flow_if(argument.var, call.result, _is_callable)

    def _hand_out(self, call: Invocation) -> None:
        """Functions among the arguments may be called by whoever got them."""
        for argument in call.arguments:
            self.solver.watch(argument.var, _mark_escaped)

    def add_super(self, call: Invocation) -> None:
        """``super()`` in a method: found by where it is written, not by what flows."""
        function = call.scope
        if isinstance(function, Function) and function.owner is not None and function.positional:
            owner = function.owner
            self.solver.watch(
                function.parameters[function.positional[0]],
                lambda value: self.solver.add(call.result, [Super(owner, value)]),
            )

    def decorate(self, decorator: Var, decorated: Var, function: Function, node: cst.Decorator) -> Var:
        """What the name of ``function`` holds under ``decorator``."""
        result = Var()

        def on(found: Value) -> None:
            match found:
                case External(path=path):
                    self._external_decorator(path, function)
                    self.solver.flow(decorated, result)
                case Function() if not _passes_through(found):
                    call = Invocation(_AsCall(node).node, function.module, [Argument(None, decorated, node)], result)
                    self.enter_function(found, call, None)
                case Function() | Bound():
                    inner = found if isinstance(found, Function) else found.function
                    call = Invocation(_AsCall(node).node, function.module, [Argument(None, decorated, node)], Var())
                    self.enter_function(inner, call, found.owner if isinstance(found, Bound) else None)
                    self.solver.flow(decorated, result)
                case Unknown() | Method():
                    function.escaped = True
                    self.solver.flow(decorated, result)
                case _:
                    self.solver.flow(decorated, result)

        self.solver.watch(decorator, on)
        if not decorator.values:
            self.undecided_decorators.append((decorator, decorated, result, function))
        return result

    undecided_decorators: list[tuple[Var, Var, Var, Function]]

    def _external_decorator(self, path: str, function: Function) -> None:
        tail = path.rpartition(".")[2]
        if path in ("builtins.staticmethod", "builtins.classmethod"):
            function.bound = {"staticmethod": "static", "classmethod": "class"}[tail]
        elif tail in ("property", "cached_property", "abstractproperty", "lazy_property", "hybrid_property"):
            function.bound = "property"
        elif not models.is_transparent(path):
            function.escaped = True


class _AsCall:
    """A decorator without arguments, seen as a call: the node is only used as an identity."""

    def __init__(self, node: cst.Decorator) -> None:
        self.node = cst.Call(node.decorator)


def _is_callable(value: Value) -> bool:
    return isinstance(value, (Function, Bound, Resource, Partial))


def _mark_escaped(value: Value) -> None:
    if isinstance(value, Function):
        value.escaped = True
    elif isinstance(value, Bound):
        value.function.escaped = True


def _is_off(value: Value) -> bool:
    if isinstance(value, Const):
        return not value.value
    return isinstance(value, External) and value.path in models.OMITTED


def _passes_through(decorator: Function) -> bool:
    """Whether a project decorator returns a wrapper ``(*args, **kwargs)`` around its function.

    Such a wrapper keeps the signature and, as far as values go, the result: callers are bound to
    the function itself, so that functions under one decorator are not mixed up.
    """
    for node in syntax.walk(decorator.node.body):
        if isinstance(node, cst.FunctionDef):
            params = node.params
            if isinstance(params.star_arg, cst.Param) and params.star_kwarg is not None:
                return True
    return False


__all__ = ["Calls", "is_text"]

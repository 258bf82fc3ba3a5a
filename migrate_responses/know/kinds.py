"""The closed set of things a value can be, as far as this migration cares.

``Kind`` names what an OpenAI answer is made of; ``SHAPES`` says which attribute of which kind
gives which kind (the types of ``openai.types.chat``). The other classes are the usual values of a
program: constants, dicts, sequences, functions, classes, instances, and whatever is not known.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from .graph import Var
    from .modules import Module


class Kind(enum.Enum):
    """What a value that stems from a Chat Completions call is."""

    __hash__ = object.__hash__  # each is one object; Enum's own hash, of the name, is slow

    COMPLETION = "response"
    CHOICES = "list of choices"
    CHOICE = "choice"
    MESSAGE = "message"
    CONTENT = "text"
    REFUSAL = "refusal"
    ROLE = "role"
    FINISH = "finish reason"
    TOOL_CALLS = "list of tool calls"
    TOOL_CALL = "tool call"
    FUNCTION = "function of a tool call"
    FUNCTION_CALL = "function call"
    CUSTOM = "custom part of a tool call"
    PARSED = "parsed answer"
    USAGE = "usage"
    PROMPT_DETAILS = "prompt token details"
    COMPLETION_DETAILS = "completion token details"
    LOGPROBS = "log probabilities"
    LEAF = "plain value"  # ids, numbers, names: nothing depends on their shape
    OTHER = "field without equivalent"
    STAMP = "field of the whole answer without equivalent"  # a text: no part of any message
    STREAM = "stream"
    CHUNK = "chunk"
    CHUNK_CHOICES = "choices of a chunk"
    CHUNK_CHOICE = "choice of a chunk"
    DELTA = "delta"
    DELTA_TEXT = "text of a delta"
    DELTA_CALLS = "tool calls of a delta"
    DELTA_CALL = "tool call of a delta"
    DELTA_FUNCTION = "function of a delta's tool call"
    DELTA_ROLE = "role of a delta"
    DELTA_REFUSAL = "refusal of a delta"
    CHUNK_FINISH = "finish reason of a chunk"
    RAW = "raw response"
    MANAGER = "stream manager"  # what .stream() and with_streaming_response give before `with`
    EVENT = "helper event"  # events of client.chat.completions.stream()


# Kinds whose values have another shape after the migration: each use must be understood.
STRUCTURAL = frozenset(Kind) - {
    Kind.CONTENT,
    Kind.REFUSAL,
    Kind.ROLE,
    Kind.PARSED,
    Kind.LEAF,
    Kind.DELTA_TEXT,
    Kind.DELTA_ROLE,
    Kind.DELTA_REFUSAL,
    Kind.RAW,
    Kind.MANAGER,
}

STREAM_KINDS = frozenset(
    {
        Kind.STREAM,
        Kind.CHUNK,
        Kind.CHUNK_CHOICES,
        Kind.CHUNK_CHOICE,
        Kind.DELTA,
        Kind.DELTA_TEXT,
        Kind.DELTA_CALLS,
        Kind.DELTA_CALL,
        Kind.DELTA_FUNCTION,
        Kind.DELTA_ROLE,
        Kind.DELTA_REFUSAL,
        Kind.CHUNK_FINISH,
        Kind.MANAGER,
        Kind.EVENT,
    }
)

# (kind, attribute) -> kind. An attribute that is not here is OTHER: known to the old API or
# not, the new one has nothing to put in its place.
SHAPES: dict[tuple[Kind, str], Kind] = {
    (Kind.COMPLETION, "choices"): Kind.CHOICES,
    (Kind.COMPLETION, "usage"): Kind.USAGE,
    (Kind.COMPLETION, "id"): Kind.LEAF,
    (Kind.COMPLETION, "model"): Kind.LEAF,
    (Kind.COMPLETION, "created"): Kind.LEAF,
    (Kind.COMPLETION, "service_tier"): Kind.LEAF,
    (Kind.COMPLETION, "_request_id"): Kind.LEAF,
    (Kind.COMPLETION, "object"): Kind.STAMP,
    (Kind.COMPLETION, "system_fingerprint"): Kind.STAMP,
    (Kind.CHOICE, "message"): Kind.MESSAGE,
    (Kind.CHOICE, "finish_reason"): Kind.FINISH,
    (Kind.CHOICE, "index"): Kind.LEAF,
    (Kind.CHOICE, "logprobs"): Kind.LOGPROBS,
    (Kind.MESSAGE, "content"): Kind.CONTENT,
    (Kind.MESSAGE, "refusal"): Kind.REFUSAL,
    (Kind.MESSAGE, "role"): Kind.ROLE,
    (Kind.MESSAGE, "tool_calls"): Kind.TOOL_CALLS,
    (Kind.MESSAGE, "function_call"): Kind.FUNCTION_CALL,
    (Kind.MESSAGE, "parsed"): Kind.PARSED,
    (Kind.TOOL_CALL, "id"): Kind.LEAF,
    (Kind.TOOL_CALL, "type"): Kind.LEAF,
    (Kind.TOOL_CALL, "function"): Kind.FUNCTION,
    (Kind.TOOL_CALL, "custom"): Kind.CUSTOM,
    (Kind.FUNCTION, "name"): Kind.LEAF,
    (Kind.FUNCTION, "arguments"): Kind.LEAF,
    (Kind.FUNCTION, "parsed_arguments"): Kind.LEAF,
    (Kind.FUNCTION_CALL, "name"): Kind.LEAF,
    (Kind.FUNCTION_CALL, "arguments"): Kind.LEAF,
    (Kind.CUSTOM, "name"): Kind.LEAF,
    (Kind.CUSTOM, "input"): Kind.LEAF,
    (Kind.USAGE, "prompt_tokens"): Kind.LEAF,
    (Kind.USAGE, "completion_tokens"): Kind.LEAF,
    (Kind.USAGE, "total_tokens"): Kind.LEAF,
    (Kind.USAGE, "prompt_tokens_details"): Kind.PROMPT_DETAILS,
    (Kind.USAGE, "completion_tokens_details"): Kind.COMPLETION_DETAILS,
    (Kind.PROMPT_DETAILS, "cached_tokens"): Kind.LEAF,
    (Kind.COMPLETION_DETAILS, "reasoning_tokens"): Kind.LEAF,
    (Kind.CHUNK, "choices"): Kind.CHUNK_CHOICES,
    (Kind.CHUNK, "usage"): Kind.USAGE,
    (Kind.CHUNK, "id"): Kind.LEAF,
    (Kind.CHUNK, "model"): Kind.LEAF,
    (Kind.CHUNK, "created"): Kind.LEAF,
    (Kind.CHUNK_CHOICE, "delta"): Kind.DELTA,
    (Kind.CHUNK_CHOICE, "finish_reason"): Kind.CHUNK_FINISH,
    (Kind.CHUNK_CHOICE, "index"): Kind.LEAF,
    (Kind.CHUNK_CHOICE, "logprobs"): Kind.LOGPROBS,
    (Kind.DELTA, "content"): Kind.DELTA_TEXT,
    (Kind.DELTA, "role"): Kind.DELTA_ROLE,
    (Kind.DELTA, "refusal"): Kind.DELTA_REFUSAL,
    (Kind.DELTA, "function_call"): Kind.DELTA_FUNCTION,
    (Kind.DELTA, "tool_calls"): Kind.DELTA_CALLS,
    (Kind.DELTA_CALL, "id"): Kind.LEAF,
    (Kind.DELTA_CALL, "index"): Kind.LEAF,
    (Kind.DELTA_CALL, "type"): Kind.LEAF,
    (Kind.DELTA_CALL, "function"): Kind.DELTA_FUNCTION,
    (Kind.DELTA_FUNCTION, "name"): Kind.LEAF,
    (Kind.DELTA_FUNCTION, "arguments"): Kind.LEAF,
}

# kind -> kind of its elements.
ELEMENTS: dict[Kind, Kind] = {
    Kind.CHOICES: Kind.CHOICE,
    Kind.TOOL_CALLS: Kind.TOOL_CALL,
    Kind.STREAM: Kind.CHUNK,
    Kind.CHUNK_CHOICES: Kind.CHUNK_CHOICE,
    Kind.DELTA_CALLS: Kind.DELTA_CALL,
}

# Kinds that are a string (or None): their methods are those of strings.
TEXTS = frozenset(
    {
        Kind.CONTENT,
        Kind.REFUSAL,
        Kind.ROLE,
        Kind.FINISH,
        Kind.LEAF,
        Kind.DELTA_TEXT,
        Kind.DELTA_ROLE,
        Kind.DELTA_REFUSAL,
        Kind.CHUNK_FINISH,
    }
)

# What the tokens are counted in.
USAGES = frozenset({Kind.USAGE, Kind.PROMPT_DETAILS, Kind.COMPLETION_DETAILS})

# Methods that give the same value as a plain dict, or as JSON text.
DUMPS = frozenset({"model_dump", "to_dict", "dict"})
JSON_DUMPS = frozenset({"model_dump_json", "to_json", "json"})


class Value:
    """Anything a variable can hold. Compared by identity unless a dataclass says otherwise."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"  # trees are far too large to print


@dataclass(frozen=True, eq=False)
class Const(Value):
    """A literal: ``value`` is what it evaluates to, ``node`` where it stands. One for each place."""

    value: str | int | float | bool | bytes | None
    node: cst.CSTNode = field(repr=False)


@dataclass(frozen=True)
class Typed(Value):
    """A value of which only the (builtin) type is known; ``node`` is what makes it, where known."""

    type: str
    node: cst.CSTNode | None = field(default=None, repr=False)


@dataclass(frozen=True)
class External(Value):
    """Something from outside the project: ``json.dumps``, ``anthropic.Anthropic().messages``."""

    path: str
    realm: int = 0  # the program it was imported by: what two programs store in it are two things

    @property
    def words(self) -> str:
        """What it is called in a message: of ``json.load()[][]`` an entry of what was loaded."""
        whole, inside, _ = self.path.removeprefix("builtins.").partition("[]")
        if " " in whole:  # ``a computed value``
            return re.split(r"[.(]", whole)[0]
        return f"an entry of `{whole}`" if inside else f"`{whole}`"

    def step(self, suffix: str) -> External:
        """What is one ``.name``, ``[]`` or ``()`` further.

        Data that was taken out of something several times is just data: the path ends there, or a
        loop over a tree would give ever longer ones.
        """
        depth = sum(self.path.count(mark) for mark in ("()", "[]", ".*"))
        ended = depth > 2 or len(self.path) > _LONGEST
        return self if ended else external(f"{self.path}{suffix}", self.realm)


def external(path: str, realm: int) -> External:
    """What is imported by ``path``; what only stands for the application is that, as calls give it."""
    made = _STANDS_FOR.get(path)
    return External(path, realm) if made is None else External(made)


_STANDS_FOR = {"flask.current_app": "flask.Flask()", "quart.current_app": "quart.Quart()"}
_LONGEST = 120


@dataclass(frozen=True)
class Unknown(Value):
    """A value that comes from where the analysis cannot see; ``why`` says from where."""

    why: str
    node: cst.CSTNode | None = field(default=None, repr=False)


@dataclass(eq=False, repr=False)
class Env(Value):
    """A value read from the environment: ``os.getenv(name, default)``."""

    name: str | None
    default: Var | None
    node: cst.CSTNode


@dataclass(eq=False, repr=False)
class Client(Value):
    """An OpenAI client, made at ``node``; ``name`` is the class (or ``openai`` for the module)."""

    name: str
    node: cst.CSTNode
    module: Module
    arguments: dict[str, Var] = field(default_factory=dict)
    spelled: set[str] = field(default_factory=set)  # the arguments that are not (only) in a ** dict
    splat: bool = False  # made with **kwargs; arguments["**"] holds them
    base: Client | None = None  # with_options() of this client
    overrides: list[tuple[str, Var, cst.CSTNode]] = field(default_factory=list)  # client.base_url = ...

    @property
    def is_azure(self) -> bool:
        return "Azure" in self.name

    @property
    def is_async(self) -> bool:
        return "Async" in self.name


@dataclass(frozen=True)
class Resource(Value):
    """A part of a client on the way to a call, such as ``client.chat.completions``."""

    client: Client
    path: tuple[str, ...]
    node: cst.CSTNode = field(repr=False)
    previous: Resource | None = field(default=None, repr=False)


@dataclass(eq=False, repr=False)
class Argument:
    """One argument of a call. ``keyword`` is the name, ``*``, ``**`` or None for a positional one."""

    keyword: str | None
    var: Var
    node: cst.CSTNode  # the cst.Arg, or the element that stands for it


@dataclass(eq=False, repr=False)
class Invocation:
    """A call as the analysis sees it: through ``partial`` or ``to_thread`` it has several nodes."""

    node: cst.Call
    module: Module
    arguments: list[Argument]
    result: Var
    scope: object = None  # the enclosing function (a Function) or None at module level
    inner: cst.Call | None = None  # the call that carries the arguments of a partial

    def named(self, name: str) -> Argument | None:
        return next((item for item in self.arguments if item.keyword == name), None)

    def at(self, position: int, name: str) -> Argument | None:
        """The argument that a function takes for its parameter ``name``, which is number ``position``."""
        leading = list(takewhile(lambda item: item.keyword is None, self.arguments))
        return leading[position] if position < len(leading) else self.named(name)


@dataclass(eq=False, repr=False)
class Site(Value):
    """One place where a Chat Completions method is called."""

    node: cst.Call
    module: Module
    method: str  # create, parse or stream
    via: str  # "", "with_raw_response" or "with_streaming_response"
    invocation: Invocation
    resources: dict[Resource, None] = field(default_factory=dict)
    flags: set[object] = field(default_factory=set)  # what decides stream=, as guards know it
    partials: dict[cst.Call | None, None] = field(default_factory=dict)  # that lead here; None: without one

    @property
    def carrier(self) -> cst.Call:
        """The call that takes one more argument for all requests: that of its one ``partial``, or itself."""
        only = next(iter(self.partials)) if len(self.partials) == 1 else None
        return only or self.node

    @property
    def also_parses(self) -> bool:
        """Whether this one call is at times of ``parse``: a site of both is one of ``create``."""
        return self.method == "create" and any(resource.path[-1] == "parse" for resource in self.resources)

    @property
    def apart(self) -> cst.BaseExpression | None:
        """The dict ``d`` of ``Thread(target=create, kwargs=d)``: other keywords are not the request's."""
        for argument in self.invocation.arguments:
            if argument.keyword == "**" and isinstance(argument.node, cst.Arg) and argument.node.star != "**":
                return argument.node.value
        return None

    @property
    def clients(self) -> list[Client]:
        return list(dict.fromkeys(resource.client for resource in self.resources))

    @property
    def path(self) -> str:
        return self.module.path


@dataclass(frozen=True)
class Shape(Value):
    """A part of the answer of ``site``; ``form`` is "object", "dict" (dumped) or "json" (text)."""

    kind: Kind
    site: Site
    form: str = "object"

    def part(self, kind: Kind) -> Shape:
        return Shape(kind, self.site, self.form)


@dataclass(eq=False, repr=False)
class Place:
    """Where an entry of a dict, or an element of a sequence, is written.

    ``node`` is the DictElement, Arg, Subscript, Element or Call that writes it; ``how`` one of
    literal, keyword, store, setdefault, append, insert, extend, get, pop, delete, contains, dumped (by a
    Call that makes an object a dict, or a DictComp that takes some entries of another).
    """

    how: str
    node: cst.CSTNode
    module: Module
    var: Var | None = None


@dataclass(eq=False, repr=False)
class DictValue(Value):
    """A dict made at ``node``, with what is known of its entries."""

    node: cst.CSTNode
    module: Module
    everything: Var  # all its values
    unkeyed: Var  # those stored under keys that are not known: any entry may be one of them
    keys: Var  # its keys, other than texts
    missing: Var  # None, once something takes an entry out
    outside: Var  # what callers that are not known may have put under any key of a ``**kwargs``
    fields: dict[str, Var] = field(default_factory=dict)
    written: dict[str, Var] = field(default_factory=dict)  # the same without `unkeyed`, for some of the keys
    places: dict[str, list[Place]] = field(default_factory=dict)
    others: list[Place] = field(default_factory=list)  # entries under computed keys
    merged: list[Var] = field(default_factory=list)  # dicts that were poured into it
    poured: dict[DictValue, None] = field(default_factory=dict)  # those of them that are known
    passed: list[Var] = field(default_factory=list)  # those of `merged` that callers pass to a ``**kwargs``


@dataclass(eq=False, repr=False)
class SeqValue(Value):
    """A list, tuple, set or iterator made at ``node``."""

    node: cst.CSTNode
    module: Module
    type: str  # list, tuple, set, generator, args
    element: Var
    items: dict[int, Var] = field(default_factory=dict)  # by position, where known
    places: list[Place] = field(default_factory=list)
    derived: list[Var] = field(default_factory=list)  # sequences it was copied or joined from


@dataclass(eq=False, repr=False)
class Method(Value):
    """A bound method of a dict, sequence, string or answer: ``messages.append``."""

    owner: Value
    name: str
    node: cst.CSTNode


@dataclass(eq=False, repr=False)
class Function(Value):
    """A function or lambda of the project."""

    node: cst.FunctionDef | cst.Lambda
    module: Module
    name: str
    owner: Class | None
    result: Var
    wrapped: Var  # what its attribute `__wrapped__` holds
    returned: Var | None = None  # what it returns, before its annotation says what that is
    parameters: dict[str, Var] = field(default_factory=dict)
    positional: list[str] = field(default_factory=list)
    star: SeqValue | None = None
    double_star: DictValue | None = None
    yields: SeqValue | None = None
    callers: list[Invocation] = field(default_factory=list)
    decorators: list[Var] = field(default_factory=list)
    escaped: bool = False  # handed to code outside the project, which may call it
    bound: str = "instance"  # or class, static


@dataclass(eq=False, repr=False)
class Class(Value):
    """A class of the project."""

    node: cst.ClassDef
    module: Module
    name: str
    members: dict[str, Var] = field(default_factory=dict)
    annotations: dict[str, cst.BaseExpression] = field(default_factory=dict)
    bases: list[Var] = field(default_factory=list)
    lookups: dict[str, Var] = field(default_factory=dict)
    instance: Instance = field(init=False)

    def __post_init__(self) -> None:
        self.instance = Instance(self)


@dataclass(eq=False, repr=False)
class Instance(Value):
    """The instances of a class, as one."""

    type: Class
    fields: dict[str, Var] = field(default_factory=dict)


@dataclass(frozen=True)
class Bound(Value):
    """A function bound to its first argument."""

    function: Function
    owner: Value


@dataclass(eq=False, repr=False)
class Partial(Value):
    """``functools.partial(f, ...)`` of a project function or an OpenAI method."""

    target: Value
    arguments: list[Argument]
    node: cst.Call


@dataclass(frozen=True)
class Super(Value):
    """``super()`` inside a method of ``type``, for the instance ``owner``."""

    type: Class
    owner: Value


@dataclass(frozen=True)
class Alias(Value):
    """Another name for a type: ``Annotated[OpenAI, ...]``, a union, a ``NewType``; ``node`` is the type."""

    node: cst.BaseExpression = field(repr=False)
    module: Module = field(repr=False)
    is_new: bool = False  # calling it gives its argument


@dataclass(frozen=True)
class ModuleValue(Value):
    """A module of the project."""

    module: Module

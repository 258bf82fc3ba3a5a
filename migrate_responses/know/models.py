"""What the analysis knows about code outside the project: plain tables, by dotted path."""

from __future__ import annotations

# The client classes of the SDK, wherever they are imported from.
CLIENT_CLASSES = frozenset(
    {"OpenAI", "AsyncOpenAI", "Client", "AsyncClient", "AzureOpenAI", "AsyncAzureOpenAI"}
)

# Functions that take a client and give back one that behaves the same.
CLIENT_WRAPPERS = frozenset(
    {
        "langsmith.wrap_openai",
        "langsmith.wrappers.wrap_openai",
        "braintrust.wrap_openai",
        "braintrust.oai.wrap_openai",
        "opik.integrations.openai.track_openai",
        "literalai.instrument_openai",
        "chainlit.instrument_openai",
        "posthog.ai.openai.wrap",
        "agentops.wrap_openai",
    }
)

# Modules that export a class called OpenAI (or a module called openai) with behaviour of its own.
DROP_IN_MODULES = (
    "langfuse.openai",
    "gptcache.adapter",
    "weave.",
    "helicone",
    "portkey_ai",
    "litellm",
    "posthog.ai.openai",
    "ddtrace",
    "promptlayer",
    "parea",
    "log10",
)

INSTRUCTOR = ("instructor.",)

# Markers in a parameter's default that a framework replaces; the first argument is what makes the value.
INJECTED = ("fastapi.Depends", "fastapi.Security", "fastapi.params.Depends", "fast_depends.Depends")

# They give a type another name.
TYPE_MAKERS = frozenset(
    f"{package}.{name}"
    for package in ("typing", "typing_extensions")
    for name in ("NewType", "TypeVar", "TypeAliasType")
)

# Calls whose result is (as far as values go) their argument number N.
IDENTITY: dict[str, int] = {
    "asyncio.run": 0,
    "asyncio.wait_for": 0,
    "asyncio.shield": 0,
    "anyio.run": 0,
    "nest_asyncio.run": 0,
    "copy.copy": 0,
    "copy.deepcopy": 0,
    "typing.cast": 1,
    "typing_extensions.cast": 1,
    "weakref.proxy": 0,
    "contextlib.closing": 0,
    "contextlib.aclosing": 0,
    "builtins.iter": 0,
    "builtins.aiter": 0,
    "asgiref.sync.async_to_sync": 0,
    "asgiref.sync.sync_to_async": 0,
    "functools.lru_cache()": 0,
    "functools.cache": 0,
    "functools.wraps()": 0,
}
# Calls that give their first argument back, an object, with some fields set anew.
REPLACERS = frozenset({"dataclasses.replace", "attr.evolve", "attrs.evolve", "copy.replace"})
IDENTITY_METHODS: dict[str, int] = {"run_until_complete": 0, "add_task": 0}
# They make a task of a coroutine; the method of loops and task groups is known by its name.
TASKS = frozenset({"asyncio.create_task", "asyncio.ensure_future", "anyio.create_task"})
WAITS = frozenset({"asyncio.wait", "concurrent.futures.wait"})

# Places of a framework that hold what the project puts there until the project takes it back.
STATE = frozenset(
    {
        "streamlit.session_state",
        "chainlit.user_session",
        "flask.g",
        "flask.session",
        "threading.local()",
        "fastapi.FastAPI().state",
        "gradio.State()",
        "pytest.FixtureRequest()",
    }
)
STATE_METHODS = frozenset({"get", "set", "setdefault", "pop", "getfixturevalue"})

# New sequences with the elements of their first argument.
SEQUENCES = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "filter")
) | {
    "collections.deque",
    "itertools.chain",
    "itertools.cycle",
    "itertools.islice",
    "asyncio.as_completed",
    "concurrent.futures.as_completed",
    "tqdm.tqdm",
    "tqdm",
    "tqdm.asyncio.tqdm",
    "tqdm.asyncio.tqdm.as_completed",
    "tqdm.asyncio.tqdm_asyncio",
    "tqdm.asyncio.tqdm_asyncio.as_completed",
}
GATHER = frozenset({"asyncio.gather", "tqdm.asyncio.tqdm.gather", "tqdm.asyncio.tqdm_asyncio.gather"})
# Boxes: what is put in comes out again.
BOXES = frozenset(
    {"contextvars.ContextVar", "queue.Queue", "queue.SimpleQueue", "queue.LifoQueue", "asyncio.Queue"}
)
NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
FILTERS = frozenset({"builtins.filter"})

# (path, position of the function): the rest of the arguments are passed on to it.
RUNNERS: dict[str, int] = {
    "asyncio.to_thread": 0,
    "anyio.to_thread.run_sync": 0,
    "starlette.concurrency.run_in_threadpool": 0,
    "fastapi.concurrency.run_in_threadpool": 0,
    "trio.to_thread.run_sync": 0,
}
RUNNER_METHODS: dict[str, int] = {"run_in_executor": 1, "submit": 0, "apply_async": 0, "apply": 0}

# Methods of a pool of processes or threads: a function is run for each element of something.
POOL_METHODS = frozenset({"imap", "imap_unordered", "map_async", "starmap", "starmap_async"})

# What they are given is called by others, with more arguments.
BOUND_LATER = frozenset({"functools.partialmethod", "contextlib.ExitStack().callback"})

# Decorators (and decorator factories) that change nothing about what a function returns;
# ``path()`` is the factory called. Others that are unknown are taken the same way, but their
# function may also be called by code outside the project.
TRANSPARENT_DECORATORS = (
    "tenacity.",
    "backoff.",
    "retry.",
    "retrying.",
    "functools.",
    "cachetools.",
    "ratelimit.",
    "typing.",
    "typing_extensions.",
    "abc.",
    "contextlib.",
    "builtins.staticmethod",
    "builtins.classmethod",
    "builtins.property",
    "joblib.",
    "stamina.",
    "langsmith.traceable",
    "langfuse.",
    "weave.op",
    "streamlit.cache",
    "numba.",
    "pytest.",
    "pytest_asyncio.",
    "beartype.",
    "lru_cache",
    "st.cache",
    "cached_property",
    "override",
)

# They look at a function, for its name, without being or calling it.
METADATA = frozenset({"functools.wraps", "functools.update_wrapper"})

TEXT_FUNCTIONS = frozenset(
    {
        "builtins.str",
        "builtins.input",
        "builtins.open().read",
        "sys.stdin.read",
        "sys.stdin.readline",
        "builtins.repr",
        "builtins.ascii",
        "builtins.chr",
        "builtins.format",
        "json.dumps",
        "textwrap.dedent",
        "textwrap.indent",
        "textwrap.fill",
        "textwrap.shorten",
        "inspect.cleandoc",
        "os.path.join",
        "html.escape",
        "html.unescape",
        "re.sub",
    }
)
TYPED_FUNCTIONS: dict[str, str] = {
    "builtins.int": "int",
    "builtins.float": "float",
    "builtins.bool": "bool",
    "builtins.len": "int",
    "builtins.isinstance": "bool",
    "builtins.hasattr": "bool",
    "builtins.callable": "bool",
    "builtins.sum": "number",
    "builtins.round": "number",
    "builtins.abs": "number",
    "time.time": "float",
}
TEXT_METHODS = frozenset(
    "strip lstrip rstrip lower upper title capitalize casefold swapcase replace format format_map join"
    " removeprefix removesuffix expandtabs zfill center ljust rjust translate".split()
)

# Methods that only strings have (bytes aside): what they are called on and give back is text.
TEXT_ONLY_METHODS = frozenset(
    "strip lstrip rstrip lower upper title capitalize format removeprefix removesuffix read_text".split()
)

GETENV = frozenset({"os.getenv", "os.environ.get", "os.environ.setdefault", "decouple.config", "environ.get"})
OMITTED = frozenset(
    {"openai.NOT_GIVEN", "openai.omit", "openai.NotGiven()", "openai.Omit()", "openai._types.NOT_GIVEN"}
)


# What gives functions and objects of the program by their names, and is told apart from other data.
REFLECTION = (
    "builtins.globals()",
    "builtins.locals()",
    "builtins.vars()",
    "inspect.getmembers",
    "operator.attrgetter()()",
    "operator.methodcaller()()",
)

# The way from a client to a call, and the methods that make one.
ROOTS = frozenset({"chat", "beta"})
METHODS = frozenset({"create", "parse", "stream"})
WRAPPERS = frozenset({"with_raw_response", "with_streaming_response"})
STEPS = ROOTS | METHODS | WRAPPERS | {"completions"}
# Methods on stored completions (trap H12): they have no counterpart of the same shape.
STORED = frozenset({"list", "retrieve", "update", "delete", "messages"})


def step(path: tuple[str, ...], name: str) -> bool:
    """Whether ``name`` can follow ``path`` on the way from a client to a Chat Completions call."""
    last = path[-1] if path else ""
    match last:
        case "":
            return name in ROOTS
        case "beta":
            return name == "chat"
        case "chat":
            return name == "completions"
        case "completions":
            return name in METHODS or name in WRAPPERS or name in STORED
        case "with_raw_response" | "with_streaming_response":
            return name in METHODS
        case _:
            return False


def is_client_class(path: str) -> bool:
    """Whether ``path`` (``openai.OpenAI``, ``openai.lib.azure.AzureOpenAI``) is a client class of the SDK."""
    head, _, tail = path.rpartition(".")
    return tail in CLIENT_CLASSES and (head == "openai" or head.startswith(("openai._client", "openai.lib")))


def is_transparent(path: str) -> bool:
    """Whether a decorator at ``path`` leaves calls and results alone and calls nobody else."""
    return path.startswith(TRANSPARENT_DECORATORS)


def is_wrapped(path: str, keyword: str | None) -> bool:
    """Whether ``path`` wraps the function it gets so, rather than asks it about results and errors."""
    asks = path.rpartition(".")[2].startswith(("retry_if_", "retry_unless_", "stop_", "wait_"))
    return not asks and keyword in (None, "fn", "f", "func", "function")


# They put their second argument into the list that is the first; those of heaps give one out, too.
PUTS = frozenset(
    {
        *("bisect.insort", "bisect.insort_left", "bisect.insort_right"),
        *("heapq.heappush", "heapq.heappushpop", "heapq.heapreplace"),
    }
)

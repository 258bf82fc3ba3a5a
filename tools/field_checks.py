"""Checks of a run's outcome that share nothing with the engine: the sources are read with ``ast`` alone.

They look for what the text *spells* (``X.chat.completions.create``), not for what it means, and hold the
results against it: each such site is migrated and gone, or explained in the results, or marked with a TODO.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from field_notebooks import cell_has_todo, faults, is_notebook, view

from migrate_responses.config import Settings
from migrate_responses.results import FileResult, Results, SiteResult, Verdict
from migrate_responses.run import migrate
from migrate_responses.show.patch import patch

TODO = "# TODO(migrate-responses)"
ENDS = ("create", "parse", "stream")
WRAPPERS = ("with_raw_response", "with_streaming_response")
CHAT_ONLY = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "modalities",
        "n",
        "prediction",
        "presence_penalty",
        "reasoning_effort",
        "response_format",
        "seed",
        "stop",
        "verbosity",
        "web_search_options",
    }
)
RESPONSES_ONLY = frozenset(
    {
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "reasoning",
        "text",
        "text_format",
    }
)
ANSWER_READS = frozenset({"choices", "prompt_tokens", "completion_tokens"})
OLD_SHAPES = ({"tool_call_id"}, {"type", "function"}, {"role", "tool_calls"}, {"type", "image_url"})


@dataclass(frozen=True)
class Spelled:
    """One ``X.chat.completions.create`` (parse, stream) as the text shows it; lines are 1-based."""

    text: str
    line: int
    last_line: int
    statement: int  # the first line of the statement that holds it


@dataclass
class Findings:
    """What the checks say of one package: broken promises, and what a person should look at."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    spelled: int = 0


def check(sources: Mapping[str, bytes], results: Results, settings: Settings) -> Findings:
    """Hold the outcome of one run over ``sources`` against the promises."""
    findings = Findings()
    files = {file.path: file for file in results.files}
    for path in sorted(files.keys() - sources.keys()):
        findings.problems.append(f"{path}: a result for a file that was never given")
    for path, data in sources.items():
        file = files.get(path) or FileResult(path, data, data)
        if file.before != data:
            findings.problems.append(f"{path}: 'before' is not what was read")
        check_file(file, findings)
        check_sites(view(file), results, findings)
    check_halves(map(view, results.files), findings)
    check_foreign(sources, results, findings)
    check_again(sources, results, settings, findings)
    return findings


# What a file spells


def parse(data: bytes) -> ast.Module | None:
    """The tree of a file that compiles; None otherwise."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "<source>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def endpoint(node: ast.AST) -> tuple[str, str] | None:
    """``("chat", "create")`` for ``X.chat.completions.create``, ``("responses", ...)`` likewise."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.insert(0, node.id)
    if not parts or parts[-1] not in ENDS:
        return None
    rest = [part for part in parts[:-1] if part not in WRAPPERS]
    if rest[-2:] == ["chat", "completions"]:
        return "chat", parts[-1]
    return ("responses", parts[-1]) if rest[-1:] == ["responses"] and len(rest) > 1 else None


def spelled(data: bytes, tree: ast.Module) -> list[Spelled]:
    """Every call of, or reference to, a Chat Completions method that is written out, in source order."""
    lines = data.decode("utf-8", "replace").splitlines()
    found: list[Spelled] = []
    waiting: list[tuple[ast.AST, int]] = [(tree, 1)]
    while waiting:
        node, statement = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            statement = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        elif isinstance(node, ast.stmt) and not _is_elif(lines, node):
            statement = node.lineno
        elif isinstance(node, ast.Attribute) and (named := endpoint(node)) and named[0] == "chat":
            text = "".join(ast.unparse(node).split())
            found.append(Spelled(text, node.lineno, node.end_lineno or node.lineno, statement))
        waiting += [(child, statement) for child in ast.iter_child_nodes(node)]
    return sorted(found, key=lambda one: (one.line, one.last_line))


def _is_elif(lines: Sequence[str], node: ast.stmt) -> bool:
    """Whether ``node`` is the ``if`` inside an ``elif``, above which no comment of its own level fits."""
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    return isinstance(node, ast.If) and line[node.col_offset :].startswith("elif")


def has_todo(lines: Sequence[str], statement: int) -> bool:
    """Whether the comment lines right above line ``statement`` hold a TODO of the tool."""
    for line in reversed(lines[: statement - 1]):
        if not line.lstrip().startswith("#"):
            return False
        if line.lstrip().startswith(TODO):
            return True
    return False


# The promises


def check_sites(file: FileResult, results: Results, findings: Findings) -> None:
    """Each site the text spells is migrated and gone, or is still there and somebody is told."""
    tree, new_tree = parse(file.before), parse(file.after)
    if tree is None or new_tree is None:
        return
    before, after = spelled(file.before, tree), spelled(file.after, new_tree)
    findings.spelled += len(before)
    refused = next((error.code for error in results.errors if error.path == file.path), None)
    if refused is not None:  # all of its calls are told of at once
        if file.changed:
            findings.problems.append(f"{file.path}: refused ({refused}), and changed all the same")
        return
    sites = [site for site in results.sites if site.path == file.path]
    if not sites and not after and is_test(file.path):
        return  # doubles of calls in other files, which moved with them
    claims = _claims(before, sites)
    left = [one for one in before if (claim := claims.get(one)) is None or claim.verdict != Verdict.MIGRATED]
    if len(left) != len(after):
        findings.problems.append(
            f"{file.path}: {len(before)} sites spelled, {len(before) - len(left)} said to be migrated, "
            f"but {len(after)} still spelled (lines {[one.line for one in after]})"
        )
        return
    lines = file.after.decode("utf-8", "replace").splitlines()
    told = {(why.path, why.line) for why in (*results.notes, *(w for s in results.sites for w in s.reasons))}
    for old, new in zip(left, after, strict=True):
        where = f"{file.path}:{old.line}: {old.text}"
        claim = claims.get(old)
        span = range(min(old.statement, old.line), old.last_line + 1)
        todo = has_todo(lines, new.statement)
        if is_notebook(file.path):
            todo = cell_has_todo(lines, new.line)
        explained = any((file.path, line) in told for line in span)
        if claim is not None and claim.verdict in (Verdict.UNSAFE, Verdict.MANUAL) and not todo:
            findings.warnings.append(f"{where}: held back ({_codes(claim)}) without a TODO above it")
        goes_along = claim is not None and (claim.verdict is Verdict.SKIPPED or claim.about)
        if not (todo or explained or goes_along):
            findings.problems.append(f"{where}: silent, neither migrated nor explained")


def is_test(path: str) -> bool:
    """Whether a file is one of tests, by its name."""
    name = Path(path).stem
    return name.startswith("test_") or name.endswith("_test") or name == "conftest"


def _claims(before: Sequence[Spelled], sites: Sequence[SiteResult]) -> dict[Spelled, SiteResult]:
    """Which result speaks of which spelled site: the nearest line first, the same text before another."""
    open_sites = list(before)
    claims: dict[Spelled, SiteResult] = {}
    for site in sites:
        fitting = [one for one in open_sites if one.line <= site.line <= one.last_line]
        text = "".join(site.text.split())
        if not fitting:  # ``to_thread(client.chat.completions.create)`` is the site, lines above
            fitting = [one for one in open_sites if one.statement <= site.line <= one.last_line]
        fitting.sort(key=lambda one: one.text != text)
        if fitting:
            claims[fitting[0]] = site
            open_sites.remove(fitting[0])
    return claims


def _codes(site: SiteResult) -> str:
    return ", ".join(sorted({why.code for why in site.reasons})) or "no reason"


def check_file(file: FileResult, findings: Findings) -> None:
    """A changed file still parses, keeps its line ends, and has to do with OpenAI at all."""
    if not file.changed:
        return
    findings.problems += faults(file)
    code = view(file)
    if parse(code.after) is None and parse(code.before) is not None:
        findings.problems.append(f"{file.path}: does not compile any more")
    if file.before.startswith(b"\xef\xbb\xbf") != file.after.startswith(b"\xef\xbb\xbf"):
        findings.problems.append(f"{file.path}: the byte order mark came or went")
    if file.before.endswith(b"\n") != file.after.endswith(b"\n"):
        findings.problems.append(f"{file.path}: the newline at the end came or went")
    bare = file.before.count(b"\n") - file.before.count(b"\r\n")
    if b"\r\n" in file.before and not bare and file.after.count(b"\n") != file.after.count(b"\r\n"):
        findings.problems.append(f"{file.path}: mixed line ends")
    if b"openai" not in file.before.lower():
        findings.warnings.append(f"{file.path}: edited though it never names openai")


def check_again(
    sources: Mapping[str, bytes], results: Results, settings: Settings, findings: Findings
) -> None:
    """A second run over the outcome has nothing left to do."""
    after = {**sources, **{file.path: file.after for file in results.files}}
    for file in migrate(after, settings).changed:
        delta = b"".join(itertools.islice(patch(file.path, file.before, file.after), 2, 14))
        shown = delta.decode("utf-8", "replace").replace("\n", "\n      ")
        findings.problems.append(f"{file.path}: a second run changes it\n      {shown.rstrip()}")


def check_foreign(sources: Mapping[str, bytes], results: Results, findings: Findings) -> None:
    """Code changes only where a migrated flow says so; elsewhere at most comments of the tool come."""
    migrated = [flow for flow in results.flows if flow.verdict is Verdict.MIGRATED]
    touched = {place.path for flow in migrated for place in flow.places}
    for file in map(view, results.changed):
        before, after = parse(file.before), parse(file.after)
        same = before is not None and after is not None and ast.dump(before) == ast.dump(after)
        if not same and file.path not in touched:
            findings.problems.append(f"{file.path}: changed by no flow")
        if b"chat" not in file.before and not same and b"openai" not in file.before.lower():
            findings.problems.append(f"{file.path}: code changed though it names neither chat nor OpenAI")
    for error in results.errors:
        if error.code == "MR910":
            findings.problems.append(f"{error.path}: {error.message}")
        elif (tree := parse(sources[error.path])) is not None and spelled(sources[error.path], tree):
            findings.warnings.append(f"{error.path}: {error.code} {error.message}")


# Half-migrated code, by heuristics


def check_halves(files: Iterable[FileResult], findings: Findings) -> None:
    """Old names beside new calls in one flow: keywords, reads of the answer, shapes of messages and tools."""
    trees = [(file, tree) for file in files if file.changed and (tree := parse(file.after))]
    makers = {
        function.name
        for _, tree in trees
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and _returns_response(function)
    }
    for file, tree in trees:
        for line, what in itertools.chain(_keywords(tree), _reads(tree, makers), _shapes(tree, file.after)):
            findings.warnings.append(f"{file.path} (after):{line}: {what}")


def _new_call(node: ast.AST | None) -> ast.Call | None:
    """The ``responses.create(...)`` that an expression is, behind ``await`` or not."""
    if isinstance(node, ast.Await):
        node = node.value
    named = endpoint(node.func) if isinstance(node, ast.Call) else None
    return node if isinstance(node, ast.Call) and named and named[0] == "responses" else None


def _scope(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of one function or module, without those of the functions inside it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _scope(child)


def _bound(function: ast.AST, makers: AbstractSet[str] = frozenset()) -> dict[str, int]:
    """Names that hold a Response, or the event of a stream of them, and since which line."""
    names: dict[str, int] = {}
    pairs: list[tuple[ast.AST, ast.AST | None]] = []
    for node in _scope(function):
        if isinstance(node, ast.Assign):
            pairs += [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            pairs.append((node.target, node.value))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            pairs.append((node.optional_vars, node.context_expr))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            pairs.append((node.target, node.iter))
    for _ in range(2):  # a loop over a stream bound to a name needs the name first
        for target, value in pairs:
            inner = value.value if isinstance(value, ast.Await) else value
            called = inner.func if isinstance(inner, ast.Call) else None
            holds = (
                _new_call(value) is not None
                or (isinstance(inner, ast.Name) and inner.id in names)
                or (isinstance(called, ast.Name) and called.id in makers)
                or (isinstance(called, ast.Attribute) and called.attr in makers and endpoint(called) is None)
            )
            if isinstance(target, ast.Name) and holds:
                names.setdefault(target.id, target.lineno)
    return names


def _returns_response(function: ast.AST) -> bool:
    names = _bound(function)
    return any(
        isinstance(node, ast.Return)
        and (_new_call(node.value) or (isinstance(node.value, ast.Name) and node.value.id in names))
        for node in _scope(function)
    )


def _keywords(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        named = endpoint(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and named:
            wrong = CHAT_ONLY if named[0] == "responses" else RESPONSES_ONLY
            names = sorted(keyword.arg for keyword in node.keywords if keyword.arg in wrong and keyword.arg)
            if names:
                yield node.lineno, f"{named[0]} call with {', '.join(names)}"


def _reads(tree: ast.Module, makers: AbstractSet[str]) -> Iterator[tuple[int, str]]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
    for function in (node for node in ast.walk(tree) if isinstance(node, functions)):
        names = _bound(function, makers)
        for node in _scope(function) if names else ():
            if isinstance(node, ast.Attribute) and node.attr in ANSWER_READS:
                base: ast.AST = node.value
                while isinstance(base, (ast.Attribute, ast.Subscript)):
                    base = base.value
                if isinstance(base, ast.Name) and names.get(base.id, node.lineno + 1) <= node.lineno:
                    yield node.lineno, f"{ast.unparse(node)} on an answer of the new API"


def _shapes(tree: ast.Module, after: bytes) -> Iterator[tuple[int, str]]:
    if b"chat.completions" in after or not any(_new_call(node) for node in ast.walk(tree)):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
            for old in OLD_SHAPES:
                if old <= keys and not ("image_url" in old and b"input_image" in after):
                    yield node.lineno, f"an old shape with {' and '.join(sorted(map(repr, old)))} is left"

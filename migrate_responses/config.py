"""The settings of a run: frozen, made from ``[tool.migrate-responses]`` and the command line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from migrate_responses.find.roots import project_root

TABLE = "tool.migrate-responses"
_LARGEST = 1_000_000  # bytes of a configuration
API_DEFAULTS = ("preserve", "adopt")


class ConfigError(Exception):
    """A configuration that cannot be used; the text names the file, the fault and the remedy."""


@dataclass(frozen=True)
class Settings:
    """What the user chose. The defaults are those of the command line."""

    unsafe_fixes: bool = False
    api_defaults: str = "preserve"  # or "adopt"
    assume_responses: frozenset[str] = frozenset()  # URLs or hosts, "azure", "dynamic"
    assume_clients: frozenset[str] = frozenset()  # names of parameters or attributes
    select: frozenset[str] = frozenset()  # rule codes or prefixes; empty: all
    ignore: frozenset[str] = frozenset()
    file_ignores: tuple[tuple[str, frozenset[str]], ...] = ()  # more of them, for single files
    raise_on_failure: bool = False
    packaged: bool = False  # the project is distributed: uncalled public functions are a contract


@dataclass(frozen=True)
class Options:
    """The settings of the engine, and what only the command line needs.

    Patterns are relative to the project, in the syntax of ``.gitignore``; as they were written they are
    relative to the file, or to the working directory.
    """

    settings: Settings = Settings()
    exclude: tuple[str, ...] = ()
    include_docs: bool = False  # look for code blocks in texts too
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...] = ()
    file: str | None = None  # where the configuration stands, if there is one
    written: Mapping[str, object] = field(default_factory=dict)  # the keys of that file, as they stand
    given: Mapping[str, object] = field(default_factory=dict)  # the keys that the command line names


def read_toml(path: str) -> dict[str, Any]:
    """The tables of a TOML file. Raises ``ConfigError`` if it cannot be read."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        if not os.path.isfile(path) and os.path.exists(path):
            raise ConfigError(f"{path} is no file")
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ConfigError(f"{path} is too large for a configuration")
        return tomllib.loads(data.decode())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or nested without end
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def load(path: str) -> Options:
    """The options written in the TOML file ``path``; the defaults if it has no table for this tool.

    Any other file than ``pyproject.toml`` may leave out the ``tool.migrate-responses`` level.
    """
    tables = read_toml(path)
    tool = tables.get("tool", {})
    if not isinstance(tool, dict):
        raise ConfigError(f"{path}: `tool` must be a table")
    table = tool.get("migrate-responses")
    if table is None:
        table = {} if path.endswith("pyproject.toml") else {k: v for k, v in tables.items() if k != "tool"}
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: `{TABLE}` must be a table")
    return _options(table, path)


def _options(table: Mapping[str, object], path: str) -> Options:
    values: dict[str, Any] = {}
    for key, value in table.items():
        convert = KEYS.get(key)
        if convert is None:
            raise ConfigError(f"{path}: unknown key {key!r} in [{TABLE}]{_suggestion(key, KEYS)}")
        try:
            values[key.replace("-", "_")] = convert(value)
        except ValueError as error:
            raise ConfigError(f"{path}: {key} in [{TABLE}] {error}") from error
    prefix = _below_root(os.path.dirname(os.path.abspath(path)))
    patterns = values.pop("per_file_ignores", {})
    return Options(
        exclude=tuple(_anchored(pattern, prefix) for pattern in values.pop("exclude", ())),
        include_docs=values.pop("include_docs", False),
        per_file_ignores=tuple((_anchored(glob, prefix), codes) for glob, codes in patterns.items()),
        settings=Settings(**values),
        file=path,
        written=dict(table),
    )


def _below_root(directory: str) -> str:
    """``directory`` as seen from the root of its project, with slashes; empty for the root itself."""
    root = project_root(directory)
    name = os.path.relpath(directory, root).replace(os.sep, "/") if root is not None else "."
    return "" if name == "." else name


def _anchored(pattern: str, prefix: str) -> str:
    """``pattern``, which is relative to the folder ``prefix``, relative to the project."""
    if not prefix:
        return pattern
    body = pattern.removeprefix("!")
    negation = pattern[: len(pattern) - len(body)]
    folder = re.sub(r"([\\*?\[])", r"\\\1", prefix)
    if "/" in body.rstrip("/"):
        return f"{negation}/{folder}/{body.lstrip('/')}"
    return f"{negation}/{folder}/**/{body}"


def merge(options: Options, exclude: tuple[str, ...], include_docs: bool = False, **given: object) -> Options:
    """``options`` overridden by what the command line gave; what is None or empty was not given.

    ``exclude`` and what is assumed add up; the rest replaces.
    """
    settings = options.settings
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value}
    named = {**chosen, "exclude": list(exclude), "include_docs": include_docs}
    for name in ("assume_responses", "assume_clients"):
        if name in chosen:
            chosen[name] = frozenset(chosen[name]) | getattr(settings, name)
    here = _below_root(os.getcwd())
    return replace(
        options,
        settings=replace(settings, **chosen),
        exclude=(*options.exclude, *(_anchored(pattern, here) for pattern in exclude)),
        include_docs=options.include_docs or include_docs,
        given={name.replace("_", "-"): value for name, value in named.items() if value},
    )


def codes(values: object) -> frozenset[str]:
    """Rule codes, or beginnings of codes, upper-cased. Raises ``ValueError`` for one that fits no rule."""
    from migrate_responses.rules import RULES

    chosen = frozenset(value.upper() for value in _strings(values))
    known = [rule.code for rule in RULES]
    for code in sorted(chosen):
        if not code or not any(name.startswith(code) for name in known):
            raise ValueError(
                f"names {code!r}, which no rule begins with; `migrate-responses explain` lists them"
            )
    return chosen


def _suggestion(word: str, known: Mapping[str, object] | list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f" (known: {', '.join(known)})" if len(known) < 20 else ""


def _strings(value: object) -> frozenset[str]:
    if not isinstance(value, (list, tuple, frozenset)) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of strings")
    return frozenset(value)


def _patterns(value: object) -> list[str]:
    """Patterns in the order in which they stand: a later one can take back an earlier one."""
    known = _strings(value)
    for pattern in known:
        _understood(pattern)
    return [pattern for pattern in value if pattern in known] if isinstance(value, (list, tuple)) else []


def _understood(pattern: str) -> None:
    """Raise ``ValueError`` for what is no pattern."""
    try:
        matching((), [pattern])
    except ValueError:
        raise ValueError(f"has {pattern!r}, which is no pattern of .gitignore") from None


def _codes_by_pattern(value: object) -> dict[str, frozenset[str]]:
    if not isinstance(value, dict):
        raise ValueError("must be a table from patterns to lists of codes")
    found: dict[str, frozenset[str]] = {}
    for pattern, listed in value.items():
        _understood(pattern)
        try:
            found[pattern] = codes(listed)
        except ValueError as error:
            raise ValueError(f"at {pattern!r} {error}") from error
    return found


def matching(names: Iterable[str], patterns: Iterable[str]) -> set[str]:
    """Those of ``names`` that the patterns match, in the syntax of ``.gitignore``."""
    listed = list(patterns)
    if not listed:
        return set()
    from pathspec import GitIgnoreSpec

    return set(GitIgnoreSpec.from_lines(listed).match_files(names))


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _api_defaults(value: object) -> str:
    if value not in API_DEFAULTS:
        raise ValueError(f"must be one of {', '.join(API_DEFAULTS)}, not {value!r}")
    return str(value)


KEYS: dict[str, Callable[[object], object]] = {
    "unsafe-fixes": _flag,
    "api-defaults": _api_defaults,
    "assume-responses": _strings,
    "assume-clients": _strings,
    "select": codes,
    "ignore": codes,
    "raise-on-failure": _flag,
    "include-docs": _flag,
    "exclude": _patterns,
    "per-file-ignores": _codes_by_pattern,
}

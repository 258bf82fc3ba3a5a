"""The text of ``config``: what holds for a path, and where each value comes from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from migrate_responses.config import KEYS, Options, matching
from migrate_responses.find.roots import git_root, is_packaged, project_root
from migrate_responses.results import Level
from migrate_responses.secrets import masked
from migrate_responses.show.screen import Screen

_ADDED = ("assume-responses", "assume-clients", "exclude")  # the command line adds to these


def choices(screen: Screen, path: str, options: Options) -> None:
    """The options for ``path``, one a line: key, value, origin."""
    absolute = os.path.abspath(path)
    root = project_root(absolute)
    for label, text in _setting(absolute, root, options):
        screen.line((f"{label:15}", "bold"), text, hang=15)
    screen.line()
    rows = [(key, masked(_toml(value)), origin) for key, value, origin in _values(options)]
    widest = min(max(len(text) for _, text, _ in rows), 34)
    for key, text, origin in rows:
        style = "dim" if origin == "default" else "green"
        screen.line((f"{key:18}", "bold"), f"{text:{widest}}  ", (origin, style), hang=18)
    if root is not None and not os.path.isdir(absolute):
        screen.line()
        name = os.path.relpath(os.path.realpath(absolute), os.path.realpath(root)).replace(os.sep, "/")
        for text in _about_file(name, options):
            screen.line((f"{path}: ", "bold"), text, hang=4)


def _setting(path: str, root: str | None, options: Options) -> Iterator[tuple[str, str]]:
    found = "none found"
    if options.file:
        table = _table(options.file)
        found = f"{_near(options.file)} {table}".rstrip()
        if table and not options.written:
            found = f"none: {_near(options.file)} sets nothing in {table}"
    yield "configuration", found
    if root is None:
        yield "project", "none: there is no git work tree and no pyproject.toml around it"
        return
    kind = "git work tree" if git_root(root) == root else "folder of pyproject.toml"
    yield "project", f"{_near(root)} ({kind})"
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    if options.settings.packaged or is_packaged(folder):
        yield "callers", "packaged for others: anybody may call its public functions"
    else:
        yield "callers", "an application: what nobody in the project calls, nobody calls"


def _values(options: Options) -> Iterator[tuple[str, object, str]]:
    """Each key with its value and the place that gives it."""
    for key in KEYS:
        written, given = options.written.get(key), options.given.get(key)
        if given is None:
            yield key, written if written is not None else _default(key), _origin(options, key)
        elif written is not None and key in _ADDED:
            yield key, [*_listed(written), *_listed(given)], f"{_origin(options, key)}, command line"
        else:
            yield key, given, "command line"


def _origin(options: Options, key: str) -> str:
    if options.file is None or key not in options.written:
        return "default"
    table = _table(options.file) if key != "per-file-ignores" else "[tool.migrate-responses.per-file-ignores]"
    return f"{_near(options.file)} {table}"


def _default(key: str) -> object:
    if key == "per-file-ignores":
        return {}
    name = key.replace("-", "_")
    empty = Options()
    return getattr(empty.settings, name) if hasattr(empty.settings, name) else getattr(empty, name)


def _about_file(name: str, options: Options) -> Iterator[str]:
    by = [pattern for pattern in options.exclude if matching([name], [pattern])]
    if matching([name], options.exclude):
        yield f"read, never written (exclude {by[-1]!r})"
    for pattern, codes in options.per_file_ignores:
        if matching([name], [pattern]):
            by_this = f"(per-file-ignores {pattern!r})"
            notes = {code for code in codes if _is_note(code)}
            if codes - notes:
                yield f"calls that need {', '.join(sorted(codes - notes))} are left out {by_this}"
            if notes:
                yield f"{', '.join(sorted(notes))} {'is' if len(notes) == 1 else 'are'} not told {by_this}"


def _is_note(code: str) -> bool:
    from migrate_responses.rules import RULES

    levels = {rule.level for rule in RULES if rule.code.startswith(code)}
    return levels == {Level.NOTE}


def _table(file: str) -> str:
    return "[tool.migrate-responses]" if os.path.basename(file) == "pyproject.toml" else ""


def _near(path: str) -> str:
    """``path`` as seen from here, if it is near."""
    near = os.path.relpath(path)
    return path if near.startswith(os.path.join("..", "..")) else near


def _listed(value: object) -> list[object]:
    return (
        sorted(value)
        if isinstance(value, frozenset)
        else list(value)
        if isinstance(value, (list, tuple))
        else []
    )


def _toml(value: object) -> str:
    """``value`` as it is written in TOML; strings and lists are spelled as in JSON."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, frozenset)):
        return json.dumps(_listed(value))
    return json.dumps(value)

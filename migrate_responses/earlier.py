"""The report to compare with: read from a file, or made of the code as it was at a git revision."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from migrate_responses.config import Options
from migrate_responses.documents.names import NOTEBOOKS, TEXTS
from migrate_responses.find.listing import run_git
from migrate_responses.find.project import find
from migrate_responses.find.roots import git_root
from migrate_responses.session import Migrate, Run, migrate_project, outcome, sources
from migrate_responses.show.document import JSON_VERSION, document
from migrate_responses.show.formats import Report
from migrate_responses.show.since import Since, SinceError, compare

_CODE = (".py", ".pyw", *NOTEBOOKS, *TEXTS)
_ABOUT = ("pyproject.toml", "setup.cfg", ".gitignore", "pyvenv.cfg")  # where projects and environments begin
_PLAIN = ("100644", "100755")  # neither links nor submodules


def since(given: str, report: Report, paths: Sequence[str], engine: Migrate) -> Since:
    """What changed between ``given``, a JSON report or a git revision, and ``report``, which is on ``paths``.

    Raises :class:`SinceError` if ``given`` is neither.
    """
    if os.path.isfile(given):
        earlier = _read(given)
    else:
        earlier = document(_at_revision(given, report.options, paths, engine))
    return compare(given, earlier, document(report))


def _read(path: str) -> Mapping[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except OSError as error:
        raise SinceError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise SinceError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("version") != JSON_VERSION:
        raise SinceError(f"{path} is not a JSON report of version {JSON_VERSION}")
    return found


def _at_revision(revision: str, options: Options, paths: Sequence[str], engine: Migrate) -> Report:
    """The report on ``paths`` as they were. The work tree is not touched."""
    named = [os.path.realpath(path) for path in paths]
    roots = {git_root(path if os.path.isdir(path) else os.path.dirname(path)) for path in named}
    root = roots.pop() if len(roots) == 1 else None
    if root is None:
        raise SinceError(f"{revision} is not a file, and the paths are not in one git work tree")
    commit = run_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise SinceError(f"{revision} is neither a file nor a git revision of {root}")
    with tempfile.TemporaryDirectory(prefix="migrate-responses-") as folder:
        top = os.path.realpath(folder)
        _restore(root, commit.decode().strip(), top)
        then = [os.path.join(top, os.path.relpath(path, root)) for path in named]
        there = [path for path in then if os.path.lexists(path)]
        projects = find(there, options.exclude, include_docs=options.include_docs)
    runs: list[Run] = []
    for project in projects:
        here = os.path.normpath(os.path.join(root, os.path.relpath(project.root, top)))
        moved = replace(project, root=here)  # so that its files are called as they are today
        runs.append(migrate_project(moved, options, engine, moved.writable))
    date = run_git(root, "show", "--no-patch", "--format=%cs", commit.decode().strip()) or b""
    return Report(outcome(runs), options, sources(runs), date.decode().strip() or None)


def _restore(root: str, commit: str, folder: str) -> None:
    """Write the files of ``commit`` that a run looks at to ``folder``, as a git work tree with that index."""
    listed = run_git(root, "ls-tree", "-r", "-z", "--full-tree", commit) or b""
    entries = [entry for entry in listed.split(b"\0") if _is_wanted(entry)]
    objects = [entry.split(b"\t", 1)[0].split(b" ")[2] for entry in entries]
    form = (run_git(root, "rev-parse", "--show-object-format") or b"sha1").decode().strip()
    run_git(folder, "init", "--quiet", "--template=", f"--object-format={form}")
    run_git(folder, "update-index", "-z", "--index-info", stdin=b"".join(entry + b"\0" for entry in entries))
    contents = run_git(root, "cat-file", "--batch", stdin=b"".join(one + b"\n" for one in objects))
    blobs = list(_blobs(contents or b""))
    if len(blobs) != len(entries):
        raise SinceError(f"git does not have all files of {commit}")
    for entry, data in zip(entries, blobs, strict=True):
        path = os.path.join(os.fsencode(folder), entry.split(b"\t", 1)[1])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)


def _is_wanted(entry: bytes) -> bool:
    """Whether a line of ``git ls-tree`` is a plain file that a run may read, and its name stays inside."""
    about, _, name = entry.partition(b"\t")
    parts = os.fsdecode(name).split("/")
    return (
        about.decode().split(" ")[0] in _PLAIN
        and (parts[-1].lower().endswith(_CODE) or parts[-1] in _ABOUT)
        and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
    )


def _blobs(contents: bytes) -> Iterator[bytes]:
    """The objects in the answer of ``git cat-file --batch``: a line with the size, the bytes, a line feed.

    One that git does not have (a clone can be partial) is a line without a size, and left out.
    """
    at = 0
    while at < len(contents):
        end = contents.index(b"\n", at)
        about = contents[at:end].split(b" ")
        at = end + 1
        if len(about) == 3:
            size = int(about[2])
            yield contents[at : at + size]
            at += size + 1

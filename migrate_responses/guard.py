"""What git could give back: ``apply`` overwrites nothing else without being told to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from migrate_responses.find.listing import GitError, ask_git
from migrate_responses.find.project import Project
from migrate_responses.find.roots import git_root
from migrate_responses.results import Diagnostic, FileResult, Level

_UNKNOWN = ("is not in git, which could not give it back", "add it to git, or use --allow-dirty")
_EDITED = (
    "has unstaged changes, which the migration would be mixed with",
    "commit or stage these changes, or use --allow-dirty",
)
_FILTERED = (
    "differs from what git has, as it goes through a filter of this repository's own, which is not run",
    "commit it and use --allow-dirty",
)
_UNWATCHED = (
    "is kept from git's eyes (assume-unchanged or skip-worktree), which may not have what is in it",
    "git update-index --no-assume-unchanged --no-skip-worktree, or use --allow-dirty",
)


def unstaged(project: Project, files: Iterable[FileResult]) -> tuple[Diagnostic, ...]:
    """A diagnostic for each of ``files`` that git could not give back as it is: changed, or not in git.

    In a git work tree where git cannot be asked these are all. Outside of one there are none.
    """
    names = [file.path for file in files]
    top = repository(project.root)
    if top is None or not names:
        return ()
    prefix = os.path.relpath(project.root, top).replace(os.sep, "/")
    prefix = "" if prefix == "." else prefix + "/"
    try:
        reasons = _reasons(top, [prefix + name for name in names])
    except GitError as error:
        step = "see to that (`git status` tells more), or use --allow-dirty"
        reasons = [
            (f"may have changes that git does not hold, and that cannot be told: {error}", step)
        ] * len(names)
    return tuple(
        Diagnostic("MR906", name, 0, 0, Level.MANUAL, *reason)
        for name, reason in zip(names, reasons, strict=True)
        if reason is not None
    )


def repository(directory: str) -> str | None:
    """The top of the git work tree around ``directory``; None if its ``.git`` is just a folder."""
    top = git_root(directory)
    if top is None:
        return None
    place = os.path.join(top, ".git")
    return None if os.path.isdir(place) and not os.path.exists(os.path.join(place, "HEAD")) else top


def _reasons(top: str, names: Sequence[str]) -> list[tuple[str, str] | None]:
    """Why git could not give back each of ``names``, with a next step; None where it could."""
    tags = {entry[2:]: entry[:1] for entry in _strings(ask_git(top, "ls-files", "-z", "-v"))}
    names_only = ("--name-only", "-z", "--no-ext-diff", "--no-renames", "--ignore-submodules=all")
    filters = _filters(top)
    off = [part for name in filters for part in ("-c", f"{name}={'false' if name.endswith('d') else ''}")]
    edited = frozenset(_strings(ask_git(top, *off, "diff", *names_only)))
    filtered = _filtered(top, edited.intersection(names), filters) if filters else frozenset()

    def reason(name: str) -> tuple[str, str] | None:
        if name not in tags:
            return _UNKNOWN
        if name in edited:
            return _FILTERED if name in filtered else _EDITED
        return _UNWATCHED if tags[name].islower() or tags[name] == "S" else None

    return [reason(name) for name in names]


def _filters(top: str) -> list[str]:
    """The settings that make programs of the repository's own choice see each file, which must not run."""
    pattern = r"^filter\..*\.(clean|process|required)$"
    try:
        found = _strings(ask_git(top, "config", "-z", "--show-scope", "--name-only", "--get-regexp", pattern))
    except GitError:
        return []  # there are none
    own = [
        name for scope, name in zip(found[::2], found[1::2], strict=True) if scope in ("local", "worktree")
    ]
    if any("=" in name for name in own):
        raise GitError("the name of a filter in its configuration has a sign in it that git does not take")
    return own


def _filtered(top: str, names: Iterable[str], filters: Iterable[str]) -> frozenset[str]:
    """Those of ``names`` that go through one of ``filters``."""
    asked = b"".join(os.fsencode(name) + b"\0" for name in names)
    told = _strings(ask_git(top, "check-attr", "-z", "--stdin", "filter", stdin=asked))
    off = {name.removeprefix("filter.").rpartition(".")[0] for name in filters}
    return frozenset(name for name, value in zip(told[::3], told[2::3], strict=True) if value in off)


def _strings(listed: bytes) -> list[str]:
    return [os.fsdecode(entry) for entry in listed.split(b"\0")[:-1]]

"""Fixtures: a piece of code before and after, what is said about it, and perhaps a script to run it by.

``fixtures/<concern>/<case>/`` holds ``before.py`` and ``after.py`` (for a document ``before.ipynb``,
``before.md`` ...), or folders ``before/`` and ``after/`` (only the files that change need to be in
``after/``). Without an ``after`` nothing may change. ``adopt.py`` or ``adopt/``: the same with
``--api-defaults adopt``. ``files/``: data that a program finds beside itself.
``script.json``: the ``turns`` of the assistant (see ``script``), and perhaps ``argv``, ``stdin``, ``env``
(where ``{server}`` stands for the server's address), ``compatible`` (see ``server.serve``). ``notes.toml``:

    args = ["--unsafe-fixes"]        # options of the run
    verdicts = ["migrated"]          # one for each site, in source order
    codes = ["MR112"]                # diagnostic codes of the sites that are held back, sorted
    why = "what this case shows"
    packaged = true                  # the project is distributed to others
    gives_up = ["seed"]              # parts of a request (or stdout) that the options let go
    exit = 1                         # the program's exit code, if not 0
    breaks = [["4", "5"]]            # for ``test_suites``: changes to the tests that must make them fail
    runs = false                     # for ``test_suites``: the tests need what is not installed
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from migrate_responses.config import Settings
from migrate_responses.results import Level, Results, Verdict

from . import documents
from .harness import read_sources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHON = (".py", ".pyi", *documents.SUFFIXES)
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
NOTE_KEYS = frozenset({"args", "verdicts", "codes", "why", "packaged", "gives_up", "exit", "breaks", "runs"})


@dataclass(frozen=True)
class Fixture:
    """One folder under ``fixtures/``."""

    path: Path

    @property
    def name(self) -> str:
        """``concern/case``."""
        return f"{self.path.parent.name}/{self.path.name}"

    @cached_property
    def notes(self) -> Mapping[str, Any]:
        """What ``notes.toml`` says."""
        notes = tomllib.loads((self.path / "notes.toml").read_text(encoding="utf-8"))
        unknown = notes.keys() - NOTE_KEYS
        if unknown:
            raise ValueError(f"{self.name}: unknown notes {sorted(unknown)}")
        return notes

    @cached_property
    def script(self) -> Mapping[str, Any] | None:
        """What ``script.json`` says; ``None`` if the fixture is no program."""
        path = self.path / "script.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    @property
    def settings(self) -> Settings:
        """The options of the run."""
        return replace(settings(self.notes.get("args", ())), packaged=self.notes.get("packaged", False))

    @property
    def gives_up(self) -> Sequence[str]:
        """Parts of a request that the options let go."""
        return self.notes.get("gives_up", ())

    @property
    def extra(self) -> Path | None:
        """The folder of data files, if there is one."""
        folder = self.path / "files"
        return folder if folder.is_dir() else None

    @property
    def is_folder(self) -> bool:
        """Whether the code is more than one file."""
        return (self.path / "before").is_dir()

    @cached_property
    def before(self) -> dict[str, bytes]:
        """The files before."""
        return read_sources(self._part("before"))

    @cached_property
    def after(self) -> dict[str, bytes]:
        """The files after."""
        return self._changed("after")

    @cached_property
    def adopt(self) -> dict[str, bytes] | None:
        """The files after a run with ``--api-defaults adopt``; ``None`` if the fixture has no say on that."""
        return self._changed("adopt") if self._part("adopt").exists() else None

    @property
    def changes(self) -> bool:
        """Whether a program comes out that differs by more than comments."""
        return any(
            data != self.before.get(name) and _tree(name, data) != _tree(name, self.before.get(name, b""))
            for name, data in self.after.items()
        )

    @property
    def suffix(self) -> str:
        """That of the one file, ``.py`` unless it is a document."""
        return next((end for end in documents.SUFFIXES if (self.path / f"before{end}").exists()), ".py")

    def _part(self, what: str) -> Path:
        return self.path / (what if self.is_folder else f"{what}{self.suffix}")

    def _changed(self, what: str) -> dict[str, bytes]:
        path = self._part(what)
        return {**self.before, **(read_sources(path) if path.exists() else {})}

    def bless(self, after: Mapping[str, bytes]) -> None:
        """Take ``after`` for what the fixture expects from now on."""
        changed = {name: data for name, data in after.items() if data != self.before.get(name)}
        if not self.is_folder:
            target = self._part("after")
            target.unlink(missing_ok=True)
            if changed:
                target.write_bytes(changed[f"main{self.suffix}"])
            return
        for path in sorted((self.path / "after").rglob("*")):
            if path.suffix in PYTHON:
                path.unlink()
        for name, data in changed.items():
            target = self.path / "after" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _tree(name: str, data: bytes) -> str:
    """What Python sees of a file, which is all that comments do not touch; the bytes if it sees none."""
    if name.endswith(documents.SUFFIXES):
        return documents.tree(name, data)
    try:
        return ast.dump(ast.parse(data))
    except (SyntaxError, ValueError):
        return repr(data)


def fixtures() -> list[Fixture]:
    """All fixtures, in order of their names."""
    return [Fixture(path.parent) for path in sorted(FIXTURES.glob("*/*/notes.toml"))]


def python_only(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that are Python, or hold some."""
    return {name: data for name, data in sources.items() if name.endswith(PYTHON)}


def outcome(before: Mapping[str, bytes], results: Results) -> dict[str, bytes]:
    """The files as a run leaves them."""
    return {**before, **{file.path: file.after for file in results.files}}


def verdicts(results: Results) -> list[str]:
    """The verdict of each site, in source order."""
    return [site.verdict.value for site in sorted(results.sites, key=lambda s: (s.path, s.line, s.column))]


def codes(results: Results) -> list[str]:
    """The codes of the reasons that keep sites from being migrated."""
    return sorted(
        {
            reason.code
            for site in results.sites
            if site.verdict is not Verdict.MIGRATED
            for reason in site.reasons
            if reason.level is not Level.SAFE
        }
    )


def settings(args: Sequence[str]) -> Settings:
    """Settings from the options that a fixture may name."""
    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--unsafe-fixes", action="store_true")
    parser.add_argument("--raise-on-failure", action="store_true")
    parser.add_argument("--api-defaults", choices=["preserve", "adopt"], default="preserve")
    parser.add_argument("--assume-responses", action="append", default=[])
    parser.add_argument("--assume-client", action="append", default=[])
    parser.add_argument("--select", default="")
    parser.add_argument("--ignore", default="")
    parsed = parser.parse_args(list(args))
    return Settings(
        unsafe_fixes=parsed.unsafe_fixes,
        raise_on_failure=parsed.raise_on_failure,
        api_defaults=parsed.api_defaults,
        assume_responses=frozenset(parsed.assume_responses),
        assume_clients=frozenset(parsed.assume_client),
        select=_codes(parsed.select),
        ignore=_codes(parsed.ignore),
    )


def _codes(text: str) -> frozenset[str]:
    return frozenset(filter(None, text.split(",")))

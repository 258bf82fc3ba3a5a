"""The other tools: how each is installed, in an environment of its own, and what it is asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """A tool; ``every`` says that it is slow and runs on a sample of one in so many files."""

    name: str
    package: str
    command: Callable[[Path, Path], list[str]]  # of the folder of its programs, and a tree
    every: int = 1


def _pyupgrade(programs: Path, tree: Path) -> list[str]:
    names = map(str, sorted(tree.rglob("*.py")))
    return [str(programs / "pyupgrade"), "--py310-plus", "--exit-zero-even-if-changed", *names]


PEERS = (
    Peer("ruff, one rule, no cache", "ruff==0.14.7", lambda programs, tree: [
        str(programs / "ruff"), "check", "--isolated", "--no-cache", "--select", "E9", "--quiet", str(tree)
    ]),
    Peer("ast-grep search", "ast-grep-cli==0.40.0", lambda programs, tree: [
        str(programs / "ast-grep"), "run", "-l", "python", "-p", "$A.chat.completions.create($$$)", str(tree)
    ]),
    Peer("pyupgrade", "pyupgrade==3.21.2", _pyupgrade, 20),
    Peer("libcst.tool codemod, no-op", "libcst==1.8.6", lambda programs, tree: [
        str(programs / "python"), "-m", "libcst.tool", "codemod", "noop.NOOPCommand", "-j", "1", str(tree)
    ], 100),
    Peer("fixit, one rule", "fixit==2.1.0", lambda programs, tree: [
        str(programs / "fixit"), "--rules", "fixit.rules:NoStaticIfCondition", "lint", str(tree)
    ], 100),
    Peer("bump-pydantic --diff", "bump-pydantic==0.8.0", lambda programs, tree: [
        str(programs / "bump-pydantic"), "--diff", str(tree)
    ], 200),
    Peer("codemodder, one codemod", "codemodder==6.5.0", lambda programs, tree: [
        str(programs / "codemodder"), "--dry-run", "--codemod-include", "pixee:python/use-walrus-if",
        str(tree),
    ], 200),
)  # fmt: skip


def programs_of(peer: Peer, cache: Path) -> Path | None:
    """The folder of the peer's programs, installed if need be; None if that does not work."""
    home = cache / "venvs" / peer.package
    programs = home / ("Scripts" if sys.platform == "win32" else "bin")
    done = home / "installed"
    if not done.exists():
        commands = (
            [sys.executable, "-m", "venv", str(home)],
            [str(programs / "python"), "-m", "pip", "install", "--quiet", peer.package, "setuptools<81"],
        )
        for command in commands:
            if subprocess.run(command, check=False).returncode != 0:
                return None
        done.touch()
    return programs

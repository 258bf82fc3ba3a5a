"""Build the trees, install the peers, measure all side by side, print ratios.

    python -m benchmarks [--cache FOLDER] [--runs N] [--no-peers] [PART ...]

PARTs are start, large, calls, jobs, growth; all by default. The tables are Markdown.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from migrate_responses import __version__
from migrate_responses.find.project import find

from . import peers, trees
from .measure import Cost, once, side_by_side

_TOOL = (sys.executable, "-m", "migrate_responses")
_READ = """\
import os, sys
def scan(folder):
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from scan(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path
found = 0
for path in scan(sys.argv[1]):
    with open(path, "rb") as file:
        data = file.read()
    found += (b"completions" in data and b"chat" in data) or b"openai" in data.lower()
print(found)
"""
_PARSE = """\
import sys, libcst
sys.setrecursionlimit(10_000)
for path in open(sys.argv[1], encoding="utf-8").read().splitlines():
    try:
        libcst.parse_module(open(path, "rb").read()).code
    except libcst.ParserSyntaxError:
        pass
"""


def start(_cache: Path, runs: int, _peers: bool) -> None:
    """How long it takes to begin."""
    clean = Path(__file__)
    commands: dict[str, Sequence[str]] = {
        'python -c "import click"': [sys.executable, "-c", "import click"],
        "--version": [*_TOOL, "--version"],
        "check on one clean file": [*_TOOL, "check", str(clean.with_name("measure.py"))],
    }
    _table("Start", side_by_side(commands, runs * 3), 'python -c "import click"')


def large(cache: Path, runs: int, with_peers: bool) -> None:
    """A tree without OpenAI code."""
    tree = trees.large(cache)
    count = len(trees.files(tree))
    costs = side_by_side(
        {
            "reading the bytes, one Python process": [sys.executable, "-c", _READ, str(tree)],
            "migrate-responses check --jobs 1": [*_TOOL, "check", "--jobs", "1", str(tree)],
        },
        runs,
    )
    for peer in peers.PEERS if with_peers else ():
        costs.update(_peer(peer, tree, cache))
    _table(f"Large tree, {count:,} files", costs, "reading the bytes, one Python process")


def _peer(peer: peers.Peer, tree: Path, cache: Path) -> dict[str, Cost]:
    programs = peers.programs_of(peer, cache)
    if programs is None:
        print(f"{peer.package} is missing: it could not be installed.", file=sys.stderr)
        return {}
    if peer.every == 1:
        return {f"{peer.name} ({peer.package})": once(peer.command(programs, tree))}
    part = trees.sample(tree, cache, peer.every)
    name = f"{peer.name} ({peer.package}), from 1 file in {peer.every}"
    return {name: once(peer.command(programs, part)).times(peer.every)}


def calls(cache: Path, runs: int, _peers: bool) -> None:
    """Files that have to be parsed."""
    tree = trees.calls(cache)
    listed = cache / "candidates"
    found = find([str(tree)])
    names = [project.path(name) for project in found for name in project.sources if name.endswith(".py")]
    listed.write_text("\n".join(names), encoding="utf-8")
    costs = side_by_side(
        {
            "LibCST parse + code of the same files": [sys.executable, "-c", _PARSE, str(listed)],
            "migrate-responses check --jobs 1": [*_TOOL, "check", "--jobs", "1", str(tree)],
            "migrate-responses diff --jobs 1": [*_TOOL, "diff", "--jobs", "1", str(tree)],
        },
        runs,
    )
    _table(f"Candidates, {len(names):,} files", costs, "LibCST parse + code of the same files")


def jobs(cache: Path, runs: int, _peers: bool) -> None:
    """Two processes. What counts is the time on the clock."""
    for tree in (trees.calls(cache), trees.programs(cache, 10_000, 10)):
        commands: dict[str, Sequence[str]] = {
            f"--jobs {number}": [*_TOOL, "check", "--jobs", str(number), str(tree)] for number in (2, 1)
        }
        _table(f"Processes, {tree.name}", side_by_side(commands, runs), "--jobs 2")


def growth(cache: Path, _runs: int, _peers: bool) -> None:
    """Cost against the number of files: with a call, around some of them, in one application."""
    for title, every, counts in (
        ("files with a call each", 1, (100, 1_000, 10_000)),
        ("files, one in a thousand with a call", 1_000, (1_000, 10_000, 100_000)),
    ):
        costs: dict[str, Cost] = {}
        for count in counts:
            tree = trees.programs(cache, count, every)
            costs[f"{count:,}"] = once([*_TOOL, "check", "--jobs", "1", str(tree)])
        _table(f"Growth: {title}", costs, f"{counts[0]:,}")
    costs = {}
    for count in (1_000, 2_500, 5_000):
        tree = trees.monolith(cache, count)
        costs[f"{count:,}"] = once([*_TOOL, "check", "--jobs", "1", str(tree)])
    _table("Growth: modules of one application, of which 6 % matter", costs, "1,000")


def _table(title: str, costs: Mapping[str, Cost], base: str) -> None:
    print(f"\n### {title}\n\n| | seconds | processor | memory, MB | x seconds | x processor |")
    print("|---|---:|---:|---:|---:|---:|")
    one = costs[base]
    for name, cost in costs.items():
        print(
            f"| {name} | {cost.wall:.2f} | {cost.cpu:.2f} | {cost.memory:.0f}"
            f" | {cost.wall / one.wall:.1f} | {cost.cpu / one.cpu:.1f} |",
            flush=True,
        )


_PARTS = {part.__name__: part for part in (start, large, calls, jobs, growth)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    default = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "migrate-responses-benchmarks"
    )
    parser.add_argument("--cache", type=Path, default=default, help="where trees and peers are kept")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command")
    parser.add_argument("--no-peers", action="store_true", help="without the other tools")
    parser.add_argument("part", nargs="*", choices=[*_PARTS, []], help="what to measure")
    given = parser.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"migrate-responses {__version__}, Python {platform.python_version()}, {platform.platform()},")
    print(f"{os.cpu_count()} processors, load {load:.1f} at the beginning.")
    for name in given.part or _PARTS:
        _PARTS[name](given.cache, given.runs, not given.no_peers)


if __name__ == "__main__":
    main()
